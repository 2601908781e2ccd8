"""What is computed with a `.data` of something unknown, and what that says of it."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Kind, Model
from torchlint.model.syntax import chain, integer
from torchlint.model.torch import library

_JOINING = frozenset(f"torch.{name}" for name in ("cat", "concat", "stack", "hstack", "vstack", "dstack"))
"""Functions of torch whose first argument is a sequence of tensors."""
_WITH_PLACES = frozenset(("max", "min", "sort", "median", "mode"))
"""Methods that give values and where they stand, if they are given a dimension."""


def given_to(node: cst.CSTNode, model: Model) -> str | None:
    """The function of torch that takes nothing but tensors, and is given what is computed with ``node``.

    Of ``torch.abs(x.data - y.data)`` both are tensors; of ``torch.abs(x.data - y)`` it could be ``y`` alone.
    """
    whole = _computed(node, model)
    arg = model.tree.parent(whole)
    ref = _function(arg, model)
    if ref is not None:
        return ref if library.takes_tensor(ref) and ref not in _JOINING else None
    display = model.tree.parent(arg) if isinstance(arg, cst.Element) else None
    ref = _function(model.tree.parent(display), model) if isinstance(display, (cst.List, cst.Tuple)) else None
    return ref if ref in _JOINING else None


def _computed(node: cst.CSTNode, model: Model) -> cst.CSTNode:
    """The operation around a node, as far as its other operands are numbers or `.data` too."""
    while True:
        parent = model.tree.parent(node)
        match parent:
            case cst.UnaryOperation(operator=cst.Minus() | cst.Plus() | cst.BitInvert()):
                pass
            case cst.BinaryOperation(left=left, right=right) if _may_stand_beside(
                right if left is node else left, model
            ):
                pass
            case _:
                return node
        node = parent


def _may_stand_beside(operand: cst.BaseExpression, model: Model) -> bool:
    """Whether an operand does not make a tensor of the result itself."""
    match operand:
        case cst.Attribute(attr=cst.Name("data")):
            return True
        case cst.BinaryOperation(left=left, right=right):
            return _may_stand_beside(left, model) and _may_stand_beside(right, model)
    return model.value(operand).kind == Kind.NUMBER


def _function(arg: cst.CSTNode | None, model: Model) -> str | None:
    """What is called with an argument that stands first."""
    call = model.tree.parent(arg) if isinstance(arg, cst.Arg) else None
    return model.qualified(call.func) if isinstance(call, cst.Call) and call.args[0] is arg else None


def method_with_places(node: cst.Attribute, model: Model) -> str | None:
    """The method of ``x.data.max(1)[1]``, of which one of the two results of a tensor's is taken."""
    steps = list(chain(node, model.tree))
    match steps[:2]:
        case [
            (name, cst.Call(args=[cst.Arg(value=dim, keyword=keyword, star="")])),
            ("[]", cst.Subscript(slice=[index])),
        ]:
            pass
        case _:
            return None
    if name not in _WITH_PLACES or integer(dim) is None or (keyword is not None and keyword.value != "dim"):
        return None
    match index.slice:
        case cst.Index(value=taken, star=None) if integer(taken) in (0, 1, -1):
            return name
    return None


def is_compared(node: cst.Attribute, model: Model) -> bool:
    """Whether a `.data` itself is compared with a tensor: ``x.data.max(1)[1] != y.data``, ``pred.eq(y.data)``."""
    parent = model.tree.parent(node)
    if isinstance(parent, cst.Arg):
        return _is_given_to_comparison(parent, model)
    match model.tree.parent(parent) if isinstance(parent, cst.ComparisonTarget) else parent:
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=operator, comparator=right)]):
            other = right if left is node else left
            return isinstance(operator, _COMPARING) and (model.is_tensor(other) or _takes_places(other, model))
    return False


def _is_given_to_comparison(arg: cst.Arg, model: Model) -> bool:
    match model.tree.parent(arg):
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value=name)), args=[only]):
            return only is arg and name in _COMPARING_METHODS and model.is_tensor(owner)
    return False


_COMPARING_METHODS = frozenset(("eq", "ne", "lt", "le", "gt", "ge"))
_COMPARING = (cst.Equal, cst.NotEqual, cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual)


def _takes_places(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is one result of the two of a tensor's method: ``x.data.max(1)[1]``."""
    match node:
        case cst.Subscript(value=cst.Call(func=cst.Attribute(value=cst.Attribute(attr=cst.Name("data")) as data))):
            return method_with_places(data, model) is not None
    return False
