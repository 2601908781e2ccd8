"""What a project chooses by a name that only the running program knows: of a module, or of what decorators collect.

``getattr(models, name)`` may be all that is defined there, ``MODELS[name]`` all that is decorated by ``@register(…)``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from torchlint.model.codebase.patching import ParseFile
from torchlint.model.codebase.switching import Leads

_MANY_STARS = 20
"""Files with more ``from … import *`` gather a whole library; they are not gone through."""
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class Defined(NamedTuple):
    """A function or class at the top of a file."""

    path: str
    name: str


class Tables:
    """The modules and tables of one project, as far as somebody asked."""

    def __init__(self, parse: ParseFile, code: Callable[[str], bytes], paths: list[str]) -> None:
        self._parse, self._code, self._paths = parse, code, paths
        self._defined: dict[str, list[Defined] | None] = {}
        self._collected: dict[Defined, list[Defined] | None] = {}

    def defined(self, path: str, leads: Leads) -> list[Defined] | None:
        """The functions and classes that a file has, of its own and of other files; None if not all are seen."""
        if path not in self._defined:
            found = dict[str, Defined]()
            is_seen = self._define(path, leads, found, {path})
            self._defined[path] = list(found.values()) if is_seen else None
        return self._defined[path]

    def _define(self, path: str, leads: Leads, found: dict[str, Defined], met: set[str]) -> bool:
        tree = self._parse(path)
        if tree is None:
            return False
        for statement in tree.body:
            match statement:
                case ast.ClassDef(name=name) | ast.FunctionDef(name=name) if not name.startswith("_"):
                    found[name] = Defined(path, name)
                case ast.ImportFrom(module=module, names=aliases, level=level):
                    other = leads(path, module or "", level)
                    if other is None:
                        continue  # another library, or a package without a file, of which modules are imported
                    if aliases[0].name != "*":
                        found.update((each.asname or each.name, Defined(other, each.name)) for each in aliases)
                    elif other not in met:
                        met.add(other)
                        if len(met) > _MANY_STARS or not self._define(other, leads, found, met):
                            return False
                case ast.If() | ast.Try() | ast.For() | ast.While() | ast.With():
                    if any(isinstance(each, (ast.ClassDef, _Function, ast.ImportFrom)) for each in ast.walk(statement)):
                        return False
        for name in _decorating(tree):
            found.pop(name, None)
        return True

    def collected(self, table: Defined, leads: Leads) -> list[Defined] | None:
        """What the decorators put into a table that do nothing else with it; None if not all of that is seen."""
        if table not in self._collected:
            self._collected[table] = self._collect(table, leads)
        return self._collected[table]

    def _collect(self, table: Defined, leads: Leads) -> list[Defined] | None:
        tree = self._parse(table.path)
        collecting = [] if tree is None else [*_collecting(tree, table.name)]
        found: list[Defined] = []
        for name in collecting:
            named = re.compile(rb"\b%s\b" % re.escape(name.encode()))
            for path in self._paths:
                if named.search(self._code(path)) is not None:
                    decorated = self._decorated(path, Defined(table.path, name), leads)
                    if decorated is None:
                        return None
                    found += decorated
        return found if collecting else None

    def _decorated(self, path: str, decorator: Defined, leads: Leads) -> list[Defined] | None:
        """What a file decorates with a function of another one; None if it does something else with that."""
        tree = self._parse(path)
        if tree is None:
            return None
        if path != decorator.path and not _imports(tree, path, decorator, leads):
            return []
        if _renames(tree, decorator.name):
            return None
        uses = [node for node in ast.walk(tree) if _name_of(node) == decorator.name]
        found: list[Defined] = []
        for statement in tree.body:
            if isinstance(statement, (ast.ClassDef, _Function)):
                by = [_called(each) for each in statement.decorator_list if _name_of(_called(each)) == decorator.name]
                uses = [each for each in uses if all(each is not known for known in by)]
                found += [Defined(path, statement.name)] * bool(by)
        return found if not uses else None


def _collecting(tree: ast.Module, table: str) -> Iterator[str]:
    """The decorators of a file that put what they are given into a table: ``TABLE[name] = cls``."""
    for outer in tree.body:
        if isinstance(outer, ast.FunctionDef):
            inner = [outer, *(each for each in ast.walk(outer) if isinstance(each, ast.FunctionDef))]
            if any(_puts(each, table) for each in inner):
                yield outer.name


def _puts(function: ast.FunctionDef, table: str) -> bool:
    """Whether a decorator puts what it is given into a table, and gives it back."""
    given = {each.arg for each in function.args.args}
    kept, returned = set[str](), set[str]()
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=owner))], value=ast.Name(id=name)):
                kept |= {name} if owner == table else set()
            case ast.Return(value=ast.Name(id=name)):
                returned.add(name)
    return bool(given & kept & returned)


def _imports(tree: ast.Module, path: str, wanted: Defined, leads: Leads) -> bool:
    """Whether a file has a function of another one, by its name or by that of the file."""
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=module, names=aliases, level=level):
                if any(each.name in (wanted.name, "*") for each in aliases):
                    if leads(path, module or "", level) is not None:
                        return True
            case ast.Attribute(attr=wanted.name):
                return True
    return False


def _decorating(tree: ast.Module) -> Iterator[str]:
    """The names that functions and classes of a file are decorated by: none of them is chosen to make something."""
    for statement in tree.body:
        if isinstance(statement, (ast.ClassDef, _Function)):
            yield from (_name_of(_called(each)) or "" for each in statement.decorator_list)


def _renames(tree: ast.Module, name: str) -> bool:
    """Whether a file imports something by another name than its own."""
    aliases = (alias for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names)
    return any(alias.name == name and alias.asname not in (None, name) for alias in aliases)


def _called(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node


def _name_of(node: ast.AST) -> str | None:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return None
