"""Functions of the project that put what they are given into something that stays: ``meter.update(loss)``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from torchlint.model.aliasing.calls import bound_to
from torchlint.model.classes import class_of, find_method
from torchlint.model.context import Context, at_home
from torchlint.model.expressions import value_of
from torchlint.model.graphs.bounded import is_bounded
from torchlint.model.graphs.flow import MANY, Event, Flow, Scope, flow_of, nodes_of, upstream
from torchlint.model.graphs.guards import is_without_tensors
from torchlint.model.graphs.keeping import Keeping, keeping_at, parts_written
from torchlint.model.graphs.mentions import mentions, owner
from torchlint.model.modes import grad_enabled
from torchlint.model.possibilities import Kind, Tri
from torchlint.model.syntax import dotted, parameters

_FAR = 2
"""How many functions that hand on what they are given to follow."""
_STATEMENTS = (cst.AugAssign, cst.Assign, cst.AnnAssign, cst.NamedExpr, cst.Call)


@dataclass(frozen=True)
class KeptInside:
    """What a function keeps of one of its arguments."""

    path: str
    """What keeps it, as the function has it: ``self.sum``."""
    keys: frozenset[str] | None
    """Of a dictionary only what is behind these keys; None if it is all of it."""


def given_at(context: Context, node: cst.CSTNode) -> Keeping | None:
    """What a call gives a function of the project to keep, or an assignment an object with a ``__setitem__``."""
    return _given_to(context, node, _FAR)


def _given_to(context: Context, node: cst.CSTNode, far: int) -> Keeping | None:
    match node:
        case cst.Call():
            return _given(context, node, far)
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Subscript() as target)], value=value):
            return _set_item(context, node, target, value, far)
    return None


def _set_item(
    context: Context, node: cst.Assign, target: cst.Subscript, value: cst.BaseExpression, far: int
) -> Keeping | None:
    """``record["loss"] = loss``, where the class of the object keeps all that it is given by its ``__setitem__``."""
    path, owned = dotted(owner(target)), value_of(context, target.value)
    match target:
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=key))]):
            is_object = owned.kind == Kind.OBJECT and isinstance(owned.node, cst.ClassDef) and not owned.choices
        case _:
            return None
    if path is None or not is_object or not isinstance(owned.node, cst.ClassDef):
        return None
    method = find_method(context.home(owned.node), owned.node, "__setitem__")
    if method is None or len(given := [param.name.value for param in parameters(method)]) != 3:
        return None
    inside = _kept_inside(context, method, far).get(given[2])
    return None if inside is None else Keeping(node, path, tuple(parts_written(value)), key, keys=inside.keys)


def _given(context: Context, call: cst.Call, far: int) -> Keeping | None:
    """``meter.update(loss)``, where the method puts what it is given into something that stays."""
    if not call.args:
        return None
    value = value_of(context, call.func)
    function, is_object = value.node, False
    if isinstance(function, cst.ClassDef) and not value.kind & Kind.FUNCTION:
        function, is_object = find_method(context.home(function), function, "__call__"), True
    if not isinstance(function, cst.FunctionDef):
        return None
    home = context.home(function)
    inside = _kept_inside(context, function, far)
    kept: list[cst.BaseExpression] = []
    keys: frozenset[str] | None = frozenset()
    into: str | None = None
    for arg in call.args if inside else ():
        for name in _bound_to(context, home, function, call, arg):
            if name in inside:
                kept += _kept_of(arg.value, inside[name].keys)
                keys = None if keys is None or inside[name].keys is None else keys | (inside[name].keys or frozenset())
                into = inside[name].path
    path = _outside(home, context, function, call, into, is_object) if into is not None else None
    return None if path is None else Keeping(call, path, tuple(kept), keys=keys)


def _bound_to(context: Context, home: Context, function: cst.FunctionDef, call: cst.Call, arg: cst.Arg) -> list[str]:
    """The parameters that an argument is bound to; what is handed on as a whole goes to those that take any number."""
    found = bound_to(function, arg, call, home, context)
    if not arg.star:
        return found
    return [param.name.value for param in parameters(function) if param.star == arg.star]


def _kept_of(value: cst.BaseExpression, keys: frozenset[str] | None) -> Iterator[cst.BaseExpression]:
    """The parts of an argument that are kept, if only what is behind some keys is."""
    if keys is None or not isinstance(value, cst.Dict):
        yield from parts_written(value)
        return
    for entry in value.elements:
        match entry:
            case cst.DictElement(key=cst.SimpleString() as key) if str(key.evaluated_value) in keys:
                yield from parts_written(entry.value)


def _outside(  # noqa: PLR0917
    home: Context, context: Context, function: cst.FunctionDef, call: cst.Call, into: str, is_object: bool
) -> str | None:
    """What keeps it, as the caller has it: the object of a method, an argument, what both of them see."""
    first, _, rest = into.partition(".")
    names = [param.name.value for param in parameters(function)]
    if class_of(home, function) is not None and names[:1] == [first]:
        at = call.func if is_object else call.func.value if isinstance(call.func, cst.Attribute) else None
        path = dotted(owner(at)) if at is not None else None
        return f"{path}.{rest}" if path == "self" and rest else path
    if first not in names:
        return into if _is_seen_by_both(home, context, function, call, first) else None
    for arg in call.args:
        if bound_to(function, arg, call, home, context) == [first]:
            return dotted(owner(arg.value))
    return None


def _is_seen_by_both(home: Context, context: Context, function: cst.FunctionDef, call: cst.Call, name: str) -> bool:
    """Whether a name that a function has from outside stands for the same where it is called."""
    if home is not context:
        return False
    around, scope = context.scopes.scope_of(function), context.scopes.scope_of(call)
    return around is scope or (isinstance(around, cst.Module) and not flow_of(context, scope).bindings(name))


@at_home
def _kept_inside(context: Context, function: cst.FunctionDef, far: int) -> dict[str, KeptInside]:
    """The parameters of a function whose graphs it keeps beyond a call."""
    return context.remember(_kept_parameters, function, far)


def _kept_parameters(context: Context, function: cst.FunctionDef, far: int) -> dict[str, KeptInside]:
    found: dict[str, KeptInside] = {}
    flow = flow_of(context, function)
    names = {param.name.value for param in parameters(function)}
    for cls in _STATEMENTS:
        for node in context.tree.within(function.body, cls):
            keeping = _inner(context, node, far) if context.scopes.scope_of(node) is function else None
            if keeping is None or grad_enabled(context, node) != Tri.YES:
                continue
            first = keeping.path.partition(".")[0]
            if first not in names and not _is_from_outside(context, flow, keeping):
                continue
            if is_bounded(context, keeping.path, node, is_sum=keeping.is_sum):
                continue
            for name, keys in _sources(context, flow, keeping).items():
                if name in names and name != first:
                    before = found.get(name, KeptInside(keeping.path, frozenset()))
                    found[name] = KeptInside(before.path, _united(before.keys, keys))
    return found


def _inner(context: Context, node: cst.CSTNode, far: int) -> Keeping | None:
    return keeping_at(context, node) or (_given_to(context, node, far - 1) if far else None)


def _is_from_outside(context: Context, flow: Flow, keeping: Keeping) -> bool:
    """Whether a function puts something into a list or dictionary that it has from outside."""
    filled = keeping.node.func if isinstance(keeping.node, cst.Call) else getattr(keeping.node, "target", None)
    if not isinstance(filled, (cst.Attribute, cst.Subscript)) or flow.bindings(keeping.path):
        return False
    holder = owner(filled.value)
    return isinstance(holder, cst.Name) and value_of(context, holder).kind == Kind.CONTAINER


# ---------------------------------------------------------------------- from which parameters it comes


_Keys = frozenset[str] | None


def _united(some: _Keys, others: _Keys) -> _Keys:
    return None if some is None or others is None else some | others


def _sources(context: Context, flow: Flow, keeping: Keeping) -> dict[str, _Keys]:
    """The parameters that what is kept is made of, if nothing on the way may have taken the number out of one."""
    found: dict[str, _Keys] = {}
    for mention in (mention for each in keeping.kept for mention in mentions(context, each)):
        if "." in mention.path or _is_left_behind(context, mention.node) or is_without_tensors(context, mention.node):
            continue  # what an attribute of a parameter is, its caller doesn't say
        behind = upstream(flow.reaching(mention.node), MANY).values()
        if any(_may_be_converted(context, flow, event) for event in behind):
            continue
        for event in behind:
            if isinstance(event.node, cst.Param):
                keys = _keys_taken(context, flow, event, mention.node)
                found[event.path] = _united(found.get(event.path, frozenset()), keys)
    return found


def _may_be_converted(context: Context, flow: Flow, event: Event) -> bool:
    """Whether a name is bound again to something else that is made of it: ``value = value.item()``."""
    if isinstance(event.node, cst.Param):
        return len(flow.bindings(event.path)) > 1
    return event.path in context.remember(_converted, flow.scope)


def _converted(context: Context, scope: Scope) -> frozenset[str]:
    found = set[str]()
    for event in flow_of(context, scope).events():
        match event.node:
            case cst.Assign(value=value) | cst.AnnAssign(value=value) | cst.NamedExpr(value=value) if value is not None:
                if not isinstance(value, cst.BinaryOperation) and context.tree.names(event.path, value):
                    found.add(event.path)
    return frozenset(found)


def _keys_taken(context: Context, flow: Flow, param: Event, node: cst.CSTNode) -> _Keys:
    """The keys behind which something is taken out of a parameter on the way to a place; None if it may be anything."""
    if isinstance(node, cst.Name) and node.value == param.path:
        return _key_at(context, node)
    return context.remember(_keys_anywhere, flow.scope, param.path)


def _keys_anywhere(context: Context, scope: Scope, name: str) -> _Keys:
    found: _Keys = frozenset()
    for each in context.tree.names(name, scope.body if isinstance(scope, cst.FunctionDef) else scope):
        found = _united(found, _key_at(context, each))
    return found


def _key_at(context: Context, name: cst.CSTNode) -> _Keys:
    """``loss`` of ``out["loss"]``, nothing of what only iterates over it: of a dictionary that gives the keys."""
    up = context.tree.parent(name)
    match up:
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as key))]):
            return frozenset((str(key.evaluated_value),)) if up.value is name else None
        case cst.For(iter=iterated) if iterated is name:
            return frozenset()
    return None


def _is_left_behind(context: Context, name: cst.CSTNode) -> bool:
    """Whether a name is given to a function of the project whose result has no graph from it: ``hits(out, y)``."""
    arg = context.tree.parent(name)
    call = context.tree.parent(arg) if isinstance(arg, cst.Arg) else None
    if not isinstance(call, cst.Call) or not isinstance(arg, cst.Arg):
        return False
    function = value_of(context, call.func).node
    if not isinstance(function, cst.FunctionDef):
        return False
    home = context.home(function)
    bound = bound_to(function, arg, call, home, context)
    return bool(bound) and _handed_on(context, function).isdisjoint(bound)


@at_home
def _handed_on(context: Context, function: cst.FunctionDef) -> frozenset[str]:
    """The parameters of a function from which what it returns can have a graph."""
    return context.remember(_returned_parameters, function)


def _returned_parameters(context: Context, function: cst.FunctionDef) -> frozenset[str]:
    flow = flow_of(context, function)
    returned = (*nodes_of(context, function, cst.Return), *nodes_of(context, function, cst.Yield))
    made = [mention.node for each in returned for mention in mentions(context, each)]
    events = upstream([event for node in made for event in flow.reaching(node)], MANY).values()
    return frozenset(event.path for event in events if isinstance(event.node, cst.Param))
