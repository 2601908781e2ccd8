"""What may give a graph to a tensor that has been made without one, by another name than its own.

The interpreter follows names and attributes through what is assigned. A graph also comes to a tensor where one is
written to memory that it shares (``part = total[0]; part += loss``, ``self.sums[i] += loss`` in another method), and it
requires grad once it is told to by whatever holds it (``for p in self.params: p.requires_grad_()``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

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
_CUTTING = frozenset(
    (
        *("data", "detach", "shape", "dtype", "device", "ndim", "size", "dim", "numel", "item", "tolist", "numpy"),
        *("requires_grad", "grad_fn", "is_leaf", "argmax", "argmin", "new_zeros", "new_ones", "new_full", "new_empty"),
    )
)
"""Attributes and methods whose results have no graph of the tensor."""
_CARRIERS = Kind.TENSOR | Kind.CONTAINER | Kind.OBJECT | Kind.UNKNOWN | Kind.MODULE


class _Place(NamedTuple):
    """Something that holds tensors: a name in a scope, an attribute of whatever object, what a function gives back."""

    home: Context
    name: str
    scope: cst.FunctionDef | cst.Module | None = None
    """Where a name is bound; the function whose results are meant if the name is empty."""
    is_start: bool = False
    """Whether what is written by the name itself does not count: the interpreter has seen it, in its order."""

    @property
    def key(self) -> tuple[int, int, str, bool]:
        """What tells it from others of its file."""
        return id(self.home), id(self.scope), self.name, self.is_start


def may_get_graph(context: Context, node: cst.BaseExpression) -> bool:
    """Whether what an expression is made of may be given a graph, wherever in the file, by whatever name.

    It is gone back from there through all that names and attributes are bound to. If nothing is found, that is known of
    all places on the way from then on.
    """
    waiting = list(_places(context, node, is_start=True))
    asked: dict[tuple[int, int, str, bool], _Place] = {}
    while waiting:
        place = waiting.pop()
        if place.key in asked:
            continue
        known = place.home.remember(_known)
        if place.key not in known and _is_given(place):
            known[place.key] = True
        if known.get(place.key):
            return True
        if place.key not in known:
            asked[place.key] = place
            waiting += (each for value in _bound_to(place) for each in _places(place.home, value))
    for place in asked.values():
        place.home.remember(_known)[place.key] = False
    return False


def _known(context: Context) -> dict[tuple[int, int, str, bool], bool]:
    """Of which places it is known whether they are given a graph."""
    return {}


def _places(context: Context, expression: cst.BaseExpression, *, is_start: bool = False) -> Iterator[_Place]:
    """Where the tensors of floats come from that an expression is made of."""
    for node in _made_of(context, expression):
        match node:
            case cst.Name(value=name):
                scope = _scope_of(context, node, name)
                yield _Place(context, name, scope, is_start and scope is context.scopes.scope_of(node))
            case cst.Attribute(value=owner, attr=cst.Name(value=name)):
                yield _Place(context, name, None)
                if not value_of(context, owner).kind & Kind.TENSOR:
                    yield _Place(context, f".{name}")
            case cst.Call(func=func):
                function = value_of(context, func).node
                if isinstance(function, cst.FunctionDef):
                    yield _Place(context.home(function), "", function)


def _is_given(place: _Place) -> bool:
    """Whether a graph is written to what a place holds, or it is told there to require grad."""
    if place.name.startswith("."):
        return setter(place.home, place.name[1:]) is not None
    return any(Follower(place.home, _HOW).of_use(use) is Usage.WRITTEN for use in _uses(place))


def _uses(place: _Place) -> Iterator[cst.BaseExpression]:
    context, name, scope, is_start = place
    if scope is None:
        yield from all_called(context, name)
    elif name:
        found = references(context, name, scope)
        yield from (use for use in found if not is_start or not _is_plain_write(context, use, scope))


def _bound_to(place: _Place) -> Iterator[cst.BaseExpression]:
    """What a place has its tensors from; what a loader gives is another one in each round."""
    context, name, scope, _ = place
    if scope is not None and not name:
        yield from (each.value for each in context.tree.within(scope, cst.Return) if each.value is not None)
        return
    for target in all_called(context, name) if scope is None else references(context, name, scope):
        if is_target(context.tree, target) and not is_part_of_batch(value_of(context, target)):
            yield from bound_to_target(context, target)


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
