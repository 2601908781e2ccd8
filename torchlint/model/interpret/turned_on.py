"""Which scopes of a file may have autograd turned on by what they call: ``torch.set_grad_enabled(True)`` leaks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model import reexports
from torchlint.model.possibilities import Tri
from torchlint.model.syntax import dotted

if TYPE_CHECKING:
    from torchlint.model.context import Context

_SETTER = "set_grad_enabled"
_ANYWHERE = 0
"""Stands for all scopes of a file among those that are told by identity."""
_TURNING_ON = re.compile(rb"(?:^[ \t]+|[;:] *)(?:\w+\.)*set_grad_enabled *\((?! *(?:mode *= *)?False\b)", re.MULTILINE)
"""What turns autograd on in a function, for what comes after."""
_MOST_FILES = 8
"""In how many files functions are looked for that do so."""


def is_turned_on_within(context: Context, scope: cst.FunctionDef | cst.Module) -> bool:
    """Whether a scope mentions a function that may leave autograd on, so that no block is sure to hold."""
    found = context.remember(_calling_who_turns_on)
    return bool(found) and (id(scope) in found or _ANYWHERE in found)


def after_calls(context: Context, scope: cst.FunctionDef | cst.Module, mode: Tri) -> Tri:
    """The mode of a block where what is called in its scope may leave autograd on."""
    return Tri.MAYBE if mode == Tri.NO and is_turned_on_within(context, scope) else mode


def _calling_who_turns_on(context: Context) -> frozenset[int]:
    """The scopes, by identity, that mention a function which may leave autograd on, by a statement of its own."""
    waiting = _turning_on(context)
    found = {_ANYWHERE} if any(map(_is_called_by_syntax, waiting)) else set[int]()
    for use, is_of_class in _uses_of_who_turns_on(context):
        if is_of_class:
            found.add(_ANYWHERE)
        scope = context.scopes.scope_of(use)
        found.add(id(scope))
        waiting.append(scope)
    while waiting:
        function = waiting.pop()
        for use in context.tree.names(function.name.value) if isinstance(function, cst.FunctionDef) else ():
            scope = context.scopes.scope_of(use)
            if id(scope) not in found and context.tree.parent(use) is not function:
                found.add(id(scope))
                waiting.append(scope)
    return frozenset(found)


def _turning_on(context: Context) -> list[cst.FunctionDef | cst.Module]:
    """The scopes that turn autograd on for what comes after."""
    calls = (context.tree.enclosing(name, cst.Call) for name in context.tree.names(_SETTER))
    return [context.scopes.scope_of(call) for call in calls if call is not None and _turns_on(context, call)]


def _is_called_by_syntax(scope: cst.FunctionDef | cst.Module) -> bool:
    """Whether a function is called without its name: ``attack(x)`` calls ``__call__``."""
    return isinstance(scope, cst.FunctionDef) and (scope.name.value.startswith("__") or scope.name.value == "forward")


def _uses_of_who_turns_on(context: Context) -> Iterator[tuple[cst.Name, bool]]:
    """Where functions are named that other files of the project define and that turn autograd on, or their classes.

    Each with whether it is a class: its methods are called wherever one of its objects is.
    """
    if context.is_part:
        return
    by_import = reexports.imported(context)
    for path in context.codebase.matching(context, _TURNING_ON)[:_MOST_FILES]:
        other = context.codebase.whole(path, context)
        for function in _turning_on(other) if other is not None else ():
            around = other.tree.enclosing(function, cst.ClassDef) if other is not None else None
            named = around if isinstance(around, cst.ClassDef) else function
            for use in context.tree.names(named.name.value) if not isinstance(named, cst.Module) else ():
                owner = context.tree.parent(use)
                root = dotted(owner) if isinstance(owner, cst.Attribute) and owner.attr is use else None
                is_bare = root is None and bool(reexports.stars(context))
                if (root or use.value).partition(".")[0] in by_import or is_bare:
                    yield use, isinstance(named, cst.ClassDef)


def _turns_on(context: Context, call: cst.CSTNode) -> bool:
    return isinstance(context.tree.parent(call), cst.Expr) and isinstance(call, cst.Call) and not disables(call)


def disables(node: cst.BaseExpression) -> bool:
    """Whether an expression is ``torch.set_grad_enabled(False)``."""
    match node:
        case cst.Call(func=func, args=[cst.Arg(value=cst.Name("False"))]):
            return (dotted(func) or "").endswith("set_grad_enabled")
    return False
