"""What comments silence.

==============================================  ===================================================================
``x.data  # torchlint: ignore[TL101] reason``   the statement this line begins or ends, or what stands on the line
``# torchlint: ignore[data-read]``              on a line of its own: what begins on the next line with code
``# torchlint: ignore``                         everything, by either of the above
``x.data  # noqa: TL101``, ``# noqa``           as ``ignore``, but never for the next line
``# torchlint: file-ignore[TL1]``               the whole file, wherever the comment stands
``# torchlint: disable[TL101]``                 what begins on this line or below, up to the line of ``enable[TL101]``
==============================================  ===================================================================

Codes can be prefixes, or groups of rules. What is written inside a string is no comment. A comment that looks like one
of these and is none is reported (:mod:`torchlint.file.comments.directive` reads them), and silences at most the rules
it names.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from torchlint.diagnostic import Applicability, Diagnostic, LocatedFix, Position, TextEdit
from torchlint.file.comments.directive import Said, is_suspect, read
from torchlint.file.comments.ranges import RangeEnd, SilencedRange, ranges
from torchlint.file.comments.reason import has_reason
from torchlint.file.comments.removal import without_part, without_rules
from torchlint.file.text.lines import NEWLINE, Lines, line_start, lines_above
from torchlint.file.text.tokens import STRINGS
from torchlint.project.selection import OWN_SEVERITIES, group_of, known_names, means

_TOKEN = re.compile(rf"(?P<comment>#[^\r\n]*)|{STRINGS}|(?P<newline>\r\n|\r|\n)", re.DOTALL)


@dataclass(slots=True)
class Directive:
    """One suppressing comment."""

    start: Position
    end: Position
    selectors: tuple[str, ...] | None
    """Codes, prefixes of codes, names and groups; None for everything."""
    rows: tuple[int, ...] = ()
    """The lines it speaks for; empty for the whole file and for a range."""
    range: SilencedRange | None = None
    trailing: bool = False
    """Whether it follows code, and so speaks for a statement that ends there as well."""
    noqa: bool = False
    faults: tuple[str, ...] = ()
    """What is wrong with how it is written."""
    has_reason: bool = False

    def places(self) -> tuple[_SilencedPlace, ...]:
        """Where it silences: on lines, in the whole file, or in its range."""
        if self.range is not None:
            return () if self.range.is_none else ((self.start, False),)
        return tuple((row, self.trailing) for row in self.rows) or ((None, False),)

    def reaches(self) -> Iterator[_Reach]:
        """What it silences, part by part."""
        for place in self.places():
            for selector in self.selectors if self.selectors is not None else (None,):
                yield place, selector

    def is_around(self, place: Position) -> bool:
        """Whether a place is within its range."""
        last = self.range.last if self.range is not None else None
        return place.row >= self.start.row and place != self.start and (last is None or place.row <= last.start.row)


_SilencedPlace = tuple[int | Position | None, bool]
"""A line, the beginning of a range, None for all of the file; and whether statements that end there count."""

_Reach = tuple[_SilencedPlace, str | None]
"""A place, and a code, the beginning of one, a name or a group (None for everything)."""


def _selectors(diagnostic: Diagnostic) -> tuple[str | None, ...]:
    """All that mean the rule of a finding."""
    code, group = diagnostic.code, group_of(diagnostic.code)
    beginnings = (code[:length] for length in range(len(code) + 1))
    return (None, diagnostic.name, *((group.value,) if group is not None else ()), *beginnings)


def _first_and_last(directives: Sequence[Directive]) -> Sequence[Directive]:
    return directives if len(directives) < 3 else (directives[0], directives[-1])


class Suppressions:
    """The suppressing comments of one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.directives: list[Directive] = list(_directives(text)) if mentioned(text) else []
        self._changes, self._open = _open_ranges(self.directives)
        self._alike: dict[_Reach, list[Directive]] = {}
        """Those that silence the same, by what that is."""
        for directive in self.directives:
            for reach in directive.reaches():
                self._alike.setdefault(reach, []).append(directive)
        self._needed: set[_Reach] = set()

    def silencing(self, diagnostic: Diagnostic) -> list[Directive]:
        """What silences this finding, and notes that it was needed; the first and last of those that do the same."""
        if not self._alike:
            return []
        selectors = _selectors(diagnostic)
        reaches = ((place, selector) for place in self._places(diagnostic) for selector in selectors)
        found = [reach for reach in reaches if reach in self._alike]
        self._needed.update(found)
        return [each for reach in found for each in _first_and_last(self._alike[reach])]

    def _places(self, diagnostic: Diagnostic) -> Iterator[_SilencedPlace]:
        """Where a comment can silence a finding."""
        first, last = diagnostic.rows
        begins = {first, diagnostic.start.row}
        yield None, False
        yield from ((row, False) for row in sorted(begins))
        yield from ((row, True) for row in sorted({*begins, last}))
        opened = self._open[bisect.bisect_right(self._changes, diagnostic.start.row)]
        yield from ((each.start, False) for each in opened if each.is_around(diagnostic.start))

    def malformed(self) -> Iterator[Diagnostic]:
        """TL004 for each comment that is not understood as it may have been meant."""
        for directive in self.directives:
            if directive.faults:
                yield _about(directive, "TL004", "malformed-suppression", "; ".join(directive.faults))

    def unreasoned(self) -> Iterator[Diagnostic]:
        """TL005 for each comment that does not say why; ``noqa`` only where it is about rules of ours."""
        for directive in self.directives:
            if not directive.has_reason and directive.places() and not (directive.noqa and not _is_ours(directive)):
                message = "no reason is given: say why after the comment, as in `# torchlint: ignore[TL101] the reason`"
                yield _about(directive, "TL005", "missing-reason", message)

    def unused(self, codes: Collection[str]) -> Iterator[Diagnostic]:
        """TL002 for each comment that silenced nothing of what the rules of these codes could have found.

        ``noqa`` is left out, it may be meant for another tool.
        """
        lines: Lines | None = None
        for directive in self.directives:
            if directive.noqa or not directive.places():
                continue
            idle = _idle(directive, {selector for _, selector in self._needed.intersection(directive.reaches())}, codes)
            if idle is None:
                continue
            lines = lines or Lines(self._text)
            is_all = not idle or len(idle) == len(directive.selectors or ())
            said = "this comment" if is_all else ", ".join(f"`{selector}`" for selector in idle)
            found = _about(
                directive,
                "TL002",
                "unused-suppression",
                f"{said} silence{'' if len(idle) > 1 and not is_all else 's'} nothing",
            )
            edits = _removing(self._text, directive, () if is_all else idle, lines)
            message = "Remove the comment" if is_all else f"Remove {said}"
            yield replace(found, fix=LocatedFix(message, Applicability.SAFE, edits) if edits else None)


