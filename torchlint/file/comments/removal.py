"""The edits that take what silences nothing out of comments."""

from __future__ import annotations

import re
from collections.abc import Collection

from torchlint.diagnostic import TextEdit
from torchlint.file.text.lines import NEWLINE, line_start, without_blanks


def without_part(text: str, start: int, end: int) -> TextEdit:
    """Remove a part of a comment from ``start`` on, the reason after its ``end`` too; the line if nothing is left."""
    newline = NEWLINE.search(text, end)
    line_end = newline.start() if newline is not None else len(text)
    following = text.find("#", end, line_end)
    if following >= 0:  # another tool's
        return TextEdit(start, following, "")
    begin = line_start(text, start)
    if text[begin:start].strip(" \t\f\ufeff"):
        return TextEdit(without_blanks(text, start), line_end, "")
    return TextEdit(begin, newline.end() if newline is not None else line_end, "")


def without_rules(text: str, start: int, end: int, rules: Collection[str]) -> TextEdit | None:
    """Remove some rules from the brackets of a comment; None where they are not written there as they are known."""
    listed = re.compile(r"\[([^\]]*)\]").search(text, start, end)
    if listed is None:
        return None
    written = [part.strip() for part in listed[1].split(",")]
    left = [part for part in written if part and part not in rules]
    if not left or len(left) == len(written):
        return None
    return TextEdit(listed.start(1), listed.end(1), ", ".join(left))
