"""Why something is believed to be a tensor: with its line, and in a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlint.diagnostic import LocatedEvidence
from torchlint.file.text.lines import Lines

if TYPE_CHECKING:
    import libcst as cst

    from torchlint.file.tree.given import Span
    from torchlint.file.tree.tree import Tree
    from torchlint.model import Evidence

NAME_WIDTH = 40
"""Characters shown of the expression that a reason is about."""
_SEEN = 8
"""How many times the characters that are shown are looked at: white space in them becomes shorter."""


def located(evidence: Evidence, spans: dict[int, Span], lines: Lines) -> LocatedEvidence:
    """Evidence with the line it comes from."""
    span = spans.get(id(evidence.node))
    row = lines.position(span.start).row if span is not None else None
    return LocatedEvidence(evidence.kind, evidence.text, row)


def reason(tree: Tree, receiver: cst.CSTNode, evidence: Evidence, spans: dict[int, Span]) -> str:
    """Why an expression is believed to be a tensor, in a sentence."""
    from torchlint.model import Strength

    span = spans[id(receiver)]
    start, end = span.inner_start, min(span.inner_end, span.inner_start + _SEEN * NAME_WIDTH + 1)
    name = f"`{shortened(tree.source.text[start:end], NAME_WIDTH)}`"
    if evidence.text.startswith(f"{name} "):
        return evidence.text
    return f"{name} {'is' if evidence.strength > Strength.NAME else 'looks like'} a tensor: {evidence.text}"


def shortened(code: str, width: int) -> str:
    """A piece of code on one line that is not longer than ``width``."""
    head = " ".join(code[: _SEEN * width].split())
    return head if len(head) <= width and len(code) <= _SEEN * width else f"{head[: width - 1]}…"
