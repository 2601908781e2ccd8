"""A further argument that would make a line longer than any the file has stands on a line of its own."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import replace

from torchlint.diagnostic import TextEdit
from torchlint.file.text.lines import line_start

_LEAST = 79
"""Characters that a line may have in any file."""
_LINE = re.compile(r"[^\r\n]+")


@functools.lru_cache(maxsize=2)
def kept_width(text: str) -> int:
    """Characters of the longest line, which other lines may have as well."""
    return max((len(line) for line in _LINE.findall(text)), default=0)


def below(text: str, edit: TextEdit, first: int, others: Iterable[TextEdit], newline: str) -> TextEdit:
    """The edit that adds ``, argument``, or puts it below the first argument where the line would be too long.

    ``first`` is where that argument begins, ``others`` are the edits that go with this one.
    """
    start = line_start(text, edit.start)
    line = _LINE.match(text, start)
    end = line.end() if line is not None else start
    grown = sum(len(e.content) - (e.end - e.start) for e in others if start <= e.start and e.end <= end)
    width = max(_LEAST, kept_width(text))
    if end - start + grown <= width:
        return edit
    left = line_start(text, first)
    blanks = re.compile(r"[ \t]*").match(text, left)
    margin = blanks.group() if blanks is not None else ""
    indent = margin + " " * (first - left - len(margin))
    argument = edit.content.removeprefix(",").lstrip()
    if len(indent) + len(argument) + (end - edit.start) > width:
        return edit
    return replace(edit, content=f",{newline}{indent}{argument}")
