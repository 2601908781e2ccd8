"""Objects that hold a tensor in `.data` and are none: what is done with their data does not make them one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.bindings import targets
from torchlint.model.codebase.exports import packer
from torchlint.model.codebase.importers import PACKING
from torchlint.model.codebase.namesakes import classes_here
from torchlint.model.expressions import value_of
from torchlint.model.possibilities import Kind
from torchlint.model.syntax import is_target

if TYPE_CHECKING:
    from torchlint.model.context import Context


def are_there(context: Context) -> bool:
    """Whether the project packs sequences, or an object that is none, or a class that is imported, has a ``data``."""
    return context.remember(_are_there)


def may_be_packed(context: Context, node: cst.BaseExpression) -> bool:
    """Whether a name is bound to what a call makes of a packed sequence, and may be one: ``out, _ = net(packed)``."""
    scope = context.scopes.scope_of(node)
    return isinstance(node, cst.Name) and context.remember(_is_made_of_packed, node.value, scope)


def _is_made_of_packed(context: Context, name: str, scope: cst.FunctionDef | cst.Module) -> bool:
    assigns = (context.tree.enclosing(each, cst.Assign) for each in targets(context, name, scope))
    calls = (each.value for each in assigns if isinstance(each, cst.Assign) and isinstance(each.value, cst.Call))
    return any(value_of(context, arg.value).kind & Kind.PACKED for call in calls for arg in call.args)


def _are_there(context: Context) -> bool:
    if PACKING.search(context.tree.source.text.encode(errors="replace")) is not None:
        return True
    if any(_declares(context.home(cls)) for cls in classes_here(context)):
        return True
    if any(_is_given(context, each) for each in context.tree.attributes("data")):
        return True
    return packer(context) is not None


def _is_given(context: Context, node: cst.Attribute) -> bool:
    """Whether a `.data` is assigned to what is known to be no tensor: ``holder.data = x``."""
    return is_target(context.tree, node) and not value_of(context, node.value).kind & (Kind.TENSOR | Kind.UNKNOWN)


def _declares(home: Context) -> bool:
    return home.scopes.declares("data")
