"""Whether somebody waits for the error that an old form raises today, in a ``try`` around it."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Model


def is_awaited(error: str, node: cst.CSTNode, model: Model) -> bool:
    """Whether a handler of the same function names an error: ``except (TypeError, IndexError)``."""
    child: cst.CSTNode = node
    for up in model.tree.ancestors(node):
        if isinstance(up, (cst.Try, cst.TryStar)) and child is up.body:
            if any(_names(handler, error, model) for handler in up.handlers):
                return True
        if isinstance(up, (cst.FunctionDef, cst.Lambda)):
            return False
        child = up
    return False


def _names(handler: cst.ExceptHandler | cst.ExceptStarHandler, error: str, model: Model) -> bool:
    match handler.type:
        case None:
            return False
        case cst.Tuple(elements=elements):
            return any(model.qualified(element.value) == f"builtins.{error}" for element in elements)
        case caught:
            return model.qualified(caught) == f"builtins.{error}"
