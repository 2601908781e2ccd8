"""Names of a function that others can read: what is in it, and what reads any name."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Model


def is_captured(model: Model, name: str, scope: cst.FunctionDef | cst.Module) -> bool:
    """Whether others than the lines of a function itself can read or bind a name of it."""
    if name in model.remember(_of_others) or any(model.tree.names(each, scope) for each in _READING):
        return True
    around = (cst.FunctionDef, cst.Lambda, cst.ClassDef, cst.GeneratorExp)
    return any(model.tree.enclosing(use, *around) is not scope for use in model.references(name, scope))


_READING = ("locals", "vars", "exec", "eval")
"""Functions that can read any name."""


def _of_others(model: Model) -> frozenset[str]:
    """The names that functions of a file bind in the one around them."""
    return frozenset(item.name.value for each in model.tree.all(cst.Nonlocal) for item in each.names)
