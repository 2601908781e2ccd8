"""Whether a list holds tensors that require grad: by what is put into it, wherever that is done."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.aliasing.calls import bound_to
from torchlint.model.bindings import targets
from torchlint.model.certainty import Certainty
from torchlint.model.context import at_home
from torchlint.model.expressions import value_of
from torchlint.model.graphs.flow import flow_of
from torchlint.model.graphs.mentions import owner
from torchlint.model.keyed import LiteralKey, behind, is_refilled, unkeyed
from torchlint.model.modes import grad_enabled
from torchlint.model.possibilities import Dtype, Kind, Tri
from torchlint.model.proofs import operands
from torchlint.model.recording import calls_of, shows_recording
from torchlint.model.recording_elsewhere import records
from torchlint.model.requires_grad import is_leaf, of_callers, requires_grad
from torchlint.model.scopes import target_names
from torchlint.model.syntax import dotted, literal_key, parameters
from torchlint.model.values import Value, held

if TYPE_CHECKING:
    from torchlint.model.context import Context

_FAR = 3
"""How many functions to follow a list into that it is returned by or given to."""
_PARTS = 100
"""How many parts of an expression to look at."""


def elements_require_grad(context: Context, node: cst.BaseExpression) -> Certainty | None:
    """How certain it is that a list holds a tensor that requires grad; None if it can't, or is none."""
    value = value_of(context, node)
    if value.kind & ~(Kind.CONTAINER | Kind.UNKNOWN) or value.is_mapping:
        return None
    found = max(_filled(context, node, _FAR), _held(context, node, value))
    if not found and (believed := of_callers(context, node)) is not None:
        found = min(_held(context, node, believed), Certainty.EXPECTED)
    return found or None


def certainties(context: Context, node: cst.BaseExpression) -> Iterator[Certainty | None]:
    """How certain it is that an expression requires grad: by itself, and by the list that it is taken out of."""
    yield requires_grad(context, node)
    yield taken_out_requires_grad(context, node)


def taken_out_requires_grad(context: Context, node: cst.BaseExpression) -> Certainty | None:
    """The same of what a loop or comprehension takes out of a list: ``x / 2`` of ``[x / 2 for x in losses]``."""
    found = Certainty.SUPPOSED
    waiting = [node]
    for _ in range(_PARTS):
        if not waiting:
            break
        at = waiting.pop()
        if not isinstance(at, cst.Name):
            waiting += operands(context, at)
        elif (source := _source(context, at)) is not None:
            value = value_of(context, at)
            if value.grad != Tri.NO and value.kind & (Kind.TENSOR | Kind.UNKNOWN):
                found = max(found, elements_require_grad(context, source) or Certainty.SUPPOSED)
    return found or None


def _source(context: Context, name: cst.Name) -> cst.BaseExpression | None:
    """The list that a loop or comprehension around a name takes out what is called so, each in every round."""
    child: cst.CSTNode = name
    for up in context.tree.ancestors(name):
        if isinstance(up, (cst.ListComp, cst.GeneratorExp, cst.SetComp)) and child is up.elt:
            if name.value in target_names(up.for_in.target):
                is_each = not up.for_in.ifs and up.for_in.inner_for_in is None
                return _taken_from(context, name.value, up.for_in.target, up.for_in.iter) if is_each else None
        elif isinstance(up, cst.For) and child is up.body and name.value in target_names(up.target):
            bound = targets(context, name.value, context.scopes.scope_of(name))
            is_same = sum(context.tree.is_inside(each, up) for each in bound) == 1
            return _taken_from(context, name.value, up.target, up.iter) if is_same else None
        elif isinstance(up, (cst.FunctionDef, cst.Lambda, cst.If, cst.IfExp, cst.Try, cst.While)):
            return None
        child = up
    return None


def _taken_from(
    context: Context, name: str, target: cst.BaseExpression, iterated: cst.BaseExpression
) -> cst.BaseExpression | None:
    match target, iterated:
        case cst.Name(), cst.Name() | cst.Attribute() | cst.Subscript():
            return iterated
        case cst.Tuple(elements=elements), cst.Call(func=cst.Name(value=function), args=args):
            if any(arg.star or arg.keyword is not None for arg in args) or function not in ("zip", "enumerate"):
                return None
            index = next((i for i, each in enumerate(elements) if dotted(each.value) == name), len(args))
            index -= function == "enumerate"
            return args[index].value if 0 <= index < len(args) else None
    return None


def _held(context: Context, node: cst.BaseExpression, value: Value) -> Certainty:
    """How certain that is by the value of the list."""
    element = held(value)
    if element is None or element.kind != Kind.TENSOR or not element.dtype & Dtype.FLOAT or element.grad != Tri.YES:
        return Certainty.SUPPOSED
    if is_leaf(element) or shows_recording(context, node):
        return element.certainty
    return min(element.certainty, Certainty.EXPECTED)


