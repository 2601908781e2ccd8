"""Lines that are aligned to a bracket move with it: those below ``x = Variable(f(a,`` when ``Variable(`` goes."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torchlint.diagnostic import TextEdit
from torchlint.file.text.lines import line_start
from torchlint.file.text.scan import PIECES, scan

_REACH = 20_000
"""Characters in which a bracket is closed, if lines are aligned to it."""


@dataclass(slots=True)
class _Bracket:
    """A bracket that is open where a line ends."""

    column: int
    """Where what is in it begins, counted from the beginning of the line; -1 if it is opened on a later one."""
    shift: int
    """How far the edits move it."""
    has_aligned: bool = False
    """Whether a line below is aligned to it."""


def realigned(text: str, edits: Sequence[TextEdit]) -> list[TextEdit]:
    """What else is to be edited so that lines stay aligned to the brackets that some edits move; edits are sorted."""
    scanned = scan(text)
    begins, ends = scanned.begins, scanned.ends
    rows = set()
    for edit in edits:
        number = bisect_right(begins, edit.start) - 1
        if number >= 0 and edit.start <= ends[number] and _stays_on_line(text, edit):
            rows.add(begins[number])
    found = {each.start: each for row in sorted(rows) for each in _of_line(text, row, edits)}
    found.update((each.start, each) for edit in edits for each in _drawn_up(text, edit))
    return [each for each in found.values() if not any(each.start < e.end and e.start < each.end for e in edits)]


def _stays_on_line(text: str, edit: TextEdit) -> bool:
    return not re.search(r"[\r\n]", text[edit.start : edit.end] + edit.content)


def _of_line(text: str, row: int, edits: Sequence[TextEdit]) -> Iterator[TextEdit]:
    """The edits of the lines below one that are aligned to brackets on it."""
    here = [edit for edit in edits if edit.start >= row and _stays_on_line(text, edit)]
    kept = {edit.end - 1 for edit in here if _keeps_bracket(text, edit)}
    begin = here[0].end - (here[0].end - 1 in kept)
    opened: list[_Bracket] = []
    is_first_line = True
    for match in PIECES.finditer(text, begin, begin + _REACH):
        piece = match.group()
        if piece in "([{":
            moved = match.start() + (match.start() in kept)
            shift = sum(len(edit.content) - (edit.end - edit.start) for edit in here if edit.end <= moved)
            opened.append(_Bracket(match.end() - row if is_first_line else -1, shift))
        elif piece in ")]}":
            if opened:
                opened.pop()
            elif not is_first_line:
                return
        elif piece in ("\n", "\r", "\r\n"):
            is_first_line = False
            moving = next((each for each in reversed(opened) if each.column >= 0), None)
            if moving is None:
                return
            yield from _moved(text, match.end(), moving)


def _keeps_bracket(text: str, edit: TextEdit) -> bool:
    """Whether an edit takes the name before a bracket, which stays open: ``(`` for ``Variable(``."""
    return edit.start < edit.end and text[edit.end - 1] in "([{" and edit.content.endswith(text[edit.end - 1])


def _drawn_up(text: str, edit: TextEdit) -> Iterator[TextEdit]:
    """The edits of the lines in what is drawn up to the line of ``Variable(``, which they are indented below now."""
    removed = _JOINING.search(text, edit.start, edit.end)
    if removed is None or re.search(r"[\r\n]", edit.content):
        return
    begin = line_start(text, edit.start)
    before, old = text[begin : edit.start], removed.group("blanks")
    indentation = before[: len(before) - len(before.lstrip(" \t"))]
    shift = len(before) + len(edit.content) - len(old)
    opened: list[int] = []
    is_first_line = True
    for match in PIECES.finditer(text, edit.end, edit.end + _REACH):
        piece = match.group()
        if piece in "([{":
            opened.append(len(old) + match.end() - edit.end if is_first_line else -1)
        elif piece in ")]}" and not opened:
            return
        elif piece in ")]}":
            opened.pop()
        elif piece in ("\n", "\r", "\r\n"):
            is_first_line = False
            found = _BLANKS.match(text, match.end())
            if found is None or not found.group().startswith(old):
                return
            is_aligned = len(found.group()) in opened or not opened
            if is_aligned and "\t" in found.group():
                continue
            moved = " " * (len(found.group()) + shift) if is_aligned else indentation + found.group()[len(old) :]
            if moved != found.group():
                yield TextEdit(match.end(), found.end(), moved)


_BLANKS = re.compile(r"[ \t]*(?=[^\s])")
_JOINING = re.compile(r"[(\[{][ \t]*(?:\r\n|\r|\n)(?P<blanks>[ \t]*)\Z")
"""The end of what an edit removes: a bracket, and the line after it."""


def _moved(text: str, start: int, bracket: _Bracket) -> Iterator[TextEdit]:
    """The edit of a line that begins in a bracket, if it is aligned to it."""
    blanks = re.compile(r" *(?=[^\s])").match(text, start)
    width = len(blanks.group()) if blanks is not None else -1
    bracket.has_aligned |= width == bracket.column
    if not bracket.has_aligned or width < bracket.column or width + bracket.shift < 0:
        return
    if bracket.shift > 0:
        yield TextEdit(start, start, " " * bracket.shift)
    elif bracket.shift < 0:
        yield TextEdit(start, start - bracket.shift, "")
