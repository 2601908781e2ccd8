"""Who imports a name from a file: asked before an import goes that others may have it from.

A project is gone through once, when that is asked for the first time: the words on lines with an import say which files
come into question, and only those are parsed. What cannot be parsed counts as far as its text says so.
"""

from __future__ import annotations

import ast
import functools
import os
import re
import sys
from collections import defaultdict

from torchlint.file.text import tokens
from torchlint.model.codebase.callers import CallingFiles
from torchlint.model.codebase.environment import Environment
from torchlint.model.codebase.heirs import Heirs, handed_over
from torchlint.model.codebase.patching import Patching
from torchlint.model.codebase.python_trees import PythonTrees
from torchlint.model.codebase.switching import Leads, Switching
from torchlint.model.codebase.tables import Tables
from torchlint.model.codebase.telling import Telling
from torchlint.model.codebase.unwrapping import Unwrapping
from torchlint.system import importable

_FOREIGN = sys.stdlib_module_names | {"torch", "torchvision", "torchaudio", "numpy"}
"""Packages that no project has under these names."""
_BEGINNING = re.compile(
    rb"^(?:for|while|with)\b|^[A-Za-z_][\w.]*\(|__main__|\bdef (?:main|test_|training_step)|\bnn\.\w"
    rb"|backward|requires_grad|\bParameter\(|enable_grad",
    re.MULTILINE,
)
"""What stands in files that begin something with autograd on: scripts, tests, training, where parameters are made."""
PACKING = re.compile(rb"PackedSequence|pack_padded_sequence|pack_sequence")
"""What makes packed sequences, which have a tensor in `.data`, and some methods of tensors."""
_IMPORT = (ast.Import, ast.ImportFrom)
_UP_TO_A_NAME = rb"""(?:\s*\([^;]*?|(?:[^\r\n;("\\]|\\\r?\n|\\\\\\n(?:",\s*")?)*?)"""
"""What can stand between an import and a name that it takes: what a bracket opens, or the rest of a line, which can go
on in the next one; in the JSON of a notebook a line ends with an escape."""


