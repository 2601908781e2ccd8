"""Whether `backward` makes a graph unusable: only one that has saved tensors, which it frees."""

from __future__ import annotations

import libcst as cst

from torchlint.model.context import Context
from torchlint.model.expressions import value_of
from torchlint.model.graphs.backward import Sending
from torchlint.model.graphs.flow import Flow, flow_of
from torchlint.model.graphs.scaled import MOVING
from torchlint.model.possibilities import Kind, Role, Tri
from torchlint.model.syntax import dotted

_FAR = 16
"""How many names to go back from what is sent."""
_SAVING_NOTHING = MOVING | {"sum", "mean", "clone", "neg", "squeeze", "flatten", "expand", "contiguous", "t"}
"""Methods of tensors whose backward needs neither what they are called on nor what they give."""


def saves_nothing(context: Context, sending: Sending) -> bool:
    """Whether gradients can be sent back once more: what is sent is a sum of leaves, `weight.sum() / 2`, say."""
    flow = flow_of(context, context.scopes.scope_of(sending.node))
    return bool(sending.given) and all(_saves_nothing(context, flow, each, _FAR) for each in sending.given)


def _saves_nothing(context: Context, flow: Flow, node: cst.BaseExpression, far: int) -> bool:
    match node:
        case cst.Integer() | cst.Float():
            return True
        case cst.BinaryOperation(left=left, operator=cst.Add() | cst.Subtract(), right=right):
            return _saves_nothing(context, flow, left, far) and _saves_nothing(context, flow, right, far)
        case cst.BinaryOperation(left=left, operator=cst.Multiply() | cst.Divide(), right=right):
            sides = [each for each in (left, right) if value_of(context, each).kind != Kind.NUMBER]
            return len(sides) == 1 and _saves_nothing(context, flow, sides[0], far)
        case cst.UnaryOperation(expression=inner) | cst.Subscript(value=inner):
            return _saves_nothing(context, flow, inner, far)
        case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(name))) if name in _SAVING_NOTHING:
            return _saves_nothing(context, flow, inner, far)
    path = dotted(node)
    return path is not None and _is_sum_of_leaves(context, flow, node, path, far)


def _is_sum_of_leaves(context: Context, flow: Flow, node: cst.BaseExpression, path: str, far: int) -> bool:
    value = value_of(context, node)
    if value.role == Role.PARAMETER or value.leaf == Tri.YES or value.kind == Kind.NUMBER:
        return True
    if value.kind == Kind.TENSOR and value.grad == Tri.NO:
        return True
    made = [event.node for event in flow.reaching(node) if event.path == path]
    return (
        bool(made)
        and far > 0
        and all(
            isinstance(each, cst.Assign)
            and len(each.targets) == 1
            and _saves_nothing(context, flow, each.value, far - 1)
            for each in made
        )
    )
