"""What a kept value has to do with what gradients are sent back through in the same round."""

from __future__ import annotations

import enum
from collections.abc import Iterator

import libcst as cst

from torchlint.model.context import Context
from torchlint.model.expressions import value_of
from torchlint.model.graphs.backward import Sending, passed_on, reached, related_results, sendings_near, taken_out
from torchlint.model.graphs.fate import is_given_away
from torchlint.model.graphs.flow import MANY, Event, Flow, flow_of, upstream
from torchlint.model.graphs.keeping import Keeping
from torchlint.model.graphs.mentions import is_below, mentions, owner
from torchlint.model.graphs.relatives import relatives
from torchlint.model.graphs.saved import saves_nothing
from torchlint.model.graphs.scaled import core, counts
from torchlint.model.modes import grad_enabled
from torchlint.model.possibilities import Kind, Tri
from torchlint.model.scopes import target_names
from torchlint.model.syntax import dotted


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


def closest_tie(context: Context, flow: Flow, keeping: Keeping, node: cst.BaseExpression) -> tuple[Tie, Sending | None]:
    """The closest tie to what is sent back where a graph is freed, and where that is."""
    best: tuple[Tie, Sending | None] = (Tie.NONE, None)
    near = near_sendings(context, keeping)
    direct = next((each for each in near if context.tree.parent(each.node) is keeping.node and each.frees), None)
    if direct is not None and keeping.index is not None:
        return _tie_to_element(keeping, node, direct), direct
    is_needed = any(_sends_keeper(context, flow, keeping, each) for each in near)
    for sending in () if is_needed else near:
        is_usable = is_usable_after(context, sending)
        if is_usable and not _is_given_nobody(context, flow, keeping):
            continue
        tie = tie_to(context, flow, keeping, node, sending)
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


def near_sendings(context: Context, keeping: Keeping) -> list[Sending]:
    """The places near a statement where gradients are sent back."""
    return [each for each in sendings_near(context, keeping.node) if grad_enabled(context, each.node) == Tri.YES]


def is_usable_after(context: Context, sending: Sending) -> bool:
    """Whether gradients can be sent back through the same graph once more."""
    return not sending.frees or context.remember(saves_nothing, sending)


def _sends_keeper(context: Context, flow: Flow, keeping: Keeping, sending: Sending) -> bool:
    """Whether gradients are sent back through all that is kept, not only through what was put in last."""
    if any(_is_last_of(context, keeping, each) for each in sending.given):
        return False
    _, sent = context.remember(_sent, sending)
    return any(id(event) in sent for event in kept_by(flow, keeping))


def _is_given_nobody(context: Context, flow: Flow, keeping: Keeping) -> bool:
    """Whether nobody else has what is kept."""
    given = (is_given_away(context, flow.scope, each) for each in kept_by(flow, keeping))
    return "." not in keeping.path and not any(given)


def tie_to(context: Context, flow: Flow, keeping: Keeping, node: cst.BaseExpression, sending: Sending) -> Tie:
    """The closest tie of what an expression is made of to what is sent back at one place."""
    if any(_is_last_of(context, keeping, each) for each in sending.given):
        loop = next(flow.loops(keeping.node), None)
        return Tie.LAST if loop is None or context.tree.is_inside(sending.node, loop) else Tie.NONE
    given, sent = context.remember(_sent, sending)
    if keeping.path in context.remember(_paths_sent, sending):
        return Tie.NONE  # what is sent back is made of what keeps the graph
    return max(_tie_of(context, flow, term, sending, given, sent) for term in terms(context, node))


def terms(context: Context, node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
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
    if _is_at_place_sent(context, flow, term, sending):
        return Tie.SAME
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
        is_other = isinstance(term, cst.Subscript) and not _is_each_in_turn(context, term)
        return Tie.SHARED if is_other else Tie.PART  # another element than the one sent back
    related = context.remember(_related, sending)
    return Tie.SHARED if any(key in related for key in own) else Tie.NONE


def _is_each_in_turn(context: Context, node: cst.Subscript) -> bool:
    """Whether a loop over the keys of a dictionary takes out one element after the other: ``for k in out: out[k]``."""
    match node:
        case cst.Subscript(value=whole, slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Name(value=key)))]):
            loops = (each for each in context.tree.ancestors(node) if isinstance(each, cst.For))
            loop = next((each for each in loops if key in target_names(each.target)), None)
        case _:
            return False
    match loop:
        case cst.For(target=cst.Name(), iter=cst.Call(func=cst.Attribute(value=keys, attr=cst.Name("keys")), args=[])):
            return dotted(keys) is not None and dotted(keys) == dotted(whole)
        case cst.For(target=cst.Name(), iter=keys):
            return dotted(keys) is not None and dotted(keys) == dotted(whole)
    return False


def is_sent_in_turn(context: Context, flow: Flow, node: cst.BaseExpression, sending: Sending) -> bool:
    """Whether a loop takes one element after the other out of a dictionary, of which one has been sent back itself."""
    inner = core(context, node)
    if not isinstance(inner, cst.Subscript) or not _is_each_in_turn(context, inner):
        return False
    bound = {id(event) for event in flow.reaching(inner.value)}
    return bool(bound) and bound <= {id(event) for event in passed_on(context, sending)}


def _is_at_place_sent(context: Context, flow: Flow, term: cst.BaseExpression, sending: Sending) -> bool:
    """Whether an element of a tuple is the one that has been sent back where the tuple comes from."""
    assign = context.tree.parent(sending.node)
    if not sending.places or not isinstance(assign, cst.Assign):
        return False
    found = taken_out(context, term) or _taken_apart(context, flow, term)
    if found is None or found[1] not in sending.places:
        return False
    bound = {id(event) for event in flow.reaching(found[0])}
    return bool(bound) and bound <= {id(event) for event in flow.events_at(assign)}


def _taken_apart(context: Context, flow: Flow, node: cst.BaseExpression) -> tuple[cst.BaseExpression, int] | None:
    """What a name is an element of, and the index, where a statement takes it apart: ``a, b = losses``."""
    bound = flow.reaching(node)
    match [event.node for event in bound]:
        case [cst.Assign(targets=[cst.AssignTarget(target=cst.Tuple(elements=elements))], value=whole)]:
            written = [dotted(each.value) for each in elements if isinstance(each, cst.Element)]
            if len(written) == len(elements) and dotted(whole) is not None and dotted(node) in written:
                return whole, written.index(dotted(node))
    return None


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


def is_sent_itself(sending: Sending, node: cst.BaseExpression) -> bool:
    """Whether gradients are sent back through a value, not only through something that is in it."""
    path = dotted(node)
    if path is None:
        return True
    return not any(_is_in(path, each) for each in sending.given)


def is_emptied(context: Context, flow: Flow, node: cst.BaseExpression) -> bool:
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


def kept_by(flow: Flow, keeping: Keeping) -> Iterator[Event]:
    """What a statement binds what it keeps to."""
    return (event for event in flow.events_at(keeping.node) if event.path == keeping.path)
