"""Fixes as a patch that ``git apply`` and ``patch -p1`` take."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator

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
    difference = difflib.unified_diff(_lines(before), _lines(after), _quoted(f"a/{name}"), _quoted(f"b/{name}"))
    for number, line in enumerate(difference):
        content = line.removesuffix("\n")
        color = BOLD if number < 2 else _COLORS.get(line[0], ())
        yield content, color
        if content == line:
            yield "\\ No newline at end of file", ()


def _lines(data: bytes) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", data.decode("latin-1"))


def _quoted(name: str) -> str:
    """A file name as git writes it: unusual ones quoted, and a tab after one with a space, where `patch` would stop."""
    if not _PLAIN.fullmatch(name):
        return '"' + "".join(c if _PLAIN.fullmatch(c) else f"\\{ord(c):03o}" for c in name) + '"'
    return f"{name}\t" if " " in name else name
