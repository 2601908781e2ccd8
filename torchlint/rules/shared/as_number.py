"""What is used as a number, and as nothing else: it is formatted as one, compared with one, or added to one."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence

import libcst as cst

from torchlint.model import Kind, Model
from torchlint.model.syntax import positional

_CONVERSION = re.compile(
    r"%(?:\((?P<key>\w*)\))?[#0 +-]*(?P<width>\*|\d*)(?:\.(?P<digits>\*|\d*))?[hlL]?(?P<type>[a-zA-Z%])"
)
"""A conversion of Python's ``%``."""
_OF_NUMBERS = frozenset("eEfFgGdn%")
"""What a format of a number ends in; that of a percentage for ``format`` only."""

_COMPARING = (cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual, cst.Equal, cst.NotEqual)


def is_formatted(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is formatted as a number by its own method: ``'{:.3f}'.format(x)``, ``f'{x:.3f}'``."""
    match model.tree.parent(node):
        case cst.Arg(keyword=None, star="") as arg if isinstance(call := model.tree.parent(arg), cst.Call):
            return _is_put_into(call, arg)
        case cst.FormattedStringExpression(format_spec=[*_, cst.FormattedStringText(value=spec)]):
            return spec[-1] in _OF_NUMBERS
    return False


_LOGGING = {"add_scalar": 1, "scalar_summary": 1, "log_value": 1}
"""Methods of what keeps curves of a training, and where they take a number, behind its name."""
_AVERAGING = frozenset(("numpy.mean", "numpy.average", "numpy.median", "statistics.mean", "matplotlib.pyplot.plot"))
"""Functions that take a list of numbers."""


def is_made_number(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is given to what takes numbers, or formatted as they are."""
    if is_formatted(node, model):
        return True
    parent = model.tree.parent(node)
    match parent:
        case cst.Arg(keyword=None, star="") as arg if isinstance(call := model.tree.parent(parent), cst.Call):
            return _takes_number(call, arg, model)
        case cst.Arg() if isinstance(call := model.tree.parent(parent), cst.Call):
            return isinstance(call.func, cst.Attribute) and call.func.attr.value == "set_postfix"
        case cst.BinaryOperation(left=left, operator=cst.Modulo(), right=right) if right is node:
            return _is_converted(left, 0, 1)
        case cst.Element() if isinstance(values := model.tree.parent(parent), cst.Tuple):
            return _is_converted_with_others(values, parent, model)
    return False


def _takes_number(call: cst.Call, arg: cst.Arg, model: Model) -> bool:
    """Whether a call takes a number there: ``math.exp(x)``, ``writer.add_scalar('x', x)``, ``meter.update(x, 3)``."""
    ref = model.qualified(call.func) or ""
    if ref in ("builtins.int", "builtins.float", "builtins.round"):
        return True
    match call.func:
        case cst.Attribute(attr=cst.Name(value=name)) if name in _LOGGING:
            return positional(call.args, _LOGGING[name]) is arg
        case cst.Attribute(attr=cst.Name("update")) if len(call.args) > 1:
            return call.args[0] is arg and _is_number(call.args[1].value, model)
        case cst.Attribute(value=cst.Name() as kept, attr=cst.Name("append")):
            return model.remember(_are_averaged, kept.value, model.scopes.scope_of(kept))
    return ref.startswith("math.")


def _are_averaged(model: Model, name: str, scope: cst.FunctionDef | cst.Module) -> bool:
    """Whether a list is given to what makes an average or a curve of numbers: ``np.mean(losses)``."""
    args = [parent for use in model.references(name, scope) if isinstance(parent := model.tree.parent(use), cst.Arg)]
    calls = [call for arg in args if isinstance(call := model.tree.parent(arg), cst.Call)]
    return any(model.qualified(call.func) in _AVERAGING for call in calls)


def is_with_number(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is compared with a number, as by ``min(x, 1)``, or a number is added to it."""
    parent = model.tree.parent(node)
    match parent:
        case cst.Arg(keyword=None, star="") if isinstance(call := model.tree.parent(parent), cst.Call):
            is_least = model.qualified(call.func) in ("builtins.min", "builtins.max")
            return is_least and any(_is_number(arg.value, model) for arg in call.args)
        case cst.BinaryOperation(left=left, operator=cst.Add() | cst.Subtract(), right=right):
            return _is_number(right if left is node else left, model)
        case cst.Comparison(comparisons=[target]):
            return isinstance(target.operator, _COMPARING) and _is_number(target.comparator, model)
        case cst.ComparisonTarget(operator=operator) if isinstance(operator, _COMPARING):
            comparison = model.tree.parent(parent)
            return isinstance(comparison, cst.Comparison) and _is_number(comparison.left, model)
    return False


def _is_number(node: cst.BaseExpression, model: Model) -> bool:
    return model.value(node).kind == Kind.NUMBER


def _is_converted_with_others(values: cst.Tuple, element: cst.Element, model: Model) -> bool:
    match model.tree.parent(values):
        case cst.BinaryOperation(left=left, operator=cst.Modulo(), right=right) if right is values:
            at = next(number for number, each in enumerate(values.elements) if each is element)
            return _is_converted(left, at, len(values.elements))
    return False


def _is_converted(template: cst.BaseExpression, at: int, count: int) -> bool:
    """Whether the value at a place of what is formatted by ``%`` is converted as a number."""
    text = _text(template)
    found = [each for each in _CONVERSION.finditer(text or "") if each["type"] != "%"]
    if len(found) != count or any(each["key"] is not None or "*" in (each["width"], each["digits"]) for each in found):
        return False
    return found[at]["type"] in _OF_NUMBERS


def _is_put_into(call: cst.Call, arg: cst.Arg) -> bool:
    """Whether ``'{:.3f}'.format(…)`` formats an argument as a number."""
    match call.func:
        case cst.Attribute(value=template, attr=cst.Name("format")) if (text := _text(template)) is not None:
            return _format_of(text, call.args, arg)[-1:] in _OF_NUMBERS
    return False


def _format_of(text: str, args: Sequence[cst.Arg], arg: cst.Arg) -> str:
    """The format of an argument; empty if it has none, or that is not known."""
    at = next(number for number, each in enumerate(args) if each is arg)
    if any(each.star for each in args):
        return ""
    try:
        fields = [(name, spec) for _, name, spec, _ in string.Formatter().parse(text) if name is not None]
    except ValueError:
        return ""
    numbered = [(name or str(number), spec or "") for number, (name, spec) in enumerate(fields)]
    return next((spec for name, spec in numbered if name == str(at)), "")


def _text(node: cst.BaseExpression) -> str | None:
    """What a string is that is written down, in one part or several."""
    if isinstance(node, (cst.SimpleString, cst.ConcatenatedString)):
        value = node.evaluated_value
        return value if isinstance(value, str) else None
    return None
