"""What comments silence stays as it is, and silenced, whatever is fixed beside it.

A fix that rewrites what a comment silences, or parts the two (it puts a block over the statement, or gives it lines of
its own), would undo what the author asked for. Whether one does is seen in what is found in the text after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from torchlint.diagnostic import Diagnostic, LocatedFix, TextEdit
from torchlint.file.text.lines import Lines, moved


@dataclass(frozen=True, slots=True)
class Silenced:
    """A silenced finding, and the lines of its statement and of the comments that silence it."""

    finding: Diagnostic
    rows: frozenset[int]

    @property
    def extent(self) -> tuple[int, int]:
        """The first and the last of the lines between which comment and finding belong together."""
        rows = {*self.rows, *self.finding.rows, self.finding.start.row, self.finding.end.row}
        return min(rows), max(rows)


@dataclass(frozen=True, slots=True)
class Silence:
    """What comments silence in a text."""

    text: str
    silenced: Sequence[Silenced]


def near(fix: LocatedFix, silenced: Sequence[Silenced], lines: Lines) -> list[Silenced]:
    """The silenced findings that an edit of a fix, or of an alternative, comes near to."""
    edits = [edit for each in (fix, *fix.alternatives) for edit in each.edits]
    rows = [(lines.position(edit.start).row, lines.position(edit.end).row) for edit in edits]
    return [each for each in silenced if any(start <= each.extent[1] and end >= each.extent[0] for start, end in rows)]


def lost(before: Silence, after: Silence, edits: Iterable[TextEdit]) -> list[Silenced]:
    """What is reported after some edits though it was silenced, or is not found again."""
    was, now = Lines(before.text), Lines(after.text)
    offsets = [was.offset(each.finding.start) for each in before.silenced]
    after_edits = moved(offsets, edits)
    still = {(each.finding.code, now.offset(each.finding.start)) for each in after.silenced}
    return [
        each
        for each, offset in zip(before.silenced, offsets, strict=True)
        if (each.finding.code, after_edits.get(offset)) not in still
    ]
