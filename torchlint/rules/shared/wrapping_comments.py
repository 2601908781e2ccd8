"""Comments that only say that something is wrapped by `Variable`: they go with the last wrapper of their statement."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

import libcst as cst

from torchlint.model import Model
from torchlint.rule import Anchor, Edit, Fix

_OF_WRAPPING = re.compile(
    r"#+\s*(?:(?:and|then|now|we|just|also)\s+)*(?:wrap|convert|turn|put|cast|transform|change|pack)(?:s|ing)?\s+"
    r"(?:(?!numpy|np\b|arrays?\b|ndarrays?\b|lists?\b|images?\b|and\b)\w+\s+){0,4}?(?:in|into|to|as|with)\s+"
    r"(?:(?:a|an|the|torch|pytorch|autograd)\s+)*(?:torch\.)?(?:autograd\.)?variables?\s*[.:!]?\s*",
    re.IGNORECASE,
)
"""A comment that speaks of nothing else: what makes a tensor of an array goes on doing that."""


def with_comment(fix: Fix, call: cst.Call, others: Iterable[Fix | None], model: Model) -> Fix:
    """A fix of a wrapper that takes the comment above along, where the ``others`` of the statement go as it does."""
    line = model.tree.statement(call)
    comment, last = _comment(line)
    if (
        comment is None
        or last is None
        or fix.block is not None
        or any(not _go_together(fix, other) for other in others)
    ):
        return fix
    whole = [each for each in fix.edits if each.start.node is line and each.end.node is line and not each.text]
    if not whole:
        return replace(fix, edits=(*fix.edits, Edit(Anchor(comment, False), Anchor(last, True), "")))
    removal = Edit(Anchor(comment, False), Anchor(whole[0].end.node, True), "")
    return replace(fix, edits=tuple(removal if each in whole else each for each in fix.edits))


def _comment(line: cst.CSTNode | None) -> tuple[cst.EmptyLine, cst.EmptyLine] | tuple[None, None]:
    """The line with such a comment above a statement, and the empty one below it, if there is one, else itself.

    A tree for a first look has none.
    """
    above: Sequence[cst.EmptyLine] = getattr(line, "leading_lines", ())
    spoken = above[:-1] if len(above) > 1 and above[-1].comment is None else above
    if not isinstance(line, cst.SimpleStatementLine) or not spoken or spoken[-1].comment is None:
        return None, None
    is_alone = len(spoken) == 1 or spoken[-2].comment is None
    is_of_wrapping = is_alone and _OF_WRAPPING.fullmatch(spoken[-1].comment.value) is not None
    return (spoken[-1], above[-1]) if is_of_wrapping else (None, None)


def _go_together(fix: Fix, other: Fix | None) -> bool:
    return other is not None and (other.applicability, other.deferred) == (fix.applicability, fix.deferred)
