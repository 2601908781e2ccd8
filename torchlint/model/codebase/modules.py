"""The other files of a code base: found by the names they are imported by, and read only as far as somebody asks.

Nothing is imported and nothing is run. Of a file only its outline is made (which top-level statement binds which name,
by :mod:`ast`, an eighth of what libcst takes); a statement is parsed and gets a context of its own when the name it
binds is asked for. What a file's answers rest on is recorded, so that a cache knows when they are stale.
"""

from __future__ import annotations

import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import libcst as cst

from torchlint.file.text import source
from torchlint.file.text.density import excess
from torchlint.file.text.python import parsed
from torchlint.model.codebase.heirs import Heir
from torchlint.model.codebase.importers import Importers
from torchlint.model.codebase.outline import Outline, outlined
from torchlint.model.codebase.parsing import definitions
from torchlint.model.codebase.tables import Defined
from torchlint.model.interpret.queries import Queries
from torchlint.model.scopes import Scopes
from torchlint.model.syntax import call_of
from torchlint.system import importable, states
from torchlint.system.limits import USUAL
from torchlint.system.reading import IMPORTED, read

if TYPE_CHECKING:
    from torchlint.model.context import Context

T = TypeVar("T")

_MODULES = (".py", ".pyi")
"""What the names of files end with that others can import."""
_ROOM = 4_000_000
"""Characters of statements of other files; when more have been parsed, they are forgotten before the next file."""
_MANY_STARS = 20
"""Files with more ``from … import *`` gather a whole library; they are not gone through."""
_MAKERS = ("namedtuple", "NewType", "vmap")
"""What is called to make a class or function: the call stands for that."""
_MAGIC = re.compile(r"^[%!?][^\n]*|^[^\n#]*\?$", re.MULTILINE)
"""Lines of a notebook that are no Python."""


@dataclass(frozen=True)
class Surroundings:
    """Where a folder is: the packages it is in, and where what its files import may be."""

    package: tuple[str, ...]
    search_path: tuple[str, ...]
    probed: frozenset[str]
    """Paths that were asked for to find that out."""