class Importers:
    """The imports of all files of one project."""

    def __init__(self, folder: importable.Folder) -> None:
        self.folder = folder
        self.is_known = True
        """Whether all files could be looked at."""
        self._by_word: dict[bytes, list[str]] = defaultdict(list)
        self._with_torch: set[str] = set()
        self.packing: list[str] = []
        """The files that pack sequences."""
        self._beginning: set[str] = set()
        self._tree = PythonTrees().of
        self._paths: list[str] = []
        self._matching: dict[re.Pattern[bytes], list[str]] = {}
        self._handed: set[bytes] | None = None
        """What is given to something anywhere, as soon as somebody asked."""
        self._notebooks: dict[str, bytes] = {}
        """The code of notebooks, which is a small part of what is in them."""
        self.patching = Patching(self._tree)
        self.heirs = Heirs(self._tree)
        self.unwrapping = Unwrapping(self._tree)
        self.callers = CallingFiles(self._tree, self._code)
        self.switching = Switching(self._tree)
        self.telling = Telling(self._tree, self._code)
        self.environment = Environment(self._tree, self._code)
        self.tables = Tables(self._tree, self._code, self._paths)
        made = importable.State()
        try:
            for path in importable.files(folder):
                data = importable.content(path)
                made.add(path, data)
                self._paths.append(path)
                if path.endswith(importable.NOTEBOOK):
                    data = self._notebooks[path] = importable.code_of(path, data)
                if b"torch" in data or b".backward(" in data:
                    self._with_torch.add(path)
                if _BEGINNING.search(data) is not None:
                    self._beginning.add(path)
                if PACKING.search(data) is not None:
                    self.packing.append(path)
                self.patching.add(path, data)
                self.heirs.add(path, data)
                self.unwrapping.add(path, data)
                self.callers.add(path, data)
                self.switching.add(path, data)
                self.telling.add(path, data)
                self.environment.add(path, data)
                for word in tokens.words(b"\n".join(line for line in data.split(b"\n") if _names_modules(line))):
                    self._by_word[word].append(path)
        except OverflowError:
            self.is_known = False
        self.state = str(made) if self.is_known else ""

    @property
    def row(self) -> tuple[str, str]:
        """What an answer rests on: the path that stands for all files, and their state."""
        return os.path.join(self.folder.path, importable.ALL), self.state

    def taker(self, path: str, name: str, leads: Leads, *, with_stars: bool) -> str | None:
        """The first file that has a name from another one, relative to the project; None if there is none."""
        stem = importable.module_name(path)
        for other in self._by_word.get(_in_source(stem), ()):
            if other != path and self._takes(other, path, name, leads, with_stars):
                return os.path.relpath(other, self.folder.path).replace(os.sep, "/")
        return None

    def importing(self, path: str, imported: str, called: str, *, with_torch: bool) -> list[str]:
        """The other files with an import that mentions a file or a name of it, and with a call of another name.

        Left out are those that begin nothing with autograd on and are imported by nobody who does; ``with_torch``: also
        those in which nothing of torch stands, for they have no tensors of their own to hand over.
        """
        stem, name = re.escape(_in_source(importable.module_name(path))), re.escape(called.encode())
        by_name = self._by_word.get(imported.encode(), [])
        call = re.compile((rb"%s(?<![.\w]%s)\s*\(" if imported == called else rb"%s(?<!\w%s)\s*\(") % (name, name))
        found = [other for other in by_name if self._has(other, path, call, with_torch)]
        handle = re.compile(rb"\bimport\b[^\n]*\b%s\b|\b%s\s+import\s*\(?\s*\*" % (stem, stem))
        anyhow = re.compile(rb"%s(?<!\w%s)\s*\(" % (name, name))  # `re` finds a literal far quicker than a boundary
        for other in self._by_word.get(_in_source(importable.module_name(path)), ()):
            if other not in found and self._has(other, path, anyhow, with_torch) and handle.search(self._code(other)):
                found.append(other)
        return found

    def naming(self, path: str, imported: str, attribute: str) -> list[str]:
        """The other files with an import that mentions a file or a name of it, and with an attribute of that name."""
        named = re.compile(rb"\.\s*%s\b" % re.escape(attribute.encode()))
        found = dict.fromkeys(
            (
                *self._by_word.get(imported.encode(), ()),
                *self._by_word.get(_in_source(importable.module_name(path)), ()),
            )
        )
        return [other for other in found if other != path and named.search(self._code(other)) is not None]

    def matching(self, path: str, pattern: re.Pattern[bytes]) -> list[str]:
        """The other files in whose code something matches."""
        if pattern not in self._matching:
            self._matching[pattern] = [each for each in self._paths if pattern.search(self._code(each)) is not None]
        return [each for each in self._matching[pattern] if each != path]

    def is_handed_over(self, name: bytes) -> bool:
        """Whether a file gives a class of that name to something, or keeps it for that."""
        if self._handed is None:
            self._handed = set[bytes]().union(*(handed_over(self._code(path)) for path in self._paths))
        return name in self._handed

    def _has(self, other: str, path: str, call: re.Pattern[bytes], with_torch: bool) -> bool:
        """Whether a file is another one that may record, and has a call."""
        is_one = other != path and (not with_torch or other in self._with_torch) and self._may_record(other)
        return is_one and call.search(self._code(other)) is not None

    def _may_record(self, path: str) -> bool:
        """Whether something in a file may run with autograd on, begun there or by a file that imports it."""
        above = self._by_word.get(_in_source(importable.module_name(path)), ())
        return path in self._beginning or any(other in self._beginning for other in above)

    def without_grad(self, path: str, name: str, leads: Leads, *, is_method: bool) -> bool | None:
        """Whether other files call a function of a file only where autograd is off; None if none of them calls it."""

        def takes(other: str) -> bool:
            return self._takes(other, path, name, leads, with_stars=True)

        return self.callers.without_grad(path, name, None if is_method else takes)

    def _takes(self, other: str, path: str, name: str, leads: Leads, with_stars: bool) -> bool:
        tree = self._tree(other)
        if tree is None:
            return _seems_to_take(self._code(other), importable.module_name(path), name, with_stars)
        return _Importer(tree, other, path, name, leads).takes(with_stars)

    def _code(self, path: str) -> bytes:
        """The code in a file."""
        return self._notebooks[path] if path in self._notebooks else importable.content(path)


