"""Whether a tensor with a graph is seen to come to a place: handed over by a caller, or given by a function.

For those who would take what is not known for a tensor without one: a single call that is seen is enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from torchlint.model.aliasing.calls import bound_to
from torchlint.model.calls_elsewhere import CallSite, asking, call_sites, is_same
from torchlint.model.classes import class_kind, class_of
from torchlint.model.codebase.exports import is_mentioned
from torchlint.model.expressions import value_of
from torchlint.model.graphs.flow import MANY, Event, flow_of, nodes_of, upstream
from torchlint.model.overriding import heirs, is_class_handed_over, overriding
from torchlint.model.possibilities import Kind, Tri
from torchlint.model.syntax import bound_name, last_name, parameters
from torchlint.model.values import Value, held

if TYPE_CHECKING:
    from torchlint.model.context import Context

_FAR = 3
"""How many functions that hand on what they are given to go back."""
_MOST = 16
"""How many calls of a function are looked at."""
_FILES = 8
"""How many files that have something of its name are."""


class _Uses(NamedTuple):
    """What is done with a function."""

    calls: list[CallSite]
    is_handed_on: bool
    """Whether something else than these may call it, which it is given to."""


def is_handed_graph(context: Context, function: cst.FunctionDef, name: str) -> bool:
    """Whether a parameter of a function may be handed a tensor with a graph, or what holds one, as far as that is seen.

    It is by a call, or by its default; and it may be where others call the function than those that are seen: it is a
    hook or an element of a table, it has a special name, or it is the `forward` of a module that others hold.
    """
    default = next((each.default for each in parameters(function) if each.name.value == name), None)
    if default is not None and _has_graph(context, default, 0):
        return True
    return _is_handed(context, function, name, _FAR) or _is_called_by_others(context, function)


def _is_called_by_others(context: Context, function: cst.FunctionDef) -> bool:
    name, uses = function.name.value, context.remember(_uses, function)
    cls = class_of(context, function)
    if uses.is_handed_on or (name.startswith("__") and name.endswith("__") and name != "__init__"):
        return True
    if cls is None or not (name == "__init__" or (name == "forward" and class_kind(context, cls) == "module")):
        return False
    has_calls = bool(uses.calls) or name == "__init__"
    return context.remember(_is_made_otherwise, cls, name) or (not has_calls and _is_made(context, cls.name.value))


def _is_made(context: Context, name: str) -> bool:
    return is_mentioned(context, rf"(?<!class )\b{name}\(")


def _is_made_otherwise(context: Context, cls: cst.ClassDef, method: str) -> bool:
    """Whether objects of a class are made by another name, by what it is given to, or by a subclass with its method."""
    name = cls.name.value
    if is_mentioned(context, rf"\b{name}[ \t]+as[ \t]|=[ \t]*(?:\w+\.)*{name}[ \t]*(?:[;#\r\n]|$)"):
        return True
    if is_class_handed_over(context, name):
        return True
    inherited = (heir for home, heir in heirs(context, cls) if method not in home.scopes.info(heir).methods)
    return any(_is_made(context, heir.name.value) for heir in inherited)


def gives_graph(context: Context, call: cst.Call) -> bool:
    """Whether a function of the project, or one that overrides it, is seen to give a tensor with a graph."""
    function = value_of(context, call.func).node
    if not isinstance(function, cst.FunctionDef):
        return False
    home = context.home(function)
    others = ((each.context, each.function) for each in overriding(home, function).methods)
    return any(_gives(*each) for each in ((home, function), *others))


def _gives(context: Context, function: cst.FunctionDef) -> bool:
    with asking(context):
        given = [
            each.value
            for kind in (cst.Return, cst.Yield)
            for each in nodes_of(context, function, kind)
            if isinstance(each, (cst.Return, cst.Yield)) and isinstance(each.value, cst.BaseExpression)
        ]
        return any(holds_graph(value_of(context, each)) for each in given)


def holds_graph(value: Value) -> bool:
    """Whether a value is a tensor with a graph, or holds one."""
    if value.kind & Kind.CONTAINER and value.items is not None:
        return any(map(holds_graph, value.items))
    element = held(value) if value.kind & Kind.CONTAINER else None
    if element is not None and element is not value and holds_graph(element):
        return True
    return bool(value.kind & Kind.TENSOR) and value.grad == Tri.YES


def _is_handed(context: Context, function: cst.FunctionDef, name: str, far: int) -> bool:
    for caller, call in context.remember(_uses, function).calls:
        with asking(caller):
            for arg in call.args:
                if name in bound_to(function, arg, call, context, caller) and _has_graph(caller, arg.value, far):
                    return True
    return False


def _uses(context: Context, function: cst.FunctionDef) -> _Uses:
    """What is done with a function: its calls, and those that may be of it, of a method of its name."""
    found = {id(site.call): site for site in call_sites(context, function)}
    name, is_handed_on = function.name.value, False
    paths = context.codebase.matching(context, re.compile(rf"\b{name}\b".encode()))[:_FILES]
    for caller in (context, *filter(None, (context.codebase.whole(path, context) for path in paths))):
        others = _other_names(caller, name)
        is_handed_on |= any(_is_named_beyond(caller, other) for other in others)
        with asking(caller):
            for use in (use for each in (name, *others) for use in caller.scopes.calls(each)):
                call = caller.tree.parent(use)
                if not _may_be_it(caller, use, context, function):
                    continue
                if isinstance(call, cst.Call) and call.func is use:
                    found.setdefault(id(call), CallSite(caller, call))
                else:
                    is_handed_on = True
    return _Uses(list(found.values())[:_MOST], is_handed_on)


def _other_names(caller: Context, name: str) -> list[str]:
    """What a file calls that it imports under another name: ``from lib import make as made``."""
    aliases = (each for each in caller.tree.all(cst.ImportAlias) if last_name(each.name) == name)
    return [bound for each in aliases if (bound := bound_name(each)) != name]


def _is_named_beyond(caller: Context, name: str) -> bool:
    """Whether further files have a name, which may be imported from here in turn."""
    return bool(caller.codebase.matching(caller, re.compile(rf"\b{name}\b".encode())))


def _may_be_it(caller: Context, use: cst.CSTNode, home: Context, function: cst.FunctionDef) -> bool:
    known = value_of(caller, use).node
    if known is not None or not isinstance(use, cst.Attribute) or class_of(home, function) is None:
        return is_same(caller, known, home, function)
    return bool(value_of(caller, use.value).kind & Kind.UNKNOWN)


def _has_graph(context: Context, node: cst.BaseExpression, far: int) -> bool:
    value = value_of(context, node)
    if holds_graph(value):
        return True
    if isinstance(node, cst.Call) and isinstance(value.node, cst.ClassDef):
        return any(_has_graph(context, arg.value, far) for arg in node.args)  # an object may keep what it is given
    scope = context.scopes.scope_of(node)
    events = flow_of(context, scope).reaching(node)
    if any(_may_hold(context, each) for event in events for each in _bound(event)):
        return True
    if not far or not isinstance(scope, cst.FunctionDef) or (value.is_tensor and value.grad == Tri.NO):
        return False
    given = {event.path for event in upstream(events, MANY).values() if isinstance(event.node, cst.Param)}
    return any(_is_handed(context, scope, name, far - 1) for name in given)


def _may_hold(context: Context, node: cst.BaseExpression) -> bool:
    """Whether an expression holds a graph, or calls something of which nothing is known with what does."""
    value = value_of(context, node)
    if holds_graph(value):
        return True
    is_open = value.kind & (Kind.UNKNOWN | Kind.CONTAINER) or (value.kind & Kind.TENSOR and value.grad == Tri.MAYBE)
    if not isinstance(node, cst.Call) or not is_open:
        return False
    return any(holds_graph(value_of(context, arg.value)) for arg in node.args)


def _bound(event: Event) -> Iterator[cst.BaseExpression]:
    """What a name is bound to, or is put into what it stands for."""
    match event.node:
        case cst.Assign(value=value) | cst.AugAssign(value=value) | cst.NamedExpr(value=value):
            yield value
        case cst.Call(args=args):
            yield from (arg.value for arg in args)