def _filled(context: Context, node: cst.BaseExpression, far: int, keys: tuple[LiteralKey, ...] = ()) -> Certainty:
    """How certain that is by what is appended: here, in the function that returns the list, or by who gives it.

    The list is what is behind keys of the expression, if there are any.
    """
    if keys and isinstance(node, cst.Name) and is_refilled(context, node):
        return Certainty.SUPPOSED
    found = max((_added(context, arg) for arg in appended(context, node, keys)), default=Certainty.SUPPOSED)
    taken = unkeyed(node)
    if found or not far or taken is None:
        return found
    base, own = taken
    keys = (*own, *keys)
    if isinstance(base, cst.Call):
        return _returned(context, base, keys, far - 1)
    if not isinstance(base, cst.Name) or (keys and is_refilled(context, base)):
        return found
    scope = context.scopes.scope_of(base)
    for event in flow_of(context, scope).reaching(base):
        match event.node:
            case (
                cst.Assign(targets=[cst.AssignTarget(target=target)], value=cst.Call() as call)
                | cst.NamedExpr(target=target, value=cst.Call() as call)
            ):
                if (place := _place_in(target, event.path)) is not None:
                    found = max(found, _returned(context, call, (*place, *keys), far - 1))
            case cst.Param() if isinstance(scope, cst.FunctionDef):
                given = (_given(context, scope, call, event.path) for call in calls_of(context, scope))
                found = max((found, *(_filled(context, each, far - 1, keys) for each in given if each is not None)))
    return found


def _place_in(target: cst.BaseExpression, path: str) -> tuple[LiteralKey, ...] | None:
    """The place of a name among those that a result is taken apart into: none where it is the whole."""
    if not isinstance(target, (cst.Tuple, cst.List)):
        return ()
    return next(((i,) for i, each in enumerate(target.elements) if dotted(each.value) == path), None)


def _returned(context: Context, call: cst.Call, keys: tuple[LiteralKey, ...], far: int) -> Certainty:
    """The same of what a function of the project returns."""
    function = value_of(context, call.func).node
    if not isinstance(function, cst.FunctionDef):
        return Certainty.SUPPOSED
    return _of_results(context, function, keys, far)


@at_home
def _of_results(context: Context, function: cst.FunctionDef, keys: tuple[LiteralKey, ...], far: int) -> Certainty:
    found = Certainty.SUPPOSED
    for node in context.tree.within(function.body, cst.Return):
        value = node.value if context.scopes.scope_of(node) is function else None
        left = keys
        while left and isinstance(value, (cst.Tuple, cst.Dict)):
            value, left = behind(value, left[0]), left[1:]
        if isinstance(value, cst.Name):
            found = max(found, _filled(context, value, far, left))
    return found


def _given(context: Context, function: cst.FunctionDef, call: cst.Call, name: str) -> cst.BaseExpression | None:
    """What a call gives for a parameter."""
    if name not in {param.name.value for param in parameters(function)}:
        return None
    return next((arg.value for arg in call.args if bound_to(function, arg, call, context, context) == [name]), None)


def _added(context: Context, arg: cst.BaseExpression) -> Certainty:
    """How certain it is that what is put into a list requires grad where that is done."""
    if grad_enabled(context, arg) != Tri.YES:
        return Certainty.SUPPOSED
    found = requires_grad(context, arg) or Certainty.SUPPOSED
    return found if found in (Certainty.PROVED, Certainty.SUPPOSED) or records(context, arg) else Certainty.SUPPOSED


def appended(context: Context, node: cst.BaseExpression, keys: tuple[LiteralKey, ...] = ()) -> list[cst.BaseExpression]:
    """What is appended to a list: a name's in its scope, before it is read; an attribute's in all of its class.

    A list behind a key counts as one of its own: ``history["loss"]``.
    """
    place = _place(node)
    if place is None:
        return []
    place = "".join((place, *(f"[{key!r}]" for key in keys)))
    area = context.tree.enclosing(node, cst.ClassDef) if place.startswith("self.") else None
    scope = context.scopes.scope_of(node)
    found = []
    for call in context.remember(_appending).get(place, ()):
        is_here = context.tree.is_inside(call, area) if area is not None else context.scopes.scope_of(call) is scope
        if is_here and (area is not None or _is_before(context, place, call, node)):
            found.append(call.args[0].value)
    return found


def _is_before(context: Context, place: str, call: cst.Call, node: cst.BaseExpression) -> bool:
    """Whether something is put into a list before that is read, and the list is still the same one."""
    order = context.tree.order
    bindings = flow_of(context, context.scopes.scope_of(node)).bindings(place)
    return order(call) < order(node) and not any(order(call) < order(each.node) < order(node) for each in bindings)


def _appending(context: Context) -> dict[str, list[cst.Call]]:
    """The calls of ``append`` in a file, by what is appended to."""
    found: dict[str, list[cst.Call]] = {}
    for name in context.tree.attributes("append"):
        call = context.tree.parent(name)
        if isinstance(call, cst.Call) and call.func is name and len(call.args) == 1:
            if (place := _place(name.value)) is not None:
                found.setdefault(place, []).append(call)
    return found


def _place(node: cst.BaseExpression) -> str | None:
    """A name, a path, or one of them with literal keys behind it, as a text."""
    path = dotted(owner(node))
    keys = list(_keys(node))
    return None if path is None or None in keys else "".join((path, *(f"[{key!r}]" for key in reversed(keys))))


def _keys(node: cst.BaseExpression) -> Iterator[str | int | None]:
    while not isinstance(node, (cst.Name, cst.Attribute)):
        match node:
            case cst.Subscript(value=inner, slice=[cst.SubscriptElement(slice=cst.Index(value=key))]):
                yield literal_key(key)
                node = inner
            case _:
                yield None
                return
