"""Whether a tensor with a graph is seen to come to a place: handed over by a caller, or given by a function.

For those who would take what is not known for a tensor without one: a single call that is seen is enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.aliasing.calls import bound_to
from torchlint.model.calls_elsewhere import asking, call_sites
from torchlint.model.expressions import value_of
from torchlint.model.graphs.flow import Event, flow_of, nodes_of
from torchlint.model.overriding import overriding
from torchlint.model.possibilities import Kind, Tri
from torchlint.model.values import Value, held

if TYPE_CHECKING:
    from torchlint.model.context import Context

_FAR = 3
"""How many functions that hand on what they are given to go back."""
_MOST = 16
"""How many calls of a function are looked at."""


def is_handed_graph(context: Context, function: cst.FunctionDef, name: str) -> bool:
    """Whether a call is seen that hands a parameter of a function a tensor with a graph, or what holds one."""
    return _is_handed(context, function, name, _FAR)


def gives_graph(context: Context, call: cst.Call) -> bool:
    """Whether a function of the project, or one that overrides it, is seen to give a tensor with a graph."""
    function = value_of(context, call.func).node
    if not isinstance(function, cst.FunctionDef):
        return False
    home = context.home(function)
    others = ((each.context, each.function) for each in overriding(home, function).methods)
    return any(_gives(*each) for each in ((home, function), *others))


def _gives(context: Context, function: cst.FunctionDef) -> bool:
    with asking(context):
        given = [
            each.value
            for kind in (cst.Return, cst.Yield)
            for each in nodes_of(context, function, kind)
            if isinstance(each, (cst.Return, cst.Yield)) and isinstance(each.value, cst.BaseExpression)
        ]
        return any(holds_graph(value_of(context, each)) for each in given)


def holds_graph(value: Value) -> bool:
    """Whether a value is a tensor with a graph, or holds one."""
    if value.kind & Kind.CONTAINER and value.items is not None:
        return any(map(holds_graph, value.items))
    element = held(value) if value.kind & Kind.CONTAINER else None
    if element is not None and element is not value and holds_graph(element):
        return True
    return bool(value.kind & Kind.TENSOR) and value.grad == Tri.YES


def _is_handed(context: Context, function: cst.FunctionDef, name: str, far: int) -> bool:
    for caller, call in call_sites(context, function)[:_MOST]:
        with asking(caller):
            for arg in call.args:
                if name in bound_to(function, arg, call, context, caller) and _has_graph(caller, arg.value, far):
                    return True
    return False


def _has_graph(context: Context, node: cst.BaseExpression, far: int) -> bool:
    if holds_graph(value_of(context, node)):
        return True
    scope = context.scopes.scope_of(node)
    events = flow_of(context, scope).reaching(node)
    if any(holds_graph(value_of(context, each)) for event in events for each in _bound(event)):
        return True
    if not far or not isinstance(scope, cst.FunctionDef) or not value_of(context, node).kind & Kind.UNKNOWN:
        return False
    given = {event.path for event in events if isinstance(event.node, cst.Param)}
    return any(_is_handed(context, scope, name, far - 1) for name in given)


def _bound(event: Event) -> Iterator[cst.BaseExpression]:
    """What a name is bound to, or is put into what it stands for."""
    match event.node:
        case cst.Assign(value=value) | cst.AugAssign(value=value) | cst.NamedExpr(value=value):
            yield value
        case cst.Call(args=args):
            yield from (arg.value for arg in args)
