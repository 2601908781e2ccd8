"""Which classes of a project derive from a class, by the names that they write: nothing is interpreted for it."""

from __future__ import annotations

import ast
import os
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from torchlint.model.codebase.patching import ParseFile
from torchlint.model.codebase.switching import Leads

_CLASS = re.compile(rb"class[ \t]+(\w+)[ \t]*(?:\(((?:[^()]|\([^()]{0,200}\)){0,1000})\))?[ \t]*:")
_MADE = re.compile(rb"\btype\s*\([^,()]{1,100},\s*\(([^()]{1,200})\)")
"""A class that is made by a call, with its bases."""
_NAME = re.compile(rb"[A-Za-z_]\w*")
_IMPORTED_AS = re.compile(rb" as[ \t]+(\w+)")
_LAST_NAME = re.compile(rb"(\w+)[ \t]*$")
_ASSIGNED = re.compile(rb"^[ \t]*(\w+)[ \t]*=[ \t]*(?:\w+\.)*([A-Z]\w*)[ \t]*\r?$", re.MULTILINE)
"""Another name for what may be a class: in an import, or by an assignment."""
MAKING_ONE = frozenset(("namedtuple", "NamedTuple", "with_metaclass", "TypedDict", "NewType"))
"""Functions that make one base, or hand one on."""
_CHOSEN = re.compile(
    rb"[\w.]+\s*\[\s*[\"'\w.]"
    rb"|(?:^|,)\s*(?!(?:\w+\.)*(?:%b)\b)[\w.]+\s*\(" % "|".join(sorted(MAKING_ONE)).encode()
)
"""A base that is an element of something, or what a call gives."""
_GENERIC = re.compile(rb"[\w.]*[A-Z]\w*[a-z]\w*\s*\[[^\"'\]]*\]")
"""A base with its types, which is one class whatever they are."""
_GIVEN = re.compile(rb"\bdef\s+\w+\s*\(((?:[^()]|\([^()]{0,200}\)){0,1000})\)")
_INSIDE = re.compile(rb"^[ \t]+class\b", re.MULTILINE)
_BOUND = re.compile(rb"(?m)(?:\b(?:self|cls)\.|\bdef\s+|^[ \t]+)(\w+)\s*[=:,(]")
"""What a class may bind: an attribute of its objects, a method, a name in its body."""
_HANDED = re.compile(rb"[(,:=\[]\s*(?:\w+\.)*(\w+)\s*(?=[,)\]}])")
"""What something is given, or kept for it: ``mixed(Base)``, ``{"a": Base}``."""
_NOT_HANDED = re.compile(rb"\s*class\b|.*(?:isinstance|issubclass|super)\(", re.DOTALL)
"""What stands in a line before what is only compared with, or derived from."""
_DECORATED = re.compile(rb"@[^\n]*\n\s*class\s+(\w+)")
_LONG_NAME = 100
"""How many characters before `as` are looked at for the name that is imported."""


class Heir(NamedTuple):
    """A class that derives from another one."""

    path: str
    name: str


