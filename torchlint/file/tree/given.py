"""The text that libcst is given, and where in the original what it says of places is."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

_TABS_AND_SPACES = re.compile(r"(?m)^(?:\t+ | +\t)")
_INDENTATION = re.compile(r"(?m)^[ \t]+")
_FORM_FEED = re.compile(r"(?m)^[ \t]*\f[ \t\f]*")


class NotRoundTripped(ValueError):
    """libcst would not give the text back byte for byte, so positions in this file cannot be trusted."""


class Span(NamedTuple):
    """Where a node stands: offsets into the original text."""

    start: int
    end: int
    """With the expression's own brackets; of a statement, without leading comments and the newline; of a block, from
    behind the colon."""
    inner_start: int
    inner_end: int
    """Without the expression's own brackets."""


class GivenText:
    """A text, what of it libcst is given, and the way back from libcst's offsets to the text's.

    libcst is not lossless: it drops form feeds before a code line and the last of bare CR newlines. Bare CRs are given
    to it as LF (same length), form feeds in indentation are left out, and ``original`` maps offsets back.

    It does not count tabs as Python does, either, which takes only indentation that means the same whether a tab is one
    column or eight. A text that it refuses for that is given to it once more, with a space for each (``is_spaced``).
    """

    def __init__(self, text: str, *, is_spaced: bool = False) -> None:
        self.text = text
        parsed = text
        if "\r" in text:
            parsed = re.sub(r"\r(?!\n)", "\n", parsed)
        if is_spaced:
            parsed = _INDENTATION.sub(lambda match: " " * len(match.group()), parsed)
        self._removed: list[int] = []
        """Where something was left out of what libcst is given, and in the other list how much until there."""
        self._shifts = [0]
        if "\f" in parsed:
            pieces, last, shift = [], 0, 0
            for match in _FORM_FEED.finditer(parsed):
                keep = match.group().rpartition("\f")[2]  # a form feed resets the indentation
                cut = len(match.group()) - len(keep)
                pieces.append(parsed[last : match.start()])
                last = match.start() + cut
                shift += cut
                self._removed.append(last - shift)
                self._shifts.append(shift)
            pieces.append(parsed[last:])
            parsed = "".join(pieces)
        self.parsed = _without_tail(parsed)
        first = re.search(r"\r\n|\r|\n", text)
        self.newline = first.group() if first else "\n"
        """The newline the text begins with: what new lines are ended by."""

    def original(self, offset: int) -> int:
        """Offset in the text of an offset in what libcst parsed."""
        return offset + self._shifts[bisect_right(self._removed, offset)]


def mixes_tabs(text: str) -> bool:
    """Whether a line begins with tabs and spaces."""
    return _TABS_AND_SPACES.search(text) is not None


def _without_tail(text: str) -> str:
    """A text without the blank lines and comments it ends with, where one is indented: libcst loses some of those.

    Nothing stands behind them, so no offset changes.
    """
    end, is_indented = len(text), False
    while end:
        start = text.rfind("\n", 0, end - 1) + 1
        line = text[start:end]
        code = line.strip(" \t\r\n")
        if code and (not code.startswith("#") or '"' * 3 in code or "'" * 3 in code):
            break
        is_indented = is_indented or line[0] in " \t"
        end = start
    return text[:end] if is_indented and end else text
