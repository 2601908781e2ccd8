"""Whether what a function returns has as many dimensions as what it is given: ``return Variable(x.cuda())``.

Only syntax is looked at, so that the answers don't depend on how far the interpretation has come.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.bindings import all_assigned
from torchlint.model.context import at_home
from torchlint.model.imports import path_in_file
from torchlint.model.names import INPLACE
from torchlint.model.syntax import parameters
from torchlint.model.torch import library
from torchlint.model.torch.schema import TensorResult

if TYPE_CHECKING:
    from torchlint.model.context import Context


@at_home
def keeps_dimensions(context: Context, function: cst.FunctionDef) -> str | None:
    """The parameter that has as many dimensions as all that a function returns, if it is a tensor; None if none has."""
    return context.remember(_kept, function)


def _kept(context: Context, function: cst.FunctionDef) -> str | None:
    tree = context.tree
    is_plain = function.asynchronous is None and not function.decorators
    if not is_plain or tree.within(function.body, cst.Yield):
        return None
    if any(_reshapes(each) for each in tree.within(function.body, cst.Attribute)):
        return None
    returned = [
        node.value for node in tree.within(function.body, cst.Return) if context.scopes.scope_of(node) is function
    ]
    for name in (param.name.value for param in parameters(function)):
        names = _of_same(context, function, name)
        if returned and all(value is not None and _is_same(context, value, names) for value in returned):
            return name
    return None


def _reshapes(attribute: cst.Attribute) -> bool:
    """Whether an attribute may give a tensor other dimensions in place."""
    return attribute.attr.value == "data" or INPLACE.search(attribute.attr.value) is not None


def _of_same(context: Context, function: cst.FunctionDef, name: str) -> AbstractSet[str]:
    """The names that are never bound to anything but what has the dimensions of a parameter."""
    others = {param.name.value for param in parameters(function)} - {name}
    names = context.scopes.locals_of(function) - others
    while True:
        kept = {each for each in names if _is_bound_to_same(context, function, each, names, is_given=each == name)}
        if kept == names:
            return kept
        names = frozenset(kept)


def _is_bound_to_same(
    context: Context, function: cst.FunctionDef, name: str, names: AbstractSet[str], *, is_given: bool
) -> bool:
    bound = list(all_assigned(context, name, function))
    if is_given:
        bound.remove(None)
    return all(value is not None and _is_same(context, value, names) for value in bound)


def _is_same(context: Context, node: cst.BaseExpression, names: AbstractSet[str]) -> bool:
    """Whether an expression has as many dimensions as the names, and is made of nothing else."""
    match node:
        case cst.Name(value=name):
            return name in names
        case cst.IfExp(body=body, orelse=orelse):
            return _is_same(context, body, names) and _is_same(context, orelse, names)
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(method))) if _is_same(context, owner, names):
            return _keeps(library.method(method))
        case cst.Call(func=func, args=[cst.Arg(value=first, keyword=None, star=""), *_]):
            path = path_in_file(context, func)
            is_known = path == "torch.autograd.Variable" or _keeps(library.function(path))
            return is_known and _is_same(context, first, names)
    return False


def _keeps(result: object) -> bool:
    return isinstance(result, TensorResult) and result.ndim == "keep"
