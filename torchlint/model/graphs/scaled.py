"""What a graph is the graph of, apart from what only scales or moves it."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from torchlint.model.context import Context
from torchlint.model.expressions import value_of
from torchlint.model.graphs.mentions import CUTTING, mentions
from torchlint.model.possibilities import Dtype, Kind, Tri
from torchlint.model.torch import library
from torchlint.model.values import UNKNOWN, Value

MOVING = frozenset(
    ("to", "cuda", "cpu", "float", "double", "half", "view", "reshape", "unsqueeze", "permute", "transpose")
)
"""Methods that change where a tensor is, its dtype or its shape."""


def core(context: Context, node: cst.BaseExpression) -> cst.BaseExpression:
    """``loss`` of ``loss``, ``2 * loss``, ``loss.mean()``, ``loss * x.size(0) / n``.

    What a method gives that tensors do not have may be anything, a number for instance.
    """
    while True:
        match node:
            case cst.BinaryOperation(left=left, operator=cst.Multiply() | cst.Divide(), right=right):
                sides = [side for side in (left, right) if counts(context, side)]
                if len(sides) != 1:
                    return node
                node = sides[0]
            case cst.UnaryOperation(expression=inner):
                node = inner
            case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(name)), args=args) if (
                (name in ("mean", "sum", *MOVING) or (not args and library.method(name) is not None))
                and name not in CUTTING
                and may_have_graph(value_of(context, inner))
            ):
                node = inner
            case _:
                return node


def counts(context: Context, node: cst.BaseExpression) -> bool:
    """Whether an operand can have a graph."""
    return may_have_graph(value_of(context, node)) and any(True for _ in mentions(context, node))


def may_have_graph(value: Value) -> bool:
    """Whether a value can have a graph, or hold something that has one."""
    if value.kind & Kind.TENSOR:
        return value.grad != Tri.NO and bool(value.dtype & Dtype.FLOAT)
    if value.kind == Kind.CONTAINER and value.keys is not None and value.keys.known:
        return _holds_graph(value.keys.known, value.item or UNKNOWN)
    return bool(value.kind & (Kind.UNKNOWN | Kind.CONTAINER | Kind.OBJECT))


def _holds_graph(known: Mapping[str | int, Value], rest: Value) -> bool:
    """Whether a dictionary may hold something with a graph: beside a loss that has none, what is not known has none."""
    held, loss = (*known.values(), rest), known.get("loss")
    if loss is None or may_have_graph(loss):
        return any(map(may_have_graph, held))
    return any(each.kind & Kind.TENSOR and may_have_graph(each) for each in held)
