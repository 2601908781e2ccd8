"""Whether a name stands for a function or class in the end, or is bound to something else later."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.classes import class_of
from torchlint.model.imports import is_bound_here

if TYPE_CHECKING:
    from torchlint.model.context import Context


def stands(context: Context, node: cst.FunctionDef | cst.ClassDef) -> bool:
    """Whether the name of a function or class stands for it in the end: nothing is bound to it behind, or by others."""
    tree, scopes, name = context.tree, context.scopes, node.name.value
    cls = class_of(context, node)
    if scopes.is_set_outside(cls, name) if cls is not None else scopes.rebinders(tree.module, name):
        return False
    return context.remember(_last_bound, name).get(cls, 0) <= tree.order(node.name)


def _last_bound(context: Context, name: str) -> dict[cst.CSTNode | None, int]:
    """The place of the last time that a name is bound, in each class body and function, and in the module."""
    tree = context.tree
    return {_class_around(context, each): tree.order(each) for each in tree.names(name) if is_bound_here(tree, each)}


def _class_around(context: Context, name: cst.Name) -> cst.CSTNode | None:
    """The class in whose body a name is bound; the function, if that is in one."""
    definition = context.tree.parent(name)
    is_of_it = isinstance(definition, (cst.FunctionDef, cst.ClassDef)) and definition.name is name
    return context.tree.enclosing(definition if is_of_it and definition else name, cst.FunctionDef, cst.ClassDef)
