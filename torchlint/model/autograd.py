"""Which parts of a file train: where ``backward()`` is called."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.imports import imported_path
from torchlint.model.syntax import bound_name, dotted, last_name

if TYPE_CHECKING:
    from torchlint.model.context import Context

_BACKWARD = frozenset(("backward", "manual_backward", "autograd_backward", "scaled_backward"))
"""What proves that its argument requires grad; ``graphs.backward`` has more names, of what may send gradients."""
_BACKWARD_OF = frozenset(("accelerator", "fabric", "engine", "autograd", "strategy", "trainer", "self"))
"""What is called like one of these is given what its ``backward`` begins with."""


def calls_backward(context: Context, area: cst.CSTNode) -> bool:
    """Whether ``backward`` (or an optimizer's ``step``) is called below a node."""
    return context.remember(_calls_backward, area)


def _calls_backward(context: Context, area: cst.CSTNode) -> bool:
    if isinstance(area, cst.Module):
        named = [each for name in sorted(_BACKWARD | {"step"}) for each in context.tree.attributes(name)]
        calls = [call for each in named if isinstance(call := context.tree.parent(each), cst.Call)]
    else:
        calls = context.tree.within(area, cst.Call)
    for node in calls:
        match node:
            case cst.Call(func=cst.Attribute(value=value, attr=cst.Name(value=name))):
                if name in _BACKWARD:
                    return True
                if name == "step" and "optim" in (dotted(value) or "").lower():
                    return True
    return False


def backward_calls(context: Context, function: cst.FunctionDef | cst.Module) -> list[cst.Call]:
    """The calls in a scope itself that send gradients back."""
    return context.remember(_backward_calls).get(id(function), [])


def _backward_calls(context: Context) -> dict[int, list[cst.Call]]:
    """Those of all scopes, by the ``id`` of the scope."""
    found: dict[int, list[cst.Call]] = {}
    for name in sorted(_BACKWARD):
        for node in context.tree.attributes(name):
            call = context.tree.parent(node)
            if isinstance(call, cst.Call) and call.func is node:
                found.setdefault(id(context.scopes.scope_of(call)), []).append(call)
    for call in _calls_of_function(context):
        found.setdefault(id(context.scopes.scope_of(call)), []).append(call)
    return found


def _calls_of_function(context: Context) -> Iterator[cst.Call]:
    """The calls of ``torch.autograd.backward`` by a name that is imported."""
    imports = (each.names for each in context.tree.all(cst.ImportFrom) if not isinstance(each.names, cst.ImportStar))
    names = {bound_name(alias) for each in imports for alias in each if last_name(alias.name) == "backward"}
    for name in sorted(names):
        for node in context.tree.names(name):
            call = context.tree.parent(node)
            if isinstance(call, cst.Call) and call.func is node:
                if imported_path(context, node) == "torch.autograd.backward":
                    yield call


def backpropagated(call: cst.Call) -> cst.BaseExpression | None:
    """What a call of ``backward`` begins with: ``loss`` of ``loss.backward()`` and of ``fabric.backward(loss)``."""
    given = call.args[0].value if call.args and not call.args[0].star else None
    if not isinstance(call.func, cst.Attribute):
        return given
    owner = call.func.value
    if call.func.attr.value != "backward" or last_name(owner) in _BACKWARD_OF:
        return given
    match owner:  # scaler.scale(loss).backward()
        case cst.Call(func=cst.Attribute(attr=cst.Name("scale")), args=[cst.Arg(star="", value=scaled)]):
            return scaled
    return owner
