"""What an expression can be, seen from outside of its scope: imports of the project and callers included."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model import reexports
from torchlint.model.classes import class_of
from torchlint.model.definitions import follow
from torchlint.model.imports import imported_path
from torchlint.model.interpreted import trace_of
from torchlint.model.possibilities import Kind
from torchlint.model.torch.named import named
from torchlint.model.values import Strength, Value, reference

if TYPE_CHECKING:
    from torchlint.model.context import Context


def value_of(context: Context, node: cst.CSTNode) -> Value:
    """What an expression can be.

    It was seen when its scope was interpreted; where that left it unknown in a function, the callers are asked. Those
    of a ``forward`` are believed less than the convention on what it is given.
    """
    scope, value = context.scopes.scope_of(node), own_value(context, node)
    if value.kind & Kind.UNKNOWN and isinstance(scope, cst.FunctionDef) and not _is_forward(context, scope):
        return context.interpreter.of_callers(context, node, scope) or value
    return value


def own_value(context: Context, node: cst.CSTNode) -> Value:
    """What an expression can be, whoever calls the function: callers that are seen are no proof of all others."""
    return follow(context, trace_of(context, context.scopes.scope_of(node)).value(node))


def _is_forward(context: Context, function: cst.FunctionDef) -> bool:
    return function.name.value == "forward" and class_of(context, function) is not None


def qualified(context: Context, node: cst.CSTNode) -> str | None:
    """The canonical qualified name of something imported; None for all else.

    What only one import can bind is known by syntax, so also while the scope it is in is being interpreted.
    """
    path = imported_path(context, node)
    if path is None:
        value = own_value(context, node)
        return reference(value) if not value.kind & ~(Kind.REFERENCE | Kind.NONE) else None
    return reexports.qualified(context, node, path) or named(path).ref


def is_tensor(context: Context, node: cst.CSTNode, at_least: Strength = Strength.USE) -> bool:
    """Whether an expression is a tensor wherever it has a tensor's methods, on evidence of that strength."""
    value = value_of(context, node)
    return value.is_tensor and (value.strength or Strength.USE) >= at_least
