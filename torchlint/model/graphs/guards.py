"""Conditions that say that something is no tensor where it is used: ``else`` of ``if torch.is_tensor(x):``."""

from __future__ import annotations

import libcst as cst

from torchlint.model.context import Context
from torchlint.model.syntax import LEAVING, last_name, last_statement

_OF_TENSORS = ("item", "detach", "cpu", "backward", "grad_fn", "requires_grad")
"""Attributes whose presence is asked for to know a tensor."""


def is_without_tensors(context: Context, name: cst.CSTNode) -> bool:
    """Whether the branch that a name is in is taken only if it stands for no tensor."""
    if not isinstance(name, cst.Name):
        return False
    child: cst.CSTNode = name
    for up in context.tree.ancestors(name):
        if isinstance(up, (cst.FunctionDef, cst.Lambda)):
            return False
        if isinstance(up, (cst.If, cst.IfExp)) and child is not up.test:
            if _asked(up.test) == (name.value, child is up.orelse):
                return True
        if isinstance(up, cst.IndentedBlock):
            left = context.remember(_left_with_tensors, up).get(name.value)
            if left is not None and left < context.tree.order(child):
                return True
        child = up
    return False


def _left_with_tensors(context: Context, block: cst.IndentedBlock) -> dict[str, int]:
    """The names with which a block is left if they stand for tensors, each with the first place where it is."""
    found: dict[str, int] = {}
    for each in block.body:
        if isinstance(each, cst.If) and each.orelse is None and isinstance(last_statement(each.body), LEAVING):
            asked = _asked(each.test)
            if asked is not None and asked[1]:
                found.setdefault(asked[0], context.tree.order(each))
    return found


def _asked(test: cst.BaseExpression) -> tuple[str, bool] | None:
    """The name that a condition is about, and whether it may be a tensor where that holds; None if it says nothing."""
    match test:
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            found = _asked(inner)
            return None if found is None else (found[0], not found[1])
        case cst.Call(func=func, args=[cst.Arg(value=cst.Name(name)), *rest]):
            match last_name(func), rest:
                case "is_tensor", _:
                    return name, True
                case "hasattr", [cst.Arg(value=cst.SimpleString(value=attribute))]:
                    return (name, True) if attribute.strip("'\"") in _OF_TENSORS else None
                case "isinstance", [cst.Arg(value=classes)]:
                    return name, any("Tensor" in each or each == "Variable" for each in _names(classes))
    return None


def _names(classes: cst.BaseExpression) -> list[str]:
    each = [element.value for element in classes.elements] if isinstance(classes, cst.Tuple) else [classes]
    return [last_name(node) for node in each]
