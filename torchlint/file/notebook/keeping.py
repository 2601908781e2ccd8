"""Fixes that may not be: those that would change what is not code of the program, or what that may need."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from torchlint.diagnostic import Diagnostic, LocatedFix, Position, TextEdit
from torchlint.file.notebook.program import ENDS, LETTERS, Notebook
from torchlint.file.text.lines import Lines, line_start

_IMPORTS = re.compile(r"[ \t]*(?:from\s+[\w.]+\s+)?import\b")
_TAKEN_AWAY = re.compile(r"[ \t]*\f")
"""What stands for indentation that IPython takes from all lines of a cell."""
_NO_NAMES = frozenset(("as", "from", "import"))

UNKNOWN = "a cell of this notebook is no Python, and may rest on this"


def kept(notebook: Notebook, text: str, found: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    """What was found in the text of a notebook's program, with the fixes that may be, and with what is no Python."""
    keeper = _Keeper(notebook, text)
    return (*keeper.errors(), *(replace(each, fix=keeper.fix(each)) if each.fix else each for each in found))


class _Foreign(NamedTuple):
    """The part of a line that is not code of the program."""

    start: int
    end: int
    line_end: int

    @property
    def runs(self) -> bool:
        """Whether code stands behind it."""
        return self.end < self.line_end

    def is_touched(self, edit: TextEdit, text: str) -> bool:
        """Whether an edit changes it, or what stands before it on its line."""
        if edit.end < self.start or edit.start > self.line_end:
            return False
        if edit.end == self.start > edit.start:  # the lines above may change, as lines
            return line_start(text, edit.start) != edit.start or edit.content[-1:] not in ("", "\n")
        if not self.runs or edit.start < self.end:
            return True
        return any(end in text[edit.start : edit.end] or end in edit.content for end in "\r\n")


class _Keeper:
    """Knows what in a text is not code of the program."""

    def __init__(self, notebook: Notebook, text: str) -> None:
        self._notebook, self._text = notebook, text
        self._lines = Lines(text)
        self._foreign = list(self._found())
        self._starts = [each.start for each in self._foreign]
        self._words = notebook.words

    def _found(self) -> Iterator[_Foreign]:
        for names in re.finditer(f"[{''.join(LETTERS)}]+;?", self._text):
            row = self._lines.position(names.start()).row
            yield _Foreign(self._lines.starts[row - 1], names.end(), self._lines.ends[row - 1])

    def errors(self) -> Iterator[Diagnostic]:
        """What is wrong with cells that are no Python, where they are in the text now."""
        if not self._notebook.bad:
            return
        ends = [0, *(row for row in range(1, self._lines.rows + 1) if self._lines.line(row) in ENDS)]
        for number, error in self._notebook.bad.items():
            yield _moved(error, ends[number])

    def fix(self, found: Diagnostic) -> LocatedFix | None:
        """The fix of a finding; None if it may not be."""
        fix = found.fix
        if fix is None or any(self._touches(edit) for edit in fix.edits) or self._takes_a_name(found, fix):
            return None
        others = tuple(each for each in fix.alternatives if not any(self._touches(edit) for edit in each.edits))
        if len(others) < len(fix.alternatives):
            fix = replace(fix, alternatives=others)
        if self._notebook.bad:
            return fix.doubted(UNKNOWN)
        return fix

    def _touches(self, edit: TextEdit) -> bool:
        """Whether an edit changes what is not code of the program, or copies it."""
        if any(letter in edit.content for letter in LETTERS) or self._is_indented(edit):
            return True
        first = max(0, bisect.bisect_right(self._starts, edit.start) - 1)
        last = bisect.bisect_right(self._starts, edit.end)
        return any(each.is_touched(edit, self._text) for each in self._foreign[first:last])

    def _is_indented(self, edit: TextEdit) -> bool:
        """Whether an edit changes whole lines of a cell from all lines of which IPython takes indentation."""
        taken = _TAKEN_AWAY.match(self._text, line_start(self._text, edit.start))
        changed = f"{self._text[edit.start : edit.end]}{edit.content}"
        return taken is not None and (edit.start < taken.end() or any(each in changed for each in "\r\n\f"))

    def _takes_a_name(self, found: Diagnostic, fix: LocatedFix) -> bool:
        """Whether a fix takes a name from an import that a magic, or a cell that is no Python, may need."""
        if not self._words:
            return False
        of_import = _IMPORTS.match(self._lines.line(found.rows[0])) is not None
        for edit in fix.edits:
            removed = self._text[edit.start : edit.end]
            start = self._lines.starts[self._lines.position(edit.start).row - 1]
            if not removed or not (of_import or _IMPORTS.match(self._text, start)):
                continue
            names = {*re.findall(r"\w+", _IMPORTS.sub("", removed, count=1))} - _NO_NAMES
            if (names & self._words) - {*re.findall(r"\w+", edit.content)}:
                return True
        return False


def _moved(error: Diagnostic, by: int) -> Diagnostic:
    start, end = (Position(at.row + by, at.column) for at in (error.start, error.end))
    return replace(error, start=start, end=end, rows=(error.rows[0] + by, error.rows[1] + by))
