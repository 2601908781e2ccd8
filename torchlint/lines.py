"""Offsets to rows and columns, and back, and to where they are after edits."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable

from torchlint.diagnostic import Position, TextEdit


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


def moved(offsets: Iterable[int], edits: Iterable[TextEdit]) -> dict[int, int]:
    """Where characters are after some edits, by where they were; without those that are gone."""
    ordered = sorted(edits, key=lambda edit: (edit.start, edit.end))
    after: dict[int, int] = {}
    number = shift = 0
    for offset in sorted(offsets):
        while number < len(ordered) and ordered[number].end <= offset:
            shift += len(ordered[number].content) - (ordered[number].end - ordered[number].start)
            number += 1
        if number == len(ordered) or offset < ordered[number].start:
            after[offset] = offset + shift
    return after
