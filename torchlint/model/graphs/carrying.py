"""Whether what has to do with something that has a graph has one itself: by what it is, or by what it is called."""

from __future__ import annotations

import libcst as cst

from torchlint.model.certainty import Certainty
from torchlint.model.context import Context
from torchlint.model.expressions import value_of
from torchlint.model.freezing import is_frozen
from torchlint.model.graphs.called import is_called_part
from torchlint.model.graphs.flow import Flow
from torchlint.model.graphs.keeping import Keeping
from torchlint.model.graphs.mentions import owner
from torchlint.model.graphs.scaled import core
from torchlint.model.graphs.ties import Tie, terms
from torchlint.model.names import MODULE_NAME
from torchlint.model.possibilities import Kind, Tri
from torchlint.model.syntax import dotted, last_name
from torchlint.model.values import Strength


def carries_graph(context: Context, flow: Flow, keeping: Keeping, node: cst.BaseExpression, tie: Tie) -> bool:
    """Whether what is tied to something with a graph has one itself: by what it is, or by what it is called.

    What a network gives beside the loss may be a count. What has begun as a number, as meters do, is one.
    """
    value, path = value_of(context, node), keeping.path
    if tie == Tie.SHARED and value.kind & Kind.OBJECT:
        return False  # an object of a class that is seen beside it
    if value.kind & Kind.TENSOR and value.grad == Tri.YES and (value.strength or Strength.NAME) > Strength.NAME:
        is_told = value.certainty > Certainty.SUPPOSED and not value.kind & Kind.UNKNOWN
        if tie > Tie.SHARED or is_told:
            return True
    if value.kind & Kind.NUMBER or not value.kind & (Kind.UNKNOWN | Kind.TENSOR):
        return False
    made = [event.node for event in flow.reaching(core(context, node))]
    parts = [each for each in terms(context, node) if dotted(owner(each)) != path]
    if any(map(is_called_part, (*parts, *(each.iter for each in made if isinstance(each, cst.For))))):
        return True
    return tie > Tie.SHARED and bool(made) and all(_is_of_network(context, each) for each in made)


def _is_of_network(context: Context, made: cst.CSTNode) -> bool:
    """Whether something is what a network gives, by what that is called."""
    match made:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name())], value=cst.Call(func=func)):
            return MODULE_NAME.search(last_name(func)) is not None and not is_frozen(context, func)
    return False
