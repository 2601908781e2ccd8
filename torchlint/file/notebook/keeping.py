"""Fixes that may not be: those that would change what is not code of the program, or what that may need."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from torchlint.diagnostic import Diagnostic, LocatedFix, Position, TextEdit
from torchlint.file.notebook.magics import magics_of
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
    emptying = keeper.emptying(found)
    fixes = (None if each in emptying else keeper.fix(each) for each in found)
    return (*keeper.errors(), *(replace(each, fix=fix) for each, fix in zip(found, fixes, strict=True)))


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
        ends = self._ends() if self._notebook.bad else ()
        for number, error in self._notebook.bad.items():
            yield _moved(error, ends[number])

    def _ends(self) -> Sequence[int]:
        """The lines behind cells, and 0 before the first."""
        return (0, *(row for row in range(1, self._lines.rows + 1) if self._lines.line(row) in ENDS))

    def emptying(self, found: Sequence[Diagnostic]) -> Sequence[Diagnostic]:
        """Those whose fixes would leave nothing below a magic for a whole cell, which raises then: ``%%time``."""
        magics = [(number, magics_of(cell.source)) for number, (cell, _) in enumerate(self._notebook.parts)]
        ends = self._ends() if found and any(count for _, count in magics) else ()
        whole = [
            (ends[number], ends[number + 1], count) for number, count in magics if count and number + 1 < len(ends)
        ]
        last = (self._last_that_empties(found, *cell) for cell in whole)
        return [each for each in last if each is not None]

    def _last_that_empties(self, found: Sequence[Diagnostic], before: int, end: int, magics: int) -> Diagnostic | None:
        """The last of those whose fixes together leave but some lines of a cell, which stands between two lines."""
        first, last = self._lines.starts[before], self._lines.starts[end - 1]
        edits = [(edit, each) for each in found if each.fix for edit in each.fix.edits if first <= edit.start < last]
        if not edits or any(edit.content.strip() for edit, _ in edits):
            return None
        gone = {at for edit, _ in edits for at in range(edit.start, edit.end)}
        left = "".join(self._text[at] for at in range(first, last) if at not in gone)
        lines = [line for line in map(str.strip, left.splitlines()) if line and not line.startswith("#")]
        return edits[-1][1] if len(lines) <= magics else None

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
        if not (self._words or self._notebook.runs_files):
            return False
        of_import = _IMPORTS.match(self._lines.line(found.rows[0])) is not None
        for edit in fix.edits:
            removed = self._text[edit.start : edit.end]
            start = self._lines.starts[self._lines.position(edit.start).row - 1]
            if not removed or not (of_import or _IMPORTS.match(self._text, start)):
                continue
            names = {*re.findall(r"\w+", _IMPORTS.sub("", removed, count=1))} - _NO_NAMES
            needed = names if self._notebook.runs_files else names & self._words
            if needed - {*re.findall(r"\w+", edit.content)}:
                return True
        return False


def _moved(error: Diagnostic, by: int) -> Diagnostic:
    start, end = (Position(at.row + by, at.column) for at in (error.start, error.end))
    return replace(error, start=start, end=end, rows=(error.rows[0] + by, error.rows[1] + by))
