"""Whether what an object gives requires grad, by what it was made with: ``trainer.model(x)``, ``agent.act(x)``.

Nothing is known of what its class keeps; what this object does is known where the call is seen that has made it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from torchlint.model.certainty import Certainty
from torchlint.model.expressions import value_of
from torchlint.model.handed import made_with
from torchlint.model.handed_networks import is_trained_network
from torchlint.model.lists import appended
from torchlint.model.made_objects import is_bound_to, is_named, is_put_in
from torchlint.model.modes import grad_enabled
from torchlint.model.possibilities import Kind, Tri
from torchlint.model.requires_grad import origins
from torchlint.model.results import CallResult, result_requires_grad
from torchlint.model.syntax import dotted
from torchlint.model.values import UNKNOWN, Value

if TYPE_CHECKING:
    from torchlint.model.context import Context

_FAR = 1
"""How many functions to go back for what a class is called with."""


class _AskedOf(NamedTuple):
    """What is called of an object, and what is known of the object."""

    path: str
    attributes: Mapping[str, Value]


def requires_grad_by_object(context: Context, node: cst.BaseExpression) -> Certainty | None:
    """How certain it is that an expression requires grad, as it comes from an object that is made with a network."""
    value = value_of(context, node)
    if value.grad == Tri.NO or not value.kind & (Kind.TENSOR | Kind.UNKNOWN):
        return None
    found = origins(context, node, partial(_is_of_object, context))
    return max((_certainty(context, each) for each in found), default=None)


def appended_requires_grad_by_object(context: Context, node: cst.BaseExpression) -> Certainty | None:
    """The same of what is appended to a list while autograd records: ``losses.append(trainer.loss(x, y))``."""
    recorded = (each for each in appended(context, node) if grad_enabled(context, each) == Tri.YES)
    found = (requires_grad_by_object(context, each) for each in recorded)
    return max((each for each in found if each is not None), default=None)


def _is_of_object(context: Context, call: cst.Call) -> bool:
    return next(_objects(context, call.func), None) is not None


def _certainty(context: Context, result: CallResult) -> Certainty:
    for at, cls in _objects(context, result.call.func):
        asked = _asked(context, result.call.func, at, cls)
        if asked is None:
            continue
        if result.place is None and is_trained_network(context, asked.attributes.get(asked.path, UNKNOWN)):
            return Certainty.EXPECTED
        if "." not in asked.path:
            return result_requires_grad(context, result, asked.attributes)
    return Certainty.SUPPOSED


def _objects(context: Context, node: cst.BaseExpression) -> Iterator[tuple[cst.BaseExpression, cst.ClassDef]]:
    """The parts of a path that are objects of classes of the project: ``trainer`` of ``trainer.model``."""
    while isinstance(node, cst.Attribute) and dotted(node) is not None:
        node = node.value
        value = value_of(context, node)
        is_one = value.kind == Kind.OBJECT and not value.choices
        if is_one and isinstance(value.node, cst.ClassDef) and is_named(context, value.node):
            yield node, value.node


def _asked(context: Context, node: cst.BaseExpression, at: cst.BaseExpression, cls: cst.ClassDef) -> _AskedOf | None:
    """What a path is called from the object on that it begins with, if it is seen how that was made."""
    whole, owner = dotted(node), dotted(at)
    for each in context.remember(made_with, cls, _FAR):
        if each.site.context is context and is_bound_to(context, at, each.site.call):
            if not is_put_in(context, at, each.attributes):
                return _AskedOf((whole or "").removeprefix(f"{owner}."), each.attributes)
    return None