def _about(directive: Directive, code: str, name: str, message: str) -> Diagnostic:
    row = directive.start.row
    severity = OWN_SEVERITIES[code]
    return Diagnostic(code, name, message, directive.start, directive.end, (row, row), severity=severity)


def _is_ours(directive: Directive) -> bool:
    """Whether a comment names a rule that there is."""
    return any(means(selector, *rule) for selector in directive.selectors or () for rule in known_names().items())


def mentioned(text: str) -> bool:
    """Whether a text could hold a suppressing comment at all."""
    lowered = text.lower()
    return "torchlint" in lowered or "noqa" in lowered


def is_malformed(text: str) -> bool:
    """Whether a text holds a suppressing comment with something wrong."""
    return is_suspect(text) and any(directive.faults for directive in _directives(text))


def lines_that_go_on(text: str) -> frozenset[int]:
    """The lines at the end of which no comment can stand: a string goes on, or a backslash says that the line does."""
    found, row, last = set[int](), 1, 0
    for match in _TOKEN.finditer(text):
        if match["newline"] is not None:
            if text[last : match.start()].endswith("\\"):
                found.add(row)
            row += 1
        elif match["comment"] is None:
            breaks = sum(1 for _ in NEWLINE.finditer(text, *match.span()))
            found.update(range(row, row + breaks))
            row += breaks
        last = match.end()
    return frozenset(found)


def start_with_comments(text: str, start: int) -> int:
    """Where a statement begins with the suppressing comments on the lines above it that speak for it.

    What is put around the statement goes around them, too.
    """
    line = line_start(text, start)
    indent, found = text[line:start], start
    for begin, end in lines_above(text, line):
        above = text[begin:end]
        if above.strip() and (not above.startswith(f"{indent}#") or '"' * 3 in above or "'" * 3 in above):
            break
        if any(said.kind == "ignore" for said in read(above)):
            found = begin + len(indent)
    return found


