"""A further argument goes on a line of its own where the others stand so, or the line would be longer than any.

Not where the line is so long already that no width is kept to.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import replace

from torchlint.diagnostic import TextEdit
from torchlint.file.text.lines import line_start

_LEAST = 79
"""Characters that a line may have in any file."""
_MOST = 120
"""Characters of a line for which nobody has kept to a width: it may as well be longer."""
_LINE = re.compile(r"[^\r\n]+")
_BEFORE = re.compile(r"[ \t]*(?:\w+[ \t]*=[ \t]*)?")
"""What stands before the value of an argument that a line begins with."""
_BLANKS = re.compile(r"[ \t]*")
_AT_END = re.compile(r"[ \t]*(,?)[ \t]*[\r\n]")


@functools.lru_cache(maxsize=2)
def kept_width(text: str) -> int:
    """Characters of the longest line, which other lines may have as well."""
    return max((len(line) for line in _LINE.findall(text)), default=0)


def below(  # noqa: PLR0917
    text: str, edit: TextEdit, first: int, last: int, others: Iterable[TextEdit], newline: str
) -> TextEdit:
    """The edit that adds ``, argument``, or puts it below the first argument: see above.

    ``first`` and ``last`` are where the values of the first and of the last argument begin, ``others`` are the edits
    that go with this one.
    """
    left = line_start(text, first)
    margin = _margin(text, left)
    if _is_one_a_line(text, edit, first, last):
        return _on_line(edit, newline, margin)
    start = line_start(text, edit.start)
    line = _LINE.match(text, start)
    end = line.end() if line is not None else start
    grown = sum(len(e.content) - (e.end - e.start) for e in others if start <= e.start and e.end <= end)
    width = max(_LEAST, kept_width(text))
    if end - start > _MOST or end - start + grown <= width:
        return edit
    indent = _margin(text, start)  # what is not aligned to the bracket hangs
    if start == left or len(indent) >= first - left:
        indent = margin + " " * (first - left - len(margin))
    if len(indent) + len(edit.content.removeprefix(",").lstrip()) + (end - edit.start) > width:
        return edit
    return _on_line(edit, newline, indent)


def _margin(text: str, start: int) -> str:
    """The blanks that a line begins with."""
    blanks = _BLANKS.match(text, start)
    return blanks.group() if blanks is not None else ""


def _is_one_a_line(text: str, edit: TextEdit, first: int, last: int) -> bool:
    """Whether the first and the last argument begin lines and nothing stands behind the last one.

    One argument alone may get another one beside it, unless a comma is behind it: formatters know by that.
    """
    if not all(_BEFORE.fullmatch(text, line_start(text, at), at) for at in (first, last)):
        return False
    end = _AT_END.match(text, edit.end)
    return end is not None and (first != last or bool(end.group(1)))


def _on_line(edit: TextEdit, newline: str, indent: str) -> TextEdit:
    return replace(edit, content=f",{newline}{indent}{edit.content.removeprefix(',').lstrip()}")
