"""libcst's nodes, made of what Python's own parser says: no white space, no comments, no brackets, a tenth of the time.

Most files have nothing to report. A quick tree is enough to see that, and to know what other files define; where
something is found libcst parses the text itself. So a quick tree has to answer as libcst's tree does, and nothing is
ever written from one. Statements that are too rare to be known here libcst parses one by one.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import libcst as cst

from torchlint.file.tree.fast import makers as make
from torchlint.file.tree.fast.quick_expressions import Expressions, NoQuickTree, extent_of
from torchlint.file.tree.libcst_private import parse_module, recorded
from torchlint.file.tree.nodes import walk
from torchlint.file.tree.python_tree import python_tree
from torchlint.system.layers import Layer, is_on

_TYPE_COMMENT = re.compile(r"#[ \t]*type:(?![ \t]*ignore)")


def is_possible(text: str) -> bool:
    """Whether a text can have one: not if comments mean something in it, or its lines are not only ended by LF."""
    return "\f" not in text and "\r" not in text and _TYPE_COMMENT.search(text) is None


_NOTHING = cst.MaybeSentinel.DEFAULT
_SIMPLE = (
    *(ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Raise, ast.Assert, ast.Delete),
    *(ast.Pass, ast.Break, ast.Continue, ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom),
)


class QuickTree:
    """The tree of a text."""

    def __init__(self, text: str) -> None:
        """Make nodes of a text.

        Raises:
            NoQuickTree: it cannot be.
        """
        if not is_on(Layer.QUICK_TREES):
            raise NoQuickTree("left out")
        if not is_possible(text):
            raise NoQuickTree("comments that mean something, or other ends of lines")
        self._expressions = Expressions(text)
        self._parsed: list[tuple[cst.Module, cst.BaseStatement, int]] = []
        """What libcst parsed, which statement is meant, and how many lines of the file stand before."""
        self._rows: dict[int, int] = {}
        """Where what it parsed stands, by the ids of nodes, once somebody asks."""
        tree = python_tree(text)
        if tree is None:
            raise NoQuickTree("no Python")
        self.module = make.module(tuple(self._statements(tree.body)))

    def code(self, node: cst.CSTNode) -> str | None:
        """The source of an expression, an argument or a simple statement; None where that is not known.

        Brackets around an expression are left out.
        """
        extent = self._expressions.extents.get(id(node))
        if extent is not None:
            return self._expressions.text(extent)
        if isinstance(node, cst.SimpleStatementLine):
            return "; ".join(self.code(each) or "" for each in node.body)
        return node.value if isinstance(node, cst.Name) else None

    def row(self, node: cst.CSTNode) -> int | None:
        """The number of the line on which an expression begins; None where that is not known."""
        extent = self._expressions.extents.get(id(node))
        if extent is not None:
            return extent[0]
        while self._parsed:
            self._rows.update(_rows_of(*self._parsed.pop()))
        return self._rows.get(id(node))

    # ------------------------------------------------------------------ statements

    def _statements(self, nodes: Sequence[ast.stmt]) -> Iterator[cst.BaseStatement]:
        """Statements of a block or a module, those that share a line together."""
        line: list[cst.BaseSmallStatement] = []
        row = 0
        for node in nodes:
            small = self._small(node) if type(node) in _SIMPLE else None
            if line and (small is None or node.lineno != row):
                yield make.line(tuple(line))
                line = []
            if small is None:
                yield self._compound(node)
            else:
                line.append(small)
                row = node.end_lineno or 0
        if line:
            yield make.line(tuple(line))

    def _small(self, node: ast.stmt) -> cst.BaseSmallStatement:
        made: cst.BaseSmallStatement = _STATEMENTS[type(node)](self, node)
        self._expressions.extents[id(made)] = extent_of(node)
        return made

    def _compound(self, node: ast.stmt) -> cst.BaseStatement:
        made, parsed = len(self._expressions.extents), len(self._parsed)
        try:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                return self._function(node)
            if isinstance(node, ast.ClassDef):
                return self._class(node)
            if type(node) in _STATEMENTS:
                return _STATEMENTS[type(node)](self, node)  # type: ignore[no-any-return]
        except NoQuickTree:
            self._expressions.forget_since(made)
            del self._parsed[parsed:]
        return self._by_libcst(node)

    def _by_libcst(self, node: ast.stmt) -> cst.BaseStatement:
        """A statement as libcst parses it."""
        first = _first_row(node)
        lines = self._expressions.lines[first : node.end_lineno]
        text = b"\n".join([*lines, b""]).decode(errors="surrogatepass")
        is_inside = text[:1] in (" ", "\t")
        try:
            module = parse_module(f"if _:\n{text}" if is_inside else text)
        except cst.ParserSyntaxError as error:
            raise NoQuickTree(str(error)) from None
        body: Sequence[Any] = module.body
        statements = body[0].body.body if is_inside else body
        if len(statements) != 1 or (isinstance(statements[0], cst.SimpleStatementLine) and len(statements[0].body) > 1):
            raise NoQuickTree("a statement that shares its line with others")
        self._parsed.append((module, statements[0], first - is_inside))
        return statements[0]  # type: ignore[no-any-return]

    def _block(self, nodes: Sequence[ast.stmt]) -> cst.BaseSuite:
        first = nodes[0]
        before = self._expressions.lines[first.lineno - 1][: first.col_offset]
        above = self._expressions.lines[first.lineno - 2]
        is_continued = above.endswith(b"\\") and b"#" not in above  # as in `def f(): \`
        if type(first) in _SIMPLE and (before.strip() or is_continued):
            return make.suite(tuple(map(self._small, nodes)))
        return make.block(tuple(self._statements(nodes)))

    def _expr(self, node: ast.Expr) -> cst.Expr:
        return make.expr(self._expressions.of(node.value))

    def _assign(self, node: ast.Assign) -> cst.Assign:
        targets = tuple(make.assign_target(self._expressions.of(target)) for target in node.targets)
        return make.assign(targets, self._expressions.of(node.value))

    def _aug_assign(self, node: ast.AugAssign) -> cst.AugAssign:
        target = self._expressions.of(node.target)
        return make.aug_assign(target, make.AUGMENTED[type(node.op)](), self._expressions.of(node.value))

    def _ann_assign(self, node: ast.AnnAssign) -> cst.AnnAssign:
        target = self._expressions.of(node.target)
        return make.ann_assign(
            target, make.annotation(self._expressions.of(node.annotation)), self._expressions.optional(node.value)
        )

    def _return(self, node: ast.Return) -> cst.Return:
        return make.return_(self._expressions.optional(node.value))

    def _raise(self, node: ast.Raise) -> cst.Raise:
        cause = None if node.cause is None else make.from_(self._expressions.of(node.cause))
        return make.raise_(self._expressions.optional(node.exc), cause)

    def _assert(self, node: ast.Assert) -> cst.Assert:
        return make.asserted(self._expressions.of(node.test), self._expressions.optional(node.msg))

    def _delete(self, node: ast.Delete) -> cst.Del:
        if len(node.targets) == 1:
            return make.del_(self._expressions.of(node.targets[0]))
        return make.del_(make.tuple_(self._expressions.elements(node.targets)))

    def _names(self, node: ast.Global | ast.Nonlocal) -> cst.BaseSmallStatement:
        made = make.global_ if isinstance(node, ast.Global) else make.nonlocal_
        return made(tuple(make.name_item(make.name(name)) for name in node.names))

    def _import(self, node: ast.Import) -> cst.Import:
        return make.import_(self._aliases(node.names))

    def _import_from(self, node: ast.ImportFrom) -> cst.ImportFrom:
        names = make.import_star() if node.names[0].name == "*" else self._aliases(node.names)
        module = None if node.module is None else _dotted(node.module)
        return make.import_from(module, names, tuple(make.dot() for _ in range(node.level)))

    def _aliases(self, aliases: Sequence[ast.alias]) -> tuple[cst.ImportAlias, ...]:
        return tuple(
            make.import_alias(
                _dotted(alias.name), None if alias.asname is None else make.as_name(make.name(alias.asname))
            )
            for alias in aliases
        )

    def _if(self, node: ast.If) -> cst.If:
        return make.if_(self._expressions.of(node.test), self._block(node.body), self._orelse(node.orelse))

    def _orelse(self, nodes: Sequence[ast.stmt]) -> cst.If | cst.Else | None:
        if len(nodes) == 1 and isinstance(nodes[0], ast.If):
            line = self._expressions.lines[nodes[0].lineno - 1]
            if line.startswith(b"elif", nodes[0].col_offset):
                return self._if(nodes[0])
        return self._else(nodes)

    def _else(self, nodes: Sequence[ast.stmt]) -> cst.Else | None:
        return make.else_(self._block(nodes)) if nodes else None

    def _while(self, node: ast.While) -> cst.While:
        return make.while_(self._expressions.of(node.test), self._block(node.body), self._else(node.orelse))

    def _for(self, node: ast.For | ast.AsyncFor) -> cst.For:
        return make.for_(
            make.asynchronous() if isinstance(node, ast.AsyncFor) else None,
            self._expressions.of(node.target),
            self._expressions.of(node.iter),
            self._block(node.body),
            self._else(node.orelse),
        )

    def _with(self, node: ast.With | ast.AsyncWith) -> cst.With:
        items = tuple(
            make.with_item(
                self._expressions.of(item.context_expr),
                None if item.optional_vars is None else make.as_name(self._expressions.of(item.optional_vars)),
            )
            for item in node.items
        )
        return make.with_(
            make.asynchronous() if isinstance(node, ast.AsyncWith) else None, items, self._block(node.body)
        )

    def _try(self, node: ast.Try) -> cst.Try:
        return make.try_(
            self._block(node.body),
            tuple(
                make.handler(
                    self._expressions.optional(handler.type),
                    None if handler.name is None else make.as_name(make.name(handler.name)),
                    self._block(handler.body),
                )
                for handler in node.handlers
            ),
            self._else(node.orelse),
            make.finally_(self._block(node.finalbody)) if node.finalbody else None,
        )

    # ------------------------------------------------------------------ definitions

    def _class(self, node: ast.ClassDef) -> cst.ClassDef:
        if getattr(node, "type_params", None):
            raise NoQuickTree("type parameters")
        given = self._expressions.arguments(node.bases, node.keywords)
        return make.class_(
            self._decorators(node.decorator_list),
            make.name(node.name),
            tuple(arg for arg in given if arg.keyword is None and arg.star != "**"),
            tuple(arg for arg in given if arg.keyword is not None or arg.star == "**"),
            self._block(node.body),
        )

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> cst.FunctionDef:
        if getattr(node, "type_params", None):
            raise NoQuickTree("type parameters")
        return make.function(
            self._decorators(node.decorator_list),
            make.asynchronous() if isinstance(node, ast.AsyncFunctionDef) else None,
            make.name(node.name),
            self._expressions.parameters(node.args),
            None if node.returns is None else make.annotation(self._expressions.of(node.returns)),
            self._block(node.body),
        )

    def _decorators(self, nodes: Sequence[ast.expr]) -> tuple[cst.Decorator, ...]:
        return tuple(make.decorator(self._expressions.of(node)) for node in nodes)


def _first_row(statement: ast.stmt) -> int:
    """The first line of a statement with its decorators, counted from 0."""
    decorators: Sequence[ast.expr] = getattr(statement, "decorator_list", ())
    return min([statement.lineno, *(each.lineno for each in decorators)]) - 1


def _rows_of(module: cst.Module, statement: cst.BaseStatement, before: int) -> Iterator[tuple[int, int]]:
    """On which lines of the file the expressions of a statement begin, by their ids."""
    expressions = [node for node in walk(statement) if isinstance(node, cst.BaseExpression | cst.Arg)]
    written = recorded(module, expressions)
    ends = [match.start() for match in re.finditer("\n", written.code)]
    for key, (_, _, start, _) in written.places.items():
        yield key, before + bisect(ends, start) + 1


def _dotted(path: str) -> cst.Name | cst.Attribute:
    first, *rest = path.split(".")
    made: cst.Name | cst.Attribute = make.name(first)
    for each in rest:
        made = make.attribute(made, make.name(each))
    return made


_STATEMENTS: dict[type[ast.stmt], Callable[[QuickTree, Any], Any]] = {
    ast.Expr: QuickTree._expr,
    ast.Assign: QuickTree._assign,
    ast.AugAssign: QuickTree._aug_assign,
    ast.AnnAssign: QuickTree._ann_assign,
    ast.Return: QuickTree._return,
    ast.Raise: QuickTree._raise,
    ast.Assert: QuickTree._assert,
    ast.Delete: QuickTree._delete,
    ast.Pass: lambda self, node: make.pass_(),
    ast.Break: lambda self, node: make.break_(),
    ast.Continue: lambda self, node: make.continue_(),
    ast.Global: QuickTree._names,
    ast.Nonlocal: QuickTree._names,
    ast.Import: QuickTree._import,
    ast.ImportFrom: QuickTree._import_from,
    ast.If: QuickTree._if,
    ast.While: QuickTree._while,
    ast.For: QuickTree._for,
    ast.AsyncFor: QuickTree._for,
    ast.With: QuickTree._with,
    ast.AsyncWith: QuickTree._with,
    ast.Try: QuickTree._try,
}
