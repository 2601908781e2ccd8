"""Fixes that put a statement, or the loop around it, into a block of ``torch.no_grad()``."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Model
from torchlint.rule import Applicability, Block, Edit, Fix
from torchlint.rules.shared import no_grad, whole_loops

_OF_A_LOOP = (
    "if autograd has saved the old values, `backward()` raises now; what is called in the loop computes without a graph"
)


def moved(
    small: cst.BaseSmallStatement, said: str, edits: tuple[Edit, ...], applicability: Applicability, model: Model
) -> Fix | None:
    """Put a simple statement into a block, with some edits in it; None where that cannot be.

    The loop around it goes in as a whole where it may, unless a block stands directly before the statement.
    """
    line = model.tree.parent(small)
    if line is None or model.remember(no_grad.is_by_hand, line) or not no_grad.may_be_moved(small, model):
        return None
    name, missing = model.spelling("torch.no_grad", small)
    if not name:
        return None
    begins = isinstance(line, cst.SimpleStatementLine) and line.body[0] is small
    into = no_grad.block_before(model, line) if begins else None
    first: cst.CSTNode = small
    if into is None:
        enough = whole_loops.Hold.SURE if applicability is Applicability.SAFE else whole_loops.Hold.LIKELY
        loop = whole_loops.around(small, model, enough)
        if loop is not None:
            first, into = loop, no_grad.block_before(model, loop)
    imports = ("torch",) if missing and into is None else ()
    is_likely = first is not small and applicability is not Applicability.SAFE
    risk = _OF_A_LOOP if is_likely and whole_loops.around(small, model, whole_loops.Hold.SURE) is not first else ""
    return Fix(said, edits, applicability, imports, block=Block(f"with {name}():", first, into=into), risk=risk)
