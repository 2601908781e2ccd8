"""What is said of a program in terms of cells, and of the file they are written in. Can be sent to other processes."""

from __future__ import annotations

import bisect
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from torchlint.diagnostic import Diagnostic, LocatedEvidence, LocatedFix, Position, TextEdit
from torchlint.file.notebook.container import CellString, WrittenCell
from torchlint.file.notebook.strings import CellPlaces, json_edits, source_edits
from torchlint.file.text.edits import composed
from torchlint.file.text.lines import Lines


class NotInCell(ValueError):
    """An edit changes more than the code of a cell."""


class CellPosition(NamedTuple):
    """A place in a cell."""

    cell: int
    """Its number, from 1, cells of all kinds counted."""
    position: Position


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell in the program."""

    written: WrittenCell
    start: int
    length: int
    """Where in the program its code begins, and how long it is. A newline follows, unless there is none."""
    row: int
    rows: int
    """The first of its lines in the program, and how many there are."""


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of a program, in their order."""

    json: str
    """What they are written in."""
    cells: tuple[Cell, ...]

    def at(self, row: int) -> Cell:
        """The cell that a line of the program is in; for one between two cells, the one before."""
        return self.cells[max(0, bisect.bisect_right(self.cells, row, key=lambda cell: cell.row) - 1)]

    def place(self, position: Position) -> CellPosition:
        """Where a place in the program is."""
        cell = self.at(position.row)
        row = min(position.row - cell.row, cell.rows) + 1
        return CellPosition(cell.written.number, Position(row, position.column))

    def rows(self, row: int) -> tuple[int, int]:
        """The first and the last line of the cell that a line is in."""
        cell = self.at(row)
        return cell.row, cell.row + cell.rows - 1

    def place_of_row(self, row: int) -> tuple[int, int]:
        """The number of the cell that a line of the program is in, and which line it is there."""
        place = self.place(Position(row, 1))
        return place.cell, place.position.row

    # ------------------------------------------------------------------ edits

    def edited(
        self, rounds: Iterable[Iterable[TextEdit]], places: dict[int, CellPlaces] | None = None
    ) -> list[TextEdit]:
        """Edits of the program, one round after the other, as edits of the JSON.

        ``places`` keeps what is known of cells, by their numbers, for those who ask often.

        Raises:
            NotInCell: one of them reaches out of its cell.
        """
        places = {} if places is None else places
        found = list[TextEdit]()
        for cell, edits in self.sources_edited(rounds):
            found += json_edits(self.places(cell, places), edits)
        return found

    def sources_edited(self, rounds: Iterable[Iterable[TextEdit]]) -> Iterator[tuple[Cell, list[TextEdit]]]:
        """The same as edits of the code of each cell that is changed.

        Raises:
            NotInCell: one of them reaches out of its cell.
        """
        length = self.cells[-1].start + self.cells[-1].length + 1 if self.cells else 0
        by_cell = defaultdict[int, list[TextEdit]](list)
        for edit in composed(rounds, length):
            number = bisect.bisect_right(self.cells, edit.start, key=lambda cell: cell.start) - 1
            cell = self.cells[number]
            if edit.end > cell.start + cell.length + 1:
                raise NotInCell
            by_cell[number].append(TextEdit(edit.start - cell.start, edit.end - cell.start, edit.content))
        for number, edits in by_cell.items():
            cell = self.cells[number]
            yield cell, source_edits(cell.length, edits, cell.written)

    def places(self, cell: Cell, known: dict[int, CellPlaces]) -> CellPlaces:
        """Where in the JSON the code of a cell is, if that is not known yet."""
        number = cell.written.number
        if number not in known:
            known[number] = CellPlaces(self.json, cell.written)
        return known[number]

    # ------------------------------------------------------------------ the file

    def without_rest(self) -> Cells:
        """The same with the lines of the JSON emptied that hold no code, which can be megabytes of outputs."""
        lines = Lines(self.json)
        pieces, shifts, last, gone = list[str](), list[int](), 0, 0
        for cell in self.cells:
            first, end = lines.position(cell.written.start).row, lines.position(cell.written.end).row
            start = lines.starts[first - 1]
            if start > last:
                newlines = "\n" * (first - lines.position(last).row)
                pieces.append(newlines)
                gone += start - last - len(newlines)
                last = start
            end = lines.starts[end] if end < len(lines.starts) else len(self.json)
            pieces.append(self.json[last:end])
            last = max(last, end)
            shifts.append(gone)
        moved = (
            replace(each, written=_moved(each.written, -gone)) for each, gone in zip(self.cells, shifts, strict=True)
        )
        return Cells("".join(pieces), tuple(moved))

    def in_file(self, text: str, found: Iterable[Diagnostic]) -> list[Diagnostic]:
        """What was found in the program (``text``) with the places of the JSON, and fixes that edit the JSON."""
        in_file = _InFile(self, text)
        return [in_file.diagnostic(each) for each in found]


class _InFile:
    """Places in the JSON for those in the program."""

    def __init__(self, cells: Cells, text: str) -> None:
        self._cells = cells
        self._program, self._json = Lines(text), Lines(cells.json)
        self._places: dict[int, CellPlaces] = {}

    def diagnostic(self, found: Diagnostic) -> Diagnostic:
        """A finding."""
        return replace(
            found,
            start=self.position(found.start),
            end=self.position(found.end, is_end=True),
            rows=self.rows(*found.rows),
            fix=self._fix(found.fix) if found.fix is not None else None,
            evidence=self._evidence(found.evidence) if found.evidence is not None else None,
        )

    def _evidence(self, evidence: LocatedEvidence) -> LocatedEvidence:
        if evidence.row is None:
            return evidence
        return replace(evidence, row=self.position(Position(evidence.row, 1)).row)

    def rows(self, first: int, last: int) -> tuple[int, int]:
        """Lines of the program."""
        end = self._program.ends[last - 1]
        return (
            self.position(Position(first, 1)).row,
            self.position(self._program.position(end), is_end=True).row,
        )

    def position(self, position: Position, *, is_end: bool = False) -> Position:
        """A place in the program."""
        cell = self._cells.at(position.row)
        index = min(self._program.offset(position) - cell.start, cell.length)
        return self._json.position(self._cells.places(cell, self._places).of(index, is_end=is_end))

    def _fix(self, fix: LocatedFix) -> LocatedFix:
        others = tuple(self._fix(other) for other in fix.alternatives)
        try:
            edits = tuple(self._cells.edited([fix.edits], self._places))
        except NotInCell:
            edits = ()
        return replace(fix, edits=tuple(sorted(edits, key=lambda edit: edit.start)), alternatives=others)


def _moved(cell: WrittenCell, by: int) -> WrittenCell:
    strings = tuple(CellString(each.start + by, each.end + by, each.value) for each in cell.strings)
    return replace(cell, start=cell.start + by, end=cell.end + by, strings=strings)
