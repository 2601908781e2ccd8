"""Functions that call themselves with the `.data` of a `Variable`: every tensor is one today, so that never ends."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Model
from torchlint.model.syntax import dotted


def is_endless(check: cst.CSTNode | None, model: Model) -> bool:
    """Whether ``isinstance(x, Variable)`` decides that a function calls itself: ``if …: return f(x.data)``."""
    branch = model.tree.parent(check) if check is not None else None
    function = model.tree.enclosing(check, cst.FunctionDef) if check is not None else None
    if not isinstance(branch, cst.If) or branch.test is not check or not isinstance(function, cst.FunctionDef):
        return False
    asked = check.args[0].value if isinstance(check, cst.Call) else None
    if not isinstance(asked, cst.Name) or model.targets(asked.value, function):
        return False
    first = next(iter(model.tree.within(branch.body.body[0], cst.Call)), None) if branch.body.body else None
    return first is not None and _unwraps(first, asked.value, function, model)


def _unwraps(call: cst.Call, name: str, function: cst.FunctionDef, model: Model) -> bool:
    """Whether a function is called by itself with the data of a parameter in the place of that."""
    place = next((at for at, each in enumerate(function.params.params) if each.name.value == name), None)
    if place is None or not isinstance(call.func, cst.Name) or call.func.value != function.name.value:
        return False
    if model.value(call.func).node is not function or place >= len(call.args) or call.args[place].keyword is not None:
        return False
    match call.args[place].value:
        case cst.Attribute(value=owner, attr=cst.Name("data")):
            return dotted(owner) == name
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name("detach")), args=[]):
            return dotted(owner) == name
    return False
