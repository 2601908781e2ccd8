"""What shares a graph with what is sent back: other results of the same call, and what is computed from the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import libcst as cst

from torchlint.model.context import Context
from torchlint.model.expressions import value_of
from torchlint.model.graphs.flow import MANY, Event, Flow, downstream
from torchlint.model.graphs.mentions import mentions
from torchlint.model.graphs.scaled import MOVING
from torchlint.model.names import DATA_SET_NAME, LOADER_NAME
from torchlint.model.possibilities import Kind, Tri
from torchlint.model.syntax import last_name

_DATA = re.compile(r"(?:^|_)(?:batch(?:es)?|data|inputs?|images?|labels?|targets?)\d*$")
"""What is called so is given to a network, and comes from none."""


def relatives(
    context: Context, flow: Flow, sent: Mapping[int, Event], node: cst.CSTNode, others: Iterable[Event]
) -> dict[int, Event]:
    """All that is made of something with a graph which also what is sent back is made of.

    ``sent`` is what ``node`` sends back, with all that it is made of; ``others`` are known to share its graph.
    """
    seeds = list(others)
    for event in sent.values():
        if _is_in_each_round(context, flow, event, node) and _has_graph(context, event):
            seeds += flow.events_at(event.node)
    return downstream(seeds, MANY)


def _is_in_each_round(context: Context, flow: Flow, event: Event, node: cst.CSTNode) -> bool:
    """Whether something is bound anew whenever gradients are sent back: they cannot be twice through one graph."""
    loop = next(flow.loops(node), None)
    is_bound = loop is None or event.node is loop or context.tree.is_inside(event.node, loop)
    return is_bound and flow.is_repeated_with(event, node)


def _has_graph(context: Context, event: Event) -> bool:
    """Whether something is bound to what has a graph, or is made by a call that is likely to give it one."""
    node = event.node
    if not isinstance(node, cst.Assign) or event.path.startswith("self."):
        return False
    value = value_of(context, node.value)
    if value.kind == Kind.TENSOR:
        return value.grad == Tri.YES
    made, name = node.value, event.path.rpartition(".")[2]
    if _DATA.search(name) or LOADER_NAME.search(name) or DATA_SET_NAME.search(name):
        return False
    if not isinstance(made, cst.Call) or not value.kind & (Kind.UNKNOWN | Kind.CONTAINER | Kind.OBJECT):
        return False
    return last_name(made.func) not in MOVING and any(True for arg in made.args for _ in mentions(context, arg.value))
