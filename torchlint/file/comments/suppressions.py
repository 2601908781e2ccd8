"""What comments silence.

==============================================  ===================================================================
``x.data  # torchlint: ignore[TL101] reason``   the statement this line begins or ends, or what stands on the line
``# torchlint: ignore[data-read]``              on a line of its own: what begins on the next line with code
``# torchlint: ignore``                         everything, by either of the above
``x.data  # noqa: TL101``, ``# noqa``           as ``ignore``, but never for the next line
``# torchlint: file-ignore[TL1]``               the whole file, wherever the comment stands
==============================================  ===================================================================

Codes can be prefixes, or groups of rules. What is written inside a string is no comment. A comment that looks like one
of these and is none is reported (:mod:`torchlint.file.comments.directive` reads them), and silences at most the rules
it names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from torchlint.diagnostic import Diagnostic, Position
from torchlint.file.comments.directive import Said, is_suspect, read
from torchlint.file.text.lines import line_start, lines_above
from torchlint.project.selection import OWN_SEVERITIES, known_names, means

_TOKEN = re.compile(
    r"""
      (?P<comment>\#[^\r\n]*)
    | \"{3} (?: \\. | [^\\] )*? (?: \"{3} | \Z )
    | '{3}  (?: \\. | [^\\] )*? (?: '{3} | \Z )
    | "  (?: \\. | [^"\\\r\n] )* "?
    | '  (?: \\. | [^'\\\r\n] )* '?
    | (?P<newline>\r\n|\r|\n)
    """,
    re.VERBOSE | re.DOTALL,
)
_NEWLINE = re.compile(r"\r\n|\r|\n")


@dataclass(slots=True)
class Directive:
    """One suppressing comment."""

    start: Position
    end: Position
    selectors: tuple[str, ...] | None
    """Codes, prefixes of codes, names and groups; None for everything."""
    rows: tuple[int, ...] = ()
    """The lines it speaks for; empty for the whole file."""
    trailing: bool = False
    """Whether it follows code, and so speaks for a statement that ends there as well."""
    noqa: bool = False
    faults: tuple[str, ...] = ()
    """What is wrong with how it is written."""
    used: bool = False

    def covers(self, diagnostic: Diagnostic) -> bool:
        """Whether it silences a finding."""
        return self._reaches(diagnostic) and self._names(diagnostic.code, diagnostic.name)

    def _reaches(self, diagnostic: Diagnostic) -> bool:
        if not self.rows:
            return True
        first, last = diagnostic.rows
        rows = {first, last, diagnostic.start.row} if self.trailing else {first, diagnostic.start.row}
        return not rows.isdisjoint(self.rows)

    def _names(self, code: str, name: str) -> bool:
        if self.selectors is None:
            return True
        return any(means(selector, code, name) for selector in self.selectors)


class Suppressions:
    """The suppressing comments of one text."""

    def __init__(self, text: str) -> None:
        self.directives: list[Directive] = list(_directives(text)) if mentioned(text) else []
        self._for_all = [number for number, directive in enumerate(self.directives) if not directive.rows]
        self._by_row: dict[int, list[int]] = {}
        for number, directive in enumerate(self.directives):
            for row in directive.rows:
                self._by_row.setdefault(row, []).append(number)

    def silencing(self, diagnostic: Diagnostic) -> list[Directive]:
        """What silences this finding (and remembers that it was needed)."""
        near = {number for row in (*diagnostic.rows, diagnostic.start.row) for number in self._by_row.get(row, ())}
        candidates = (self.directives[number] for number in sorted(near.union(self._for_all)))
        covering = [directive for directive in candidates if directive.covers(diagnostic)]
        for directive in covering:
            directive.used = True
        return covering

    def malformed(self) -> Iterator[Diagnostic]:
        """TL004 for each comment that is not understood as it may have been meant."""
        for directive in self.directives:
            if directive.faults:
                yield _about(directive, "TL004", "malformed-suppression", "; ".join(directive.faults))

    def unused(self, codes: Collection[str]) -> Iterator[Diagnostic]:
        """TL002 for each comment that silenced nothing of what the rules of these codes could have found.

        ``noqa`` is left out, it may be meant for another tool.
        """
        for directive in self.directives:
            if directive.used or directive.noqa or not _concerns(directive, codes):
                continue
            yield _about(directive, "TL002", "unused-suppression", "this comment silences nothing")


def _about(directive: Directive, code: str, name: str, message: str) -> Diagnostic:
    row = directive.start.row
    severity = OWN_SEVERITIES[code]
    return Diagnostic(code, name, message, directive.start, directive.end, (row, row), severity=severity)


def mentioned(text: str) -> bool:
    """Whether a text could hold a suppressing comment at all."""
    lowered = text.lower()
    return "torchlint" in lowered or "noqa" in lowered


def is_malformed(text: str) -> bool:
    """Whether a text holds a suppressing comment with something wrong."""
    return is_suspect(text) and any(directive.faults for directive in _directives(text))


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


def _concerns(directive: Directive, codes: Collection[str]) -> bool:
    if directive.selectors is None:
        return True
    names = known_names()
    return any(means(selector, code, names.get(code, "")) for selector in directive.selectors for code in codes)


def _directives(text: str) -> Iterator[Directive]:
    for comment in _comments(text):
        for said in read(comment.text):
            directive = _placed_at(comment, said)
            if directive is not None:
                yield directive


@dataclass(frozen=True, slots=True)
class _Comment:
    text: str
    row: int
    column: int
    next_code: int | None
    """For a comment on a line of its own, the next line with code."""


def _placed_at(comment: _Comment, said: Said) -> Directive | None:
    """What a comment says, with the lines it says it of."""
    start, end = (Position(comment.row, comment.column + offset) for offset in (said.start, said.end))
    if said.kind == "file-ignore":
        return Directive(start, end, said.selectors, faults=said.faults)
    if comment.next_code is None:
        is_noqa = said.kind == "noqa"
        return Directive(start, end, said.selectors, (comment.row,), trailing=True, noqa=is_noqa, faults=said.faults)
    if said.kind == "noqa":
        return None
    return Directive(start, end, said.selectors, (comment.next_code,), faults=said.faults)


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
            for newline in _NEWLINE.finditer(text, *match.span()):
                row, line_start = row + 1, newline.end()
        last = match.end()
    yield from _placed(waiting, row if text[last:].strip() else 0)


def _placed(waiting: list[tuple[str, int, int]], next_code: int) -> Iterator[_Comment]:
    for text, row, column in waiting:
        yield _Comment(text, row, column, next_code)
