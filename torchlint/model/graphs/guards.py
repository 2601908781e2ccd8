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
            if _is_tensor_if(up.test, name.value) is (child is up.orelse):
                return True
        if isinstance(up, cst.IndentedBlock):
            before = (
                each for each in context.remember(_leaving, up) if context.tree.order(each) < context.tree.order(child)
            )
            if any(_is_tensor_if(each.test, name.value) is True for each in before):
                return True
        child = up
    return False


def _leaving(_: Context, block: cst.IndentedBlock) -> list[cst.If]:
    """The conditions of a block behind which it is left: ``if torch.is_tensor(x): …; continue``."""
    choices = (each for each in block.body if isinstance(each, cst.If) and each.orelse is None)
    return [each for each in choices if isinstance(last_statement(each.body), LEAVING)]


def _is_tensor_if(test: cst.BaseExpression, name: str) -> bool | None:
    """What is known of a name where a condition holds: it may be a tensor, it is none; None if it says nothing."""
    match test:
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            found = _is_tensor_if(inner, name)
            return None if found is None else not found
        case cst.Call(func=func, args=[cst.Arg(value=cst.Name(asked)), *rest]) if asked == name:
            match last_name(func), rest:
                case "is_tensor", _:
                    return True
                case "hasattr", [cst.Arg(value=cst.SimpleString(value=attribute))]:
                    return True if attribute.strip("'\"") in _OF_TENSORS else None
                case "isinstance", [cst.Arg(value=classes)]:
                    return any("Tensor" in each or each == "Variable" for each in _names(classes))
    return None


def _names(classes: cst.BaseExpression) -> list[str]:
    each = [element.value for element in classes.elements] if isinstance(classes, cst.Tuple) else [classes]
    return [last_name(node) for node in each]
