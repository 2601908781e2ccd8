"""Findings as people read them, errors first: the source line with carets, the reason, and the fix as a small diff."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from torchlint.cli.report import BLUE, BOLD, CYAN, GREEN, RED, FileFindings, Style, worst_first
from torchlint.cli.report.terminal import printable
from torchlint.diagnostic import Applicability, Diagnostic, LocatedEvidence, LocatedFix, Position, TextEdit
from torchlint.file.text.lines import Lines

WIDTH = 120
"""Columns of source that are shown of a line."""

REACH = 4 * WIDTH
"""Characters looked at for that: some take no column."""

LEAD = 20
"""Characters kept before the point of interest where the beginning of a line is cut off."""

CONTEXT = 2

LONG = 3
"""Of findings on more lines than one and these, only the beginning and the end are shown."""

TAB = "    "

_SPACES = "\u00a0\u3000"
"""What people write for a space without noticing."""


def lines(files: Sequence[FileFindings], style: Style) -> Iterator[str]:
    """Each finding as a paragraph."""
    for file in worst_first(files):
        text = _NumberedText(file)
        for found in file.diagnostics:
            yield from _finding(file, text, found, style)
            yield ""


class _NumberedText(Lines):
    """The text of a file; that of a notebook is in parts, each with its own numbers of lines."""

    def __init__(self, file: FileFindings) -> None:
        super().__init__(file.text)
        self._file = file

    def part(self, row: int) -> tuple[int, int]:
        """The first and the last line of what is shown together with a line."""
        cells = self._file.cells
        return (1, self.rows) if cells is None else cells.rows(row)

    def number(self, row: int) -> int:
        """The number that a line is shown with."""
        return row - self.part(row)[0] + 1

    def cell(self, row: int) -> int | None:
        """The number of the cell that a line is in, if there are any."""
        return self._file.where(Position(row, 1))[0]


def _finding(file: FileFindings, text: _NumberedText, found: Diagnostic, style: Style) -> Iterator[str]:
    last = min(found.end.row + CONTEXT, text.part(found.start.row)[1])
    gutter = _Gutter(len(str(text.number(max(last, found.start.row)))), style)
    head = style.code(found, before=f"{found.severity.value} ")
    yield f"{head} {style.mark(found)}{style.paint(printable(found.message), *BOLD)}"
    yield f"{gutter.space}{style.paint('-->', *BLUE)} {printable(file.path)}:{file.place(found.start)}"
    yield gutter.bar()
    yield from _excerpt(text, found, gutter)
    yield gutter.bar()
    if found.evidence is not None:
        yield f"{style.paint('why', *CYAN)}: {_because(text, found.evidence, found.start.row)}"
    if found.fix is not None:
        yield from _remedy(text, found.fix, style)


def _because(text: _NumberedText, evidence: LocatedEvidence, row: int) -> str:
    place = ""
    if evidence.row is not None:
        cell = text.cell(evidence.row)
        other = f"cell {cell}, " if cell != text.cell(row) else ""
        place = f" ({other}line {text.number(evidence.row)})"
    return f"{printable(evidence.message)}{place}"


def _remedy(text: _NumberedText, fix: LocatedFix, style: Style) -> Iterator[str]:
    yield from _change(text, fix, style, "help")
    for other in fix.alternatives:
        doubt = " (unsafe)" if other.applicability is Applicability.UNSAFE else ""
        yield f"{style.paint('or', *CYAN)}: {printable(other.message)}{doubt}"


def alternatives(file: FileFindings, fix: LocatedFix, style: Style) -> Iterator[str]:
    """The alternatives of a fix with what each changes, and their numbers."""
    for number, other in enumerate(fix.alternatives, 1):
        yield from _change(_NumberedText(file), other, style, f"or {number}")


def _change(text: _NumberedText, fix: LocatedFix, style: Style, label: str) -> Iterator[str]:
    """What a fix changes."""
    yield f"{style.paint(label, *CYAN)}: {printable(fix.message)}"
    hunks = list(_hunks(text, fix.edits))
    if hunks:
        gutter = _Gutter(len(str(max(number for _, hunk in hunks for _, number, _ in hunk))), style)
        yield gutter.bar()
        for number, (cell, hunk) in enumerate(hunks):
            if number:
                yield gutter.gap(cell if cell != hunks[number - 1].cell else None)
            yield from _drawn(hunk, gutter)
        yield gutter.bar()
    if fix.applicability is Applicability.UNSAFE:
        risk = printable(fix.risk) or "the program may do something else afterwards"
        yield f"{style.paint('note', *CYAN)}: this fix is unsafe: {risk}"


@dataclass(frozen=True, slots=True)
class _Gutter:
    """The column of line numbers."""

    width: int
    style: Style

    @property
    def space(self) -> str:
        return " " * self.width

    def bar(self) -> str:
        return f"{self.space} {self.style.paint('|', *BLUE)}"

    def gap(self, cell: int | None = None) -> str:
        return self.style.paint("..." if cell is None else f"... cell {cell}", *BLUE)

    def row(self, number: int, content: str) -> str:
        return f"{self.style.paint(f'{number:>{self.width}} |', *BLUE)} {content}".rstrip()

    def under(self, content: str) -> str:
        return f"{self.bar()} {content}"

    def changed(self, sign: str, number: int, content: str) -> str:
        color = RED[1:] if sign == "-" else GREEN
        head = self.style.paint(f"{number:>{self.width}}", *BLUE)
        return f"{head} {self.style.paint(f'{sign} {content}'.rstrip(), *color)}"


def _excerpt(text: _NumberedText, found: Diagnostic, gutter: _Gutter) -> Iterator[str]:
    """The lines of a finding with carets below them, and some lines around it."""
    begin, end = text.part(found.start.row)
    first, last = found.start.row, max(found.start.row, min(found.end.row, end))
    top, bottom = max(begin, first - CONTEXT), max(last, min(last + CONTEXT, end))
    while top < first and not text.line(top).strip():
        top += 1
    while bottom > last and not text.line(bottom).strip():
        bottom -= 1
    for row in range(top, bottom + 1):
        if not first <= row <= last:
            yield gutter.row(row - begin + 1, _cut(text.line(row), 0, 0)[0])
        elif row <= first + 1 or row == last or last - first <= LONG:
            yield from _marked(text, row, found, gutter)
        elif row == last - 1:
            yield gutter.gap()


def _marked(text: _NumberedText, row: int, found: Diagnostic, gutter: _Gutter) -> Iterator[str]:
    """A line of a finding with carets below its part of it."""
    line = text.line(row)
    indent = len(line) - len(line.lstrip())
    start = found.start.column - 1 if row == found.start.row else indent
    end = found.end.column - 1 if row == found.end.row else len(line)
    shown, offset, width = _cut(line, start, end)
    yield gutter.row(text.number(row), shown)
    yield gutter.under(" " * offset + gutter.style.paint("^" * width, *RED))


def _cut(line: str, start: int, end: int) -> tuple[str, int, int]:
    """What to show of a line such that ``start`` is in it, with the place and width of ``start:end`` in that."""
    start, end = min(start, len(line)), min(end, len(line))
    if len(line) <= WIDTH and line.isascii() and line.isprintable():  # most lines
        return line, start, max(1, end - start)
    is_near = end <= WIDTH and sum(map(_width, map(_glyph, line[:end]))) <= WIDTH
    left = 0 if is_near else max(0, start - LEAD)
    glyphs = [_glyph(character) for character in line[left : left + REACH]]
    widths = [_width(glyph) for glyph in glyphs]
    count, used = 0, 0
    while count < len(glyphs) and used + widths[count] <= WIDTH:
        used += widths[count]
        count += 1
    head, tail = "…" * (left > 0), "…" * (left + count < len(line))
    offset = len(head) + sum(widths[: start - left])
    return head + "".join(glyphs[:count]) + tail, offset, max(1, sum(widths[start - left : min(end - left, count)]))


def _glyph(character: str) -> str:
    """What to show of a character, so that none can play tricks on a terminal."""
    if character == "\t":
        return TAB
    return printable(character, _SPACES)


def _width(glyph: str) -> int:
    """Columns a glyph takes."""
    if glyph.isascii():
        return len(glyph)
    if unicodedata.combining(glyph):
        return 0
    return 2 if unicodedata.east_asian_width(glyph) in "WF" else 1


_Line = tuple[str, int, str]
"""Sign, line number and content of one line of a diff."""


class _Hunk(NamedTuple):
    """Lines of a diff, and the cell that they are in."""

    cell: int | None
    lines: list[_Line]


def _hunks(text: _NumberedText, edits: Sequence[TextEdit]) -> Iterator[_Hunk]:
    """The lines that edits change, as diffs with a line of context."""
    shift, before = 0, 0
    for group in _grouped(text, edits):
        first, last = text.position(group[0].start).row, text.position(group[-1].end).row
        begin, end = text.part(first)
        shift, before = (shift if begin == before else 0), begin
        is_beyond = last > end and text.cell(first) is not None  # what ends the last line of a cell is edited, too
        old = [text.line(row) if row <= end else "" for row in range(first, last + 1)]
        new = Lines(_spliced(text, group, text.starts[first - 1], (text.starts if is_beyond else text.ends)[last - 1]))
        changed = [new.line(row) for row in range(1, len(new.starts) + 1)]
        yield _Hunk(text.cell(first), list(_diff(text, old, changed, first, shift)))
        shift += len(changed) - len(old)


def _grouped(text: _NumberedText, edits: Sequence[TextEdit]) -> Iterator[list[TextEdit]]:
    """Edits that touch the same or neighbouring lines."""
    group: list[TextEdit] = []
    for edit in edits:
        if group and text.position(edit.start).row > text.position(group[-1].end).row + 1:
            yield group
            group = []
        group.append(edit)
    if group:
        yield group


def _spliced(text: _NumberedText, edits: Iterable[TextEdit], start: int, end: int) -> str:
    pieces = []
    for edit in edits:
        pieces += [text.text[start : edit.start], edit.content]
        start = edit.end
    return "".join([*pieces, text.text[start:end]])


def _diff(text: _NumberedText, old: list[str], new: list[str], first: int, shift: int) -> Iterator[_Line]:
    """Old and new lines without what they begin and end with in common, and a line before and after."""
    head, tail = _common(old, new), 0
    tail = _common(old[head:][::-1], new[head:][::-1])
    start, stop = first + head, first + len(old) - tail
    begin, end = text.part(first)
    above = begin - 1  # lines that are not counted
    if start > begin and text.line(start - 1).strip():
        yield " ", start - 1 + shift - above, text.line(start - 1)
    for row, line in enumerate(old[head : len(old) - tail], start - above):
        yield "-", row, line
    for row, line in enumerate(new[head : len(new) - tail], start + shift - above):
        yield "+", row, line
    if stop <= end and text.line(stop).strip():
        yield " ", stop + shift + len(new) - len(old) - above, text.line(stop)


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    """How many items two sequences (of lines, or characters) begin with in common."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _drawn(hunk: list[_Line], gutter: _Gutter) -> Iterator[str]:
    removed = [content for sign, _, content in hunk if sign == "-"]
    added = [content for sign, _, content in hunk if sign == "+"]
    at = _common(removed[0], added[0]) if removed and added else 0
    for sign, number, content in hunk:
        shown = _cut(content, at, at + 1)[0]
        yield gutter.row(number, _cut(content, 0, 0)[0]) if sign == " " else gutter.changed(sign, number, shown)
