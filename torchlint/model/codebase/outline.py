"""The outline of a file: its top-level statements, and which of them binds which name."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")


@dataclass(eq=False)
class Outline:
    """The top-level statements of a file, and the names they bind."""

    encoded: bytes
    """The text of the file in UTF-8: as a string, one letter that is rare makes all others four times as large."""
    statements: list[tuple[int, int]] = field(default_factory=list)
    """Where the lines of each begin and end in that."""
    names: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    stars: list[tuple[int, str]] = field(default_factory=list)
    """The modules of ``from … import *``, each with the number of dots in front."""
    listed: frozenset[str] | None = None
    """The names in ``__all__``, if that is a plain list."""

    def exports(self, name: str) -> bool:
        """Whether ``from … import *`` takes a name that is bound."""
        return name in self.listed if self.listed is not None else not name.startswith("_")

    def text(self, numbers: tuple[int, ...]) -> str:
        """The source of some statements."""
        return b"".join(self.encoded[slice(*self.statements[n])] for n in numbers).decode(errors="surrogatepass")

    def hides(self, module: str) -> bool:
        """Whether a package has something else by the name of a module in it than that, or what comes from it."""
        tree = ast.parse(self.text(tuple(self.names[module])))
        return not all(_is_from(node, module) for node in ast.walk(tree) if _binds_directly(node, module))

    @property
    def whole(self) -> str:
        """The text of the file."""
        return self.encoded.decode(errors="surrogatepass")


def outlined(text: str, tree: ast.Module) -> Outline:
    """The outline of a text, from the tree that Python's own parser has made of it."""
    outline = Outline(text.encode(errors="surrogatepass"))
    lines: list[tuple[int, int]] = []
    has_globals = "global" in text
    for statement in tree.body:
        decorators = getattr(statement, "decorator_list", ())
        first = min([statement.lineno, *(d.lineno for d in decorators)]) - 1
        last = statement.end_lineno or statement.lineno
        if lines and first < lines[-1][1]:  # several on a line
            lines[-1] = (lines[-1][0], last)
        else:
            lines.append((first, last))
        number = len(lines) - 1
        for name in (*_bound(statement), *(_bound_below(statement) if has_globals else ())):
            if number not in outline.names[name]:
                outline.names[name].append(number)
    starts = [*(match.start() for match in _LINE.finditer(outline.encoded)), len(outline.encoded)]
    outline.statements += [(starts[first], starts[last]) for first, last in lines]
    outline.stars += [
        (node.level, node.module or "")
        for statement in tree.body
        if isinstance(statement, ast.ImportFrom | ast.If | ast.Try)
        for node in ast.walk(statement)
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"
    ]
    outline.listed = _listed(tree, text) if "__all__" in text or not text.isascii() else None
    outline.names.default_factory = None  # type: ignore[attr-defined]
    return outline


def _binds_directly(node: ast.AST, name: str) -> bool:
    """Whether a statement or a target binds a name by itself, and not by what is in it."""
    match node:
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            return any((alias.asname or alias.name.partition(".")[0]) == name for alias in aliases)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return node.name == name
        case ast.Name(ctx=ast.Store()):
            return node.id == name
    return False


def _is_from(node: ast.AST, module: str) -> bool:
    """Whether an import takes a module of the package it is in, or something from that: ``from .mod import f``."""
    if not isinstance(node, ast.ImportFrom):
        return False
    if (node.module or "").rpartition(".")[2] == module:
        return True
    return all(alias.name == module for alias in node.names if (alias.asname or alias.name) == module)


def _bound(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement binds in its own scope."""
    stack: list[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
                continue
            case ast.Import(names=aliases):
                yield from (alias.asname or alias.name.partition(".")[0] for alias in aliases)
            case ast.ImportFrom(names=aliases):
                yield from (alias.asname or alias.name for alias in aliases if alias.name != "*")
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                yield name
            case ast.ExceptHandler(name=str(name)):
                yield name
            case ast.Lambda():
                continue
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                yield from (each.target.id for each in ast.walk(node) if isinstance(each, ast.NamedExpr))
                continue
        stack += ast.iter_child_nodes(node)


def _bound_below(statement: ast.stmt) -> Iterator[str]:
    """The names of the module that a function in a statement binds."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Global):
            yield from node.names


def _listed(tree: ast.Module, text: str) -> frozenset[str] | None:
    """The names in ``__all__``; None if there is none, or it is more than one list of strings."""
    is_used_once = text.isascii() and text.count("__all__") == 1  # letters that are not ASCII have other forms
    if not is_used_once:
        is_used_once = sum(isinstance(node, ast.Name) and node.id == "__all__" for node in ast.walk(tree)) == 1
    for statement in tree.body if is_used_once else ():
        match statement:
            case ast.Assign(targets=[ast.Name(id="__all__")], value=ast.List(elts=names) | ast.Tuple(elts=names)):
                texts = [name.value for name in names if isinstance(name, ast.Constant) and isinstance(name.value, str)]
                return frozenset(texts) if len(texts) == len(names) else None
    return None
