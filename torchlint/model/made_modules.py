"""Modules at the place where they are made: what they hold, by their class and by what it is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model import trainable
from torchlint.model.expressions import value_of
from torchlint.model.imports import imported_path, is_builtin
from torchlint.model.names import MODULE_METHODS
from torchlint.model.possibilities import Kind, Tri
from torchlint.model.torch import library
from torchlint.model.torch.arguments import given_bool
from torchlint.model.torch.grads import has_parameters
from torchlint.model.torch.named import named
from torchlint.model.torch.schema import Flag, ModuleInfo
from torchlint.model.values import UNKNOWN, Argument

if TYPE_CHECKING:
    from torchlint.model.context import Context


def makes_parameters(context: Context, node: cst.BaseExpression) -> bool:
    """Whether an expression makes a module that has parameters: a layer of torch, or of a class that makes some."""
    return _makes(context, node, _has_parameters)


def may_make_parameters(context: Context, node: cst.Call) -> bool:
    """Whether a call may make one, as far as imports say: asked first, for it takes no interpretation."""
    return not _is_known_not_to(context, node, _has_parameters)


def makes_state(context: Context, node: cst.BaseExpression) -> bool:
    """Whether an expression makes a module that has parameters, buffers, or something that its mode decides."""
    return _makes(context, node, _has_state)


def _has_parameters(name: str, info: ModuleInfo, made: Sequence[Argument]) -> bool:
    if isinstance(info.trainable, Flag):
        return has_parameters(info, made) == Tri.YES
    return bool(info.params) or info.trainable


def _has_state(name: str, info: ModuleInfo, made: Sequence[Argument]) -> bool:
    if _has_parameters(name, info, made) or "BatchNorm" in name or "Dropout" in name:
        return True
    return "InstanceNorm" in name and given_bool(made, "track_running_stats", 4, False) is not False


_Has = Callable[[str, ModuleInfo, Sequence[Argument]], bool]


_FAR = 3
"""How deep classes of the project are looked into that make other ones of them."""


def _makes(context: Context, node: cst.BaseExpression, has: _Has, far: int = _FAR) -> bool:
    if not isinstance(node, cst.Call):
        return False
    match node.func:
        case cst.Attribute(value=inner, attr=cst.Name(value=name)) if MODULE_METHODS.get(name) == "self":
            return _makes(context, inner, has, far)
    if _is_known_not_to(context, node, has) or value_of(context, node).kind != Kind.MODULE:
        return False
    made = value_of(context, node.func)
    if isinstance(made.node, cst.ClassDef):
        return bool(trainable.of_class(context, made.node)) or (
            far > 0 and _keeps_one(context, made.node, has, far - 1)
        )
    if isinstance(made.node, cst.FunctionDef) and far > 0:
        return _gives_one(context, made.node, has, far - 1)
    if made.node is not None or made.kind != Kind.REFERENCE:
        return False
    info = library.module_info(made.ref)
    if info is not None and has(made.ref or "", info, _arguments(node)):
        return True
    return any(_any_part(context, arg.value, has, far) for arg in node.args)


def _is_known_not_to(context: Context, node: cst.Call, has: _Has) -> bool:
    """Whether a builtin is called, or a class of torch that makes no such module, by its import, and is given none."""
    if is_builtin(context, node.func):
        return True
    path = imported_path(context, node.func)
    ref = named(path).ref if path is not None else None
    info = library.module_info(ref) if ref is not None else None
    if info is None or any(isinstance(arg.value, (cst.Call, cst.List, cst.Tuple)) for arg in node.args):
        return False
    return not has(ref or "", info, _arguments(node))


def _arguments(call: cst.Call) -> list[Argument]:
    """What a constructor is given, of which only the literals matter."""
    return [Argument(arg.keyword.value if arg.keyword else None, UNKNOWN, arg.value, arg.star) for arg in call.args]


def _keeps_one(context: Context, cls: cst.ClassDef, has: _Has, far: int) -> bool:
    """Whether a class of the project keeps such a module, or a parameter, in an attribute."""
    home = context.home(cls)
    for assign in home.tree.within(cls, cst.Assign):
        if isinstance(assign.targets[0].target, cst.Attribute) and isinstance(assign.value, cst.Call):
            if value_of(home, assign.value).is_parameter or _makes(home, assign.value, has, far):
                return True
    return False


def _gives_one(context: Context, function: cst.FunctionDef, has: _Has, far: int) -> bool:
    """Whether all that a function of the project returns is such a module, made on the spot."""
    home = context.home(function)
    returns = [each.value for each in home.tree.within(function.body, cst.Return)]
    return bool(returns) and all(each is not None and _makes(home, each, has, far) for each in returns)


def _any_part(context: Context, node: cst.BaseExpression, has: _Has, far: int) -> bool:
    """Whether a module that is given to the constructor of another one, itself or in a display, makes parameters."""
    if isinstance(node, (cst.List, cst.Tuple)):
        return any(_any_part(context, element.value, has, far) for element in node.elements)
    return _makes(context, node, has, far)
