"""libcst's nodes, made of what Python's own parser says: no white space, no comments, no brackets, a tenth of the time.

Most files have nothing to report. A sketch is enough to see that, and to know what other files define; where something
is found libcst parses the text itself. So a sketch has to answer as libcst's tree does, and nothing is ever written
from one. Statements that are too rare to be known here libcst parses one by one.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import libcst as cst

from torchlint.file.tree.fast import late_bodies
from torchlint.file.tree.fast.late_bodies import Text
from torchlint.file.tree.nodes import is_trivia, parse_module

N = TypeVar("N", bound=cst.CSTNode)


class NoQuickTree(Exception):
    """A text, or a part of it, that only libcst can parse."""


_TYPE_COMMENT = re.compile(r"#[ \t]*type:(?![ \t]*ignore)")
_LITERAL = re.compile(
    r"""[a-zA-Z]{0,2}(?:'''(?:\\.|[^\\])*?'''|\"\"\"(?:\\.|[^\\])*?\"\"\"|'(?:\\.|[^\\'])*'|"(?:\\.|[^\\"])*")""",
    re.DOTALL,
)


def is_possible(text: str) -> bool:
    """Whether a text may be sketched: not if comments mean something in it, or its lines are not only ended by LF."""
    return "\f" not in text and "\r" not in text and _TYPE_COMMENT.search(text) is None


# ---------------------------------------------------------------------- making nodes


_LOOKED_AT = ("lpar", "leading_lines", "header", "indent", "footer", "comma", "whitespace_after_param")
"""Fields that are no syntax and that somebody may look at all the same: they have the values they have by default."""


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    return field.default_factory() if field.default_factory is not dataclasses.MISSING else None


def _maker(cls: type[N], *names: str) -> Callable[..., N]:
    """What makes nodes of a class from the values of some fields.

    It is written out, as :mod:`dataclasses` writes constructors, for this is where the time goes. libcst's own take
    four times as long: their nodes are frozen, and validated. Fields for white space are not even set: who reads one
    gets an ``AttributeError``, and the text goes to libcst.
    """
    scope: dict[str, Any] = {"cls": cls, "new": object.__new__}
    lines = [f"def make({', '.join(names)}):", "    node = new(cls)"]
    for field in dataclasses.fields(cls):
        name = field.name
        if name in names or name in _LOOKED_AT or not is_trivia(name):
            scope[f"set_{name}"] = getattr(cls, name).__set__
            if name not in names:
                scope[name] = _default(field)
            lines.append(f"    set_{name}(node, {name})")
    exec("\n".join([*lines, "    return node"]), scope)
    return scope["make"]  # type: ignore[no-any-return]


_name = _maker(cst.Name, "value")
_attribute = _maker(cst.Attribute, "value", "attr")
_call = _maker(cst.Call, "func", "args")
_arg = _maker(cst.Arg, "keyword", "value", "star")
_subscript = _maker(cst.Subscript, "value", "slice")
_subscript_element = _maker(cst.SubscriptElement, "slice")
_index = _maker(cst.Index, "value", "star")
_slice = _maker(cst.Slice, "lower", "upper", "step")
_binary = _maker(cst.BinaryOperation, "left", "operator", "right")
_boolean = _maker(cst.BooleanOperation, "left", "operator", "right")
_unary = _maker(cst.UnaryOperation, "operator", "expression")
_comparison = _maker(cst.Comparison, "left", "comparisons")
_comparison_target = _maker(cst.ComparisonTarget, "operator", "comparator")
_if_exp = _maker(cst.IfExp, "body", "test", "orelse")
_named = _maker(cst.NamedExpr, "target", "value")
_await = _maker(cst.Await, "expression")
_yield = _maker(cst.Yield, "value")
_from = _maker(cst.From, "item")
_lambda = _maker(cst.Lambda, "params", "body")
_element = _maker(cst.Element, "value")
_starred = _maker(cst.StarredElement, "value")
_dict_element = _maker(cst.DictElement, "key", "value")
_starred_dict = _maker(cst.StarredDictElement, "value")
_tuple = _maker(cst.Tuple, "elements")
_list = _maker(cst.List, "elements")
_set = _maker(cst.Set, "elements")
_dict = _maker(cst.Dict, "elements")
_dict_comp = _maker(cst.DictComp, "key", "value", "for_in")
_comp_for = _maker(cst.CompFor, "asynchronous", "target", "iter", "ifs", "inner_for_in")
_comp_if = _maker(cst.CompIf, "test")
_string = _maker(cst.SimpleString, "value")
_concatenated = _maker(cst.ConcatenatedString, "left", "right")
_integer = _maker(cst.Integer, "value")
_float = _maker(cst.Float, "value")
_imaginary = _maker(cst.Imaginary, "value")
_ellipsis = _maker(cst.Ellipsis)
_formatted = _maker(cst.FormattedString, "parts")
_formatted_text = _maker(cst.FormattedStringText, "value")
_formatted_expression = _maker(cst.FormattedStringExpression, "expression", "conversion", "format_spec")
_asynchronous = _maker(cst.Asynchronous)

_line = _maker(cst.SimpleStatementLine, "body")
_suite = _maker(cst.SimpleStatementSuite, "body")
_block = _maker(cst.IndentedBlock, "body")
_expr = _maker(cst.Expr, "value")
_assign = _maker(cst.Assign, "targets", "value")
_assign_target = _maker(cst.AssignTarget, "target")
_aug_assign = _maker(cst.AugAssign, "target", "operator", "value")
_ann_assign = _maker(cst.AnnAssign, "target", "annotation", "value")
_annotation = _maker(cst.Annotation, "annotation")
_return = _maker(cst.Return, "value")
_raise = _maker(cst.Raise, "exc", "cause")
_assert = _maker(cst.Assert, "test", "msg")
_del = _maker(cst.Del, "target")
_pass, _break, _continue = _maker(cst.Pass), _maker(cst.Break), _maker(cst.Continue)
_global = _maker(cst.Global, "names")
_nonlocal = _maker(cst.Nonlocal, "names")
_name_item = _maker(cst.NameItem, "name")
_import = _maker(cst.Import, "names")
_import_from = _maker(cst.ImportFrom, "module", "names", "relative")
_import_alias = _maker(cst.ImportAlias, "name", "asname")
_import_star = _maker(cst.ImportStar)
_dot = _maker(cst.Dot)
_as_name = _maker(cst.AsName, "name")
_if = _maker(cst.If, "test", "body", "orelse")
_else = _maker(cst.Else, "body")
_while = _maker(cst.While, "test", "body", "orelse")
_for = _maker(cst.For, "asynchronous", "target", "iter", "body", "orelse")
_with = _maker(cst.With, "asynchronous", "items", "body")
_with_item = _maker(cst.WithItem, "item", "asname")
_try = _maker(cst.Try, "body", "handlers", "orelse", "finalbody")
_handler = _maker(cst.ExceptHandler, "type", "name", "body")
_finally = _maker(cst.Finally, "body")
_function = _maker(cst.FunctionDef, "decorators", "asynchronous", "name", "params", "returns", "body")
_class = _maker(cst.ClassDef, "decorators", "name", "bases", "keywords", "body")
_decorator = _maker(cst.Decorator, "decorator")
_parameters = _maker(
    cst.Parameters, "posonly_params", "posonly_ind", "params", "star_arg", "kwonly_params", "star_kwarg"
)
_param = _maker(cst.Param, "name", "annotation", "default", "star")
_param_star = _maker(cst.ParamStar)
_param_slash = _maker(cst.ParamSlash)
_module = _maker(cst.Module, "body")

_COMPREHENSIONS = {
    ast.ListComp: _maker(cst.ListComp, "elt", "for_in"),
    ast.SetComp: _maker(cst.SetComp, "elt", "for_in"),
    ast.GeneratorExp: _maker(cst.GeneratorExp, "elt", "for_in"),
}
_OPERATORS: dict[type[ast.operator], tuple[type[cst.CSTNode], type[cst.CSTNode]]] = {
    ast.Add: (cst.Add, cst.AddAssign),
    ast.Sub: (cst.Subtract, cst.SubtractAssign),
    ast.Mult: (cst.Multiply, cst.MultiplyAssign),
    ast.MatMult: (cst.MatrixMultiply, cst.MatrixMultiplyAssign),
    ast.Div: (cst.Divide, cst.DivideAssign),
    ast.FloorDiv: (cst.FloorDivide, cst.FloorDivideAssign),
    ast.Mod: (cst.Modulo, cst.ModuloAssign),
    ast.Pow: (cst.Power, cst.PowerAssign),
    ast.LShift: (cst.LeftShift, cst.LeftShiftAssign),
    ast.RShift: (cst.RightShift, cst.RightShiftAssign),
    ast.BitAnd: (cst.BitAnd, cst.BitAndAssign),
    ast.BitOr: (cst.BitOr, cst.BitOrAssign),
    ast.BitXor: (cst.BitXor, cst.BitXorAssign),
}
_BINARY = {each: _maker(plain) for each, (plain, _) in _OPERATORS.items()}
_AUGMENTED = {each: _maker(augmented) for each, (_, augmented) in _OPERATORS.items()}
_BOOLEAN = {ast.And: _maker(cst.And), ast.Or: _maker(cst.Or)}
_UNARY = {
    ast.Not: _maker(cst.Not),
    ast.USub: _maker(cst.Minus),
    ast.UAdd: _maker(cst.Plus),
    ast.Invert: _maker(cst.BitInvert),
}
_COMPARED = {
    ast.Eq: _maker(cst.Equal),
    ast.NotEq: _maker(cst.NotEqual),
    ast.Lt: _maker(cst.LessThan),
    ast.LtE: _maker(cst.LessThanEqual),
    ast.Gt: _maker(cst.GreaterThan),
    ast.GtE: _maker(cst.GreaterThanEqual),
    ast.Is: _maker(cst.Is),
    ast.IsNot: _maker(cst.IsNot),
    ast.In: _maker(cst.In),
    ast.NotIn: _maker(cst.NotIn),
}
_NOTHING = cst.MaybeSentinel.DEFAULT
_SIMPLE = (
    *(ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Raise, ast.Assert, ast.Delete),
    *(ast.Pass, ast.Break, ast.Continue, ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom),
)


# ---------------------------------------------------------------------- the sketch


_Placed = ast.expr | ast.keyword | ast.stmt


class Sketch:
    """The sketch of a text."""

    def __init__(
        self, text: str, is_wanted: Callable[[int, int], bool] | None, read: Callable[[late_bodies.LateBody, Text], None]
    ) -> None:
        """Sketch a text but for the bodies of functions that are not wanted (:mod:`torchlint.file.tree.fast.late_bodies`).

        Raises:
            NoQuickTree: it cannot be.
        """
        if not is_possible(text):
            raise NoQuickTree("comments that mean something, or other ends of lines")
        self._rows = text.split("\n")
        self._lines = text.encode(errors="surrogatepass").split(b"\n")
        self._is_wanted = is_wanted
        self._read = read
        self._origins: dict[int, _Placed] = {}
        tree = late_bodies.python_tree(text)
        if tree is None:
            raise NoQuickTree("no Python")
        self.module = _module(tuple(self._statements(tree.body, is_top=True)))

    def code(self, node: cst.CSTNode) -> str | None:
        """The source of an expression, an argument or a simple statement; None where that is not known.

        Brackets around an expression are left out.
        """
        origin = self._origins.get(id(node))
        if origin is not None:
            return self._text(origin)
        if isinstance(node, cst.SimpleStatementLine):
            return "; ".join(self.code(each) or "" for each in node.body)
        return node.value if isinstance(node, cst.Name) else None

    def _text(self, node: _Placed) -> str:
        first, last, start, end = node.lineno - 1, (node.end_lineno or 0) - 1, node.col_offset, node.end_col_offset
        lines = self._lines
        if first == last:
            return lines[first][start:end].decode(errors="surrogatepass")
        parts = [lines[first][start:], *lines[first + 1 : last], lines[last][:end]]
        return b"\n".join(parts).decode(errors="surrogatepass")

    # ------------------------------------------------------------------ expressions

    def _expression(self, node: ast.expr) -> cst.BaseExpression:
        kind = type(node)
        if kind not in _EXPRESSIONS:
            raise NoQuickTree(kind.__name__)
        made: cst.BaseExpression = _EXPRESSIONS[kind](self, node)
        self._origins[id(made)] = node
        return made

    def _optional(self, node: ast.expr | None) -> cst.BaseExpression | None:
        return None if node is None else self._expression(node)

    def _name(self, node: ast.Name) -> cst.Name:
        return _name(node.id)

    def _attribute(self, node: ast.Attribute) -> cst.Attribute:
        return _attribute(self._expression(node.value), _name(node.attr))

    def _call(self, node: ast.Call) -> cst.Call:
        return _call(self._expression(node.func), self._arguments(node.args, node.keywords))

    def _arguments(self, args: Sequence[ast.expr], keywords: Sequence[ast.keyword]) -> tuple[cst.Arg, ...]:
        given: Iterable[ast.expr | ast.keyword] = (*args, *keywords)
        if args and keywords and _at(args[-1]) > _at(keywords[0]):
            given = sorted(given, key=_at)
        return tuple(map(self._argument, given))

    def _argument(self, node: ast.expr | ast.keyword) -> cst.Arg:
        if isinstance(node, ast.keyword):
            made = _arg(_name(node.arg) if node.arg else None, self._expression(node.value), "" if node.arg else "**")
        elif isinstance(node, ast.Starred):
            made = _arg(None, self._expression(node.value), "*")
        else:
            made = _arg(None, self._expression(node), "")
        self._origins[id(made)] = node
        return made

    def _subscript(self, node: ast.Subscript) -> cst.Subscript:
        value, inner = self._expression(node.value), node.slice
        several = isinstance(inner, ast.Tuple) and not self._is_bracketed(inner)
        parts = inner.elts if several else [inner]  # type: ignore[attr-defined]
        return _subscript(value, tuple(_subscript_element(self._index(each)) for each in parts))

    def _is_bracketed(self, node: ast.Tuple) -> bool:
        """Whether a tuple between ``[]`` has brackets of its own."""
        if not node.elts:
            return True
        first = node.elts[0]
        if _at(node) == _at(first):
            return False
        text, code = self._text(node), self._text(first)
        before, _, behind = text.partition(code)
        return before.count("(") > behind.partition(",")[0].count(")")

    def _index(self, node: ast.expr) -> cst.BaseSlice:
        if isinstance(node, ast.Slice):
            return _slice(self._optional(node.lower), self._optional(node.upper), self._optional(node.step))
        if isinstance(node, ast.Starred):
            return _index(self._expression(node.value), "*")
        return _index(self._expression(node), None)

    def _binary(self, node: ast.BinOp) -> cst.BinaryOperation:
        left = self._expression(node.left)
        return _binary(left, _BINARY[type(node.op)](), self._expression(node.right))

    def _boolean(self, node: ast.BoolOp) -> cst.BaseExpression:
        made = self._expression(node.values[0])
        for each in node.values[1:]:
            made = _boolean(made, _BOOLEAN[type(node.op)](), self._expression(each))
            self._origins[id(made)] = _until(node, each)
        return made

    def _unary(self, node: ast.UnaryOp) -> cst.UnaryOperation:
        return _unary(_UNARY[type(node.op)](), self._expression(node.operand))

    def _comparison(self, node: ast.Compare) -> cst.Comparison:
        left = self._expression(node.left)
        pairs = zip(node.ops, node.comparators, strict=True)
        return _comparison(left, tuple(_comparison_target(_COMPARED[type(o)](), self._expression(c)) for o, c in pairs))

    def _if_exp(self, node: ast.IfExp) -> cst.IfExp:
        return _if_exp(self._expression(node.body), self._expression(node.test), self._expression(node.orelse))

    def _named(self, node: ast.NamedExpr) -> cst.NamedExpr:
        return _named(self._expression(node.target), self._expression(node.value))

    def _await(self, node: ast.Await) -> cst.Await:
        return _await(self._expression(node.value))

    def _yield(self, node: ast.Yield) -> cst.Yield:
        return _yield(self._optional(node.value))

    def _yield_from(self, node: ast.YieldFrom) -> cst.Yield:
        return _yield(_from(self._expression(node.value)))

    def _lambda(self, node: ast.Lambda) -> cst.Lambda:
        return _lambda(self._parameters(node.args), self._expression(node.body))

    def _elements(self, nodes: Iterable[ast.expr]) -> tuple[cst.BaseElement, ...]:
        return tuple(
            _starred(self._expression(node.value)) if type(node) is ast.Starred else _element(self._expression(node))
            for node in nodes
        )

    def _tuple(self, node: ast.Tuple) -> cst.Tuple:
        return _tuple(self._elements(node.elts))

    def _list(self, node: ast.List) -> cst.List:
        return _list(self._elements(node.elts))

    def _set(self, node: ast.Set) -> cst.Set:
        return _set(self._elements(node.elts))

    def _dict(self, node: ast.Dict) -> cst.Dict:
        pairs = zip(node.keys, node.values, strict=True)
        return _dict(
            tuple(
                _starred_dict(self._expression(value))
                if key is None
                else _dict_element(self._expression(key), self._expression(value))
                for key, value in pairs
            )
        )

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> cst.BaseExpression:
        return _COMPREHENSIONS[type(node)](self._expression(node.elt), self._for_in(node.generators))

    def _dict_comp(self, node: ast.DictComp) -> cst.DictComp:
        return _dict_comp(self._expression(node.key), self._expression(node.value), self._for_in(node.generators))

    def _for_in(self, generators: Sequence[ast.comprehension]) -> cst.CompFor:
        first, *others = generators
        return _comp_for(
            _asynchronous() if first.is_async else None,
            self._expression(first.target),
            self._expression(first.iter),
            tuple(_comp_if(self._expression(test)) for test in first.ifs),
            self._for_in(others) if others else None,
        )

    def _constant(self, node: ast.Constant) -> cst.BaseExpression:
        value = node.value
        if value is None or value is True or value is False:
            return _name(str(value))
        if isinstance(value, str | bytes):
            return self._literal(node)
        if isinstance(value, int):
            is_digit = node.end_col_offset == node.col_offset + 1 and 0 <= value <= 9
            return _integer(str(value) if is_digit else self._text(node))
        if value is Ellipsis:
            return _ellipsis()
        return (_float if isinstance(value, float) else _imaginary)(self._text(node))

    def _literal(self, node: ast.Constant) -> cst.BaseExpression:
        text = self._text(node)
        quote = text[:3] if text.startswith(("'''", '"""')) else text[:1]
        if quote[0] in "'\"" and text.find(quote, len(quote)) == len(text) - len(quote):
            return _string(text)  # as most are
        first = _LITERAL.match(text)
        if first is not None and first.end() == len(text):
            return _string(text)
        *pieces, last = _literals(text)
        made: cst.BaseExpression = _string(last)
        for piece in reversed(pieces):
            made = _concatenated(_string(piece), made)
        return made

    def _formatted(self, node: ast.JoinedStr) -> cst.FormattedString:
        return _formatted(self._parts(node))

    def _parts(self, node: ast.JoinedStr) -> tuple[cst.BaseFormattedStringContent, ...]:
        parts: list[cst.BaseFormattedStringContent] = []
        for each in node.values:
            if isinstance(each, ast.FormattedValue):
                spec = self._parts(each.format_spec) if isinstance(each.format_spec, ast.JoinedStr) else None
                conversion = chr(each.conversion) if each.conversion >= 0 else None
                parts.append(_formatted_expression(self._expression(each.value), conversion, spec))
            elif isinstance(each, ast.Constant):
                parts.append(_formatted_text(each.value))
        return tuple(parts)

    # ------------------------------------------------------------------ statements

    def _statements(self, nodes: Sequence[ast.stmt], is_top: bool = False) -> Iterator[cst.BaseStatement]:
        """Statements of a block or a module, those that share a line together."""
        line: list[cst.BaseSmallStatement] = []
        row = 0
        for node in nodes:
            small = self._small(node) if type(node) in _SIMPLE else None
            if line and (small is None or node.lineno != row):
                yield _line(tuple(line))
                line = []
            if small is None:
                yield self._compound(node, is_top)
            else:
                line.append(small)
                row = node.end_lineno or 0
        if line:
            yield _line(tuple(line))

    def _small(self, node: ast.stmt) -> cst.BaseSmallStatement:
        made: cst.BaseSmallStatement = _STATEMENTS[type(node)](self, node)
        self._origins[id(made)] = node
        return made

    def _compound(self, node: ast.stmt, is_top: bool) -> cst.BaseStatement:
        try:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                return self._function(node, is_top)
            if isinstance(node, ast.ClassDef):
                return self._class(node, is_top)
            if type(node) in _STATEMENTS:
                return _STATEMENTS[type(node)](self, node)  # type: ignore[no-any-return]
        except NoQuickTree:
            pass
        return self._by_libcst(node)

    def _by_libcst(self, node: ast.stmt) -> cst.BaseStatement:
        """A statement as libcst parses it."""
        lines = self._lines[late_bodies.first_row(node) : node.end_lineno]
        text = b"\n".join([*lines, b""]).decode(errors="surrogatepass")
        is_inside = text[:1] in (" ", "\t")
        try:
            body: Sequence[Any] = parse_module(f"if _:\n{text}" if is_inside else text).body
        except cst.ParserSyntaxError as error:
            raise NoQuickTree(str(error)) from None
        statements = body[0].body.body if is_inside else body
        if len(statements) != 1 or (isinstance(statements[0], cst.SimpleStatementLine) and len(statements[0].body) > 1):
            raise NoQuickTree("a statement that shares its line with others")
        return statements[0]  # type: ignore[no-any-return]

    def _block(self, nodes: Sequence[ast.stmt], is_top: bool = False) -> cst.BaseSuite:
        first = nodes[0]
        if type(first) in _SIMPLE and self._lines[first.lineno - 1][: first.col_offset].strip():
            return _suite(tuple(map(self._small, nodes)))
        return _block(tuple(self._statements(nodes, is_top)))

    def _expr(self, node: ast.Expr) -> cst.Expr:
        return _expr(self._expression(node.value))

    def _assign(self, node: ast.Assign) -> cst.Assign:
        targets = tuple(_assign_target(self._expression(target)) for target in node.targets)
        return _assign(targets, self._expression(node.value))

    def _aug_assign(self, node: ast.AugAssign) -> cst.AugAssign:
        target = self._expression(node.target)
        return _aug_assign(target, _AUGMENTED[type(node.op)](), self._expression(node.value))

    def _ann_assign(self, node: ast.AnnAssign) -> cst.AnnAssign:
        target = self._expression(node.target)
        return _ann_assign(target, _annotation(self._expression(node.annotation)), self._optional(node.value))

    def _return(self, node: ast.Return) -> cst.Return:
        return _return(self._optional(node.value))

    def _raise(self, node: ast.Raise) -> cst.Raise:
        cause = None if node.cause is None else _from(self._expression(node.cause))
        return _raise(self._optional(node.exc), cause)

    def _assert(self, node: ast.Assert) -> cst.Assert:
        return _assert(self._expression(node.test), self._optional(node.msg))

    def _delete(self, node: ast.Delete) -> cst.Del:
        if len(node.targets) == 1:
            return _del(self._expression(node.targets[0]))
        return _del(_tuple(self._elements(node.targets)))

    def _names(self, node: ast.Global | ast.Nonlocal) -> cst.BaseSmallStatement:
        make = _global if isinstance(node, ast.Global) else _nonlocal
        return make(tuple(_name_item(_name(name)) for name in node.names))

    def _import(self, node: ast.Import) -> cst.Import:
        return _import(self._aliases(node.names))

    def _import_from(self, node: ast.ImportFrom) -> cst.ImportFrom:
        names = _import_star() if node.names[0].name == "*" else self._aliases(node.names)
        module = None if node.module is None else _dotted(node.module)
        return _import_from(module, names, tuple(_dot() for _ in range(node.level)))

    def _aliases(self, aliases: Sequence[ast.alias]) -> tuple[cst.ImportAlias, ...]:
        return tuple(
            _import_alias(_dotted(alias.name), None if alias.asname is None else _as_name(_name(alias.asname)))
            for alias in aliases
        )

    def _if(self, node: ast.If) -> cst.If:
        return _if(self._expression(node.test), self._block(node.body), self._orelse(node.orelse))

    def _orelse(self, nodes: Sequence[ast.stmt]) -> cst.If | cst.Else | None:
        if len(nodes) == 1 and isinstance(nodes[0], ast.If):
            line = self._lines[nodes[0].lineno - 1]
            if line.startswith(b"elif", nodes[0].col_offset):
                return self._if(nodes[0])
        return self._else(nodes)

    def _else(self, nodes: Sequence[ast.stmt]) -> cst.Else | None:
        return _else(self._block(nodes)) if nodes else None

    def _while(self, node: ast.While) -> cst.While:
        return _while(self._expression(node.test), self._block(node.body), self._else(node.orelse))

    def _for(self, node: ast.For | ast.AsyncFor) -> cst.For:
        return _for(
            _asynchronous() if isinstance(node, ast.AsyncFor) else None,
            self._expression(node.target),
            self._expression(node.iter),
            self._block(node.body),
            self._else(node.orelse),
        )

    def _with(self, node: ast.With | ast.AsyncWith) -> cst.With:
        items = tuple(
            _with_item(
                self._expression(item.context_expr),
                None if item.optional_vars is None else _as_name(self._expression(item.optional_vars)),
            )
            for item in node.items
        )
        return _with(_asynchronous() if isinstance(node, ast.AsyncWith) else None, items, self._block(node.body))

    def _try(self, node: ast.Try) -> cst.Try:
        return _try(
            self._block(node.body),
            tuple(
                _handler(
                    self._optional(handler.type),
                    None if handler.name is None else _as_name(_name(handler.name)),
                    self._block(handler.body),
                )
                for handler in node.handlers
            ),
            self._else(node.orelse),
            _finally(self._block(node.finalbody)) if node.finalbody else None,
        )

    # ------------------------------------------------------------------ definitions

    def _class(self, node: ast.ClassDef, is_top: bool) -> cst.ClassDef:
        if getattr(node, "type_params", None):
            raise NoQuickTree("type parameters")
        given = self._arguments(node.bases, node.keywords)
        return _class(
            self._decorators(node.decorator_list),
            _name(node.name),
            tuple(arg for arg in given if arg.keyword is None and arg.star != "**"),
            tuple(arg for arg in given if arg.keyword is not None or arg.star == "**"),
            self._block(node.body, is_top),
        )

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, is_top: bool) -> cst.FunctionDef:
        if getattr(node, "type_params", None):
            raise NoQuickTree("type parameters")
        return _function(
            self._decorators(node.decorator_list),
            _asynchronous() if isinstance(node, ast.AsyncFunctionDef) else None,
            _name(node.name),
            self._parameters(node.args),
            None if node.returns is None else _annotation(self._expression(node.returns)),
            self._body(node) if is_top else self._block(node.body),
        )

    def _body(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> cst.BaseSuite:
        """The body of a function at the top, unread if it is not wanted."""
        body = late_bodies.body_of(node, self._rows, "", self._is_wanted) if self._is_wanted is not None else None
        if body is None:
            return self._block(node.body)
        raw = body.text(self._rows)
        block = _block(())
        late_bodies.close(block, Text(raw, lambda: (self._block(node.body), self.module.default_indent), self._read))
        return block

    def _decorators(self, nodes: Sequence[ast.expr]) -> tuple[cst.Decorator, ...]:
        return tuple(_decorator(self._expression(node)) for node in nodes)

    def _parameters(self, given: ast.arguments) -> cst.Parameters:
        plain = [*given.posonlyargs, *given.args]
        defaults = [*[None] * (len(plain) - len(given.defaults)), *given.defaults]
        params = [self._param(arg, default) for arg, default in zip(plain, defaults, strict=True)]
        positional = len(given.posonlyargs)
        star: cst.Param | cst.ParamStar | cst.MaybeSentinel = _NOTHING
        if given.vararg is not None:
            star = self._param(given.vararg, None, "*")
        elif given.kwonlyargs:
            star = _param_star()
        return _parameters(
            tuple(params[:positional]),
            _param_slash() if positional else _NOTHING,
            tuple(params[positional:]),
            star,
            tuple(self._param(arg, default) for arg, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)),
            None if given.kwarg is None else self._param(given.kwarg, None, "**"),
        )

    def _param(self, arg: ast.arg, default: ast.expr | None, star: str = "") -> cst.Param:
        annotation = None if arg.annotation is None else _annotation(self._expression(arg.annotation))
        return _param(_name(arg.arg), annotation, self._optional(default), star)


def _until(node: ast.BoolOp, last: ast.expr) -> ast.BoolOp:
    """The first terms of an operation with several."""
    first = ast.BoolOp(node.op, node.values)
    first.lineno, first.col_offset = node.lineno, node.col_offset
    first.end_lineno, first.end_col_offset = last.end_lineno, last.end_col_offset
    return first


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


def _dotted(path: str) -> cst.Name | cst.Attribute:
    first, *rest = path.split(".")
    made: cst.Name | cst.Attribute = _name(first)
    for each in rest:
        made = _attribute(made, _name(each))
    return made


_EXPRESSIONS: dict[type[ast.expr], Callable[[Sketch, Any], Any]] = {
    ast.Name: Sketch._name,
    ast.Attribute: Sketch._attribute,
    ast.Call: Sketch._call,
    ast.Constant: Sketch._constant,
    ast.Subscript: Sketch._subscript,
    ast.BinOp: Sketch._binary,
    ast.BoolOp: Sketch._boolean,
    ast.UnaryOp: Sketch._unary,
    ast.Compare: Sketch._comparison,
    ast.IfExp: Sketch._if_exp,
    ast.NamedExpr: Sketch._named,
    ast.Await: Sketch._await,
    ast.Yield: Sketch._yield,
    ast.YieldFrom: Sketch._yield_from,
    ast.Lambda: Sketch._lambda,
    ast.Tuple: Sketch._tuple,
    ast.List: Sketch._list,
    ast.Set: Sketch._set,
    ast.Dict: Sketch._dict,
    ast.ListComp: Sketch._comprehension,
    ast.SetComp: Sketch._comprehension,
    ast.GeneratorExp: Sketch._comprehension,
    ast.DictComp: Sketch._dict_comp,
    ast.JoinedStr: Sketch._formatted,
}
_STATEMENTS: dict[type[ast.stmt], Callable[[Sketch, Any], Any]] = {
    ast.Expr: Sketch._expr,
    ast.Assign: Sketch._assign,
    ast.AugAssign: Sketch._aug_assign,
    ast.AnnAssign: Sketch._ann_assign,
    ast.Return: Sketch._return,
    ast.Raise: Sketch._raise,
    ast.Assert: Sketch._assert,
    ast.Delete: Sketch._delete,
    ast.Pass: lambda self, node: _pass(),
    ast.Break: lambda self, node: _break(),
    ast.Continue: lambda self, node: _continue(),
    ast.Global: Sketch._names,
    ast.Nonlocal: Sketch._names,
    ast.Import: Sketch._import,
    ast.ImportFrom: Sketch._import_from,
    ast.If: Sketch._if,
    ast.While: Sketch._while,
    ast.For: Sketch._for,
    ast.AsyncFor: Sketch._for,
    ast.With: Sketch._with,
    ast.AsyncWith: Sketch._with,
    ast.Try: Sketch._try,
}
