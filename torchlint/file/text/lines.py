"""Offsets to rows and columns, and back."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator

from torchlint.diagnostic import Position


class Lines:
    """The lines of a text. Rows end at LF, CR or CRLF and nothing else."""

    def __init__(self, text: str) -> None:
        self.starts = [0, *(match.end() for match in re.finditer(r"\r\n|\r|\n", text))]

    def position(self, offset: int) -> Position:
        """1-based row and column of an offset."""
        row = bisect.bisect_right(self.starts, offset)
        return Position(row, offset - self.starts[row - 1] + 1)

    def offset(self, position: Position) -> int:
        """The offset of a row and column."""
        return self.starts[position.row - 1] + position.column - 1


def line_start(text: str, offset: int) -> int:
    """Where the line begins that an offset is in. Only that line is looked at, whatever ends the lines of the text."""
    while offset and text[offset - 1] not in "\r\n":
        offset -= 1
    return offset


def without_blanks(text: str, end: int) -> int:
    """Where the blanks begin that stand before a place."""
    while end and text[end - 1] in " \t":
        end -= 1
    return end


def lines_above(text: str, start: int) -> Iterator[tuple[int, int]]:
    """Where the lines above the one that begins at ``start`` begin and end, without what ends them; upwards."""
    while start:
        end = start - (2 if text.endswith("\r\n", 0, start) else 1)
        start = line_start(text, end)
        yield start, end
