"""What a project chooses by a name that only the running program knows: of a module, or of what is collected.

``getattr(models, name)`` may be all that is defined there, ``MODELS[name]`` all that is decorated by ``@register(…)``
or assigned to its keys, and ``MODELS.get(name)`` all that is registered there.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from torchlint.model.codebase.patching import ParseFile
from torchlint.model.codebase.registries import called, is_registry, name_of, registered
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
        """What is put into a table or registry; None if not all of that is seen."""
        if table not in self._collected:
            self._collected[table] = self._collect(table, leads)
        return self._collected[table]

    def _collect(self, table: Defined, leads: Leads) -> list[Defined] | None:
        tree = self._parse(table.path)
        if tree is None:
            return None
        if is_registry(tree, table.name):
            return self._gathered(table, leads, lambda other, _: registered(other, table.name))
        collecting, found = [*_collecting(tree, table.name)], [*_assigned(tree, table)]
        for name in collecting:
            decorated = self._gathered(Defined(table.path, name), leads, _decorated)
            if decorated is None:
                return None
            found += decorated
        return found or None

    def _gathered(
        self, wanted: Defined, leads: Leads, gather: Callable[[ast.Module, str], list[str] | None]
    ) -> list[Defined] | None:
        """What the files that have something take of their own to it; None if one of them does something else."""
        named = re.compile(rb"\b%s\b" % re.escape(wanted.name.encode()))
        found: list[Defined] = []
        for path in self._paths:
            if named.search(self._code(path)) is None:
                continue
            tree = self._parse(path)
            if tree is None:
                return None
            if path != wanted.path and not _imports(tree, path, wanted, leads):
                continue
            names = None if _renames(tree, wanted.name) else gather(tree, wanted.name)
            if names is None:
                return None
            found += (Defined(path, name) for name in names)
        return found


def _decorated(tree: ast.Module, decorator: str) -> list[str] | None:
    """What a file decorates with a function, or gives it; None if it does something else with that."""
    uses = [node for node in ast.walk(tree) if name_of(node) == decorator]
    found: list[str] = []
    for statement in tree.body:
        by: list[ast.expr] = []
        if isinstance(statement, (ast.ClassDef, _Function)):
            by = [called(each) for each in statement.decorator_list if name_of(called(each)) == decorator]
            found += [statement.name] * bool(by)
        elif (given := _given_by(statement, decorator)) is not None:
            by, found = [given.func], [*found, *(each.id for each in given.args if isinstance(each, ast.Name))]
        uses = [each for each in uses if all(each is not known for known in by)]
    return found if not uses else None


def _given_by(statement: ast.stmt, function: str) -> ast.Call | None:
    """The call of a function that a statement is and that gives one thing of the file: ``register("name", Net)``."""
    match statement:
        case ast.Expr(value=ast.Call(func=func, args=args, keywords=[]) as call) if name_of(func) == function:
            return call if sum(isinstance(each, ast.Name) for each in args) == 1 else None
    return None


def _assigned(tree: ast.Module, table: Defined) -> Iterator[Defined]:
    """What a file assigns to the keys of its table: ``MODELS["small"] = Small``."""
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=table.name))], value=ast.Name(id=name)):
                yield Defined(table.path, name)


def _collecting(tree: ast.Module, table: str) -> Iterator[str]:
    """The decorators of a file that put what they are given into a table: ``TABLE[name] = cls``."""
    for outer in tree.body:
        if isinstance(outer, ast.FunctionDef):
            inner = [each for each in ast.walk(outer) if isinstance(each, ast.FunctionDef) and each is not outer]
            if _puts(outer, table) or any(_puts(each, table, gives_back=True) for each in inner):
                yield outer.name


def _puts(function: ast.FunctionDef, table: str, *, gives_back: bool = False) -> bool:
    """Whether a function puts what it is given into a table, and gives it back."""
    given = {each.arg for each in function.args.args}
    kept, returned = set[str](), set[str]()
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=owner))], value=ast.Name(id=name)):
                kept |= {name} if owner == table else set()
            case ast.Return(value=ast.Name(id=name)):
                returned.add(name)
    return bool(given & kept & returned) if gives_back else bool(given & kept)


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
            yield from (name_of(called(each)) or "" for each in statement.decorator_list)


def _renames(tree: ast.Module, name: str) -> bool:
    """Whether a file imports something by another name than its own."""
    aliases = (alias for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names)
    return any(alias.name == name and alias.asname not in (None, name) for alias in aliases)
