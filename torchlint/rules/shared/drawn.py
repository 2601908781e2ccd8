"""Shapes of matplotlib that are put into axes, which is what converts the numbers they were made with."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Model
from torchlint.model.scopes import bound_by
from torchlint.model.syntax import last_name

_ADDING = ("add_patch", "add_artist")


def is_added(patch: cst.Call, model: Model) -> bool:
    """Whether a patch of matplotlib is put into axes, which is what converts its numbers."""
    parent = model.tree.parent(patch)
    if isinstance(parent, cst.Arg):
        call = model.tree.parent(parent)
        return isinstance(call, cst.Call) and last_name(call.func) in _ADDING
    names = bound_by(parent)
    return not names.isdisjoint(model.remember(_added_names, model.scopes.scope_of(patch)))


def _added_names(model: Model, scope: cst.FunctionDef | cst.Module) -> frozenset[str]:
    """The names of what a scope puts into axes."""
    calls = model.tree.within(scope.body if isinstance(scope, cst.FunctionDef) else scope, cst.Call)
    return frozenset(
        arg.value.value
        for call in calls
        if isinstance(call.func, cst.Attribute) and call.func.attr.value in _ADDING
        for arg in call.args
        if isinstance(arg.value, cst.Name)
    )
