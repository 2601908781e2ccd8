"""Positions as the client counts them: rows from 0, columns in units of the encoding that was agreed on."""

from __future__ import annotations

from lsprotocol import types

from torchlint.diagnostic import Position
from torchlint.file.text.lines import Lines


class Encoding:
    """One way to count columns."""

    def __init__(self, kind: types.PositionEncodingKind | str | None = None) -> None:
        self._kind = kind or types.PositionEncodingKind.Utf16

    def position(self, lines: Lines, at: Position) -> types.Position:
        """A place in a text for the client."""
        row = min(at.row, len(lines.starts))
        return types.Position(row - 1, self._units(lines.line(row)[: at.column - 1]))

    def range(self, lines: Lines, start: Position, end: Position) -> types.Range:
        """A part of a text for the client."""
        return types.Range(self.position(lines, start), self.position(lines, end))

    def offset(self, lines: Lines, at: types.Position) -> int:
        """The offset of a place that the client names; of one behind the end of its line, that end."""
        if at.line >= len(lines.starts):
            return len(lines.text)
        row = max(at.line, 0) + 1
        return lines.starts[row - 1] + self._index(lines.line(row), at.character)

    def _units(self, text: str) -> int:
        return len(text) if text.isascii() else sum(map(self._width, text))

    def _index(self, line: str, units: int) -> int:
        if line.isascii():
            return max(0, min(units, len(line)))
        for index, character in enumerate(line):
            if units <= 0:
                return index
            units -= self._width(character)
        return len(line)

    def _width(self, character: str) -> int:
        """How many units a character takes."""
        match self._kind:
            case types.PositionEncodingKind.Utf32:
                return 1
            case types.PositionEncodingKind.Utf8:
                return len(character.encode(errors="surrogatepass"))
            case _:
                return 1 + (character > "\uffff")
