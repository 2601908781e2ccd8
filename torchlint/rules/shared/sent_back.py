"""Whether gradients are sent back through the result of a call."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.model import Model
from torchlint.model.autograd import backward_calls
from torchlint.model.syntax import dotted


def is_sent_back(call: cst.Call, model: Model) -> bool:
    """Whether ``backward`` is called on what the result is bound to, or is summed to: it was meant to be a tensor."""
    assign = model.tree.parent(call)
    if not isinstance(assign, (cst.Assign, cst.AugAssign)):
        return False
    targets = [each.target for each in assign.targets] if isinstance(assign, cst.Assign) else [assign.target]
    sent = model.remember(_sent_back, model.scopes.scope_of(call))
    return not sent.isdisjoint({dotted(each) for each in targets})


def _sent_back(model: Model, scope: cst.FunctionDef | cst.Module) -> frozenset[str | None]:
    """The names and paths in a scope that ``backward`` is called on, and those that they are the sum or product of."""
    calls = model.ask(backward_calls, scope)
    waiting = [dotted(call.func.value) for call in calls if isinstance(call.func, cst.Attribute)]
    summed: dict[str | None, list[str]] = {}
    for assign in model.tree.within(scope, cst.Assign) if waiting else ():
        for target in assign.targets:
            summed.setdefault(dotted(target.target), []).extend(_summands(assign.value))
    for added in model.tree.within(scope, cst.AugAssign) if waiting else ():
        summed.setdefault(dotted(added.target), []).extend(_summands(added.value))
    found = set[str | None]()
    while waiting:
        name = waiting.pop()
        if name is not None and name not in found:
            found.add(name)
            waiting += summed.get(name, ())
    return frozenset(found)


def _summands(value: cst.BaseExpression) -> Iterator[str]:
    match value:
        case cst.Name() | cst.Attribute() if (name := dotted(value)) is not None:
            yield name
        case cst.BinaryOperation(left=left, right=right):
            yield from _summands(left)
            yield from _summands(right)
        case cst.UnaryOperation(expression=inner):
            yield from _summands(inner)
