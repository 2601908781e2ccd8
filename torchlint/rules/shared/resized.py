"""Tensors that get another size in each round of a loop before they are wrapped: ``x.resize_(n); v = Variable(x)``.

There a wrapper has the size of what is wrapped wherever it is used, so the two can be one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import libcst as cst

from torchlint.model import Model
from torchlint.model.syntax import root
from torchlint.rules.shared.lifetimes import OF_THE_OBJECT, targets_of

RESIZING = frozenset(("resize_", "resize_as_"))
"""Methods that give a tensor another size."""


def is_resized_before(call: cst.Call, inner: cst.BaseExpression, model: Model) -> bool:
    """Whether a name is only ever given another size where the next use of its wrapper's name binds that anew."""
    name, targets = _name_of(inner), targets_of(call, model)
    if len(targets) != 1 or targets[0].value == name:
        return False
    scope, wrapper = model.scopes.scope_of(call), targets[0].value
    changes = model.remember(_changes, name)
    if model.remember(_changes, wrapper) or any(model.scopes.scope_of(each) is not scope for each in changes):
        return False
    uses = sorted(model.references(wrapper, scope), key=model.tree.order)
    if any(_is_given_back(use, model) for use in uses):
        return False
    return bool(changes) and all(
        each.attr.value in RESIZING and _is_next_bound(each, call, uses, model) for each in changes
    )


def _is_given_back(use: cst.Name, model: Model) -> bool:
    """Whether a function gives its caller what a name stands for, alone or with others."""
    up = model.tree.parent(use)
    while isinstance(up, (cst.Element, cst.Tuple, cst.List, cst.DictElement, cst.Dict)):
        up = model.tree.parent(up)
    return isinstance(up, (cst.Return, cst.Yield))


def _name_of(node: cst.BaseExpression) -> str:
    """``x`` of ``x.fill_(1)``."""
    while isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        node = node.func.value
    return root(node)


def _changes(model: Model, name: str) -> tuple[cst.Attribute, ...]:
    """Where the tensor of a name is changed beyond its elements."""
    owners = (use for use in model.tree.names(name))
    parents = (model.tree.parent(use) for use in owners)
    return tuple(each for each in parents if isinstance(each, cst.Attribute) and each.attr.value in OF_THE_OBJECT)


def _is_next_bound(change: cst.Attribute, call: cst.Call, uses: Sequence[cst.Name], model: Model) -> bool:
    """Whether the first use of a wrapper's name behind a change binds it; behind the last one comes the next round."""
    order = model.tree.order
    if model.tree.enclosing(change, cst.For, cst.While) is not model.tree.enclosing(call, cst.For, cst.While):
        return False
    following = bisect_left(uses, order(change), key=order)
    return bool(uses) and model.is_target(uses[following % len(uses)])
