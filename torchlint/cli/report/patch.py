"""Fixes as a patch that ``git apply`` and ``patch -p1`` take."""

from __future__ import annotations

import difflib
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from torchlint.cli.report import BOLD, CYAN, GREEN, RED, Style
from torchlint.cli.report.terminal import printable
from torchlint.file.text.source import decode_utf8
from torchlint.project.discovery import NOTEBOOK

_PLAIN = re.compile(r"[^\"\\\x00-\x1f\x7f-\xff]+")
_COLORS = {"-": RED[1:], "+": GREEN, "@": CYAN}


def patch(path: str, before: bytes, after: bytes, style: Style) -> Iterator[bytes]:
    """The lines of a unified diff, in the encoding and with the newlines of the file."""
    for content, color in _lines_of(path, before, after):
        yield f"{style.paint(content, *color)}\n".encode("latin-1")


def for_terminal(path: str, before: bytes, after: bytes, style: Style) -> Iterator[str]:
    """The same to look at: what a terminal would obey is escaped, and of a notebook the cells are compared."""
    for part in _parts(path, before, after):
        for content, color in _lines_of(*part):
            text = content.encode("latin-1").decode("utf-8", "surrogateescape")
            yield style.paint(printable(text.removesuffix("\r"), "\t"), *color)


def _parts(path: str, before: bytes, after: bytes) -> Iterator[tuple[str, bytes, bytes]]:
    if not path.endswith(NOTEBOOK):
        yield path, before, after
        return
    from torchlint.file.notebook.container import code_cells

    for old, new in zip(*(code_cells(decode_utf8(data).text) for data in (before, after)), strict=True):
        if old.source != new.source:
            yield f"{path}:cell {old.number}", f"{old.source}\n".encode(), f"{new.source}\n".encode()


def _lines_of(path: str, before: bytes, after: bytes) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The lines of a unified diff without their ends, each with its colour."""
    # Latin-1 gives each byte a character and takes it back, and in a patch only LF ends a line.
    name = os.fsencode(path.replace(os.sep, "/").lstrip("/")).decode("latin-1")
    if before != after:
        yield f"--- {_quoted(f'a/{name}')}", BOLD
        yield f"+++ {_quoted(f'b/{name}')}", BOLD
    for line in _hunks(_lines(before), _lines(after)):
        content = line.removesuffix("\n")
        yield content, _COLORS.get(line[0], ())
        if content == line:
            yield "\\ No newline at end of file", ()


def _hunks(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    """The hunks of a unified diff, with three lines around each."""
    for group in _Matcher(before, after).get_grouped_opcodes():
        first, last = group[0], group[-1]
        yield f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@\n"
        for tag, start, end, new_start, new_end in group:
            if tag == "equal":
                yield from (f" {line}" for line in before[start:end])
                continue
            yield from (f"-{line}" for line in before[start:end])
            yield from (f"+{line}" for line in after[new_start:new_end])


_Opcode = tuple[Literal["replace", "delete", "insert", "equal"], int, int, int, int]


class _Matcher(difflib.SequenceMatcher[str]):
    """Compares lines, those that a long file has often as well, near to where it differs."""

    def __init__(self, before: Sequence[str], after: Sequence[str]) -> None:
        super().__init__(None, before, after)
        self._lines = before, after

    def get_opcodes(self) -> list[_Opcode]:
        return list(_joined(_refined(super().get_opcodes(), *self._lines)))


def _refined(opcodes: Iterable[_Opcode], before: Sequence[str], after: Sequence[str]) -> Iterator[_Opcode]:
    """Opcodes in which no line is replaced by itself, as `difflib` does with lines that a long file has often."""
    for opcode in opcodes:
        tag, start, end, new_start, new_end = opcode
        old, new = before[start:end], after[new_start:new_end]
        if tag != "replace" or _pairs(old, new) > _MOST_PAIRS:
            yield opcode
            continue
        parts = difflib.SequenceMatcher(None, old, new, autojunk=False)
        for part, i, j, k, m in parts.get_opcodes():
            yield part, start + i, start + j, new_start + k, new_start + m


_MOST_PAIRS = 5_000
"""So many pairs of equal lines are compared: what that takes grows with more than their number."""


def _pairs(old: Sequence[str], new: Sequence[str]) -> int:
    """How many pairs of equal lines two texts have."""
    often = Counter(new)
    return sum(often[line] for line in old)


def _joined(opcodes: Iterable[_Opcode]) -> Iterator[_Opcode]:
    """Opcodes with one for what is equal on end."""
    last: _Opcode | None = None
    for opcode in opcodes:
        if last is not None and last[0] == opcode[0] == "equal":
            last = ("equal", last[1], opcode[2], last[3], opcode[4])
            continue
        if last is not None:
            yield last
        last = opcode
    if last is not None:
        yield last


def _range(start: int, end: int) -> str:
    """Lines as a hunk names them: by the first and how many; where there are none, by the one before."""
    count = end - start
    return f"{start + 1}" if count == 1 else f"{start + bool(count)},{count}"


def _lines(data: bytes) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", data.decode("latin-1"))


def _quoted(name: str) -> str:
    """A file name as git writes it: unusual ones quoted, and a tab after one with a space, where `patch` would stop."""
    if not _PLAIN.fullmatch(name):
        return '"' + "".join(c if _PLAIN.fullmatch(c) else f"\\{ord(c):03o}" for c in name) + '"'
    return f"{name}\t" if " " in name else name
