"""Offsets to rows and columns, and back."""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Iterator

from torchlint.diagnostic import Position

NEWLINE = re.compile(r"\r\n|\r|\n")


class Lines:
    """The lines of a text. They end at LF, CR or CRLF and nothing else."""

    def __init__(self, text: str) -> None:
        self.text = text
        if "\r" in text:
            breaks = [match.span() for match in NEWLINE.finditer(text)]
            self.starts = [0, *(end for _, end in breaks)]
            self.ends = [*(start for start, _ in breaks), len(text)]
        else:  # most, and splitting takes a third of the time
            lengths = itertools.accumulate(map(len, text.split("\n")))
            self.ends = [length + number for number, length in enumerate(lengths)]
            self.starts = [0, *(end + 1 for end in self.ends[:-1])]
        self._is_ascii = text.isascii()

    @property
    def rows(self) -> int:
        """How many lines there are; the empty one after the last newline doesn't count."""
        return len(self.starts) - (self.starts[-1] == len(self.text) and len(self.starts) > 1)

    def line(self, row: int) -> str:
        """A line without its end; empty beyond the last."""
        return self.text[self.starts[row - 1] : self.ends[row - 1]] if row <= len(self.starts) else ""

    def position(self, offset: int) -> Position:
        """1-based row and column of an offset."""
        row = bisect.bisect_right(self.starts, offset)
        return Position(row, offset - self.starts[row - 1] + 1)

    def offset(self, position: Position) -> int:
        """The offset of a row and column."""
        return self.starts[position.row - 1] + position.column - 1

    def offset_in_bytes(self, row: int, column: int) -> int:
        """The offset of what Python's own parser calls a row and a column: that counts UTF-8 bytes, from 0."""
        start = self.starts[row - 1]
        if self._is_ascii:
            return start + column
        line = self.text[start : start + column]  # no shorter than what the bytes are of
        return start + (column if line.isascii() else len(line.encode(errors="surrogatepass")[:column].decode()))


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
