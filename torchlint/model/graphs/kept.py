"""Whether a graph is kept for nothing: there is one, and nobody sends gradients back through it any more."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from torchlint.model.certainty import Certainty
from torchlint.model.context import Context, at_home
from torchlint.model.expressions import value_of
from torchlint.model.freezing import is_frozen
from torchlint.model.graphs.always import runs_with
from torchlint.model.graphs.backward import Sending, reached, sendings
from torchlint.model.graphs.bounded import is_bounded
from torchlint.model.graphs.called import is_called_loss, is_made_by_loss
from torchlint.model.graphs.carrying import carries_graph
from torchlint.model.graphs.elsewhere import is_had_elsewhere, is_sent_elsewhere
from torchlint.model.graphs.fate import Fate, fate_of, fate_of_result, is_its_own
from torchlint.model.graphs.flow import MANY, Event, Flow, flow_of, upstream
from torchlint.model.graphs.holders import graph_held, holds_no_graph
from torchlint.model.graphs.keepers import given_at
from torchlint.model.graphs.keeping import (
    Keeping,
    is_own_method,
    is_statement,
    is_unknown_holder,
    keepings_at,
    outlives_a_round,
)
from torchlint.model.graphs.mentions import owner
from torchlint.model.graphs.scaled import core, counts, may_have_graph
from torchlint.model.graphs.shown import is_told_apart
from torchlint.model.graphs.through import goes_through, is_same_binding
from torchlint.model.graphs.ties import (
    Tie,
    closest_tie,
    is_emptied,
    is_sent_in_turn,
    is_sent_itself,
    is_usable_after,
    kept_by,
    near_sendings,
    terms,
    tie_to,
)
from torchlint.model.modes import grad_enabled, start_grad
from torchlint.model.names import MODULE_NAME
from torchlint.model.possibilities import Dtype, Kind, Ndim, Tri
from torchlint.model.recording import calls_of
from torchlint.model.syntax import dotted, last_name
from torchlint.model.values import Strength, Value
from torchlint.system.records import replace


@dataclass(frozen=True)
class Kept:
    """A graph that is kept for nothing."""

    keeping: Keeping
    value: cst.BaseExpression
    """What is put in."""
    graph: cst.BaseExpression
    """What has the graph: that itself, or a part of it."""
    tie: Tie
    is_certain: bool
    """Whether it is a tensor wherever this runs, whose graph nobody can need any more."""
    can_detach: bool
    """Whether it has the methods of a tensor."""


def kept_for_nothing(context: Context, node: cst.CSTNode) -> list[Kept]:
    """The values of which a statement or call keeps the graphs for nothing."""
    keepings = keepings_at(context, node)
    if not keepings and (isinstance(node, cst.Assign) or is_statement(node, context)):
        return _given_to_function(context, node)
    return [each for keeping in keepings for each in _kept_by_one(context, keeping)]


def _given_to_function(context: Context, node: cst.CSTNode) -> list[Kept]:
    given = given_at(context, node)
    return [] if given is None else _kept_by_one(context, given, is_given=True)


def _kept_by_one(context: Context, keeping: Keeping, is_given: bool = False) -> list[Kept]:
    node = keeping.node
    if not outlives_a_round(context, keeping):
        return []
    flow = flow_of(context, context.scopes.scope_of(node))
    may_be_loss = not is_given and any(_may_be_loss(context, flow, keeping, each) for each in keeping.kept)
    if not may_be_loss and not _is_near_sending(context, node):
        return []
    if grad_enabled(context, node) != Tri.YES or is_bounded(context, keeping.path, node, is_sum=keeping.is_sum):
        return []
    if is_sent_elsewhere(context, keeping.path, flow.scope):
        return []
    if not is_given and is_own_method(node, context):  # `append` of a class of the project is no list's
        return _given_to_function(context, node)
    found = [kept for each in keeping.kept if (kept := _judged(context, flow, keeping, each)) is not None]
    if is_given or is_unknown_holder(context, node):  # what else it does with that is not seen
        found = [_believed(each, is_given) for each in found if each.tie != Tie.NONE]
    if any(each.is_certain for each in found) and is_told_apart(context, flow, keeping):
        return [replace(each, is_certain=False) for each in found]
    return found


def _believed(kept: Kept, is_given: bool) -> Kept:
    """What an object keeps is certain if its class is seen, and gradients have been sent back through that itself."""
    return kept if is_given and kept.tie == Tie.SAME else replace(kept, is_certain=False)


def _is_near_sending(context: Context, node: cst.CSTNode) -> bool:
    """Whether gradients are sent back in the scope of a statement or call, by another one."""
    return any(each.frees and each.node is not node for each in sendings(context, context.scopes.scope_of(node)))


def _judged(context: Context, flow: Flow, keeping: Keeping, node: cst.BaseExpression) -> Kept | None:
    value = value_of(context, node)
    if not may_have_graph(value) or value.leaf == Tri.YES or _retains_grad(context, flow, keeping, node):
        return None
    if holds_no_graph(context, flow, node):
        return None
    tie, sending = closest_tie(context, flow, keeping, node)
    held = graph_held(context, flow, keeping, node, tie) if tie < Tie.LAST else None
    if held is not None:
        return Kept(keeping, node, held, tie, is_certain=False, can_detach=False)
    is_plain = not value.kind & ~(Kind.TENSOR | Kind.UNKNOWN)
    if tie == Tie.NONE or sending is None:
        return _unsent(context, flow, keeping, node, value)
    if tie == Tie.SAME and not is_sent_itself(sending, node) and is_emptied(context, flow, node):
        return None
    if tie == Tie.LAST:
        return Kept(keeping, node, node, tie, is_certain=False, can_detach=False)
    if tie < Tie.LAST and not carries_graph(context, flow, keeping, node, tie):
        if not is_sent_in_turn(context, flow, node, sending):
            return None
    is_holder = tie == Tie.SAME and not is_sent_itself(sending, node)
    is_sure = value.kind == Kind.TENSOR or (tie == Tie.SAME and is_plain)
    is_certain = is_sure and _is_surely_sent(context, flow, node, tie, sending)
    is_certain = is_certain and (_is_only_read(context, flow, keeping) or _is_always_sent(context, flow, keeping, node))
    can_detach = is_plain and not is_holder and not keeping.is_target
    return Kept(keeping, node, node, tie, is_certain, can_detach)


def _retains_grad(context: Context, flow: Flow, keeping: Keeping, node: cst.BaseExpression) -> bool:
    """Whether the gradients of what is kept are wanted: ``x.retain_grad(); kept.append(x)``."""
    retained = (each.value for each in context.tree.attributes("retain_grad"))
    here = [dotted(owner(each)) for each in retained if context.scopes.scope_of(each) is flow.scope]
    return bool(here) and not {keeping.path, dotted(owner(node))}.isdisjoint(here)


def _is_surely_sent(context: Context, flow: Flow, node: cst.BaseExpression, tie: Tie, sending: Sending) -> bool:
    """Whether gradients are sent back through all of a value, whatever way is taken."""
    if not sending.is_known:
        return False
    if tie == Tie.SAME:
        inner = core(context, node)
        return is_same_binding(context, flow, sending, inner) or goes_through(context, sending, inner)
    found = [each for each in terms(context, node) if value_of(context, each).kind != Kind.UNKNOWN]
    found = [each for each in found if counts(context, each)] or [core(context, node)]
    return tie == Tie.PART and all(goes_through(context, sending, each) for each in found)


def _is_always_sent(context: Context, flow: Flow, keeping: Keeping, node: cst.BaseExpression) -> bool:
    """Whether gradients are sent back through a value in each round in which it is kept."""
    freeing = (each for each in near_sendings(context, keeping) if not is_usable_after(context, each))
    ties = ((tie_to(context, flow, keeping, node, each), each) for each in freeing)
    sent = [each.node for tie, each in ties if _is_surely_sent(context, flow, node, tie, each)]
    return runs_with(context, sent, keeping.node)


def _is_only_read(context: Context, flow: Flow, keeping: Keeping) -> bool:
    """Whether what is kept is bound in the function, and only looked at there."""
    is_bound = "." not in keeping.path and bool(flow.bindings(keeping.path))
    if not is_bound or is_had_elsewhere(context, keeping.path, flow.scope):
        return False
    return _fate(context, flow, keeping) == Fate.READ and is_its_own(context, flow.scope, keeping.path)


def _fate(context: Context, flow: Flow, keeping: Keeping) -> Fate:
    """What becomes of what is kept where it is."""
    return max((fate_of(context, flow.scope, each) for each in kept_by(flow, keeping)), default=Fate.HANDED)


# ---------------------------------------------------------------------- where nothing is sent back


def _unsent(context: Context, flow: Flow, keeping: Keeping, node: cst.BaseExpression, value: Value) -> Kept | None:
    """A loss that nobody sends back, in evaluation say, where it is only read."""
    if not _may_be_loss(context, flow, keeping, node) or not _is_loss(value):
        return None
    if id(flow.scope) in context.remember(_scopes_with_volatile):
        return None
    fate = _fate(context, flow, keeping)
    if fate == Fate.RETURNED and isinstance(flow.scope, cst.FunctionDef):
        results = [fate_of_result(context, call) for call in calls_of(context, flow.scope)]
        if not results or any(results):
            return None
    elif fate != Fate.READ:
        return None
    if not _is_made_like_sent(context, flow, node) and not (
        (value.strength or Strength.NAME) >= Strength.SIGNATURE and _is_made_by_network(context, flow, node, value)
    ):
        return None
    is_plain = not value.kind & ~(Kind.TENSOR | Kind.UNKNOWN)
    is_read = _is_only_read(context, flow, keeping)
    return Kept(keeping, node, node, Tie.NONE, is_read, is_plain and not keeping.is_target)


def _scopes_with_volatile(context: Context) -> frozenset[int]:
    """The scopes in which something is made volatile: no graph is wanted there, and ``no_grad`` is what is missing."""
    made = [arg for arg in context.tree.all(cst.Arg) if arg.keyword is not None and arg.keyword.value == "volatile"]
    wanted = (arg for arg in made if not (isinstance(arg.value, cst.Name) and arg.value.value == "False"))
    return frozenset(id(context.scopes.scope_of(arg)) for arg in wanted)


def _is_made_like_sent(context: Context, flow: Flow, node: cst.BaseExpression) -> bool:
    """Whether a value is made by the same call as another one of the file that is sent back."""
    makers = {_maker(context, event) for event in flow.reaching(node)} - {""}
    return any(context.remember(_sends_result_of, maker) for maker in makers)


def _is_made_by_network(context: Context, flow: Flow, node: cst.BaseExpression, value: Value) -> bool:
    """Whether a value is computed from what a network gives: what only comes from parameters may have no graph."""
    if value.certainty > Certainty.SUPPOSED:
        return True
    made = [
        node,
        *(e.node.value for e in upstream(flow.reaching(node), MANY).values() if isinstance(e.node, cst.Assign)),
    ]
    functions = (call.func for each in made for call in context.tree.within(each, cst.Call))
    return any(MODULE_NAME.search(last_name(each)) is not None and _may_record(context, each) for each in functions)


def _may_record(context: Context, func: cst.BaseExpression) -> bool:
    """Whether what is called may give a graph: no frozen network, no function decorated with ``no_grad``."""
    node = value_of(context, func).node
    if isinstance(node, cst.FunctionDef) and node.decorators and _start_grad(context, node) != Tri.YES:
        return False
    return not is_frozen(context, func)


_start_grad = at_home(start_grad)


def _sends_result_of(context: Context, maker: str) -> bool:
    """Whether the file sends back what a callable gives, where its result is bound to a name."""
    scopes = {id(scope := context.scopes.scope_of(func)): scope for func in context.remember(_makers).get(maker, ())}
    sent = (each for scope in scopes.values() for each in sendings(context, scope))
    return any(_maker(context, event) == maker for each in sent for event in reached(context, each))


def _makers(context: Context) -> dict[str, list[cst.BaseExpression]]:
    """What is called where the result is assigned, by how that is written."""
    found: dict[str, list[cst.BaseExpression]] = {}
    for assign in context.tree.all(cst.Assign):
        if isinstance(assign.value, cst.Call):
            found.setdefault(context.tree.code(assign.value.func), []).append(assign.value.func)
    return found


def _maker(context: Context, event: Event) -> str:
    """How the callable is written whose result is bound; empty if it is no call's."""
    match event.node:
        case cst.Assign(value=cst.Call(func=func)):
            return context.tree.code(func)
    return ""


def _may_be_loss(context: Context, flow: Flow, keeping: Keeping, node: cst.BaseExpression) -> bool:
    """Whether what a loop puts into a name of its function is called a loss, or is one that a loss of torch gives."""
    if "." in keeping.path or not flow.bindings(keeping.path) or next(flow.loops(keeping.node), None) is None:
        return False
    if is_called_loss(node, keeping.path):
        return True
    inner = core(context, node)
    made = [event.node for event in flow.reaching(inner)] if isinstance(inner, cst.Name) else []
    return any(is_made_by_loss(context, each) for each in (inner, *made))


def _is_loss(value: Value) -> bool:
    """Whether a value is a scalar that carries a graph."""
    if value.kind & ~(Kind.TENSOR | Kind.UNKNOWN | Kind.NONE | Kind.NUMBER) or not value.kind & Kind.TENSOR:
        return False
    return value.grad == Tri.YES and bool(value.dtype & Dtype.FLOAT) and bool(value.ndim & Ndim.ZERO)
