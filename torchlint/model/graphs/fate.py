"""What becomes of what a name keeps: is it only read, is it given away, are gradients sent back through it."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from itertools import chain

import libcst as cst

from torchlint.model.bindings import references
from torchlint.model.context import Context
from torchlint.model.expressions import qualified
from torchlint.model.graphs.backward import reached, sendings
from torchlint.model.graphs.flow import Event, Flow, Scope, flow_of, nodes_of, upstream
from torchlint.model.graphs.mentions import CUTTING, CUTTING_FUNCTIONS, mentions
from torchlint.model.graphs.reading import is_unknown
from torchlint.model.interpreted import seen
from torchlint.model.possibilities import Kind
from torchlint.model.syntax import last_name


class Fate(enum.IntEnum):
    """The worst that happens to something that holds a graph."""

    READ = 0
    """What it is like is looked at, and the graph is not needed for that."""
    RETURNED = 1
    """It is given back to the callers of the function."""
    HANDED = 2
    """It goes where nobody has looked: to an unknown function, into an object."""
    SENT_BACK = 3
    """Gradients are sent back through it."""


_HOLDING = Kind.CONTAINER | Kind.OBJECT | Kind.UNKNOWN
"""What can be put into."""


def fate_of(context: Context, scope: Scope, event: Event) -> Fate:
    """What becomes of what a binding in a scope has given to its name."""
    return context.remember(_fates, scope).get(id(event), Fate.READ)


def fate_of_name(context: Context, name: str, node: cst.CSTNode) -> Fate:
    """What becomes of all that a name or path is bound to, and of what is put into it, in the scope of a node."""
    scope = context.scopes.scope_of(node)
    events = (event for event in flow_of(context, scope).events() if event.path == name)
    return _worst(context, scope, events)


def is_given_away(context: Context, scope: Scope, event: Event) -> bool:
    """Whether what a binding has given to its name is returned or handed on, whatever else becomes of it."""
    return id(event) in context.remember(_all_returned, scope) or id(event) in context.remember(_all_handed, scope)


def is_its_own(context: Context, scope: Scope, path: str) -> bool:
    """Whether what a name of a scope holds is held by nothing else: ``[]`` is, ``[losses]`` may not be."""
    return context.remember(_is_its_own, scope, path)


def _is_its_own(context: Context, scope: Scope, path: str) -> bool:
    return all(_is_made_anew(context, event) for event in flow_of(context, scope).bindings(path))


def _is_made_anew(context: Context, event: Event) -> bool:
    """Whether what a name is bound to is new, or a sum that it was part of."""
    match event.node:
        case cst.AugAssign():
            return True
        case cst.Assign(value=value) | cst.AnnAssign(value=value) | cst.NamedExpr(value=value) if value is not None:
            if isinstance(value, cst.Call) and (qualified(context, value.func) or "").startswith("torch."):
                return True
            found = (each for each in mentions(context, value) if each.path != event.path)
            return not any(seen(context, each.node).kind & _HOLDING for each in found)
    return False


def _fates(context: Context, scope: Scope) -> dict[int, Fate]:
    """The fate of each binding of a scope; those that are not in it are only read."""
    sent_back = upstream(event for each in sendings(context, scope) for event in reached(context, each))
    return {
        **dict.fromkeys(context.remember(_all_returned, scope), Fate.RETURNED),
        **dict.fromkeys(context.remember(_all_handed, scope), Fate.HANDED),
        **dict.fromkeys(sent_back, Fate.SENT_BACK),
    }


def _all_returned(context: Context, scope: Scope) -> frozenset[int]:
    """The bindings of which something is returned, directly or by way of other names."""
    return frozenset(upstream(_returned(context, flow_of(context, scope))))


def _all_handed(context: Context, scope: Scope) -> frozenset[int]:
    """The bindings of which something goes where nobody has looked."""
    return frozenset(upstream(_handed(context, flow_of(context, scope))))


def _returned(context: Context, flow: Flow) -> Iterator[Event]:
    given: Iterator[cst.Return | cst.Yield] = chain(
        nodes_of(context, flow.scope, cst.Return), nodes_of(context, flow.scope, cst.Yield)
    )
    for node in given:
        if node.value is not None:
            yield from flow.reaching(node.value)


def _handed(context: Context, flow: Flow) -> Iterator[Event]:
    for call in nodes_of(context, flow.scope, cst.Call):
        if call.args and is_unknown(context, call):
            for arg in call.args:
                yield from flow.reaching(arg.value)
    if any(_shows_all_names(context, call) for call in nodes_of(context, flow.scope, cst.Call)):
        yield from flow.events()
    for method in nodes_of(context, flow.scope, cst.Attribute):
        if method.attr.value == "backward" and not _is_called(context, method):
            yield from flow.reaching(method.value)
    owners = {event.path.partition(".")[0] for event in flow.events()}
    captured = {name for name in owners if _is_captured(context, flow.scope, name)}
    given = {name for name in owners if _is_from_outside(flow, name)}
    for event in flow.events():
        first = event.path.partition(".")[0]
        changes = event.path != first or not event.replaces
        if first in captured or (changes and first in given):
            yield event


def _shows_all_names(context: Context, call: cst.CSTNode) -> bool:
    """Whether whoever has the result of a call can do anything with all names: not ``text.format(**locals())``."""
    match call:
        case cst.Call(func=cst.Name("eval" | "exec")):
            return True
        case cst.Call(func=cst.Name("locals" | "globals" | "vars"), args=[]):
            up = context.tree.parent(call)
            return not (isinstance(up, cst.Arg) and up.star == "**") and not isinstance(up, cst.BinaryOperation)
    return False


def _is_called(context: Context, func: cst.Attribute) -> bool:
    call = context.tree.parent(func)
    return isinstance(call, cst.Call) and call.func is func


def _is_from_outside(flow: Flow, name: str) -> bool:
    """Whether what is called so is not something that the function has made."""
    bindings = flow.bindings(name)
    return not bindings or any(isinstance(event.node, cst.Param) for event in bindings)


def _is_captured(context: Context, scope: Scope, name: str) -> bool:
    """Whether functions inside a scope have a name of it."""
    return any(context.scopes.scope_of(node) is not scope for node in references(context, name, scope))


def fate_of_result(context: Context, node: cst.CSTNode) -> Fate:
    """What becomes of what an expression gives, on the spot and by way of the names it is bound to."""
    scope = context.scopes.scope_of(node)
    child = node
    for up in context.tree.ancestors(node):
        match up:
            case cst.Arg():
                call = context.tree.parent(up)
                if isinstance(call, cst.Call) and is_unknown(context, call):
                    return Fate.HANDED
            case cst.Attribute(attr=cst.Name("backward")) if up.value is child:
                return Fate.SENT_BACK
            case cst.Attribute() if up.attr.value in CUTTING and up.value is child:
                return Fate.READ
            case cst.Call() if last_name(up.func) in CUTTING_FUNCTIONS and up.func is not child:
                return Fate.READ
            case cst.Comparison() | cst.FormattedStringExpression() | cst.Index() | cst.Expr():
                return Fate.READ
            case cst.Return() | cst.Yield():
                return Fate.RETURNED
            case cst.Lambda():
                return Fate.HANDED
            case cst.BaseSmallStatement() | cst.BaseCompoundStatement() | cst.WithItem() | cst.NamedExpr():
                events = flow_of(context, scope).events_at(up)
                is_used = all(len(references(context, event.path.partition(".")[0], scope)) > 1 for event in events)
                return _worst(context, scope, events) if is_used else Fate.HANDED  # for others, or for nobody
        child = up
    return Fate.HANDED


def _worst(context: Context, scope: Scope, events: Iterable[Event]) -> Fate:
    return max((fate_of(context, scope, event) for event in events), default=Fate.READ)
