"""Whether an expression requires grad: proved, expected, or no more than possible.

What is interpreted says what would be if autograd recorded (``Value.certainty``). Here two things are added that only
a rule's question is worth: whether it is shown that it records, and what ``backward()`` proves of what it is called on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.certainty import Certainty
from torchlint.model.expressions import value_of
from torchlint.model.keyed import may_change, unkeyed
from torchlint.model.last_run import is_unrecorded
from torchlint.model.modes import grad_enabled
from torchlint.model.possibilities import Dtype, Kind, Role, Tri
from torchlint.model.proofs import (
    binding_before,
    binds_only,
    bound_by_comprehensions,
    by_backward,
    is_on_the_way,
    operands,
    parts,
)
from torchlint.model.recording import shows_recording
from torchlint.model.results import CallResult, result_requires_grad
from torchlint.model.syntax import dotted
from torchlint.model.values import Strength, Value

if TYPE_CHECKING:
    from torchlint.model.context import Context

_FAR = 8
"""How many assignments to go back."""


def requires_grad(context: Context, node: cst.BaseExpression) -> Certainty | None:
    """How certain it is that an expression is a tensor that requires grad; None if it can't, or is none."""
    value = value_of(context, node)
    found = _certainty(context, node, value)
    if found:
        return found
    if found is not None and (believed := of_callers(context, node)) is not None:
        by_callers = _certainty(context, node, believed) or Certainty.SUPPOSED
        found = min(by_callers, Certainty.EXPECTED)  # others may call it otherwise
    if not found and value.grad != Tri.NO and value.kind & (Kind.TENSOR | Kind.UNKNOWN):
        by_results = max(map(partial(result_requires_grad, context), _results(context, node)), default=found)
        found = by_results or found
    return found


def _results(context: Context, node: cst.BaseExpression) -> Iterator[CallResult]:
    """The calls of the project's functions by whose results an expression requires grad, if one of these does."""
    return origins(context, node, lambda call: isinstance(value_of(context, call.func).node, cst.FunctionDef))


def origins(context: Context, node: cst.BaseExpression, is_asked: Callable[[cst.Call], bool]) -> Iterator[CallResult]:
    """The calls of some functions by whose results an expression requires grad, if one of these does."""
    waiting, far = [node], 0
    for at, path in parts(waiting):
        if isinstance(at, cst.Call) and is_asked(at):
            yield CallResult(at, None)
            continue
        taken = _taken_out(context, at) if isinstance(at, cst.Subscript) else None
        if taken is not None:
            yield taken
        if path is None:
            waiting += operands(context, at) if taken is None or isinstance(taken.place, int) else ()
        elif far < _FAR and path.partition(".")[0] not in bound_by_comprehensions(context, at):
            far += 1
            binding = binding_before(context, path, at)
            if not isinstance(binding, cst.Assign) or not is_on_the_way(context, binding, at):
                continue
            if binds_only(binding, path):
                waiting.append(binding.value)
            elif isinstance(binding.value, cst.Call):
                yield from _taken_apart(binding, binding.value, path)


def _taken_out(context: Context, node: cst.Subscript) -> CallResult | None:
    """The result that is behind a literal: ``step(net)["loss"]``, or ``out[0]`` of ``out = step(net)``."""
    match unkeyed(node):
        case [cst.Call() as call, [key]]:
            return CallResult(call, key)
        case [cst.Name() as name, [key]]:
            binding = binding_before(context, name.value, name)
            if not isinstance(binding, cst.Assign) or not isinstance(binding.value, cst.Call):
                return None
            if not binds_only(binding, name.value) or not is_on_the_way(context, binding, name):
                return None
            return None if may_change(context, name) else CallResult(binding.value, key)
    return None


def _taken_apart(binding: cst.Assign, call: cst.Call, path: str) -> Iterator[CallResult]:
    """The result that a name is bound to where those of a call are taken apart: ``y, loss = step(net, x)``."""
    match binding.targets:
        case [cst.AssignTarget(target=(cst.Tuple(elements=elements) | cst.List(elements=elements)))]:
            if not any(isinstance(each, cst.StarredElement) for each in elements):
                yield from (
                    CallResult(call, index) for index, each in enumerate(elements) if dotted(each.value) == path
                )


def of_callers(context: Context, node: cst.BaseExpression) -> Value | None:
    """What an expression in a function is if its callers in the file are believed; None if they say nothing."""
    scope = context.scopes.scope_of(node)
    return context.interpreter.of_callers(context, node, scope) if isinstance(scope, cst.FunctionDef) else None


def _certainty(context: Context, node: cst.BaseExpression, value: Value) -> Certainty | None:
    """How certain that is if an expression has a value."""
    if value.grad == Tri.NO or not value.kind & (Kind.TENSOR | Kind.UNKNOWN):
        return None
    if value.may_be_tensor and not value.dtype & Dtype.FLOAT:
        return None
    if (proof := by_backward(context, node)) is not None:  # no number has `backward()`
        return proof
    if value.kind & Kind.NUMBER:
        return None
    if not value.may_be_tensor or not _is_trusted(value):
        return None
    if value.grad != Tri.YES or value.certainty == Certainty.SUPPOSED:
        return Certainty.SUPPOSED
    if is_leaf(value):
        return value.certainty
    if is_unrecorded(context, node):
        return Certainty.SUPPOSED
    if shows_recording(context, node):
        return value.certainty
    return Certainty.EXPECTED


def has_no_graph(context: Context, node: cst.BaseExpression, at: cst.CSTNode) -> bool:
    """Whether it is known that an expression is a tensor without a graph, or that nothing is recorded there."""
    value = value_of(context, node)
    return (value.is_tensor and value.grad == Tri.NO) or grad_enabled(context, at) == Tri.NO


def _is_trusted(value: Value) -> bool:
    """Whether it is a tensor, on more than its name."""
    return value.kind == Kind.TENSOR or (value.strength or Strength.NAME) >= Strength.CONVENTION


def is_leaf(value: Value) -> bool:
    """Whether it requires grad in whatever mode."""
    return value.role == Role.PARAMETER or value.leaf == Tri.YES
