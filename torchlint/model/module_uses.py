"""Where a file calls the modules that a class of it makes, by the names that they are bound to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.classes import class_kind
from torchlint.model.interpreted import seen
from torchlint.model.names import MODULE_METHODS
from torchlint.model.possibilities import Kind
from torchlint.model.syntax import assigned_value, call_of, dotted, is_target, last_name

if TYPE_CHECKING:
    from torchlint.model.context import Context


_NETWORKS = ("model", "net", "network")
"""What the network is called that a function is given."""


def calls_of_modules(context: Context, cls: cst.ClassDef) -> list[cst.Call]:
    """The calls of what a class makes: ``self.net(x)`` where ``self.net = Net()``.

    A function that is given it is believed to call the same under the same name, if nothing else has that name.
    """
    return context.remember(_calls_of_modules, cls)


def _calls_of_modules(context: Context, cls: cst.ClassDef) -> list[cst.Call]:
    names = dict.fromkeys(names_of_modules(context, cls))
    if not names and cls in context.remember(_made_elsewhere):
        return context.remember(_calls_of_given)
    found = [*_called_at_once(context, cls)]
    for name in names:
        references = context.scopes.calls(name)
        is_only = all(_is_given_by(context, cls, each, name) for each in references if is_target(context.tree, each))
        for reference in references:
            call = context.tree.parent(reference)
            if isinstance(call, cst.Call) and call.func is reference and dotted(reference) is not None:
                value = seen(context, reference)
                if value.node is cls if value.kind & Kind.MODULE else is_only and value.kind == Kind.UNKNOWN:
                    found.append(call)
    return found


def _called_at_once(context: Context, cls: cst.ClassDef) -> Iterator[cst.Call]:
    """The calls of modules without a name: ``Net()(x)``, ``Net().eval()(x)``."""
    for reference in context.scopes.calls(cls.name.value):
        node = call_of(reference, context.tree)
        while node is not None:
            up = context.tree.parent(node)
            if isinstance(up, cst.Call) and up.func is node:
                yield up
            if not isinstance(up, cst.Attribute) or MODULE_METHODS.get(up.attr.value) != "self":
                break
            node = call_of(up, context.tree)


def _made_elsewhere(context: Context) -> list[cst.ClassDef]:
    """The one module class of a file that nothing in it names, if there is one: who imports it makes the network."""
    found = [
        each
        for each in context.scopes.all_classes()
        if all(context.tree.is_inside(node, each) for node in context.scopes.calls(each.name.value))
        and class_kind(context, each) == "module"
    ]
    return found if len(found) == 1 else []


def _calls_of_given(context: Context) -> list[cst.Call]:
    """The calls of what functions of a file are given as a network, by its name."""
    found = []
    for name in _NETWORKS:
        references = context.scopes.calls(name)
        if not any(is_target(context.tree, each) for each in references):
            for reference in references:
                call = context.tree.parent(reference)
                if isinstance(call, cst.Call) and call.func is reference and isinstance(reference, cst.Name):
                    found += [call] if seen(context, reference).kind == Kind.UNKNOWN else []
    return found


def names_of_modules(context: Context, cls: cst.ClassDef) -> Iterator[str]:
    """The last names of what is bound to a new module of a class."""
    for reference in context.scopes.calls(cls.name.value):
        assign = context.tree.enclosing(reference, cst.Assign)
        if isinstance(assign, cst.Assign) and _is_made_by(cls, assign.value):
            targets = (each.target for each in assign.targets)
            yield from (last_name(each) for each in targets if isinstance(each, (cst.Name, cst.Attribute)))


def _is_made_by(cls: cst.ClassDef, value: cst.BaseExpression) -> bool:
    """Whether an expression makes a module of a class and hands it on."""
    match value:
        case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(method))) if MODULE_METHODS.get(method) == "self":
            return _is_made_by(cls, inner)
        case cst.Call(func=func):
            return last_name(func) == cls.name.value
    return False


def _is_given_by(context: Context, cls: cst.ClassDef, target: cst.CSTNode, name: str) -> bool:
    """Whether a name is bound to a module of a class, or to something of that name."""
    value = assigned_value(target, context.tree)
    return value is not None and (_is_made_by(cls, value) or last_name(value) == name)
