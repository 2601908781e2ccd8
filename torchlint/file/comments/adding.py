"""Comments that silence findings, written where they are read: at the end of a line of the statement, or above it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from torchlint.diagnostic import Diagnostic, Position, TextEdit
from torchlint.file.comments.suppressions import Directive, Suppressions, lines_that_go_on
from torchlint.file.text.edits import splice
from torchlint.file.text.lines import Lines, without_blanks
from torchlint.file.text.python import are_same, parsed


class Silencing(NamedTuple):
    """A text with comments for findings."""

    text: str
    edits: tuple[TextEdit, ...]
    """What has written them."""
    silenced: tuple[Diagnostic, ...]
    """The findings that are silenced now."""
    left: tuple[Diagnostic, ...]
    """Those for which there is no place for a comment."""


class _NewComment(NamedTuple):
    """A comment to write: at the end of a line, or on one of its own above it."""

    row: int
    is_above: bool


def silenced(text: str, findings: Iterable[Diagnostic], reason: str) -> Silencing:
    """Write comments for findings. One that would not be silenced by its comment is left as it is.

    So are all of them if the text would be another program, or none.
    """
    findings = tuple(findings)
    writer = _Writer(text, reason)
    wanted: dict[_NewComment, list[Diagnostic]] = {}
    for each in findings:
        wanted.setdefault(writer.place(each), []).append(each)
    while True:
        edits = tuple(writer.edit(place, found) for place, found in wanted.items())
        written = splice(text, edits)
        failed = [place for place, found in wanted.items() if not _are_silenced(written, found, wanted)]
        if not failed:
            break
        for place in failed:
            found = wanted.pop(place)
            for each in () if place.is_above else found:
                wanted.setdefault(_NewComment(each.rows[0], is_above=True), []).append(each)
    if wanted and not _is_same_program(text, written):
        return Silencing(text, (), (), findings)
    kept = {id(each) for found in wanted.values() for each in found}
    return Silencing(
        written,
        edits,
        tuple(each for each in findings if id(each) in kept),
        tuple(each for each in findings if id(each) not in kept),
    )


class _Writer:
    """Writes comments into a text."""

    def __init__(self, text: str, reason: str) -> None:
        self._text, self._reason = text, reason
        self._lines, self._broken = Lines(text), lines_that_go_on(text)
        self._known = {each.start.row: each for each in Suppressions(text).directives if _takes_more(each)}

    def place(self, found: Diagnostic) -> _NewComment:
        """Where a comment for a finding goes: after the statement if something can be written there."""
        for row in (found.rows[1], found.rows[0], found.start.row):
            if row not in self._broken and self._lines.line(row).strip():
                return _NewComment(row, is_above=False)
        return _NewComment(found.rows[0], is_above=True)

    def edit(self, place: _NewComment, found: Sequence[Diagnostic]) -> TextEdit:
        """What writes a comment for some findings."""
        listed = ", ".join(sorted({each.code for each in found}))
        said = f"# torchlint: ignore[{listed}]{' ' * bool(self._reason)}{self._reason}"
        lines = self._lines
        if place.is_above:
            start, line = lines.starts[place.row - 1], lines.line(place.row)
            indent = line[: len(line) - len(line.lstrip(" \t\f"))]
            return TextEdit(start, start, f"{indent}{said}{self._newline}")
        if place.row in self._known:
            end = lines.offset(self._known[place.row].end) - 1
            return TextEdit(end, end, f", {listed}")
        end = lines.ends[place.row - 1]
        return TextEdit(without_blanks(self._text, end), end, f"  {said}")

    @property
    def _newline(self) -> str:
        """How the first line ends."""
        lines = self._lines
        return self._text[lines.ends[0] : lines.starts[1]] if len(lines.starts) > 1 else "\n"


def _takes_more(directive: Directive) -> bool:
    """Whether rules can be added to a comment."""
    is_own = directive.trailing and not directive.noqa and not directive.faults
    return is_own and directive.selectors is not None


def _is_same_program(text: str, written: str) -> bool:
    """Whether a text with comments is what it was to Python's own parser. Of what that cannot read nobody can say."""
    tree = parsed(text)
    return tree is None or are_same(tree, parsed(written))


def _are_silenced(written: str, found: Sequence[Diagnostic], wanted: Iterable[_NewComment]) -> bool:
    """Whether findings that stood in a text are silenced in what was written of it."""
    suppressions, above = Suppressions(written), [place.row for place in wanted if place.is_above]

    def moved(row: int) -> int:
        return row + sum(other <= row for other in above)

    return all(
        suppressions.silencing(
            Diagnostic(
                each.code,
                each.name,
                each.message,
                Position(moved(each.start.row), each.start.column),
                Position(moved(each.end.row), each.end.column),
                (moved(each.rows[0]), moved(each.rows[1])),
            )
        )
        for each in found
    )
