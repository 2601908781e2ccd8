"""Findings as people read them, errors first: the source line with carets, the reason, and the fix as a small diff."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torchlint.cli.report import BLUE, BOLD, CYAN, GREEN, RED, FileFindings, Style, worst_first
from torchlint.cli.report.hunks import DiffLine, NumberedText, common, hunks
from torchlint.cli.report.terminal import printable
from torchlint.diagnostic import Applicability, Diagnostic, LocatedEvidence, LocatedFix

WIDTH = 120
"""Columns of source that are shown of a line, where no terminal is narrower or wider."""

NARROWEST = 40
"""Columns of source that are shown in the narrowest terminal."""

REACH = 4
"""Characters looked at for each column: some take none."""

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
        text = NumberedText(file)
        for found in file.diagnostics:
            yield from _finding(file, text, found, style)
            yield ""


def _finding(file: FileFindings, text: NumberedText, found: Diagnostic, style: Style) -> Iterator[str]:
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


def _because(text: NumberedText, evidence: LocatedEvidence, row: int) -> str:
    place = ""
    if evidence.row is not None:
        cell = text.cell(evidence.row)
        other = f"cell {cell}, " if cell != text.cell(row) else ""
        place = f" ({other}line {text.number(evidence.row)})"
    return f"{printable(evidence.message)}{place}"


def _remedy(text: NumberedText, fix: LocatedFix, style: Style) -> Iterator[str]:
    yield from _change(text, fix, style, "help")
    for other in fix.alternatives:
        doubt = " (unsafe)" if other.applicability is Applicability.UNSAFE else ""
        yield f"{style.paint('or', *CYAN)}: {printable(other.message)}{doubt}"


def alternatives(file: FileFindings, fix: LocatedFix, style: Style) -> Iterator[str]:
    """The alternatives of a fix with what each changes, and their numbers."""
    for number, other in enumerate(fix.alternatives, 1):
        yield from _change(NumberedText(file), other, style, f"or {number}")


def _change(text: NumberedText, fix: LocatedFix, style: Style, label: str) -> Iterator[str]:
    """What a fix changes."""
    yield f"{style.paint(label, *CYAN)}: {printable(fix.message)}"
    changed = list(hunks(text, fix.edits))
    if changed:
        gutter = _Gutter(len(str(max(number for _, hunk in changed for _, number, _ in hunk))), style)
        yield gutter.bar()
        for number, (cell, hunk) in enumerate(changed):
            if number:
                yield gutter.gap(cell if cell != changed[number - 1].cell else None)
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
    def room(self) -> int:
        """Columns for source; in a terminal with room for the marks that say that something is left out."""
        columns = self.style.columns
        return WIDTH if columns is None else max(NARROWEST, columns - self.width - len(" | ") - len("……"))

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


def _excerpt(text: NumberedText, found: Diagnostic, gutter: _Gutter) -> Iterator[str]:
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
            yield gutter.row(row - begin + 1, _cut(text.line(row), 0, 0, gutter.room)[0])
        elif row <= first + 1 or row == last or last - first <= LONG:
            yield from _marked(text, row, found, gutter)
        elif row == last - 1:
            yield gutter.gap()


def _marked(text: NumberedText, row: int, found: Diagnostic, gutter: _Gutter) -> Iterator[str]:
    """A line of a finding with carets below its part of it."""
    line = text.line(row)
    indent = len(line) - len(line.lstrip())
    start = found.start.column - 1 if row == found.start.row else indent
    end = found.end.column - 1 if row == found.end.row else len(line)
    shown, offset, width = _cut(line, start, end, gutter.room)
    yield gutter.row(text.number(row), shown)
    yield gutter.under(" " * offset + gutter.style.paint("^" * width, *RED))


def _cut(line: str, start: int, end: int, room: int) -> tuple[str, int, int]:
    """What to show of a line such that ``start`` is in it, with the place and width of ``start:end`` in that."""
    start, end = min(start, len(line)), min(end, len(line))
    if len(line) <= room and line.isascii() and line.isprintable():  # most lines
        return line, start, max(1, end - start)
    is_near = end <= room and sum(map(_width, map(_glyph, line[:end]))) <= room
    left = 0 if is_near else max(0, start - LEAD)
    glyphs = [_glyph(character) for character in line[left : left + REACH * room]]
    widths = [_width(glyph) for glyph in glyphs]
    count, used = 0, 0
    while count < len(glyphs) and used + widths[count] <= room:
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
    if unicodedata.category(glyph) in ("Mn", "Me"):  # accents, and what chooses between forms of a character
        return 0
    return 2 if unicodedata.east_asian_width(glyph) in "WF" else 1


def _drawn(hunk: list[DiffLine], gutter: _Gutter) -> Iterator[str]:
    removed = [content for sign, _, content in hunk if sign == "-"]
    added = [content for sign, _, content in hunk if sign == "+"]
    at = common(removed[0], added[0]) if removed and added else 0
    for sign, number, content in hunk:
        if sign == " ":
            yield gutter.row(number, _cut(content, 0, 0, gutter.room)[0])
        else:
            yield gutter.changed(sign, number, _cut(content, at, at + 1, gutter.room)[0])
