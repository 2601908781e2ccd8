"""Edits of a program as edits of the strings in the JSON it comes from: all other bytes stay."""

from __future__ import annotations

import bisect
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from torchlint.diagnostic import TextEdit
from torchlint.file.notebook.container import CellString, WrittenCell

_ESCAPE = re.compile(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)")
_WRITTEN_LINE = re.compile(r"(?:[^\\]|\\[^n])*(?:\\n|\Z)", re.DOTALL)


def json_edits(places: CellPlaces, edits: Iterable[TextEdit]) -> Iterator[TextEdit]:
    """What edits of the code of a cell are in the JSON. They are given in their order and do not touch each other."""
    writer, cell = _CellWriter(places), places.cell
    if not cell.strings:
        yield from writer.filled(edits)
    elif cell.is_list:
        for group in writer.grouped(edits):
            yield writer.lines(group)
    else:
        for edit in edits:
            yield writer.within(edit)


class StringPlaces:
    """Where in the JSON the characters of a string are written."""

    def __init__(self, text: str, string: CellString) -> None:
        self._start = string.start + 1
        self._ends: list[int] = []
        """Where in the value each escape ends."""
        self._shifts = [0]
        """How many characters more than that are written until then."""
        if string.end - string.start - 2 != len(string.value):
            for match in _ESCAPE.finditer(text, self._start, string.end - 1):
                self._shifts.append(self._shifts[-1] + len(match.group()) - 1)
                self._ends.append(match.end() - self._start - self._shifts[-1])

    def of(self, index: int) -> int:
        """Where a character is written; of the one behind the last, the closing quote."""
        return self._start + index + self._shifts[bisect.bisect_right(self._ends, index)]


class CellPlaces:
    """Where in the JSON the characters of a cell are written."""

    def __init__(self, text: str, cell: WrittenCell) -> None:
        self.text, self.cell = text, cell
        self._starts = [0]
        for string in cell.strings:
            self._starts.append(self._starts[-1] + len(string.value))
        self._known: dict[int, StringPlaces] = {}

    def string(self, index: int, *, is_end: bool = False) -> int:
        """Which string a character is in; of an end, which one the character before it is in."""
        if is_end and index:
            index -= 1
        return max(0, min(bisect.bisect_right(self._starts, index), len(self.cell.strings)) - 1)

    def of(self, index: int, *, is_end: bool = False) -> int:
        """Where a character is written, or where what ends before it does."""
        if not self.cell.strings:
            return self.cell.start
        return self.within(self.string(index, is_end=is_end), index)

    def within(self, number: int, index: int) -> int:
        """Where a character is written, or would be, that is in this string."""
        if number not in self._known:
            self._known[number] = StringPlaces(self.text, self.cell.strings[number])
        return self._known[number].of(index - self._starts[number])


class _Group(NamedTuple):
    """Edits, and the first and the last of the strings they are about."""

    first: int
    last: int
    edits: list[TextEdit]


class _CellWriter:
    """Writes into the JSON of one cell."""

    def __init__(self, places: CellPlaces) -> None:
        self._text, self._cell, self._places = places.text, places.cell, places

    def within(self, edit: TextEdit) -> TextEdit:
        """An edit of the only string."""
        start, end = self._places.within(0, edit.start), self._places.within(0, edit.end)
        return TextEdit(start, end, self._escaped(edit.content))

    def filled(self, edits: Iterable[TextEdit]) -> Iterator[TextEdit]:
        """What is written into an empty list."""
        content = "".join(edit.content for edit in edits)
        if content:
            lines = (f'"{line}"' for line in self._written_lines(self._escaped(content)))
            yield TextEdit(self._cell.start + 1, self._cell.end - 1, ", ".join(lines))

    def grouped(self, edits: Iterable[TextEdit]) -> Iterator[_Group]:
        """Edits by the strings of a list that they are about."""
        group: _Group | None = None
        for edit in edits:
            first = self._places.string(edit.start)
            last = self._places.string(edit.end, is_end=True) if edit.end > edit.start else first
            if group is not None and first <= group.last + 1:
                group = _Group(group.first, max(last, group.last), [*group.edits, edit])
                continue
            if group is not None:
                yield group
            group = _Group(first, last, [edit])
        if group is not None:
            yield group

    def lines(self, group: _Group) -> TextEdit:
        """Strings of a list, each a line, for what some strings are after edits."""
        strings = self._cell.strings
        written = self._written(group)
        start, end = strings[group.first].start, strings[group.last].end
        if not written:
            if group.first:
                start = strings[group.first - 1].end
            elif group.last + 1 < len(strings):
                end = strings[group.last + 1].start
            else:
                start, end = self._cell.start + 1, self._cell.end - 1
        return TextEdit(start, end, self._between().join(f'"{line}"' for line in written))

    def _written(self, group: _Group) -> list[str]:
        """The lines of some strings after edits, as they are written."""
        pieces, at = [], self._cell.strings[group.first].start + 1
        end = self._cell.strings[group.last].end - 1
        for edit in group.edits:
            first = self._places.string(edit.start)
            pieces += [*self._kept(at, self._places.within(first, edit.start)), self._escaped(edit.content)]
            last = self._places.string(edit.end, is_end=True) if edit.end > edit.start else first
            at = self._places.within(last, edit.end)
        return self._written_lines("".join([*pieces, *self._kept(at, end)]))

    def _kept(self, start: int, end: int) -> Iterator[str]:
        """What is written between two places inside of strings, without what stands between the strings."""
        for string in self._cell.strings[self._string_at(start) : self._string_at(end) + 1]:
            yield self._text[max(start, string.start + 1) : min(end, string.end - 1)]

    def _string_at(self, place: int) -> int:
        return bisect.bisect_right(self._cell.strings, place, key=lambda string: string.start) - 1

    def _between(self) -> str:
        """What stands between two strings of the list."""
        first, *more = self._cell.strings
        if more:
            return self._text[first.end : more[0].start]
        lead = self._text[self._cell.start + 1 : first.start]
        return f",{lead}" if lead else ", "

    def _escaped(self, content: str) -> str:
        if content.isascii():  # as nearly all is
            return json.dumps(content)[1:-1]
        has_escapes = self._text.isascii() and "\\u" in self._text
        return json.dumps(content, ensure_ascii=has_escapes)[1:-1]

    def _written_lines(self, written: str) -> list[str]:
        return [line for line in _WRITTEN_LINE.findall(written) if line]


def source_edits(cell_length: int, edits: Sequence[TextEdit], cell: WrittenCell) -> list[TextEdit]:
    """Edits of a cell in the program, where a newline ends it, as edits of its code, where none has to.

    They are given in their order and do not touch each other.
    """
    if not edits or edits[-1].end <= cell_length:
        return list(edits)
    *others, last = edits
    if last.start > cell_length:
        return [*others, TextEdit(cell_length, cell_length, f"\n{last.content.removesuffix(chr(10))}")]
    if last.content.endswith("\n"):
        return [*others, TextEdit(last.start, cell_length, last.content[:-1])]
    start, source = last.start, cell.source
    if not last.content and source.endswith("\n", 0, start):  # the last line goes, and what ends the one before
        start -= 2 if source.endswith("\r\n", 0, start) else 1
    return [*others, TextEdit(start, cell_length, last.content)]
