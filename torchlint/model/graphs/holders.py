"""Whether a dictionary, list or record that is kept as a whole holds a graph that nobody needs any more."""

from __future__ import annotations

import libcst as cst

from torchlint.model.context import Context
from torchlint.model.expressions import value_of
from torchlint.model.graphs.carrying import carries_graph
from torchlint.model.graphs.flow import Flow
from torchlint.model.graphs.keeping import Keeping
from torchlint.model.graphs.mentions import mentions
from torchlint.model.graphs.parts import HeldPart, is_changed_again, parts_of
from torchlint.model.graphs.scaled import may_have_graph
from torchlint.model.graphs.ties import Tie, closest_tie, near_sendings
from torchlint.model.possibilities import Kind, Tri
from torchlint.model.syntax import dotted
from torchlint.model.values import Value

_HOLDING = Kind.CONTAINER | Kind.OBJECT | Kind.NONE


def graph_held(
    context: Context, flow: Flow, keeping: Keeping, node: cst.BaseExpression, tie: Tie
) -> cst.BaseExpression | None:
    """What has a graph in something that is put together in each round; ``tie`` is that of the whole.

    The whole itself where it is the result of a function, and None where nothing in it has a graph.
    """
    value = value_of(context, node)
    keys = keeping.keys if value.is_mapping else None
    if keys is not None and not _has_graph_behind(value, keys):
        return None
    if value.kind & ~_HOLDING or not value.kind & (Kind.CONTAINER | Kind.OBJECT) or not may_have_graph(value):
        return None
    if is_changed_again(context, flow, node):
        return None
    if _is_result(context, flow, keeping, node):
        return node
    parts = (part for part in parts_of(context, flow, node) if keys is None or part.key in keys)
    return next((part.value for part in parts if _has_graph(context, flow, keeping, value, part, tie)), None)


def holds_no_graph(context: Context, flow: Flow, node: cst.BaseExpression) -> bool:
    """Whether it is seen of all that a dictionary or list is put together of that it has no graph."""
    if value_of(context, node).kind != Kind.CONTAINER:
        return False
    parts = parts_of(context, flow, node)
    return bool(parts) and not any(
        may_have_graph(value_of(context, each.value)) and _brings(context, each) for each in parts
    )


def _brings(context: Context, part: HeldPart) -> bool:
    """Whether a part is a tensor, or is not known and made of what may have a graph: not ``batch.shape[0]``."""
    is_tensor = bool(value_of(context, part.value).kind & Kind.TENSOR)
    return is_tensor or next(mentions(context, part.value), None) is not None


def _has_graph_behind(value: Value, keys: frozenset[str]) -> bool:
    """Whether a dictionary may have a graph behind some keys."""
    known = value.keys.known if value.keys is not None else {}
    return any(may_have_graph(known[key]) for key in keys if key in known)


def _is_result(context: Context, flow: Flow, keeping: Keeping, node: cst.BaseExpression) -> bool:
    """Whether it is what a function gives that has sent back what it has put into it."""
    freeing = [each for each in near_sendings(context, keeping) if each.frees and each.holding]
    if any(target is node for sending in freeing for target in sending.holding):
        return True
    path, tree = dotted(node), context.tree
    targets = {id(tree.statement(each)) for one in freeing for each in one.holding if dotted(each) == path}
    bound = [event for event in flow.reaching(node) if event.path == path] if targets else []
    return bool(bound) and all(id(tree.statement(event.node)) in targets for event in bound)


def _has_graph(  # noqa: PLR0917
    context: Context, flow: Flow, keeping: Keeping, holder: Value, part: HeldPart, tie: Tie
) -> bool:
    known = holder.keys.known.get(part.key) if holder.keys is not None and part.key is not None else None
    value = value_of(context, part.value)
    if not may_have_graph(known or value) or not may_have_graph(value) or value.leaf == Tri.YES:
        return False
    own, _ = closest_tie(context, flow, keeping, part.value)
    if own == Tie.NONE and tie == Tie.PART and _brings(context, part):
        own = Tie.SHARED  # by way of what holds it: `sum(losses.values()).backward()`
    return own > Tie.NONE and carries_graph(context, flow, keeping, part.value, own)