class Codebase:
    """What is known of the files that are not being checked."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._importers: dict[importable.Folder, Importers] = {}
        self._importers_beside: dict[str, Importers] = {}
        """By the folder of a file, as it is asked for everywhere."""
        self._outlines: dict[str, Outline | None] = {}
        self._found: dict[tuple[str, str], tuple[str | None, tuple[str, ...], frozenset[str]]] = {}
        self._around: dict[str, Surroundings] = {}
        self._probed: set[str] = set()
        self._starred: dict[tuple[str, str], tuple[str | None, frozenset[str]]] = {}
        self._states: dict[str, str] = {}
        self._clear()

    def _clear(self) -> None:
        """Forget what statements of other files were found to be, but not which statements there are."""
        self.queries = Queries()
        self._homes: dict[int, Context] = {}
        self._checked: dict[int, Context] = {}
        self._scopes: dict[tuple[str, tuple[int, ...]], Scopes | None] = {}
        self._parts: dict[tuple[str, tuple[int, ...]], Context | None] = {}
        self._whole: dict[str, Context | None] = {}
        self._consulted: dict[str, set[str]] = defaultdict(set)
        self._size = 0

    # ------------------------------------------------------------------ one checked file after the other

    def adopt(self, context: Context) -> None:
        """Remember whose the definitions of a file are."""
        homes = self._homes if context.is_part else self._checked
        for cls in (cst.ClassDef, cst.FunctionDef, cst.Lambda):
            homes.update((id(node), context) for node in context.tree.all(cls))
        for name in _MAKERS:
            made = (call_of(node, context.tree) for node in (*context.tree.names(name), *context.tree.attributes(name)))
            homes.update((id(call), context) for call in made if call is not None)

    def remember_home(self, nodes: Iterable[cst.CSTNode], context: Context) -> None:
        """Remember whose some other nodes are that are asked about."""
        homes = self._homes if context.is_part else self._checked
        homes.update((id(node), context) for node in nodes)

    def release(self) -> None:
        """Forget the file that has been checked; and all if it has become too much.

        What was found out about other files is kept: it is what would be found anew for the next one.
        """
        self._checked = {}  # what the last file still reads must not come into the next one's
        for whole in self._whole.values():
            if whole is not None:
                whole.close()
        self._whole = {}
        self._consulted.pop(_CHECKED, None)
        self.queries.begin()
        if self._size > _ROOM:
            self._close()
            self._clear()

    def close(self) -> None:
        """Forget all: no file will be checked with it any more."""
        self._close()
        self._begin()

    def _close(self) -> None:
        """Take apart what refers to itself, so that it is gone at once."""
        for part in self._parts.values():
            if part is not None:
                part.tree.close()
                part.close()

    def home(self, node: cst.CSTNode, default: Context) -> Context:
        """The context of the file that a class or function is defined in."""
        return self._checked.get(id(node)) or self._homes.get(id(node), default)

    def rests_on(self) -> dict[str, str]:
        """The files that were looked at for the one being checked, and what they were (``states.state``)."""
        found: set[str] = set()
        waiting = [_CHECKED]
        while waiting:
            for path in self._consulted.get(waiting.pop(), ()):
                if path not in found:
                    found.add(path)
                    waiting.append(path)
        return {path: self._states[path] for path in sorted(found)}

    # ------------------------------------------------------------------ names

    def absolute(self, level: int, module: str, asker: Context) -> str | None:
        """The full name of a module that a file imports relative to itself; None if that is in no package."""
        if asker.path is None:
            return None
        self._consulted[_id(asker)] |= self._surroundings(os.path.dirname(asker.path)).probed
        return self._absolute(level, module, asker.path)

    def _absolute(self, level: int, module: str, path: str) -> str | None:
        folder = os.path.dirname(path)
        for _ in range(level - 1):
            folder = os.path.dirname(folder)
        package = self._surroundings(folder).package or (os.path.basename(folder),)
        if not package[0].isidentifier() or package[0] in sys.stdlib_module_names:
            return None
        return ".".join((*package, module) if module else package)

    def definition(self, ref: str, asker: Context) -> tuple[Context, str, tuple[str, ...]] | None:
        """The context of the statement that binds a qualified name, the name bound there, the attributes that remain.

        For ``pkg.boxes.Boxes.cat`` that is the context of the class, ``Boxes``, and ``("cat",)``.
        """
        if asker.path is None:
            return None
        key = (os.path.dirname(asker.path), ref)
        if key not in self._found:
            self._found[key] = self._locate(*key)
        path, rest, probed = self._found[key]
        self._consulted[_id(asker)] |= probed
        if path is None or not rest:
            return None
        part = self.member(path, rest[0], asker)
        if part is not None:
            return part, rest[0], rest[1:]
        return self.through_stars(path, rest, asker)

    def taker(self, asker: Context, name: str, *, with_stars: bool) -> str | None:
        """Another file of the project that may have a name from the one being checked; None if there is none.

        ``with_stars``: ``from … import *`` takes it. The path is relative to the project, empty if it is not known.
        """
        if asker.path is None or not asker.path.endswith(_MODULES) or (importers := self.others(asker)) is None:
            return None
        if not importers.is_known:
            return ""
        return importers.taker(asker.path, name, self._module_file, with_stars=with_stars)

    def without_grad(self, asker: Context, name: str, *, is_method: bool) -> bool | None:
        """Whether other files call a function only where autograd is off; None if none of them is seen to call it."""
        if asker.path is None or not asker.path.endswith(_MODULES):
            return None
        if (importers := self.others(asker)) is None or not importers.is_known:
            return None
        return importers.without_grad(asker.path, name, self._module_file, is_method=is_method)

    def is_switched_off(self, asker: Context) -> bool:
        """Whether a file of the project that a file imports turns autograd off for all that comes after."""
        importers = self.others(asker)
        path = asker.path
        return importers is not None and path is not None and importers.switching.is_off_for(path, self._module_file)

    def importing(self, asker: Context, imported: str, called: str, *, with_torch: bool = True) -> list[str]:
        """The other files of the project that may have a name from a file, and call something of another one.

        ``with_torch``: those in which something of torch stands.
        """
        if asker.path is None or (importers := self.others(asker)) is None or not importers.is_known:
            return []
        return importers.importing(asker.path, imported, called, with_torch=with_torch)

    def naming(self, asker: Context, imported: str, attribute: str) -> list[str]:
        """The other files that may have a name from a file, and name an attribute."""
        importers = self.others(asker)
        return [] if importers is None or asker.path is None else importers.naming(asker.path, imported, attribute)

    def matching(self, asker: Context, pattern: re.Pattern[bytes]) -> list[str]:
        """The other files of the project in whose code something matches."""
        importers = self.others(asker)
        return [] if importers is None or asker.path is None else importers.matching(asker.path, pattern)

    def heirs(self, asker: Context, name: str, most: int) -> list[Heir]:
        """The classes of the project that derive from a class of a file."""
        importers = self.others(asker)
        path = asker.path
        return [] if importers is None or path is None else importers.heirs.of(path, name, self._module_file, most)

    def defined(self, asker: Context, module: str) -> list[Defined] | None:
        """The functions and classes that a module of the project, or the file itself, has; None if not all are seen."""
        importers, path = self.others(asker), self._module_file(asker.path or "", module, 0) if module else asker.path
        return None if importers is None or path is None else importers.tables.defined(path, self._module_file)

    def collected(self, asker: Context, table: Defined) -> list[Defined] | None:
        """What decorators put into a table of the project; None if not all of that is seen."""
        importers = self.others(asker)
        return None if importers is None else importers.tables.collected(table, self._module_file)

    def relative(self, context: Context) -> str:
        """The path of a file in its project."""
        importers = self.others(context)
        assert importers is not None and context.path is not None  # noqa: PT018
        return os.path.relpath(context.path, importers.folder.path).replace(os.sep, "/")

    def whole(self, path: str, asker: Context) -> Context | None:
        """All of another file, as it would be if that was checked; None if it cannot be read."""
        if path not in self._whole:
            key = (path, ())
            if key not in self._scopes:
                text = self._text(path)
                self._size += len(text or "")
                self._scopes[key] = None if text is None else definitions(text)
            scopes = self._scopes[key]
            self._whole[path] = whole = None if scopes is None else asker.whole(path, scopes)
            if whole is not None:
                self.adopt(whole)
        if path in self._states:
            self._consulted[_id(asker)].add(path)
        return self._whole[path]

    def _text(self, path: str) -> str | None:
        """The code in a file; that of a notebook without what only IPython understands, if it is Python then."""
        if not path.endswith(importable.NOTEBOOK):
            outline = self._outline(path)
            return None if outline is None else outline.whole
        data = importable.code_of(path, importable.content(path))
        text = _MAGIC.sub("pass", data.decode(errors="replace"))
        return text if excess(text, USUAL) is None and parsed(text) is not None else None

    def others(self, asker: Context) -> Importers | None:
        """The files of the project that a file is in, which what is said of it rests on from now on."""
        if asker.path is None:
            return None
        beside = os.path.dirname(asker.path)
        importers = self._importers_beside.get(beside)
        if importers is None:
            importers = self._importers_beside[beside] = self._importers_in(self._project(beside))
        path, state = importers.row
        self._consulted[_id(asker)].add(path)
        self._states[path] = state
        return importers

    def _project(self, beside: str) -> importable.Folder:
        """The project that the files in a folder are in."""
        top, root = beside, None
        for _ in self._surroundings(beside).package:
            root = top if importable.is_marked(top) else root
            top = os.path.dirname(top)
        folder = importable.folder_of(top)
        if root is not None and not folder.is_marked:  # `__init__.py` in the root of a repository makes it no package
            return importable.Folder(root, True)
        return folder

    def _importers_in(self, folder: importable.Folder) -> Importers:
        if folder not in self._importers:
            self._importers[folder] = Importers(folder)
        return self._importers[folder]

    def _module_file(self, asker: str, module: str, level: int) -> str | None:
        """The file of a module that another file imports; None if it is not found."""
        full = self._absolute(level, module, asker) if level else module
        if full is None:
            return None
        path, rest, _ = self._locate(os.path.dirname(asker), full)
        if path is not None and rest and self._is_module(beside := os.path.join(os.path.dirname(path), *rest)):
            return init if self._is_file(init := os.path.join(beside, "__init__.py")) else f"{beside}.py"
        return path if not rest else None

    def exports(self, module: str, name: str, asker: Context) -> bool:
        """Whether ``from … import *`` takes a name from a file of the project, if the file has it."""
        if asker.path is None:
            return True
        path, rest, _ = self._locate(os.path.dirname(asker.path), module)
        outline = self._outline(path) if path is not None and not rest else None
        return outline is None or outline.exports(name)

    def is_brought_unseen(self, name: str, modules: Iterable[str], asker: Context) -> bool:
        """Whether only a module that is not seen can bring a name, of those whose names a file imports with a star."""
        files = [self._module_file(asker.path, module, 0) if asker.path else None for module in modules]
        return None in files and not any(path is not None and self._binds(path, name) for path in files)

    def through_stars(
        self, path: str, names: tuple[str, ...], asker: Context
    ) -> tuple[Context, str, tuple[str, ...]] | None:
        """A definition that a file has from ``from … import *``."""
        key = (path, names[0])
        if key not in self._starred:
            probed: set[str] = set()
            self._starred[key] = (self._star_source(path, names[0], {path}, probed), frozenset(probed))
        source_, asked_for = self._starred[key]
        self._consulted[path] |= asked_for
        part = self.member(source_, names[0], asker) if source_ is not None else None
        return (part, names[0], names[1:]) if part is not None else None

    def _star_source(self, path: str, name: str, seen: set[str], probed: set[str]) -> str | None:
        """The file whose names another one imports with a star, and that binds a name."""
        outline = self._outline(path)
        if outline is None or len(outline.stars) > _MANY_STARS:
            return None
        for level, module in reversed(outline.stars):
            full = self._absolute(level, module, path) if level else module
            if full is None or full.partition(".")[0] in sys.stdlib_module_names:
                continue
            other, rest, asked_for = self._locate(os.path.dirname(path), full)
            probed |= asked_for
            if other is None or rest or other in seen:
                continue
            seen.add(other)
            if (outside := self._outline(other)) is None or not outside.exports(name):
                continue
            found = other if name in outside.names else self._star_source(other, name, seen, probed)
            if found is not None:
                return found
        return None

    def _locate(self, folder: str, ref: str) -> tuple[str | None, tuple[str, ...], frozenset[str]]:
        """The file that a name leads to from a folder, what of the name remains, and which files were asked for."""
        around = self._surroundings(folder)
        self._probed = set(around.probed)
        names = tuple(ref.split("."))
        for root in around.search_path:
            path, rest = self._descend(root, names)
            if path is not None:
                self._probed.add(path)
                return path, rest, frozenset(self._probed)
        return None, (), frozenset(self._probed)

    def _descend(self, root: str, names: tuple[str, ...]) -> tuple[str | None, tuple[str, ...]]:
        place, rest = os.path.join(root, names[0]), names[1:]
        while True:
            init = os.path.join(place, "__init__.py")
            is_package = self._is_file(init)
            if not is_package and self._is_file(f"{place}.py"):
                return f"{place}.py", rest
            if not rest or not (is_package or self._is_folder(place)):
                return (init if is_package else None), rest
            deeper = os.path.join(place, rest[0])
            outline = self._outline(init) if is_package else None
            is_bound = outline is not None and rest[0] in outline.names
            if is_package and ((len(rest) == 1 and is_bound) or not self._is_module(deeper)):
                return init, rest
            if outline is not None and is_bound and outline.hides(rest[0]):
                return None, rest  # `from pkg import mod` gives something else than `import pkg.mod`
            place, rest = deeper, rest[1:]

    def _surroundings(self, folder: str) -> Surroundings:
        if folder not in self._around:
            self._probed = set()
            package, search_path = self._look_around(folder)
            self._around[folder] = Surroundings(package, search_path, frozenset(self._probed))
        return self._around[folder]

    def _look_around(self, folder: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        package: list[str] = []
        inner: list[str] = []
        while self._is_file(os.path.join(folder, "__init__.py")) and os.path.basename(folder):
            package.insert(0, os.path.basename(folder))
            inner.append(folder)
            folder = os.path.dirname(folder)
        search_path = []
        for _ in range(1 + importable.MAX_ABOVE):
            search_path.append(folder)
            if self._is_folder(src := os.path.join(folder, "src")):
                search_path.append(src)
            above, is_installed = os.path.dirname(folder), os.path.basename(folder) in importable.INSTALLED
            if is_installed or above == folder or importable.is_marked(folder):
                break
            folder = above
        return tuple(package), (*search_path, *inner)  # Python 2 looked in the package itself, too

    def _is_module(self, place: str) -> bool:
        return self._is_file(f"{place}.py") or self._is_folder(place)

    def _binds(self, path: str, name: str) -> bool:
        outline = self._outline(path)
        return outline is not None and name in outline.names

    # ------------------------------------------------------------------ files

    def member(self, path: str, name: str, asker: Context) -> Context | None:
        """The context of the statements of a file that bind a name; None if there are none, or they cannot be read."""
        outline = self._outline(path)
        if outline is None:
            return None
        numbers = tuple(outline.names.get(name, ()))
        return self._part(path, outline, numbers, asker) if numbers else None

    def _part(self, path: str, outline: Outline, numbers: tuple[int, ...], asker: Context) -> Context | None:
        key = (path, numbers)
        if key not in self._parts:
            self._parts[key] = self._parsed(path, outline, numbers, asker)
        return self._parts[key]

    def _parsed(self, path: str, outline: Outline, numbers: tuple[int, ...], asker: Context) -> Context | None:
        key = (path, numbers)
        if key not in self._scopes:
            text = outline.text(numbers)
            self._size += len(text)
            self._scopes[key] = definitions(text)
        scopes = self._scopes[key]
        if scopes is None:
            return None
        part = asker.part(path, scopes)
        self.adopt(part)
        return part

    def _outline(self, path: str) -> Outline | None:
        if path not in self._outlines:
            self._outlines[path] = self._read(path)
        return self._outlines[path]

    def _read(self, path: str) -> Outline | None:
        try:
            data = read(path, IMPORTED)
        except (OSError, ValueError) as error:
            self._states[path] = states.state_after(error)
            return None
        self._states[path] = states.digest(data)
        try:
            text = source.decode(data).text
        except source.Undecodable:
            return None
        tree = parsed(text) if excess(text, USUAL) is None else None
        return outlined(text, tree) if tree is not None else None

    def _is_file(self, path: str) -> bool:
        return self._state(path) not in ("", states.FOLDER, states.SPECIAL)

    def _is_folder(self, path: str) -> bool:
        return self._state(path) == states.FOLDER

    def _state(self, path: str) -> str:
        self._probed.add(path)
        if path not in self._states:
            self._states[path] = states.state(path)
        return self._states[path]


_CHECKED = "<checked>"


def _id(context: Context) -> str:
    """Under what to record that a context asked: its file, or that it is the one being checked."""
    return _CHECKED if context.is_checked else context.path or ""
