"""Comments that say that nothing is trained: written behind what is volatile, they belong to the block that is made."""

from __future__ import annotations

import re
from dataclasses import replace

import libcst as cst

from torchlint import edit
from torchlint.model import Model
from torchlint.rule import Anchor, Edit, Fix
from torchlint.rules.shared.unrecorded_inputs import volatile_argument

_OF_FREEZING = re.compile(
    r"\b(?:fr[eo]ez|frozen|volatile|no.?grad|gradients?\b|graph|backprop|inference)", re.IGNORECASE
)
"""A comment about what `volatile` was for."""


def moved(fix: Fix, call: cst.Call, model: Model) -> Fix:
    """A fix of a volatile tensor that puts such a comment behind its line above the block, which stands below it."""
    line = model.tree.statement(call)
    if not isinstance(line, cst.SimpleStatementLine) or volatile_argument(call) is None:
        return fix
    behind = getattr(line, "trailing_whitespace", None)  # a tree for a first look has none
    comment = behind.comment if isinstance(behind, cst.TrailingWhitespace) else None
    if comment is None or _OF_FREEZING.search(comment.value) is None or not _is_alone(fix, line):
        return fix
    body, index = model.tree.siblings(line)
    block = body[index + 1] if index + 1 < len(body) else None
    if not isinstance(block, cst.With) or block.leading_lines or not _is_no_grad(block, model):
        return fix
    removal = Edit(Anchor(line.body[-1], True), Anchor(comment, True), "")
    below = f"{comment.value}{model.tree.source.newline}{model.tree.indentation(block)}"
    return replace(fix, edits=(*fix.edits, removal, edit.insert_before(block, below)))


def _is_alone(fix: Fix, line: cst.SimpleStatementLine) -> bool:
    """Whether a line has one statement, which a fix changes within, so that the comment can leave it."""
    return len(line.body) == 1 and all(each.start.node is not line for each in fix.edits)


def _is_no_grad(block: cst.With, model: Model) -> bool:
    match block.items:
        case [cst.WithItem(item=cst.Call(func=func))]:
            return model.qualified(func) == "torch.no_grad"
    return False
