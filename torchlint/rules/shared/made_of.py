"""What names and attributes were made of: an optimizer, and what it was given."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Model, bindings
from torchlint.model.syntax import dotted


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
    return model.ask(bindings.made, owner)
