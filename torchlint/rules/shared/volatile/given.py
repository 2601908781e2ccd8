"""What is wrapped by a `Variable` that is to be volatile: it waits until that is done with."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Model
from torchlint.model.syntax import chain
from torchlint.rules.shared.unrecorded_inputs import volatile_argument
from torchlint.rules.shared.variables import VARIABLE

_FEW = 4
"""Operations, one in the other, around what is looked at."""


def is_made_volatile(node: cst.BaseExpression, model: Model) -> bool:
    """Whether `.data` is read for ``Variable(x.data, volatile=True)``, or for what methods or operators make of it."""
    whole: cst.CSTNode = [node, *(outer for _, outer in chain(node, model.tree))][-1]
    for _ in range(_FEW):
        parent = model.tree.parent(whole)
        if not isinstance(parent, (cst.BinaryOperation, cst.UnaryOperation)):
            break
        whole = [parent, *(outer for _, outer in chain(parent, model.tree))][-1]
    arg = model.tree.parent(whole)
    call = model.tree.parent(arg) if isinstance(arg, cst.Arg) else None
    if not isinstance(call, cst.Call) or model.qualified(call.func) != VARIABLE:
        return False
    return volatile_argument(call) is not None
