"""What fixes change, as lines of a diff; and the text that these lines come from, numbered as it is shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from torchlint.cli.report import FileFindings
from torchlint.diagnostic import Position, TextEdit
from torchlint.file.text.lines import Lines


class NumberedText(Lines):
    """The text of a file; that of a notebook is in parts, each with its own numbers of lines."""

    def __init__(self, file: FileFindings) -> None:
        super().__init__(file.text)
        self._file = file

    def part(self, row: int) -> tuple[int, int]:
        """The first and the last line of what is shown together with a line."""
        cells = self._file.cells
        return (1, self.rows) if cells is None else cells.rows(row)

    def number(self, row: int) -> int:
        """The number that a line is shown with."""
        return row - self.part(row)[0] + 1

    def cell(self, row: int) -> int | None:
        """The number of the cell that a line is in, if there are any."""
        return self._file.where(Position(row, 1))[0]


DiffLine = tuple[str, int, str]
"""Sign, line number and content of one line of a diff."""


class Hunk(NamedTuple):
    """Lines of a diff, and the cell that they are in."""

    cell: int | None
    lines: list[DiffLine]


def hunks(text: NumberedText, edits: Sequence[TextEdit]) -> Iterator[Hunk]:
    """The lines that edits change, as diffs with a line of context."""
    shift, before = 0, 0
    for group in _grouped(text, edits):
        first, last = text.position(group[0].start).row, text.position(group[-1].end).row
        begin, end = text.part(first)
        shift, before = (shift if begin == before else 0), begin
        is_beyond = last > end and text.cell(first) is not None  # what ends the last line of a cell is edited, too
        old = [text.line(row) if row <= end else "" for row in range(first, last + 1)]
        new = Lines(_spliced(text, group, text.starts[first - 1], (text.starts if is_beyond else text.ends)[last - 1]))
        changed = [new.line(row) for row in range(1, len(new.starts) + 1)]
        yield Hunk(text.cell(first), list(_diff(text, old, changed, first, shift)))
        shift += len(changed) - len(old)


def _grouped(text: NumberedText, edits: Sequence[TextEdit]) -> Iterator[list[TextEdit]]:
    """Edits that touch the same or neighbouring lines."""
    group: list[TextEdit] = []
    for edit in edits:
        if group and text.position(edit.start).row > text.position(group[-1].end).row + 1:
            yield group
            group = []
        group.append(edit)
    if group:
        yield group


def _spliced(text: NumberedText, edits: Iterable[TextEdit], start: int, end: int) -> str:
    pieces = []
    for edit in edits:
        pieces += [text.text[start : edit.start], edit.content]
        start = edit.end
    return "".join([*pieces, text.text[start:end]])


def _diff(text: NumberedText, old: list[str], new: list[str], first: int, shift: int) -> Iterator[DiffLine]:
    """Old and new lines without what they begin and end with in common, and a line before and after."""
    head, tail = common(old, new), 0
    tail = common(old[head:][::-1], new[head:][::-1])
    start, stop = first + head, first + len(old) - tail
    begin, end = text.part(first)
    above = begin - 1  # lines that are not counted
    if start > begin and text.line(start - 1).strip():
        yield " ", start - 1 + shift - above, text.line(start - 1)
    for row, line in enumerate(old[head : len(old) - tail], start - above):
        yield "-", row, line
    for row, line in enumerate(new[head : len(new) - tail], start + shift - above):
        yield "+", row, line
    if stop <= end and text.line(stop).strip():
        yield " ", stop + shift + len(new) - len(old) - above, text.line(stop)


def common(left: Sequence[str], right: Sequence[str]) -> int:
    """How many items two sequences (of lines, or characters) begin with in common."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
