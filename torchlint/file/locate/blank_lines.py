"""The empty lines around lines that are removed: they do not add up, and none is left where a block ends."""

from __future__ import annotations

import re
from collections.abc import Iterable

from torchlint.diagnostic import TextEdit
from torchlint.file.text.lines import lines_above
from torchlint.file.tree.placeholders import PLACEHOLDER, SHOWN

_CELL_END = PLACEHOLDER + SHOWN[0]
"""The letters of the line that ends the cell of a notebook above."""
_BLANK_LINE = re.compile(r"[ \t]*(?:\r\n|\r|\n)")


def past_doubled(text: str, start: int, end: int, *, is_first: bool = False) -> int:
    """How far to remove lines so that the empty ones above and below them do not add up.

    All below go where nothing is above: where a file, a cell of a notebook or a block (``is_first``) begins.
    """
    below, at = list[int](), end
    while blank := _BLANK_LINE.match(text, at):
        at = blank.end()
        below.append(at)
    above = len(below)
    for count, (top, stop) in enumerate(() if is_first else lines_above(text, start)):
        if line := text[top:stop].strip():
            above = above if line.strip(_CELL_END) == "" else count
            break
    gone = min(above, len(below))
    return below[gone - 1] if gone else end


def from_last_of_block(text: str, start: int, end: int) -> int:
    """Where to begin to remove the last lines of a block: no empty lines are left before the `else:` that follows."""
    if _BLANK_LINE.match(text, end) is not None or end == len(text):
        return start
    for top, stop in lines_above(text, start):
        if text[top:stop].strip():
            break
        start = top
    return start


def closed_up(edits: Iterable[TextEdit], text: str) -> list[TextEdit]:
    """Edits with one for lines that are removed with nothing but empty ones between them: those would add up."""
    found: list[TextEdit] = []
    for edit in sorted(edits, key=lambda each: (each.start, each.end)):
        last = found[-1] if found else None
        is_next = last is not None and not text[last.end : edit.start].strip()
        if last is not None and is_next and _removes_lines(last, text) and _removes_lines(edit, text):
            found[-1] = TextEdit(last.start, past_doubled(text, last.start, edit.end), "")
        else:
            found.append(edit)
    return found


def _removes_lines(edit: TextEdit, text: str) -> bool:
    """Whether an edit removes whole lines."""
    if edit.content or edit.end <= edit.start or text[edit.end - 1] not in "\r\n":
        return False
    return edit.start == 0 or text[edit.start - 1] in "\r\n"
