"""Which functions are given to ``apply`` of modules, by themselves or by the function that makes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.calls_elsewhere import asking, is_same
from torchlint.model.expressions import value_of
from torchlint.model.syntax import last_name

if TYPE_CHECKING:
    from torchlint.model.context import Context

_Given = dict[tuple[str, bool], list[cst.Call]]
"""The calls of an ``apply``, by the name of what they are given, and whether that is called first."""


def applied_to_modules(context: Context, function: cst.FunctionDef) -> bool:
    """Whether a function is given to ``net.apply(...)`` in this file, by itself or by a call of what makes it."""
    if context.is_part:
        return False
    given = context.remember(_given)
    calls = given.get((function.name.value, False), [])
    if calls and len(calls[0].args) == 1:
        return True
    maker = maker_of(context, function) if any(is_called for _, is_called in given) else None
    return maker is not None and (maker.name.value, True) in given


def is_applied_elsewhere(context: Context, function: cst.FunctionDef) -> bool:
    """Whether another file of the project gives a function to ``net.apply(...)``, or what the function makes."""
    return context.remember(_is_applied_elsewhere, function)


def maker_of(context: Context, function: cst.FunctionDef) -> cst.FunctionDef | None:
    """The function that defines another one and returns it."""
    maker = context.tree.enclosing(function, cst.FunctionDef)
    if not isinstance(maker, cst.FunctionDef):
        return None
    returned = (each.value for each in context.tree.within(maker.body, cst.Return))
    is_returned = any(isinstance(each, cst.Name) and each.value == function.name.value for each in returned)
    return maker if is_returned else None


def _given(context: Context) -> _Given:
    found: _Given = {}
    for attribute in context.tree.attributes("apply"):
        call = context.tree.parent(attribute)
        if isinstance(call, cst.Call) and call.func is attribute:
            for arg in call.args:
                func = _named(arg.value)
                if isinstance(func, (cst.Name, cst.Attribute)):
                    found.setdefault((last_name(func), func is not arg.value), []).append(call)
    return found


def _named(given: cst.BaseExpression) -> cst.BaseExpression:
    """The function that an argument is, or that is called for it."""
    return given.func if isinstance(given, cst.Call) else given


def _is_applied_elsewhere(context: Context, function: cst.FunctionDef) -> bool:
    maker = maker_of(context, function)
    wanted = function if maker is None else maker
    for path in context.codebase.naming(context, wanted.name.value, "apply"):
        other = context.codebase.whole(path, context)
        calls = other.remember(_given).get((wanted.name.value, maker is not None), []) if other is not None else []
        if other is None or not calls:
            continue
        with asking(other):
            if any(is_same(other, value_of(other, _named(call.args[0].value)).node, context, wanted) for call in calls):
                return True
    return False
