"""What makes libcst's nodes out of the values of their fields, in a quarter of the time of libcst's own classes."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar

import libcst as cst

from torchlint.file.tree.nodes import is_trivia

N = TypeVar("N", bound=cst.CSTNode)

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


name = _maker(cst.Name, "value")
attribute = _maker(cst.Attribute, "value", "attr")
call = _maker(cst.Call, "func", "args")
arg = _maker(cst.Arg, "keyword", "value", "star")
subscript = _maker(cst.Subscript, "value", "slice")
subscript_element = _maker(cst.SubscriptElement, "slice")
index = _maker(cst.Index, "value", "star")
slice_ = _maker(cst.Slice, "lower", "upper", "step")
binary = _maker(cst.BinaryOperation, "left", "operator", "right")
boolean = _maker(cst.BooleanOperation, "left", "operator", "right")
unary = _maker(cst.UnaryOperation, "operator", "expression")
comparison = _maker(cst.Comparison, "left", "comparisons")
comparison_target = _maker(cst.ComparisonTarget, "operator", "comparator")
if_exp = _maker(cst.IfExp, "body", "test", "orelse")
named = _maker(cst.NamedExpr, "target", "value")
await_ = _maker(cst.Await, "expression")
yield_ = _maker(cst.Yield, "value")
from_ = _maker(cst.From, "item")
lambda_ = _maker(cst.Lambda, "params", "body")
element = _maker(cst.Element, "value")
starred = _maker(cst.StarredElement, "value")
dict_element = _maker(cst.DictElement, "key", "value")
starred_dict = _maker(cst.StarredDictElement, "value")
tuple_ = _maker(cst.Tuple, "elements")
list_ = _maker(cst.List, "elements")
set_ = _maker(cst.Set, "elements")
dict_ = _maker(cst.Dict, "elements")
dict_comp = _maker(cst.DictComp, "key", "value", "for_in")
comp_for = _maker(cst.CompFor, "asynchronous", "target", "iter", "ifs", "inner_for_in")
comp_if = _maker(cst.CompIf, "test")
string = _maker(cst.SimpleString, "value")
concatenated = _maker(cst.ConcatenatedString, "left", "right")
integer = _maker(cst.Integer, "value")
float = _maker(cst.Float, "value")
imaginary = _maker(cst.Imaginary, "value")
ellipsis = _maker(cst.Ellipsis)
formatted = _maker(cst.FormattedString, "parts")
formatted_text = _maker(cst.FormattedStringText, "value")
formatted_expression = _maker(cst.FormattedStringExpression, "expression", "conversion", "format_spec")
asynchronous = _maker(cst.Asynchronous)

line = _maker(cst.SimpleStatementLine, "body")
suite = _maker(cst.SimpleStatementSuite, "body")
block = _maker(cst.IndentedBlock, "body")
expr = _maker(cst.Expr, "value")
assign = _maker(cst.Assign, "targets", "value")
assign_target = _maker(cst.AssignTarget, "target")
aug_assign = _maker(cst.AugAssign, "target", "operator", "value")
ann_assign = _maker(cst.AnnAssign, "target", "annotation", "value")
annotation = _maker(cst.Annotation, "annotation")
return_ = _maker(cst.Return, "value")
raise_ = _maker(cst.Raise, "exc", "cause")
asserted = _maker(cst.Assert, "test", "msg")
del_ = _maker(cst.Del, "target")
pass_, break_, continue_ = _maker(cst.Pass), _maker(cst.Break), _maker(cst.Continue)
global_ = _maker(cst.Global, "names")
nonlocal_ = _maker(cst.Nonlocal, "names")
name_item = _maker(cst.NameItem, "name")
import_ = _maker(cst.Import, "names")
import_from = _maker(cst.ImportFrom, "module", "names", "relative")
import_alias = _maker(cst.ImportAlias, "name", "asname")
import_star = _maker(cst.ImportStar)
dot = _maker(cst.Dot)
as_name = _maker(cst.AsName, "name")
if_ = _maker(cst.If, "test", "body", "orelse")
else_ = _maker(cst.Else, "body")
while_ = _maker(cst.While, "test", "body", "orelse")
for_ = _maker(cst.For, "asynchronous", "target", "iter", "body", "orelse")
with_ = _maker(cst.With, "asynchronous", "items", "body")
with_item = _maker(cst.WithItem, "item", "asname")
try_ = _maker(cst.Try, "body", "handlers", "orelse", "finalbody")
handler = _maker(cst.ExceptHandler, "type", "name", "body")
finally_ = _maker(cst.Finally, "body")
function = _maker(cst.FunctionDef, "decorators", "asynchronous", "name", "params", "returns", "body")
class_ = _maker(cst.ClassDef, "decorators", "name", "bases", "keywords", "body")
decorator = _maker(cst.Decorator, "decorator")
parameters = _maker(
    cst.Parameters, "posonly_params", "posonly_ind", "params", "star_arg", "kwonly_params", "star_kwarg"
)
param = _maker(cst.Param, "name", "annotation", "default", "star")
param_star = _maker(cst.ParamStar)
param_slash = _maker(cst.ParamSlash)
module = _maker(cst.Module, "body")

COMPREHENSIONS = {
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
BINARY = {each: _maker(plain) for each, (plain, _) in _OPERATORS.items()}
AUGMENTED = {each: _maker(augmented) for each, (_, augmented) in _OPERATORS.items()}
BOOLEAN = {ast.And: _maker(cst.And), ast.Or: _maker(cst.Or)}
UNARY = {
    ast.Not: _maker(cst.Not),
    ast.USub: _maker(cst.Minus),
    ast.UAdd: _maker(cst.Plus),
    ast.Invert: _maker(cst.BitInvert),
}
COMPARED = {
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
