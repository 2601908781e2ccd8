"""What makes Python numbers of a tensor, and what stands before that and is not needed for it."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from torchlint.model import Model
from torchlint.model.syntax import chain
from torchlint.rules.shared import memory

READERS = frozenset(("item", "tolist"))
"""Methods that leave the graph and come to the host by themselves."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A tensor is read to Python numbers, in the same expression."""

    name: str
    """The method that does it."""
    needless: cst.CSTNode
    """The last of what stands before it, from the expression on, that it does as well: ``x.cpu()`` for ``x``."""


def reading(node: cst.BaseExpression, model: Model) -> Reading | None:
    """The reading of the value of an expression, behind transfers; behind NumPy only where that is a mere detour."""
    needless: cst.CSTNode = node
    is_gapless = True
    is_array = False
    for name, outer in chain(node, model.tree):
        if not isinstance(outer, cst.Call):
            return None
        if name in READERS:
            return Reading(name, needless) if not is_array or (is_gapless and not outer.args) else None
        if name not in memory.TRANSFERS and name != "numpy":
            return None
        is_array |= name == "numpy"
        is_gapless &= name in ("cpu", "numpy") and not outer.args
        needless = outer if is_gapless else needless
    return None
