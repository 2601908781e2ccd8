"""What may give a graph to a tensor that has been made without one, by another name than its own.

The interpreter follows names and attributes through what is assigned. A graph also comes to a tensor where one is
written to memory that it shares (``part = total[0]; part += loss``, ``self.sums[i] += loss`` in another method), and it
requires grad once it is told to by whatever holds it (``for p in self.params: p.requires_grad_()``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.file.tree.nodes import children
from torchlint.model.aliasing.how import How
from torchlint.model.aliasing.origins import bound_to_target
from torchlint.model.aliasing.uses import Follower
from torchlint.model.bindings import all_called, references
from torchlint.model.codebase.exports import setter
from torchlint.model.expressions import value_of
from torchlint.model.interpret.loaders import is_part_of_batch
from torchlint.model.possibilities import Dtype, Kind
from torchlint.model.syntax import is_target, parameters
from torchlint.model.values import Usage

if TYPE_CHECKING:
    from torchlint.model.context import Context

_HOW = How(through_data=False, for_graph=True)
_FAR = 6
"""How many assignments and calls are gone back."""
_CUTTING = frozenset(
    (
        *("data", "detach", "shape", "dtype", "device", "ndim", "size", "dim", "numel", "item", "tolist", "numpy"),
        *("requires_grad", "grad_fn", "is_leaf", "argmax", "argmin", "new_zeros", "new_ones", "new_full", "new_empty"),
    )
)
"""Attributes and methods whose results have no graph of the tensor."""
_CARRIERS = Kind.TENSOR | Kind.CONTAINER | Kind.OBJECT | Kind.UNKNOWN | Kind.MODULE


def may_get_graph(context: Context, node: cst.BaseExpression) -> bool:
    """Whether what an expression is made of may be given a graph, wherever in the file, by whatever name."""
    return _Search(context).is_given(node, 0)


class _Search:
    """Goes back from an expression through names, attributes and what they are bound to, each once."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._asked: set[tuple[int, str]] = set()

    def is_given(self, node: cst.BaseExpression, steps: int) -> bool:
        if steps > _FAR:
            return False
        return any(self._is_one_given(each, steps) for each in _made_of(self._context, node))

    def _is_one_given(self, node: cst.BaseExpression, steps: int) -> bool:
        match node:
            case cst.Name(value=name):
                return self._is_name_given(name, _scope_of(self._context, node, name), steps)
            case cst.Attribute(value=owner, attr=cst.Name(value=name)):
                is_of_object = not value_of(self._context, owner).kind & Kind.TENSOR
                return self._is_attribute_given(name, steps, is_of_object)
            case cst.Call():
                return self._is_result_given(node, steps)
        return False

    def _is_name_given(self, name: str, scope: cst.FunctionDef | cst.Module, steps: int) -> bool:
        if (id(scope), name) in self._asked:
            return False
        self._asked.add((id(scope), name))
        places = references(self._context, name, scope)
        uses = [place for place in places if steps or not _is_plain_write(self._context, place, scope)]
        if any(Follower(self._context, _HOW).of_use(use) is Usage.WRITTEN for use in uses):
            return True
        return self._is_bound_to_given(places, steps)

    def _is_attribute_given(self, name: str, steps: int, is_of_object: bool) -> bool:
        if (0, name) in self._asked:
            return False
        self._asked.add((0, name))
        if is_of_object and setter(self._context, name) is not None:
            return True
        places = all_called(self._context, name)
        if any(Follower(self._context, _HOW).of_use(place) is Usage.WRITTEN for place in places):
            return True
        return self._is_bound_to_given(places, steps)

    def _is_bound_to_given(self, places: list[cst.Name] | list[cst.BaseExpression], steps: int) -> bool:
        targets = (place for place in places if is_target(self._context.tree, place) and not self._is_of_batch(place))
        values = (value for target in targets for value in bound_to_target(self._context, target))
        return any(self.is_given(value, steps + 1) for value in values)

    def _is_of_batch(self, target: cst.BaseExpression) -> bool:
        """Whether a loader gives it, anew in each round."""
        return is_part_of_batch(value_of(self._context, target))

    def _is_result_given(self, call: cst.Call, steps: int) -> bool:
        """Whether a function of the project gives back something of that kind."""
        function = value_of(self._context, call.func).node
        if not isinstance(function, cst.FunctionDef) or (id(function), "") in self._asked:
            return False
        self._asked.add((id(function), ""))
        home = self._context.home(function)
        search = self if home is self._context else _Search(home)
        returned = (each.value for each in home.tree.within(function.body, cst.Return) if each.value is not None)
        return any(search.is_given(value, steps + 1) for value in returned)


def _scope_of(context: Context, node: cst.Name, name: str) -> cst.FunctionDef | cst.Module:
    scope = context.scopes.scope_of(node)
    is_local = isinstance(scope, cst.FunctionDef) and (
        name in context.scopes.locals_of(scope) or name in {each.name.value for each in parameters(scope)}
    )
    return scope if is_local else context.tree.module


def _is_plain_write(context: Context, name: cst.Name, scope: cst.FunctionDef | cst.Module) -> bool:
    """Whether a name is written by itself where it is bound, which the interpreter follows in its order."""
    if context.scopes.scope_of(name) is not scope:
        return False
    parent = context.tree.parent(name)
    match parent:
        case cst.AugAssign(target=target):
            return target is name
        case cst.Subscript(value=inner):
            return inner is name and isinstance(context.tree.parent(parent), cst.AssignTarget)
        case cst.Attribute(attr=cst.Name("requires_grad")):
            return is_target(context.tree, parent)
        case cst.Attribute(attr=cst.Name(value=method)):
            call = context.tree.parent(parent)
            return isinstance(call, cst.Call) and call.func is parent and method.endswith("_")
    return False


def _made_of(context: Context, expression: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """The names, attributes and calls that bring a tensor of floats into an expression."""
    waiting: list[cst.CSTNode] = [expression]
    while waiting:
        node = waiting.pop()
        match node:
            case cst.Name() if _carries(context, node):
                yield node
            case cst.Attribute(value=inner, attr=cst.Name(value=name)):
                if name not in _CUTTING and _carries(context, node):
                    yield node
                    waiting.append(inner)
            case cst.Call(func=func, args=args):
                if isinstance(func, cst.Attribute):
                    if func.attr.value in _CUTTING:
                        continue
                    waiting.append(func.value)
                yield node
                waiting += [arg.value for arg in args]
            case cst.Comparison() | cst.BaseNumber() | cst.BaseString() | cst.Lambda():
                continue
            case cst.Subscript(value=inner):
                waiting.append(inner)
            case _:
                waiting += children(node)


def _carries(context: Context, node: cst.BaseExpression) -> bool:
    value = value_of(context, node)
    if value.is_tensor and not value.dtype & Dtype.FLOAT:
        return False
    return bool(value.kind & _CARRIERS)
