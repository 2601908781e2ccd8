"""Whether somebody waits for the error that an old form raises today, in a ``try`` around it."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Model
from torchlint.model.syntax import call_of, last_name

_FAR = 3
"""How many callers of callers are asked."""


def is_awaited(error: str, node: cst.CSTNode, model: Model, far: int = _FAR) -> bool:
    """Whether a handler names an error, ``except (TypeError, IndexError)``, in the function or around its calls."""
    child: cst.CSTNode = node
    for up in model.tree.ancestors(node):
        if isinstance(up, (cst.Try, cst.TryStar)) and child is up.body:
            if any(_names(handler, error, model) for handler in up.handlers):
                return True
        if isinstance(up, cst.With) and child is up.body:
            if any(_suppresses(item.item, error, model) for item in up.items):
                return True
        if isinstance(up, cst.FunctionDef):
            return far > 0 and model.remember(_is_called_so, up.name.value, error, far - 1)
        if isinstance(up, cst.Lambda):
            return False
        child = up
    return False


def _is_called_so(model: Model, name: str, error: str, far: int) -> bool:
    """Whether the file calls something of a name where a handler names an error."""
    if not model.remember(_is_mentioned, error):
        return False
    calls = (call for use in model.scopes.calls(name) if (call := call_of(use, model.tree)) is not None)
    return any(is_awaited(error, call, model, far) for call in calls)


def _is_mentioned(model: Model, error: str) -> bool:
    return error in model.tree.source.text


def _suppresses(manager: cst.BaseExpression, error: str, model: Model) -> bool:
    match manager:
        case cst.Call(func=func, args=args) if last_name(func) == "suppress":
            return any(model.qualified(arg.value) == f"builtins.{error}" for arg in args)
    return False


def _names(handler: cst.ExceptHandler | cst.ExceptStarHandler, error: str, model: Model) -> bool:
    match handler.type:
        case None:
            return False
        case cst.Tuple(elements=elements):
            return any(model.qualified(element.value) == f"builtins.{error}" for element in elements)
        case caught:
            return model.qualified(caught) == f"builtins.{error}"