class _Importer:
    """One file that may have a name from another one."""

    def __init__(self, tree: ast.Module, at: str, path: str, name: str, leads: Leads) -> None:
        self._tree, self._at, self._path, self._name, self._leads = tree, at, path, name, leads
        self._stem = importable.module_name(path)

    def takes(self, with_stars: bool) -> bool:
        """Whether it has the name from there."""
        handles = set[str]()
        for node in ast.walk(self._tree):
            match node:
                case ast.ImportFrom(module=module, names=aliases, level=level):
                    names = {alias.name for alias in aliases}
                    if self._is_ours(module or "", level):
                        if self._name in names or ("*" in names and with_stars and not self._binds_it()):
                            return True
                    for alias in aliases:
                        full = f"{module}.{alias.name}" if module else alias.name
                        if alias.name == self._stem and self._is_ours(full, level):
                            handles.add(alias.asname or alias.name)
                case ast.Import(names=aliases):
                    handles.update(a.asname or a.name for a in aliases if self._is_ours(a.name, 0))
                    if any(self._stem in a.name.split(".") for a in aliases):
                        handles.add(self._stem)
                case ast.Call(func=ast.Attribute(attr="import_module") | ast.Name(id="import_module" | "__import__")):
                    handles.add("")
                case ast.Subscript(value=ast.Attribute(attr="modules"), slice=ast.Constant(value=str(module))):
                    if module.rpartition(".")[2] == self._stem:
                        handles.add("")
        return bool(handles) and any(self._is_use(node, handles) for node in ast.walk(self._tree))

    def _is_ours(self, module: str, level: int) -> bool:
        """Whether a module's name leads to the file; what leads nowhere is judged by its last part."""
        if module.rpartition(".")[2] != self._stem or (not level and module.partition(".")[0] in _FOREIGN):
            return False
        found = self._leads(self._at, module, level)
        return found is None or found == self._path

    def _binds_it(self) -> bool:
        """Whether the name is imported from somewhere else."""
        return any(
            (alias.asname or alias.name) == self._name
            for node in self._tree.body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        )

    def _is_use(self, node: ast.AST, handles: set[str]) -> bool:
        match node:
            case ast.Attribute(value=owner, attr=self._name):
                path = ast.unparse(owner)
                return path in handles or path.rpartition(".")[2] == self._stem or "" in handles or self._may_be(owner)
            case ast.Constant(value=str(text)):
                return text == self._name or text.endswith(f"{self._stem}.{self._name}")
        return False

    def _may_be(self, owner: ast.expr) -> bool:
        """Whether something may be the module that is at hand here: what a parameter or a loop gives, an element."""
        match owner:
            case ast.Name(id=name):
                return name not in ("self", "cls") and name not in self._imported
            case ast.Attribute(value=inner):
                while isinstance(inner, ast.Attribute):
                    inner = inner.value
                return not isinstance(inner, ast.Name) or inner.id not in self._imported
        return isinstance(owner, (ast.Subscript, ast.Call))

    @functools.cached_property
    def _imported(self) -> frozenset[str]:
        """The names that imports bind to modules and what is in them."""
        aliases = (a for each in ast.walk(self._tree) if isinstance(each, _IMPORT) for a in each.names)
        return frozenset(alias.asname or alias.name.partition(".")[0] for alias in aliases)


def _names_modules(line: bytes) -> bool:
    """Whether a line can name a module of the project: in an import, or to look it up (``sys.modules["a"]``)."""
    return b"import" in line or b"modules" in line


def _in_source(stem: str) -> bytes:
    return stem.encode(errors="surrogateescape")


def _seems_to_take(data: bytes, stem: str, name: str, with_stars: bool) -> bool:
    """The same of a text that does not parse, or is no Python: Python 2, a notebook."""
    module, wanted = re.escape(_in_source(stem)), re.escape(name.encode())
    star = rb"|\*" if with_stars else b""
    taken = rb"\bfrom\s+[.\w]*\b%s\s+import\b%s(?:\b%s\b%s)" % (module, _UP_TO_A_NAME, wanted, star)
    return re.search(taken, data) is not None or re.search(rb"\b%s\.%s\b" % (module, wanted), data) is not None
