"""Expressions, parameters and arguments as libcst's nodes, made of what Python's own parser says of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import libcst as cst

from torchlint.file.tree.fast import makers as make

_LITERAL = re.compile(
    r"""[a-zA-Z]{0,2}(?:'''(?:\\.|[^\\])*?'''|\"\"\"(?:\\.|[^\\])*?\"\"\"|'(?:\\.|[^\\'])*'|"(?:\\.|[^\\"])*")""",
    re.DOTALL,
)

_NOTHING = cst.MaybeSentinel.DEFAULT

Placed = ast.expr | ast.keyword | ast.stmt

Extent = tuple[int, int, int, int]
"""The numbers of the first and the last line of something, and the columns, in bytes, where it begins and ends."""


class NoQuickTree(Exception):
    """A text, or a part of it, has no quick tree: only libcst can parse it."""


class Expressions:
    """What makes the nodes of the expressions of a text."""

    def __init__(self, text: str) -> None:
        self.lines = text.encode(errors="surrogatepass").split(b"\n")
        """The lines of the text, in bytes, as Python's parser counts columns."""
        self.extents: dict[int, Extent] = {}
        """Where the nodes that were made stand, by their ids. (Python's own nodes take more: docs/speed.md.)"""

    def forget_since(self, known: int) -> None:
        """Forget what was made after so many nodes and is not used: other nodes may get its ids."""
        while len(self.extents) > known:
            self.extents.popitem()

    def text(self, extent: Extent) -> str:
        """The source that stands there."""
        first, last, start, end = extent
        lines = self.lines
        if first == last:
            return lines[first - 1][start:end].decode(errors="surrogatepass")
        parts = [lines[first - 1][start:], *lines[first : last - 1], lines[last - 1][:end]]
        return b"\n".join(parts).decode(errors="surrogatepass")

    def of(self, node: ast.expr) -> cst.BaseExpression:
        """The node of an expression."""
        kind = type(node)
        if kind not in _EXPRESSIONS:
            raise NoQuickTree(kind.__name__)
        made: cst.BaseExpression = _EXPRESSIONS[kind](self, node)
        self.extents[id(made)] = extent_of(node)
        return made

    def optional(self, node: ast.expr | None) -> cst.BaseExpression | None:
        """The node of an expression, if there is one."""
        return None if node is None else self.of(node)

    def _name(self, node: ast.Name) -> cst.Name:
        return make.name(node.id)

    def _attribute(self, node: ast.Attribute) -> cst.Attribute:
        return make.attribute(self.of(node.value), make.name(node.attr))

    def _call(self, node: ast.Call) -> cst.Call:
        return make.call(self.of(node.func), self.arguments(node.args, node.keywords))

    def arguments(self, args: Sequence[ast.expr], keywords: Sequence[ast.keyword]) -> tuple[cst.Arg, ...]:
        """The arguments of a call, or the bases of a class, in the order of the text."""
        given: Iterable[ast.expr | ast.keyword] = (*args, *keywords)
        if args and keywords and _at(args[-1]) > _at(keywords[0]):
            given = sorted(given, key=_at)
        return tuple(map(self._argument, given))

    def _argument(self, node: ast.expr | ast.keyword) -> cst.Arg:
        if isinstance(node, ast.keyword):
            made = make.arg(make.name(node.arg) if node.arg else None, self.of(node.value), "" if node.arg else "**")
        elif isinstance(node, ast.Starred):
            made = make.arg(None, self.of(node.value), "*")
        else:
            made = make.arg(None, self.of(node), "")
        self.extents[id(made)] = extent_of(node)
        return made

    def _subscript(self, node: ast.Subscript) -> cst.Subscript:
        value, inner = self.of(node.value), node.slice
        several = isinstance(inner, ast.Tuple) and not self._is_bracketed(inner)
        parts = inner.elts if several else [inner]  # type: ignore[attr-defined]
        return make.subscript(value, tuple(make.subscript_element(self._index(each)) for each in parts))

    def _is_bracketed(self, node: ast.Tuple) -> bool:
        """Whether a tuple between ``[]`` has brackets of its own."""
        if not node.elts:
            return True
        first = node.elts[0]
        if _at(node) == _at(first):
            return False
        text, code = self.text(extent_of(node)), self.text(extent_of(first))
        before, _, behind = text.partition(code)
        return before.count("(") > behind.partition(",")[0].count(")")

    def _index(self, node: ast.expr) -> cst.BaseSlice:
        if isinstance(node, ast.Slice):
            return make.slice_(self.optional(node.lower), self.optional(node.upper), self.optional(node.step))
        if isinstance(node, ast.Starred):
            return make.index(self.of(node.value), "*")
        return make.index(self.of(node), None)

    def _binary(self, node: ast.BinOp) -> cst.BinaryOperation:
        left = self.of(node.left)
        return make.binary(left, make.BINARY[type(node.op)](), self.of(node.right))

    def _boolean(self, node: ast.BoolOp) -> cst.BaseExpression:
        made = self.of(node.values[0])
        for each in node.values[1:]:
            made = make.boolean(made, make.BOOLEAN[type(node.op)](), self.of(each))
            self.extents[id(made)] = _until(node, each)
        return made

    def _unary(self, node: ast.UnaryOp) -> cst.UnaryOperation:
        return make.unary(make.UNARY[type(node.op)](), self.of(node.operand))

    def _comparison(self, node: ast.Compare) -> cst.Comparison:
        left = self.of(node.left)
        pairs = zip(node.ops, node.comparators, strict=True)
        return make.comparison(
            left, tuple(make.comparison_target(make.COMPARED[type(o)](), self.of(c)) for o, c in pairs)
        )

    def _if_exp(self, node: ast.IfExp) -> cst.IfExp:
        return make.if_exp(self.of(node.body), self.of(node.test), self.of(node.orelse))

    def _named(self, node: ast.NamedExpr) -> cst.NamedExpr:
        return make.named(self.of(node.target), self.of(node.value))

    def _await(self, node: ast.Await) -> cst.Await:
        return make.await_(self.of(node.value))

    def _yield(self, node: ast.Yield) -> cst.Yield:
        return make.yield_(self.optional(node.value))

    def _yield_from(self, node: ast.YieldFrom) -> cst.Yield:
        return make.yield_(make.from_(self.of(node.value)))

    def _lambda(self, node: ast.Lambda) -> cst.Lambda:
        return make.lambda_(self.parameters(node.args), self.of(node.body))

    def elements(self, nodes: Iterable[ast.expr]) -> tuple[cst.BaseElement, ...]:
        """The elements of a list, a tuple or a set."""
        return tuple(
            make.starred(self.of(node.value)) if type(node) is ast.Starred else make.element(self.of(node))
            for node in nodes
        )

    def _tuple(self, node: ast.Tuple) -> cst.Tuple:
        return make.tuple_(self.elements(node.elts))

    def _list(self, node: ast.List) -> cst.List:
        return make.list_(self.elements(node.elts))

    def _set(self, node: ast.Set) -> cst.Set:
        return make.set_(self.elements(node.elts))

    def _dict(self, node: ast.Dict) -> cst.Dict:
        pairs = zip(node.keys, node.values, strict=True)
        return make.dict_(
            tuple(
                make.starred_dict(self.of(value)) if key is None else make.dict_element(self.of(key), self.of(value))
                for key, value in pairs
            )
        )

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> cst.BaseExpression:
        return make.COMPREHENSIONS[type(node)](self.of(node.elt), self._for_in(node.generators))

    def _dict_comp(self, node: ast.DictComp) -> cst.DictComp:
        return make.dict_comp(self.of(node.key), self.of(node.value), self._for_in(node.generators))

    def _for_in(self, generators: Sequence[ast.comprehension]) -> cst.CompFor:
        first, *others = generators
        return make.comp_for(
            make.asynchronous() if first.is_async else None,
            self.of(first.target),
            self.of(first.iter),
            tuple(make.comp_if(self.of(test)) for test in first.ifs),
            self._for_in(others) if others else None,
        )

    def _constant(self, node: ast.Constant) -> cst.BaseExpression:
        value = node.value
        if value is None or value is True or value is False:
            return make.name(str(value))
        if isinstance(value, str | bytes):
            return self._literal(node)
        if isinstance(value, int):
            is_digit = node.end_col_offset == node.col_offset + 1 and 0 <= value <= 9
            return make.integer(str(value) if is_digit else self.text(extent_of(node)))
        if value is Ellipsis:
            return make.ellipsis()
        return (make.float if isinstance(value, float) else make.imaginary)(self.text(extent_of(node)))

    def _literal(self, node: ast.Constant) -> cst.BaseExpression:
        text = self.text(extent_of(node))
        quote = text[:3] if text.startswith(("'''", '"""')) else text[:1]
        if quote[0] in "'\"" and text.find(quote, len(quote)) == len(text) - len(quote):
            return make.string(text)  # as most are
        first = _LITERAL.match(text)
        if first is not None and first.end() == len(text):
            return make.string(text)
        *pieces, last = _literals(text)
        made: cst.BaseExpression = make.string(last)
        for piece in reversed(pieces):
            made = make.concatenated(make.string(piece), made)
        return made

    def _formatted(self, node: ast.JoinedStr) -> cst.FormattedString:
        return make.formatted(self._parts(node))

    def _parts(self, node: ast.JoinedStr) -> tuple[cst.BaseFormattedStringContent, ...]:
        parts: list[cst.BaseFormattedStringContent] = []
        for each in node.values:
            if isinstance(each, ast.FormattedValue):
                spec = self._parts(each.format_spec) if isinstance(each.format_spec, ast.JoinedStr) else None
                conversion = chr(each.conversion) if each.conversion >= 0 else None
                parts.append(make.formatted_expression(self.of(each.value), conversion, spec))
            elif isinstance(each, ast.Constant):
                parts.append(make.formatted_text(each.value))
        return tuple(parts)

    def parameters(self, given: ast.arguments) -> cst.Parameters:
        """The parameters of a function."""
        plain = [*given.posonlyargs, *given.args]
        defaults = [*[None] * (len(plain) - len(given.defaults)), *given.defaults]
        params = [self._param(arg, default) for arg, default in zip(plain, defaults, strict=True)]
        positional = len(given.posonlyargs)
        star: cst.Param | cst.ParamStar | cst.MaybeSentinel = _NOTHING
        if given.vararg is not None:
            star = self._param(given.vararg, None, "*")
        elif given.kwonlyargs:
            star = make.param_star()
        return make.parameters(
            tuple(params[:positional]),
            make.param_slash() if positional else _NOTHING,
            tuple(params[positional:]),
            star,
            tuple(self._param(arg, default) for arg, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)),
            None if given.kwarg is None else self._param(given.kwarg, None, "**"),
        )

    def _param(self, arg: ast.arg, default: ast.expr | None, star: str = "") -> cst.Param:
        annotation = None if arg.annotation is None else make.annotation(self.of(arg.annotation))
        return make.param(make.name(arg.arg), annotation, self.optional(default), star)


def extent_of(node: Placed) -> Extent:
    """Where a node stands."""
    return node.lineno, node.end_lineno or 0, node.col_offset, node.end_col_offset or 0


def _until(node: ast.BoolOp, last: ast.expr) -> Extent:
    """Where the first terms of an operation with several stand."""
    return node.lineno, last.end_lineno or 0, node.col_offset, last.end_col_offset or 0


def _at(node: ast.expr | ast.keyword) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _literals(text: str) -> list[str]:
    """The literals that are written one behind the other, with white space and comments in between."""
    found, at = [], 0
    while at < len(text):
        literal = _LITERAL.match(text, at)
        if literal is not None:
            found.append(literal.group())
            at = literal.end()
        elif text[at] == "#":
            at = text.find("\n", at) % (len(text) + 1)
        else:
            at += 1
    if not found:
        raise NoQuickTree("a literal of another form")
    return found


_EXPRESSIONS: dict[type[ast.expr], Callable[[Expressions, Any], Any]] = {
    ast.Name: Expressions._name,
    ast.Attribute: Expressions._attribute,
    ast.Call: Expressions._call,
    ast.Constant: Expressions._constant,
    ast.Subscript: Expressions._subscript,
    ast.BinOp: Expressions._binary,
    ast.BoolOp: Expressions._boolean,
    ast.UnaryOp: Expressions._unary,
    ast.Compare: Expressions._comparison,
    ast.IfExp: Expressions._if_exp,
    ast.NamedExpr: Expressions._named,
    ast.Await: Expressions._await,
    ast.Yield: Expressions._yield,
    ast.YieldFrom: Expressions._yield_from,
    ast.Lambda: Expressions._lambda,
    ast.Tuple: Expressions._tuple,
    ast.List: Expressions._list,
    ast.Set: Expressions._set,
    ast.Dict: Expressions._dict,
    ast.ListComp: Expressions._comprehension,
    ast.SetComp: Expressions._comprehension,
    ast.GeneratorExp: Expressions._comprehension,
    ast.DictComp: Expressions._dict_comp,
    ast.JoinedStr: Expressions._formatted,
}
