"""The JSON of a notebook: where the code of each cell is written.

Everything but the way to the code is left to :mod:`json`, which is quick about megabytes of outputs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from torchlint.file.text.lines import Lines
from torchlint.file.text.source import Undecodable

_SPACE = re.compile(r"[ \t\n\r]*")
_LANGUAGES = frozenset(("python", "python2", "python3", "ipython", "ipython2", "ipython3"))


class NoNotebook(Undecodable):
    """A file that is called a notebook and is none."""


class CellString(NamedTuple):
    """A string that is a part of a cell's code: where it is written, with its quotes, and what it says."""

    start: int
    end: int
    value: str


@dataclass(frozen=True, slots=True)
class WrittenCell:
    """A cell with code, as it is written."""

    number: int
    """From 1, cells of all kinds counted."""
    start: int
    end: int
    """Where the value is written that holds the code."""
    is_list: bool
    """Whether that is a list of strings, and not one string."""
    strings: tuple[CellString, ...]
    is_text: bool = True
    """Whether it is either; the code of a cell that is neither is empty."""

    @property
    def source(self) -> str:
        """The code."""
        return "".join(string.value for string in self.strings)


def code_cells(text: str) -> list[WrittenCell]:
    """The cells of a notebook that hold Python, in their order; none where the notebook is in another language.

    Raises:
        NoNotebook: it is no JSON, or not that of a notebook.
    """
    try:
        return _Reader(text).cells()
    except json.JSONDecodeError as error:
        raise NoNotebook(f"this notebook is no JSON: {error.msg}", error.lineno, error.colno) from None
    except RecursionError:
        raise NoNotebook("this notebook is nested too deeply to be read") from None


@dataclass(slots=True)
class _Cell:
    """What was read of a cell so far."""

    kind: object = None
    language: object = None
    metadata: object = None
    codes: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Where the values are that hold code in one version of the format or another."""


class _Reader:
    """Goes through a notebook once."""

    def __init__(self, text: str) -> None:
        self._text = text
        as_written = {"parse_int": str, "parse_float": str, "parse_constant": str}  # numbers can be of any length
        self._decode = json.JSONDecoder(**as_written).raw_decode  # type: ignore[arg-type]
        self._cells: list[_Cell] | None = None
        self._metadata: object = None

    def cells(self) -> list[WrittenCell]:
        if not self._text.startswith("{", start := self._space(0)):
            self._decode(self._text, start)
            raise NoNotebook("this is no notebook: it is JSON of another kind")
        end = self._space(self._members(start, self._top))
        if end < len(self._text):
            raise json.JSONDecodeError("Extra data", self._text, end)
        if self._cells is None:
            raise NoNotebook("this is no notebook: it has no list of cells")
        if not _is_python(self._metadata):
            return []
        cells = enumerate(self._cells, 1)
        return [self._written(number, cell) for number, cell in cells if cell.codes and _is_python_cell(cell)]

    def _top(self, key: str, at: int) -> int:
        if key == "cells":
            self._cells = []
            return self._items(at, self._cell)
        if key == "worksheets":  # before version 4
            self._cells = []
            return self._items(at, lambda at: self._members(at, self._worksheet))
        value, end = self._decode(self._text, at)
        if key == "metadata":
            self._metadata = value
        return end

    def _worksheet(self, key: str, at: int) -> int:
        if key == "cells":
            return self._items(at, self._cell)
        _, end = self._decode(self._text, at)
        return end

    def _cell(self, at: int) -> int:
        cell = _Cell()

        def take(key: str, at: int) -> int:
            value, end = self._decode(self._text, at)
            match key:
                case "cell_type":
                    cell.kind = value
                case "language":
                    cell.language = value
                case "metadata":
                    cell.metadata = value
                case "source" | "input":
                    cell.codes[key] = (at, end)
            return end

        end = self._members(at, take)
        if self._cells is not None:
            self._cells.append(cell)
        return end

    def _written(self, number: int, cell: _Cell) -> WrittenCell:
        start, end = cell.codes.get("source") or cell.codes["input"]
        strings: list[CellString] = []

        def string(at: int) -> int:
            value, end = self._decode(self._text, at)
            strings.append(CellString(at, end, value))
            return end

        is_list = self._text[start] == "["
        if is_list:
            self._items(start, string)
        else:
            string(start)
        if not all(self._text[string.start] == '"' for string in strings):
            return WrittenCell(number, start, end, is_list=False, strings=(), is_text=False)
        return WrittenCell(number, start, end, is_list, tuple(strings))

    # ------------------------------------------------------------------ JSON

    def _space(self, at: int) -> int:
        match = _SPACE.match(self._text, at)
        return match.end() if match is not None else at

    def _members(self, at: int, take: Callable[[str, int], int]) -> int:
        """The end of an object; ``take`` is told each key and where its value begins, and says where that ends."""

        def member(at: int) -> int:
            if not self._text.startswith('"', at):
                raise json.JSONDecodeError("Expecting property name enclosed in double quotes", self._text, at)
            key, end = self._decode(self._text, at)
            return take(key, self._space(self._after(self._space(end), ":")))

        return self._entries(at, "{", "}", member)

    def _items(self, at: int, take: Callable[[int], int]) -> int:
        """The end of a list; ``take`` is told where each of its values begins, and says where that ends."""
        return self._entries(at, "[", "]", take)

    def _entries(self, at: int, opening: str, closing: str, take: Callable[[int], int]) -> int:
        if not self._text.startswith(opening, at):
            self._decode(self._text, at)
            place = Lines(self._text).position(at)
            raise NoNotebook(f"this is no notebook: `{opening}` was expected here", place.row, place.column)
        at = self._space(at + 1)
        if self._text.startswith(closing, at):
            return at + 1
        while True:
            at = self._space(take(at))
            if self._text.startswith(closing, at):
                return at + 1
            at = self._space(self._after(at, ","))

    def _after(self, at: int, mark: str) -> int:
        if not self._text.startswith(mark, at):
            raise json.JSONDecodeError(f"Expecting {mark!r} delimiter", self._text, at)
        return at + 1


def _is_python(metadata: object) -> bool:
    """Whether a notebook is in Python: that is so where nothing is said."""
    named = (_at(metadata, "language_info", "name"), _at(metadata, "kernelspec", "language"))
    said = next((name for name in named if isinstance(name, str) and name), "python")
    return said.lower() in _LANGUAGES


def _is_python_cell(cell: _Cell) -> bool:
    if cell.kind != "code":
        return False
    said = cell.language or _at(cell.metadata, "vscode", "languageId") or "python"
    return isinstance(said, str) and said.lower() in _LANGUAGES


def _at(value: object, *keys: str) -> object:
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
