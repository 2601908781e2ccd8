"""Functions of the project that give nothing but new tensors: nobody else refers to what they return."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.classes import class_of
from torchlint.model.codebase.exports import setter
from torchlint.model.expressions import qualified, value_of
from torchlint.model.imports import is_bound_here
from torchlint.model.replaced import is_replaced
from torchlint.model.standing import stands
from torchlint.model.syntax import has_stars, is_target, keyword
from torchlint.model.torch import library
from torchlint.model.torch.schema import makes_new

if TYPE_CHECKING:
    from torchlint.model.context import Context


def returns_new(context: Context, function: cst.FunctionDef) -> bool:
    """Whether all that a function returns, and what is in that, is made by functions of torch where it is returned."""
    home = context.home(function)
    return home.remember(_returns_new, function)


def _returns_new(context: Context, function: cst.FunctionDef) -> bool:
    if function.decorators or function.asynchronous is not None or any(context.tree.within(function, cst.Yield)):
        return False
    if not _is_alone(context, function):
        return False
    returned = [each for each in context.tree.within(function, cst.Return) if context.scopes.scope_of(each) is function]
    return bool(returned) and all(each.value is not None and _is_new(context, each.value) for each in returned)


def _is_alone(context: Context, function: cst.FunctionDef) -> bool:
    """Whether nothing else is seen to have the name of a function: neither what overrides it nor what replaces it."""
    tree, name = context.tree, function.name.value
    if is_replaced(context, name) or not stands(context, function):
        return False
    if class_of(context, function) is None:
        return True
    others = (each for each in tree.names(name) if each is not function.name and is_bound_here(tree, each))
    is_assigned = any(is_target(tree, each) for each in tree.attributes(name))
    return not is_assigned and next(others, None) is None and setter(context, name) is None


def _is_new(context: Context, node: cst.BaseExpression) -> bool:
    match node:
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            return all(isinstance(each, cst.Element) and _is_new(context, each.value) for each in elements)
        case cst.ListComp(elt=element):
            return _is_new(context, element)
        case cst.Call(func=cst.Name("map"), args=[cst.Arg(value=cst.Lambda(body=body), star=""), *_]):
            return qualified(context, node.func) == "builtins.map" and _is_new(context, body)
        case cst.Call(func=cst.Name("list" | "tuple") as func, args=[cst.Arg(value=inner, keyword=None, star="")]):
            return qualified(context, func) == f"builtins.{func.value}" and _is_new(context, inner)
        case cst.Call(func=func, args=args):
            return not _may_reuse(args) and _makes_new(context, func)
    return False


def _makes_new(context: Context, func: cst.BaseExpression) -> bool:
    """Whether a function or method of torch shares no memory with what it is given."""
    ref = qualified(context, func)
    if ref is not None:
        return makes_new(library.function(ref))
    match func:
        case cst.Attribute(value=owner, attr=cst.Name(value=name)) if value_of(context, owner).is_tensor:
            return not name.endswith("_") and makes_new(library.method(name))
    return False


def _may_reuse(args: Sequence[cst.Arg]) -> bool:
    """Whether a call may be asked to write to what it is given: ``out=``, ``inplace=True``, ``relu(x, True)``."""
    flags = (arg.value for arg in args if arg.keyword is None)
    is_flagged = any(isinstance(value, cst.Name) and value.value == "True" for value in flags)
    return is_flagged or has_stars(args) or any(keyword(args, name) is not None for name in ("out", "inplace"))
