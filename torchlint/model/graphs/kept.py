"""Whether a graph is kept for nothing: there is one, and nobody sends gradients back through it any more."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, replace

import libcst as cst

from torchlint.model.certainty import Certainty
from torchlint.model.context import Context
from torchlint.model.expressions import value_of
from torchlint.model.graphs.always import runs_with
from torchlint.model.graphs.backward import Sending, reached, related_results, sendings, sendings_near
from torchlint.model.graphs.bounded import is_bounded
from torchlint.model.graphs.called import is_called_loss, is_called_part
from torchlint.model.graphs.elsewhere import is_sent_elsewhere
from torchlint.model.graphs.fate import Fate, fate_of, fate_of_result, is_given_away, is_its_own
from torchlint.model.graphs.flow import MANY, Event, Flow, flow_of, upstream
from torchlint.model.graphs.keeping import (
    Keeping,
    given_at,
    is_own_method,
    is_statement,
    is_unknown_holder,
    keepings_at,
    outlives_a_round,
)
from torchlint.model.graphs.mentions import is_below, mentions, owner
from torchlint.model.graphs.relatives import relatives
from torchlint.model.graphs.saved import saves_nothing
from torchlint.model.graphs.scaled import core, counts, may_have_graph
from torchlint.model.graphs.shown import is_told_apart
from torchlint.model.graphs.through import goes_through, is_same_binding
from torchlint.model.modes import grad_enabled
from torchlint.model.names import MODULE_NAME
from torchlint.model.possibilities import Dtype, Kind, Ndim, Tri
from torchlint.model.recording import calls_of
from torchlint.model.syntax import dotted, last_name
from torchlint.model.trainable import is_frozen
from torchlint.model.values import Strength, Value


class Tie(enum.IntEnum):
    """What a kept value has to do with what gradients are sent back through in the same round."""

    NONE = 0
    SHARED = 1
    """Both are made of the same thing, which has a graph."""
    PART = 2
    """That is made of it."""
    LAST = 3
    """It is sent back by way of what keeps it: ``losses[-1].backward()``."""
    SAME = 4


@dataclass(frozen=True)
class Kept:
    """A graph that is kept for nothing."""

    keeping: Keeping
    value: cst.BaseExpression
    tie: Tie
    is_certain: bool
    """Whether it is a tensor wherever this runs, whose graph nobody can need any more."""
    can_detach: bool
    """Whether it has the methods of a tensor."""


def kept_for_nothing(context: Context, node: cst.CSTNode) -> list[Kept]:
    """The values of which a statement or call keeps the graphs for nothing."""
    keepings = keepings_at(context, node)
    if not keepings and is_statement(node, context):
        return _given_to_function(context, node)
    return [each for keeping in keepings for each in _kept_by_one(context, keeping)]


def _given_to_function(context: Context, call: cst.Call) -> list[Kept]:
    given = given_at(context, call)
    return [] if given is None else _kept_by_one(context, given, is_given=True)


def _kept_by_one(context: Context, keeping: Keeping, is_given: bool = False) -> list[Kept]:
    node = keeping.node
    if not outlives_a_round(context, keeping):
        return []
    flow = flow_of(context, context.scopes.scope_of(node))
    may_be_loss = not is_given and any(_may_be_loss(flow, keeping, each) for each in keeping.kept)
    if not may_be_loss and not _is_near_sending(context, node):
        return []
    if grad_enabled(context, node) != Tri.YES or is_bounded(context, keeping.path, node, is_sum=keeping.is_sum):
        return []
    if is_sent_elsewhere(context, keeping.path, flow.scope):
        return []
    if not is_given and is_own_method(node, context):  # `append` of a class of the project is no list's
        return _given_to_function(context, node)
    found = [kept for each in keeping.kept if (kept := _judged(context, flow, keeping, each)) is not None]
    if not is_given and is_unknown_holder(context, node):  # what else it does with that is not seen
        found = [replace(each, is_certain=False) for each in found if each.tie != Tie.NONE]
    if any(each.is_certain for each in found) and is_told_apart(context, flow, keeping):
        return [replace(each, is_certain=False) for each in found]
    return found


def _is_near_sending(context: Context, node: cst.CSTNode) -> bool:
    """Whether gradients are sent back in the scope of a statement or call, by another one."""
    return any(each.frees and each.node is not node for each in sendings(context, context.scopes.scope_of(node)))


def _judged(context: Context, flow: Flow, keeping: Keeping, node: cst.BaseExpression) -> Kept | None:
    value = value_of(context, node)
    if not may_have_graph(value) or value.leaf == Tri.YES or _retains_grad(context, flow, keeping, node):
        return None
    tie, sending = _tie(context, flow, keeping, node)
    is_plain = not value.kind & ~(Kind.TENSOR | Kind.UNKNOWN)
    if tie == Tie.NONE or sending is None:
        return _unsent(context, flow, keeping, node, value)
    if tie == Tie.SAME and not _is_sent_itself(sending, node) and _is_emptied(context, flow, node):
        return None
    if tie == Tie.LAST:
        return Kept(keeping, node, tie, is_certain=False, can_detach=False)
    if tie < Tie.LAST and not _is_tensor_with_graph(context, flow, keeping, node, tie):
        return None
    is_holder = tie == Tie.SAME and not _is_sent_itself(sending, node)
    is_sure = value.kind == Kind.TENSOR or (tie == Tie.SAME and is_plain)
    is_certain = is_sure and _is_surely_sent(context, flow, node, tie, sending)
    is_certain = is_certain and (_is_only_read(context, flow, keeping) or _is_always_sent(context, flow, keeping, node))
    can_detach = is_plain and not is_holder and not keeping.is_target
    return Kept(keeping, node, tie, is_certain, can_detach)


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
    terms = [each for each in _terms(context, node) if value_of(context, each).kind != Kind.UNKNOWN]
    terms = [each for each in terms if counts(context, each)] or [core(context, node)]
    return tie == Tie.PART and all(goes_through(context, sending, each) for each in terms)


def _is_always_sent(context: Context, flow: Flow, keeping: Keeping, node: cst.BaseExpression) -> bool:
    """Whether gradients are sent back through a value in each round in which it is kept."""
    freeing = (each for each in _near(context, keeping) if not _is_usable_after(context, each))
    ties = ((_tie_to(context, flow, keeping, node, each), each) for each in freeing)
    sent = [each.node for tie, each in ties if _is_surely_sent(context, flow, node, tie, each)]
    return runs_with(context, sent, keeping.node)


def _is_only_read(context: Context, flow: Flow, keeping: Keeping) -> bool:
    """Whether what is kept is bound in the function, and only looked at there."""
    is_bound = "." not in keeping.path and bool(flow.bindings(keeping.path))
    return is_bound and _fate(context, flow, keeping) == Fate.READ and is_its_own(context, flow.scope, keeping.path)


def _fate(context: Context, flow: Flow, keeping: Keeping) -> Fate:
    """What becomes of what is kept where it is."""
    return max((fate_of(context, flow.scope, each) for each in _kept_by(flow, keeping)), default=Fate.HANDED)


def _kept_by(flow: Flow, keeping: Keeping) -> Iterator[Event]:
    """What a statement binds what it keeps to."""
    return (event for event in flow.events_at(keeping.node) if event.path == keeping.path)


def _is_tensor_with_graph(context: Context, flow: Flow, keeping: Keeping, node: cst.BaseExpression, tie: Tie) -> bool:
    """Whether what is tied to something with a graph has one itself: by what it is, or by what it is called.

    What a network gives beside the loss may be a count. What has begun as a number, as meters do, is one.
    """
    value, path = value_of(context, node), keeping.path
    if value.kind & Kind.TENSOR and value.grad == Tri.YES and (value.strength or Strength.NAME) > Strength.NAME:
        if tie > Tie.SHARED or value.certainty > Certainty.SUPPOSED:
            return True
    if value.kind & Kind.NUMBER or not value.kind & (Kind.UNKNOWN | Kind.TENSOR):
        return False
    made = [event.node for event in flow.reaching(core(context, node))]
    parts = [each for each in _terms(context, node) if dotted(owner(each)) != path]
    if any(map(is_called_part, (*parts, *(each.iter for each in made if isinstance(each, cst.For))))):
        return True
    return tie > Tie.SHARED and bool(made) and all(_is_of_network(context, each) for each in made)


def _is_of_network(context: Context, made: cst.CSTNode) -> bool:
    """Whether something is what a network gives, by what that is called."""
    match made:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name())], value=cst.Call(func=func)):
            return MODULE_NAME.search(last_name(func)) is not None and not is_frozen(context, func)
    return False


# ---------------------------------------------------------------------- what is sent back in the same round


def _tie(context: Context, flow: Flow, keeping: Keeping, node: cst.BaseExpression) -> tuple[Tie, Sending | None]:
    """The closest tie to what is sent back where a graph is freed, and where that is."""
    best: tuple[Tie, Sending | None] = (Tie.NONE, None)
    near = _near(context, keeping)
    direct = next((each for each in near if context.tree.parent(each.node) is keeping.node and each.frees), None)
    if direct is not None and keeping.index is not None:
        return _tie_to_element(keeping, node, direct), direct
    is_needed = any(_sends_keeper(context, flow, keeping, each) for each in near)
    for sending in () if is_needed else near:
        is_usable = _is_usable_after(context, sending)
        if is_usable and not _is_given_nobody(context, flow, keeping):
            continue
        tie = _tie_to(context, flow, keeping, node, sending)
        if is_usable and tie != Tie.LAST:
            continue
        if tie > best[0]:
            best = tie, sending
    return best


def _tie_to_element(keeping: Keeping, node: cst.BaseExpression, sending: Sending) -> Tie:
    """That of what is kept at an index and given by a call that has sent something back: ``losses[i] = step(x)``."""
    wanted = (node,) if keeping.is_target else (*sending.results, *sending.related) if node is sending.node else ()
    if any(each is target for each in sending.results for target in wanted):
        return Tie.SAME
    return Tie.SHARED if any(each is target for each in sending.related for target in wanted) else Tie.NONE


def _near(context: Context, keeping: Keeping) -> list[Sending]:
    """The places near a statement where gradients are sent back."""
    return [each for each in sendings_near(context, keeping.node) if grad_enabled(context, each.node) == Tri.YES]


def _is_usable_after(context: Context, sending: Sending) -> bool:
    """Whether gradients can be sent back through the same graph once more."""
    return not sending.frees or context.remember(saves_nothing, sending)


def _sends_keeper(context: Context, flow: Flow, keeping: Keeping, sending: Sending) -> bool:
    """Whether gradients are sent back through all that is kept, not only through what was put in last."""
    if any(_is_last_of(context, keeping, each) for each in sending.given):
        return False
    _, sent = context.remember(_sent, sending)
    return any(id(event) in sent for event in _kept_by(flow, keeping))


def _is_given_nobody(context: Context, flow: Flow, keeping: Keeping) -> bool:
    """Whether nobody else has what is kept."""
    given = (is_given_away(context, flow.scope, each) for each in _kept_by(flow, keeping))
    return "." not in keeping.path and not any(given)


def _tie_to(context: Context, flow: Flow, keeping: Keeping, node: cst.BaseExpression, sending: Sending) -> Tie:
    if any(_is_last_of(context, keeping, each) for each in sending.given):
        loop = next(flow.loops(keeping.node), None)
        return Tie.LAST if loop is None or context.tree.is_inside(sending.node, loop) else Tie.NONE
    given, sent = context.remember(_sent, sending)
    if keeping.path in context.remember(_paths_sent, sending):
        return Tie.NONE  # what is sent back is made of what keeps the graph
    return max(_tie_of(context, flow, term, sending, given, sent) for term in _terms(context, node))


def _terms(context: Context, node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """What a sum or product is made of, each as far as it is not only scaled or moved."""
    waiting = [node]
    while waiting:
        inner = core(context, waiting.pop())
        if isinstance(inner, cst.BinaryOperation):
            waiting += [inner.left, inner.right]
        else:
            yield inner


def _tie_of(  # noqa: PLR0917
    context: Context,
    flow: Flow,
    term: cst.BaseExpression,
    sending: Sending,
    given: dict[int, Event],
    sent: dict[int, Event],
) -> Tie:
    own = {id(event) for event in _origins(flow, term) if flow.is_repeated_with(event, sending.node)}
    if any(term is each for each in sending.results):
        return Tie.SAME
    if any(term is each for each in sending.related):
        return Tie.SHARED
    path = dotted(owner(term))
    if any(_is_cut_behind(context, event, sending) for event in flow.reaching(term)):
        return Tie.NONE
    if any(key in given for key in own) and any(
        _is_same(term, path, each, context) for each in (*sending.given, *sending.results)
    ):
        return Tie.SAME
    if path is None:
        return Tie.NONE
    if flow.bindings(path):  # what else its object has to do with is nothing to an attribute that is bound here
        own -= {id(event) for event in _origins(flow, term) if isinstance(event.node, cst.Param) and event.path != path}
    if any(key in sent for key in own):
        return Tie.SHARED if isinstance(term, cst.Subscript) else Tie.PART  # another element than the one sent back
    related = context.remember(_related, sending)
    return Tie.SHARED if any(key in related for key in own) else Tie.NONE


def _is_cut_behind(context: Context, event: Event, sending: Sending) -> bool:
    """Whether something is replaced by what has no graph, in the block in which it is sent back and behind that."""
    if not isinstance(event.node, cst.Assign) or any(mentions(context, event.node.value)):
        return False
    tree = context.tree
    block = tree.parent(tree.statement(sending.node))
    is_behind = tree.order(event.node) > tree.order(sending.node)
    return is_behind and block is not None and tree.parent(tree.statement(event.node)) is block


def _origins(flow: Flow, node: cst.BaseExpression) -> Iterator[Event]:
    """What an expression is bound to; for what a loop takes out of something, that as well."""
    waiting, asked = flow.reaching(node), set[int]()
    while waiting:
        event = waiting.pop()
        if id(event) not in asked:
            asked.add(id(event))
            yield event
            waiting += event.sources if isinstance(event.node, cst.For) else ()


def _sent(context: Context, sending: Sending) -> tuple[dict[int, Event], dict[int, Event]]:
    """What is sent back, and that with all that it is made of."""
    given = reached(context, sending)
    return {id(event): event for event in given}, upstream(given, MANY)


def _paths_sent(context: Context, sending: Sending) -> frozenset[str]:
    _, sent = context.remember(_sent, sending)
    return frozenset(event.path for event in sent.values())


def _related(context: Context, sending: Sending) -> dict[int, Event]:
    """All that shares a graph with what is sent back."""
    flow = flow_of(context, context.scopes.scope_of(sending.node))
    _, sent = context.remember(_sent, sending)
    return relatives(context, flow, sent, sending.node, related_results(context, sending))


def _is_last_of(context: Context, keeping: Keeping, sent: cst.BaseExpression) -> bool:
    """Whether what is sent back is the element that was put in last: ``losses[-1]``, ``losses[i]``."""
    while isinstance(sent, cst.Call) and isinstance(sent.func, cst.Attribute):
        sent = sent.func.value
    match sent:
        case cst.Subscript(value=inner, slice=[cst.SubscriptElement(slice=cst.Index(value=index))]):
            if dotted(owner(inner)) != keeping.path:
                return False
            if keeping.index is None:
                return context.tree.code(index) == "-1"
            counted = context.tree.code(keeping.index)
            match index:
                case cst.BinaryOperation(left=left, operator=cst.Subtract(), right=cst.Integer("1")):
                    return context.tree.code(left) == counted  # that of the round before
            return context.tree.code(index) == counted
    return False


def _is_same(term: cst.BaseExpression, path: str | None, sent: cst.BaseExpression, context: Context) -> bool:
    """Whether an expression is what is sent back, scaled perhaps; or holds it, as ``out`` does ``out["loss"]``."""
    code = context.tree.code(term)
    while type(sent) is not type(term) or context.tree.code(sent) != code:
        match sent:
            case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name("scale")), args=[cst.Arg(value=scaled)]):
                sent = scaled if dotted(inner) != path else inner
            case cst.Call(func=cst.Attribute(value=inner)) | cst.UnaryOperation(expression=inner):
                sent = inner
            case cst.BinaryOperation(left=left, operator=cst.Multiply() | cst.Divide(), right=right):
                sent = left if counts(context, left) else right
            case cst.Subscript(value=inner) | cst.Attribute(value=inner):
                sent = inner
            case _:
                return False
    return True


def _is_sent_itself(sending: Sending, node: cst.BaseExpression) -> bool:
    """Whether gradients are sent back through a value, not only through something that is in it."""
    path = dotted(node)
    if path is None:
        return True
    return not any(_is_in(path, each) for each in sending.given)


def _is_emptied(context: Context, flow: Flow, node: cst.BaseExpression) -> bool:
    """Whether something without a graph is put in the place of what an object holds."""
    path = dotted(node) or ""
    assigned = (event.node for event in flow.events() if is_below(event.path, path))
    return any(isinstance(each, cst.Assign) and _empties(context, each, path) for each in assigned)


def _empties(context: Context, assign: cst.Assign, path: str) -> bool:
    """Whether an assignment puts something without a graph into an object; a name bound anew leaves it as it is."""
    bound = [each for target in assign.targets for each in _parts_of_target(target.target)]
    if not any(isinstance(each, (cst.Subscript, cst.Attribute)) and dotted(each) != path for each in bound):
        return False
    if any(mentions(context, assign.value)):
        return False
    value = value_of(context, assign.value)
    return value.kind != Kind.TENSOR or value.grad != Tri.YES


def _parts_of_target(target: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    if isinstance(target, (cst.Tuple, cst.List)):
        for element in target.elements:
            yield from _parts_of_target(element.value)
    else:
        yield target


def _is_in(path: str, sent: cst.BaseExpression) -> bool:
    match sent:
        case cst.Subscript(value=inner) | cst.Attribute(value=inner):
            return dotted(inner) == path or _is_in(path, inner)
    return False


# ---------------------------------------------------------------------- where nothing is sent back


def _unsent(context: Context, flow: Flow, keeping: Keeping, node: cst.BaseExpression, value: Value) -> Kept | None:
    """A loss that nobody sends back, in evaluation say, where it is only read."""
    if not _may_be_loss(flow, keeping, node) or not _is_loss(value):
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
    return Kept(keeping, node, Tie.NONE, _is_only_read(context, flow, keeping), is_plain and not keeping.is_target)


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
    return any(MODULE_NAME.search(last_name(each)) is not None and not is_frozen(context, each) for each in functions)


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


def _may_be_loss(flow: Flow, keeping: Keeping, node: cst.BaseExpression) -> bool:
    """Whether what a loop puts into a name of its function is called a loss."""
    if "." in keeping.path or not flow.bindings(keeping.path) or next(flow.loops(keeping.node), None) is None:
        return False
    return is_called_loss(node, keeping.path)


def _is_loss(value: Value) -> bool:
    """Whether a value is a scalar that carries a graph."""
    if value.kind & ~(Kind.TENSOR | Kind.UNKNOWN | Kind.NONE | Kind.NUMBER) or not value.kind & Kind.TENSOR:
        return False
    return value.grad == Tri.YES and bool(value.dtype & Dtype.FLOAT) and bool(value.ndim & Ndim.ZERO)
