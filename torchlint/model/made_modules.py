"""Modules at the place where they are made: what they hold, by their class and by what it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model import trainable
from torchlint.model.expressions import value_of
from torchlint.model.names import MODULE_METHODS
from torchlint.model.possibilities import Kind
from torchlint.model.torch import library

if TYPE_CHECKING:
    from torchlint.model.context import Context


def makes_parameters(context: Context, node: cst.BaseExpression) -> bool:
    """Whether an expression makes a module that has parameters: a layer of torch, or of a class that makes some."""
    if not isinstance(node, cst.Call):
        return False
    match node.func:
        case cst.Attribute(value=inner, attr=cst.Name(value=name)) if MODULE_METHODS.get(name) == "self":
            return makes_parameters(context, inner)
    if value_of(context, node).kind != Kind.MODULE:
        return False
    made = value_of(context, node.func)
    if isinstance(made.node, cst.ClassDef):
        return bool(trainable.of_class(context, made.node))
    if made.node is not None or made.kind != Kind.REFERENCE:
        return False
    info = library.module_info(made.ref)
    if info is not None and info.params:
        return True
    return any(_any_part(context, arg.value) for arg in node.args)


def _any_part(context: Context, node: cst.BaseExpression) -> bool:
    """Whether a module that is given to the constructor of another one, itself or in a display, makes parameters."""
    if isinstance(node, (cst.List, cst.Tuple)):
        return any(_any_part(context, element.value) for element in node.elements)
    return makes_parameters(context, node)
