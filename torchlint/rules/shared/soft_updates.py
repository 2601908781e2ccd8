"""Updates that move a tensor towards another: ``t.data.copy_(tau * p + (1 - tau) * t)`` is ``t.lerp_(p, tau)``."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from torchlint.model import Kind, Model, Role, Tri
from torchlint.model.syntax import call_of, cut_from, keyword, without_brackets
from torchlint.rule import Anchor, Applicability, Edit, Fix
from torchlint.rules.shared import into_block

_SAID = "Move it towards the other tensor with `.lerp_(…)`"
_RISK = (
    "`lerp_` rounds the last digit differently and wants one dtype, and if autograd has saved the old values, "
    "`backward()` raises now"
)


def lerped(node: cst.Attribute, small: cst.BaseSmallStatement, model: Model) -> tuple[Edit, ...] | None:
    """The edits that make ``t.lerp_(p, tau)`` of a statement which writes through `.data`; None if it is none.

    Both have to be parameters, so that their dtype is one unless the file converts any, and the share a number.
    """
    target = node.value
    match small:
        case cst.Assign(targets=[cst.AssignTarget(target=written)], value=value) if written is node:
            found = _of_sum(value, target, model)
        case cst.Expr(value=cst.Call(func=cst.Attribute(value=inner, attr=cst.Name("copy_")), args=[arg]) as value):
            found = _of_sum(arg.value, target, model) if inner is node and arg.keyword is None else None
        case cst.Expr(value=cst.Call(func=cst.Attribute(value=inner, attr=cst.Name("add_"))) as value):
            found = _of_two_steps(value, inner, node, model)
        case _:
            return None
    if found is None or value.lpar or "#" in model.tree.code(small) or model.remember(_has_several_dtypes):
        return None
    source, share = found
    code = model.tree.code
    is_same = code(source) == code(target)
    if is_same or not all(_is_parameter(each, model) for each in (target, source)) or not _is_number(share, model):
        return None
    call = f".lerp_({code(source)}, {code(without_brackets(share))})"
    return (Edit(Anchor(target, True), Anchor(value, True), call),)


def fix(small: cst.BaseSmallStatement, edits: tuple[Edit, ...], model: Model) -> Fix | None:
    """The fix that such edits make, in a block where autograd records."""
    if model.grad_enabled(small) == Tri.NO:
        return Fix(_SAID, edits, Applicability.UNSAFE, risk=_RISK)
    moved = into_block.moved(small, _SAID, edits, Applicability.UNSAFE, model)
    return replace(moved, risk=_RISK) if moved is not None else None


def _of_sum(
    node: cst.BaseExpression, target: cst.BaseExpression, model: Model
) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """The other tensor and its share in a weighted sum of both."""
    match node:
        case cst.BinaryOperation(left=left, operator=cst.Add(), right=right):
            terms = [_factors(each) for each in (left, right)]
        case _:
            return None
    if None in terms:
        return None
    for mine, other in (terms, terms[::-1]):
        for kept, (share, source) in ((kept, pair) for kept in _pairs(mine) for pair in _pairs(other)):
            if _is(kept[1], target, model) and _add_up(kept[0], share, model):
                return _plain(source), share
    return None


def _of_two_steps(
    call: cst.Call, scaled: cst.BaseExpression, node: cst.Attribute, model: Model
) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """The other tensor and its share in ``t.data.mul_(1 - tau).add_(tau * p.data)``, ``.add_(p.data, alpha=tau)``."""
    match scaled:
        case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name("mul_")), args=[cst.Arg(value=kept, keyword=None)]):
            if inner is not node:
                return None
        case _:
            return None
    alpha = keyword(call.args, "alpha")
    plain = [arg.value for arg in call.args if arg is not alpha and arg.keyword is None and not arg.star]
    if len(plain) + (alpha is not None) != len(call.args):
        return None
    match plain:
        case [source] if alpha is not None:
            pairs = [(alpha.value, source)]
        case [share, source] if alpha is None:
            pairs = [(share, source)]
        case [both] if (factors := _factors(both)) is not None:
            pairs = _pairs(factors)
        case _:
            return None
    return next(((_plain(source), share) for share, source in pairs if _add_up(kept, share, model)), None)


Pair = tuple[cst.BaseExpression, cst.BaseExpression]


def _factors(node: cst.BaseExpression) -> Pair | None:
    match node:
        case cst.BinaryOperation(left=left, operator=cst.Multiply(), right=right):
            return left, right
    return None


def _pairs(factors: Pair | None) -> list[Pair]:
    return [factors, factors[::-1]] if factors is not None else []


def _add_up(one: cst.BaseExpression, other: cst.BaseExpression, model: Model) -> bool:
    """Whether one of two expressions is one minus the other."""
    code = model.tree.code
    for whole, part in ((one, other), (other, one)):
        match whole:
            case cst.BinaryOperation(left=cst.Integer() | cst.Float() as left, operator=cst.Subtract(), right=right):
                if float(left.evaluated_value) == 1 and code(right) == code(part):
                    return True
    match one, other:
        case (cst.Integer() | cst.Float()) as a, (cst.Integer() | cst.Float()) as b:
            return abs(float(a.evaluated_value) + float(b.evaluated_value) - 1) < 1e-12
    return False


def _is(node: cst.BaseExpression, target: cst.BaseExpression, model: Model) -> bool:
    return model.tree.code(_plain(node)) == model.tree.code(target)


def _plain(node: cst.BaseExpression) -> cst.BaseExpression:
    """``p`` of ``p.data``, ``(p.data)`` and ``p.detach()``."""
    whole = cut_from(without_brackets(node))
    return node if whole is None else whole


def _is_parameter(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is a parameter, of which networks have one dtype; a buffer may be an integer."""
    value = model.value(node)
    is_plain = isinstance(node, (cst.Name, cst.Attribute, cst.Subscript))
    return is_plain and value.is_tensor and value.role == Role.PARAMETER


_DTYPES = ("half", "bfloat16", "float16", "double", "float64", "set_default_dtype", "set_default_tensor_type")
_CONVERTING = ("float", "to", "type")


def _has_several_dtypes(model: Model) -> bool:
    """Whether a file names another dtype than the default, or converts a module: `lerp_` wants one dtype."""
    if any(model.tree.names(name) for name in _DTYPES):
        return True
    called = (node for name in _CONVERTING for node in model.tree.attributes(name))
    return any(model.value(node.value).kind == Kind.MODULE and _converts(node, model) for node in called)


def _converts(node: cst.Attribute, model: Model) -> bool:
    """Whether a method of a module gives its parameters another dtype, or may: `.float()`, `.to(other)`."""
    call = call_of(node, model.tree)
    if call is None or node.attr.value != "to":
        return call is not None
    return keyword(call.args, "dtype") is not None or any("dtype" in model.tree.code(arg.value) for arg in call.args)


def _is_number(node: cst.BaseExpression, model: Model) -> bool:
    return not model.value(node).kind & ~(Kind.NUMBER | Kind.UNKNOWN)
