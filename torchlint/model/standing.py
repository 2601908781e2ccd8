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
    behind = (each for each in tree.names(name) if tree.order(each) > tree.order(node.name))
    return not any(is_bound_here(tree, each) and _class_around(context, each) is cls for each in behind)


def _class_around(context: Context, name: cst.Name) -> cst.CSTNode | None:
    """The class in whose body a name is bound; the function, if that is in one."""
    definition = context.tree.parent(name)
    is_of_it = isinstance(definition, (cst.FunctionDef, cst.ClassDef)) and definition.name is name
    return context.tree.enclosing(definition if is_of_it and definition else name, cst.FunctionDef, cst.ClassDef)