def _idle(directive: Directive, needed: Collection[str | None], codes: Collection[str]) -> tuple[str, ...] | None:
    """The selectors that silenced nothing of what rules of these codes could find; None if there are none.

    Nothing is in it for a comment that silences everything, and had nothing to silence.
    """
    if directive.selectors is None:
        return None if needed else ()
    names = known_names()
    idle = (
        selector
        for selector in directive.selectors
        if selector not in needed and any(means(selector, code, names.get(code, "")) for code in codes)
    )
    return tuple(idle) or None


def _removing(text: str, directive: Directive, rules: Collection[str], lines: Lines) -> tuple[TextEdit, ...]:
    """The edits that take some rules out of a comment, or all of the comment, both ends of a range alike."""
    last = directive.range.last if directive.range is not None else None
    places = [(directive.start, directive.end)] + ([(last.start, last.end)] if last is not None else [])
    spans = [(lines.offset(start), lines.offset(end)) for start, end in places]
    if not rules:
        is_shared = last is not None and last.said.selectors is None and directive.selectors is not None
        return tuple(without_part(text, *span) for span in (spans[:1] if is_shared else spans))
    edits = [without_rules(text, *span, rules) for span in spans]
    return tuple(edit for edit in edits if edit is not None) if None not in edits else ()


def _open_ranges(directives: Sequence[Directive]) -> tuple[list[int], list[tuple[Directive, ...]]]:
    """The lines at which ranges begin, or behind which they end; and which are open before the first, and from each."""
    changes: dict[int, list[tuple[Directive, bool]]] = {}
    for directive in directives:
        if directive.range is not None and not directive.range.is_none:
            changes.setdefault(directive.start.row, []).append((directive, True))
            if directive.range.last is not None:
                changes.setdefault(directive.range.last.start.row + 1, []).append((directive, False))
    now, opened = dict[Position, Directive](), list[tuple[Directive, ...]]([()])
    for row in sorted(changes):
        for directive, begins in changes[row]:
            if begins:
                now[directive.start] = directive
            else:
                now.pop(directive.start, None)
        opened.append(tuple(now.values()))
    return sorted(changes), opened


def _directives(text: str) -> Iterator[Directive]:
    ends: list[RangeEnd] = []
    for comment in _comments(text):
        for said in read(comment.text):
            start, end = (Position(comment.row, comment.column + offset) for offset in (said.start, said.end))
            if said.kind in ("disable", "enable"):
                ends.append(RangeEnd(said, start, end, has_reason(comment.text, said.end)))
                continue
            directive = _placed_at(comment, said, start, end)
            if directive is not None:
                yield directive
    for each in ranges(ends):
        first = each.first
        yield Directive(
            first.start, first.end, first.said.selectors, range=each, faults=each.faults, has_reason=first.has_reason
        )


@dataclass(frozen=True, slots=True)
class _Comment:
    text: str
    row: int
    column: int
    next_code: int | None
    """For a comment on a line of its own, the next line with code."""


def _placed_at(comment: _Comment, said: Said, start: Position, end: Position) -> Directive | None:
    """What a comment says, with the lines it says it of."""
    directive = Directive(start, end, said.selectors, faults=said.faults)
    directive.has_reason = has_reason(comment.text, said.end)
    if said.kind == "file-ignore":
        return directive
    directive.rows = (comment.row if comment.next_code is None else comment.next_code,)
    directive.trailing = comment.next_code is None
    directive.noqa = said.kind == "noqa"
    return None if directive.noqa and not directive.trailing else directive


def _comments(text: str) -> Iterator[_Comment]:
    """All comments, with the next line of code for those that have their line to themselves."""
    waiting: list[tuple[str, int, int]] = []
    row, line_start, last = 1, 0, 0
    for match in _TOKEN.finditer(text):
        if waiting and text[last : match.start()].strip(" \t\f\\\r\n"):
            yield from _placed(waiting, row)
            waiting = []
        if match["comment"] is not None:
            column = match.start() - line_start + 1
            if text[line_start : match.start()].strip(" \t\f\ufeff"):
                yield _Comment(match["comment"], row, column, None)
            else:
                waiting.append((match["comment"], row, column))
        elif match["newline"] is not None:
            row, line_start = row + 1, match.end()
        else:
            if waiting:
                yield from _placed(waiting, row)
                waiting = []
            for newline in NEWLINE.finditer(text, *match.span()):
                row, line_start = row + 1, newline.end()
        last = match.end()
    yield from _placed(waiting, row if text[last:].strip() else 0)


def _placed(waiting: list[tuple[str, int, int]], next_code: int) -> Iterator[_Comment]:
    for text, row, column in waiting:
        yield _Comment(text, row, column, next_code)
