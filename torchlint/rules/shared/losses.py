"""What may be a loss of torch, before the model is asked."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Model
from torchlint.model.syntax import last_name
from torchlint.rules.api import names


def may_be_one_of(func: cst.BaseExpression, losses: frozenset[str], model: Model) -> bool:
    """Whether what is called has one of these last names, or that of what is assigned one of these classes here."""
    if isinstance(func, cst.Call):
        return last_name(func.func) in losses or _is_called(func.func, losses, model)
    return _is_called(func, losses, model) or last_name(func) in model.remember(_assigned, losses)


def _is_called(func: cst.BaseExpression, losses: frozenset[str], model: Model) -> bool:
    return isinstance(func, (cst.Name, cst.Attribute)) and names.is_called(func, losses, model)


def _assigned(model: Model, losses: frozenset[str]) -> frozenset[str]:
    """The last names of all that is assigned something that mentions a class of losses."""
    found: set[str] = set()
    for name in losses:
        for use in model.tree.names(name) if name.endswith("Loss") else ():
            assign = model.tree.enclosing(use, cst.Assign, cst.AnnAssign, cst.FunctionDef, cst.ClassDef)
            if isinstance(assign, cst.Assign):
                found.update(last_name(each.target) for each in assign.targets)
            elif isinstance(assign, cst.AnnAssign):
                found.add(last_name(assign.target))
    return frozenset(found - {""})
