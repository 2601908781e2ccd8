"""Where `.data` is given to what writes to it and gives it back, as the functions of `nn.init` do."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Model
from torchlint.model.torch.writers import OF_THE_VIEW, is_writing

_MODULE = "torch.nn.init."
_WITHOUT_TENSOR = "calculate_gain"


def is_read(node: cst.Attribute, model: Model) -> bool:
    """Whether nobody uses what the function gives back, or it is only assigned to what it comes from."""
    arg = model.tree.parent(node)
    call = model.tree.parent(arg) if isinstance(arg, cst.Arg) else None
    if not isinstance(call, cst.Call) or not (model.qualified(call.func) or "").startswith(_MODULE):
        return False
    match model.tree.parent(call):
        case cst.Expr():
            return True
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Attribute(attr=cst.Name("data")) as target)]) as assign:
            return is_by_assignment(target, assign, model)
    return False


def is_by_assignment(target: cst.Attribute, assign: cst.Assign, model: Model) -> bool:
    """Whether a tensor is given the memory that it has: ``p.data = nn.init.zeros_(p.data)``, ``p.data.mul_(2)``."""
    if len(assign.targets) > 1 or not _is_plain(target.value):
        return False
    match assign.value:
        case cst.Call(
            func=func,
            args=[cst.Arg(value=cst.Attribute(value=source, attr=cst.Name("data")), keyword=None, star=""), *_],
            lpar=[],
        ):
            name = model.qualified(func) or ""
            is_initialiser = name.startswith(_MODULE) and not name.endswith(_WITHOUT_TENSOR)
            return is_initialiser and model.tree.code(source) == model.tree.code(target.value)
        case cst.Call() as call:
            written = _written_in_place(call)
            return written is not None and model.tree.code(written) == model.tree.code(target)
    return False


def _written_in_place(call: cst.Call) -> cst.BaseExpression | None:
    """What methods write to that are called one on the other's result: ``p.data`` of ``p.data.mul_(2).add_(1)``."""
    node: cst.BaseExpression = call
    while isinstance(node, cst.Call) and not node.lpar:
        if not isinstance(node.func, cst.Attribute):
            return None
        name = node.func.attr.value
        if not name.endswith("_") or not is_writing(name) or name in OF_THE_VIEW:
            return None
        node = node.func.value
    return node


def _is_plain(node: cst.BaseExpression) -> bool:
    """Whether an expression is a name or an attribute of one: it means the same wherever it stands in a statement."""
    while isinstance(node, cst.Attribute):
        node = node.value
    return isinstance(node, cst.Name)