class Heirs:
    """The classes in all files of one project, with the names of those that they derive from."""

    def __init__(self, parse: ParseFile) -> None:
        self._parse = parse
        self._by_base: dict[str, list[Heir]] = defaultdict(list)
        self._others: dict[str, set[str]] = defaultdict(set)
        """The other names that something has anywhere."""
        self._homes: dict[str, set[str]] = defaultdict(set)
        """By the name of a class, the files that define one."""
        self._found: dict[tuple[Heir, int], list[Heir]] = {}
        self._bound: dict[str, set[str]] = defaultdict(set)
        """By name, the files in which a class may bind it, and one derives from what is given, or chosen somewhere."""
        self._modules: dict[str, list[tuple[str, int]] | None] = {}
        """The modules that files import, as far as somebody asked; None of what does not parse."""

    def add(self, path: str, data: bytes) -> None:
        """Take a file in."""
        found = _CLASS.findall(data)
        if any(map(_is_chosen, {bases for _, bases in found})) or _derives_from_given(data, found):
            for name in set(_BOUND.findall(data)):
                self._bound[name.decode(errors="replace")].add(path)
        for name, bases in found:
            heir = Heir(path, name.decode(errors="replace"))
            self._homes[heir.name].add(path)
            self._derive(heir, bases)
        for bases in _MADE.findall(data):
            self._derive(Heir(path, ""), bases)
        for other, own in _renamed(data):
            if other != own:
                self._others[own.decode(errors="replace")].add(other.decode(errors="replace"))

    def _derive(self, heir: Heir, bases: bytes) -> None:
        for base in dict.fromkeys(_NAME.findall(bases)):
            self._by_base[base.decode(errors="replace")].append(heir)

    def is_bound_openly(self, path: str, name: str) -> bool:
        """Whether another file binds a name in a class that derives from what is given, or chosen somewhere."""
        return not self._bound.get(name, frozenset()) <= {path}

    def of(self, path: str, name: str, leads: Leads, most: int) -> list[Heir]:
        """The classes that derive from a class of a file, from what derives from it too, and a few over ``most``."""
        key = (Heir(path, name), most)
        if key not in self._found:
            self._found[key] = self._search(key[0], leads, most)
        return self._found[key]

    def _search(self, base: Heir, leads: Leads, most: int) -> list[Heir]:
        found: dict[Heir, None] = {}
        waiting = [base]
        while waiting and len(found) <= most:
            base = waiting.pop()
            names = (base.name, *sorted(self._others.get(base.name, ())))
            new = [each for name in names for each in self._by_base.get(name, ()) if each not in found]
            derived = [each for each in new if self._derives(each, base, leads)]
            found.update(dict.fromkeys(derived))
            waiting += derived
        return list(found)

    def _derives(self, heir: Heir, base: Heir, leads: Leads) -> bool:
        """Whether the name that a class derives from is that of the class that is meant, and of no namesake."""
        if heir.path == base.path:
            return True
        homes = self._homes[base.name]
        if heir.path in homes and heir.name != base.name:
            return False
        return len(homes) == 1 or self._imports(heir.path, base.path, leads)

    def _imports(self, path: str, wanted: str, leads: Leads) -> bool:
        """Whether a file imports another one, or a package above it, which may hand its names on."""
        if path not in self._modules:
            tree = self._parse(path)
            self._modules[path] = None if tree is None else _imported(tree)
        modules = self._modules[path]
        if modules is None:
            return True
        found = (leads(path, module, level) for module, level in modules)
        return any(each is not None and _is_or_hands_on(each, wanted) for each in found)


def handed_over(data: bytes) -> set[bytes]:
    """The names of all that a file gives to something, decorates as a class, or keeps: classes are among them."""
    found = set(_DECORATED.findall(data))
    for each in _HANDED.finditer(data):
        if each[1] in found:
            continue
        begin = data.rfind(b"\n", 0, each.start()) + 1
        if _NOT_HANDED.match(data, begin, each.start() + 1) is None:
            found.add(each[1])
    return found


def _is_chosen(bases: bytes) -> bool:
    return _CHOSEN.search(_GENERIC.sub(b"", bases)) is not None


def _derives_from_given(data: bytes, classes: list[tuple[bytes, bytes]]) -> bool:
    """Whether a class may derive from what a function is given: ``def mixed(Base): class Mixed(Base): …``."""
    if _INSIDE.search(data) is None:
        return False
    bases = {bases.strip() for _, bases in classes if _NAME.fullmatch(bases.strip()) is not None}
    return bool(bases) and any(not bases.isdisjoint(_NAME.findall(given)) for given in _GIVEN.findall(data))


def _renamed(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The other names that a file has for what may be a class, each with its own."""
    yield from _ASSIGNED.findall(data)
    for found in _IMPORTED_AS.finditer(data):
        own = _LAST_NAME.search(data[max(0, found.start() - _LONG_NAME) : found.start()])
        if own is not None:
            yield found[1], own[1]


def _imported(tree: ast.Module) -> list[tuple[str, int]]:
    """The modules that a file imports, and what it imports from them, which may be modules, with their levels."""
    found: list[tuple[str, int]] = []
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=aliases):
                found += [(alias.name, 0) for alias in aliases]
            case ast.ImportFrom(module=module, names=aliases, level=level):
                found += [(f"{module}.{alias.name}" if module else alias.name, level) for alias in aliases]
                found.append((module or "", level))
    return list(dict.fromkeys(found))


def _is_or_hands_on(path: str, wanted: str) -> bool:
    folder, name = os.path.split(path)
    return path == wanted or (name == "__init__.py" and wanted.startswith(folder + os.sep))
