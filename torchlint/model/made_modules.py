"""Modules at the place where they are made: what they hold, by their class and by what it is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model import trainable
from torchlint.model.expressions import value_of
from torchlint.model.names import MODULE_METHODS
from torchlint.model.possibilities import Kind
from torchlint.model.torch import library
from torchlint.model.torch.schema import ModuleInfo

if TYPE_CHECKING:
    from torchlint.model.context import Context


def makes_parameters(context: Context, node: cst.BaseExpression) -> bool:
    """Whether an expression makes a module that has parameters: a layer of torch, or of a class that makes some."""
    return _makes(context, node, _has_parameters)


def makes_state(context: Context, node: cst.BaseExpression) -> bool:
    """Whether an expression makes a module that has parameters, buffers, or something that its mode decides."""
    return _makes(context, node, _has_state)


def _has_parameters(name: str, info: ModuleInfo) -> bool:
    return bool(info.params) or info.trainable is True


def _has_state(name: str, info: ModuleInfo) -> bool:
    return _has_parameters(name, info) or "BatchNorm" in name or "InstanceNorm" in name or "Dropout" in name


_Has = Callable[[str, ModuleInfo], bool]


_FAR = 3
"""How deep classes of the project are looked into that make other ones of them."""


def _makes(context: Context, node: cst.BaseExpression, has: _Has, far: int = _FAR) -> bool:
    if not isinstance(node, cst.Call):
        return False
    match node.func:
        case cst.Attribute(value=inner, attr=cst.Name(value=name)) if MODULE_METHODS.get(name) == "self":
            return _makes(context, inner, has, far)
    if value_of(context, node).kind != Kind.MODULE:
        return False
    made = value_of(context, node.func)
    if isinstance(made.node, cst.ClassDef):
        return bool(trainable.of_class(context, made.node)) or (
            far > 0 and _keeps_one(context, made.node, has, far - 1)
        )
    if made.node is not None or made.kind != Kind.REFERENCE:
        return False
    info = library.module_info(made.ref)
    if info is not None and has(made.ref or "", info):
        return True
    return any(_any_part(context, arg.value, has, far) for arg in node.args)


def _keeps_one(context: Context, cls: cst.ClassDef, has: _Has, far: int) -> bool:
    """Whether a class of the project keeps such a module, or a parameter, in an attribute."""
    home = context.home(cls)
    for assign in home.tree.within(cls, cst.Assign):
        if isinstance(assign.targets[0].target, cst.Attribute) and isinstance(assign.value, cst.Call):
            if value_of(home, assign.value).is_parameter or _makes(home, assign.value, has, far):
                return True
    return False


def _any_part(context: Context, node: cst.BaseExpression, has: _Has, far: int) -> bool:
    """Whether a module that is given to the constructor of another one, itself or in a display, makes parameters."""
    if isinstance(node, (cst.List, cst.Tuple)):
        return any(_any_part(context, element.value, has, far) for element in node.elements)
    return _makes(context, node, has, far)
