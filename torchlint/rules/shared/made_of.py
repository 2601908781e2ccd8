"""What names and attributes were made of: an optimizer, and what it was given."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Model
from torchlint.model.syntax import assignment_of, dotted


def modules_of(step: cst.CSTNode, model: Model) -> tuple[str, ...]:
    """The modules whose ``parameters()`` the optimizer of a ``step()`` was made with, by the names they have there."""
    match step:
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name("step"))):
            return model.remember(_modules_of, owner)
    return ()


def _modules_of(model: Model, owner: cst.BaseExpression) -> tuple[str, ...]:
    call = made(owner, model)
    if call is None:
        return ()
    paths = [dotted(each.value) for each in model.tree.within(call, cst.Attribute) if each.attr.value == "parameters"]
    return tuple(path for path in paths if path is not None)


def made(owner: cst.BaseExpression, model: Model) -> cst.BaseExpression | None:
    """What a name of this scope, or an attribute of this class, was assigned, if that is so once."""
    match owner:
        case cst.Name(value=name):
            targets: list[cst.CSTNode] = list(model.bindings_of(name, owner))
        case cst.Attribute(value=cst.Name("self"), attr=cst.Name(value=name)):
            cls = model.tree.enclosing(owner, cst.ClassDef)
            targets = list(model.scopes.attribute(cls, name).assigned) if isinstance(cls, cst.ClassDef) else []
        case _:
            return None
    assign = assignment_of(targets[0], model.tree) if len(targets) == 1 else None
    return assign.value if assign is not None else None
