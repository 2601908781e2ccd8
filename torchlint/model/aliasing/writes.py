"""How bad a write in place is for the tensor that it goes to: its elements change, or a graph comes along with them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.expressions import value_of
from torchlint.model.modes import grad_enabled
from torchlint.model.possibilities import Kind, Tri
from torchlint.model.torch import library
from torchlint.model.torch.schema import TensorResult
from torchlint.model.torch.writers import OF_THE_VIEW, REPLACING
from torchlint.model.values import Usage

if TYPE_CHECKING:
    from torchlint.model.context import Context

_WITHOUT_GRAPH = Kind.NUMBER | Kind.STRING | Kind.NONE | Kind.NDARRAY


def by_method(context: Context, name: str, call: cst.Call) -> Usage:
    """``x.mul_(y)``."""
    result = library.method(name)
    if name in OF_THE_VIEW or not isinstance(result, TensorResult) or not result.is_input:
        return Usage.WRITTEN
    if result.grad == "first":
        return Usage.OVERWRITTEN
    return _with(context, call, (arg.value for arg in call.args))


def by_function(context: Context, ref: str, arg: cst.Arg, call: cst.Call) -> Usage:
    """``relu(x, inplace=True)``, where ``arg`` is what is written to."""
    last = ref.rpartition(".")[2]
    if arg.keyword is not None or last in OF_THE_VIEW or last in REPLACING:
        return Usage.WRITTEN
    return _with(context, call, (other.value for other in call.args if other is not arg))


def puts_in(context: Context, container: cst.CSTNode, element: cst.CSTNode) -> bool:
    """Whether something is put into a list or dictionary, and not added to what is in it: ``d["x"] = y``."""
    is_added = isinstance(context.tree.parent(element), cst.AugAssign)
    return value_of(context, container).kind == Kind.CONTAINER and not is_added


def by_assignment(context: Context, target: cst.CSTNode) -> Usage:
    """``x[i] = y``, ``x[i][j] = y`` and ``x += y``."""
    statement = context.tree.parent(target)
    while isinstance(statement, cst.Subscript):
        statement = context.tree.parent(statement)
    if isinstance(statement, cst.AssignTarget):
        statement = context.tree.parent(statement)
    if not isinstance(statement, (cst.Assign, cst.AugAssign)):
        return Usage.WRITTEN
    return _with(context, statement, [statement.value])


def _with(context: Context, node: cst.CSTNode, operands: Iterable[cst.BaseExpression]) -> Usage:
    """What a write does that brings these along."""
    is_plain = all(_has_no_graph(context, operand) for operand in operands)
    return Usage.OVERWRITTEN if is_plain or grad_enabled(context, node) == Tri.NO else Usage.WRITTEN


def _has_no_graph(context: Context, node: cst.BaseExpression) -> bool:
    value = value_of(context, node)
    if value.kind & (Kind.TENSOR | Kind.UNKNOWN):  # of a batch it is not known what it is, but that it has no graph
        return value.grad == Tri.NO
    return not value.kind & ~_WITHOUT_GRAPH
