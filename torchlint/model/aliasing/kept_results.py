"""Functions that give back what they, or others, keep: a cache, a closure, an element of a global dictionary.

What their results are made of is not all: the next call gives the same tensor, with what was done to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.aliasing.how import How
from torchlint.model.aliasing.uses import Follower
from torchlint.model.bindings import all_called
from torchlint.model.syntax import decorator_names
from torchlint.model.values import Usage

if TYPE_CHECKING:
    from torchlint.model.context import Context

_HOW = How(through_data=False, for_graph=True)
_GIVING_ANEW = frozenset(("staticmethod", "classmethod", "no_grad", "enable_grad", "inference_mode", "abstractmethod"))
"""Decorators that call the function each time."""


def gives_kept(context: Context, function: cst.FunctionDef) -> bool:
    """Whether a function may give back a tensor that it has given before."""
    return context.home(function).remember(_gives_kept, function)


def is_result_written(context: Context, name: str) -> bool:
    """Whether what something of a name gives back is given a graph anywhere in a file."""
    return context.remember(_is_result_written, name)


def _gives_kept(context: Context, function: cst.FunctionDef) -> bool:
    if not _GIVING_ANEW.issuperset(decorator_names(function)):
        return True
    local = context.scopes.locals_of(function)
    return any(_is_kept(each, local) for each in _returned(context, function))


def _returned(context: Context, function: cst.FunctionDef) -> Iterator[cst.BaseExpression]:
    for each in context.tree.within(function, cst.Return):
        if each.value is not None and context.scopes.scope_of(each) is function:
            yield each.value


def _is_kept(node: cst.BaseExpression, local: frozenset[str]) -> bool:
    """Whether a name that is not of the function, or an element of what such a name holds, is given back."""
    while isinstance(node, cst.Subscript):
        node = node.value
    return isinstance(node, cst.Name) and node.value not in local


def _is_result_written(context: Context, name: str) -> bool:
    for use in all_called(context, name):
        call = context.tree.parent(use)
        if isinstance(call, cst.Call) and call.func is use and _is_written(context, call):
            return True
    return False


def _is_written(context: Context, call: cst.Call) -> bool:
    return Follower(context, _HOW).usage(call) is Usage.WRITTEN
