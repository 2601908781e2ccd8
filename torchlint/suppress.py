"""What comments silence.

==============================================  ===================================================================
``x.data  # torchlint: ignore[TL101] reason``   the statement this line begins or ends, or what stands on the line
``# torchlint: ignore[data-read]``              on a line of its own: what begins on the next line with code
``# torchlint: ignore``                         everything, by either of the above
``x.data  # noqa: TL101``, ``# noqa``           as ``ignore``, but never for the next line
``# torchlint: file-ignore[TL1]``               the whole file, wherever the comment stands
==============================================  ===================================================================

Codes can be prefixes. What is written inside a string is no comment.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from torchlint.diagnostic import Diagnostic, Position

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
_OWN = re.compile(r"#\s*torchlint:\s*(?P<kind>ignore|file-ignore)\b(?!-)\s*(?:\[(?P<what>[^\]]*)(?P<closed>\])?)?")
_NOQA = re.compile(r"#\s*noqa(?![\w-])(?P<colon>\s*:)?\s*(?P<what>[A-Z]+\d+(?:[,\s]+[A-Z]+\d+)*)?", re.IGNORECASE)


@dataclass(slots=True)
class Directive:
    """One suppressing comment."""

    start: Position
    end: Position
    selectors: tuple[str, ...] | None
    """Codes, prefixes of codes and names; None for everything."""
    rows: tuple[int, ...] = ()
    """The lines it speaks for; empty for the whole file."""
    trailing: bool = False
    """Whether it follows code, and so speaks for a statement that ends there as well."""
    noqa: bool = False
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
        return any(code.startswith(selector.upper()) or selector == name for selector in self.selectors)


class Suppressions:
    """The suppressing comments of one text."""

    def __init__(self, text: str) -> None:
        self.directives: list[Directive] = list(_directives(text)) if mentioned(text) else []

    def silences(self, diagnostic: Diagnostic) -> bool:
        """Whether a comment silences this finding (and remembers that the comment was needed)."""
        covering = [directive for directive in self.directives if directive.covers(diagnostic)]
        for directive in covering:
            directive.used = True
        return bool(covering)

    def unused(self, codes: Collection[str]) -> Iterator[Diagnostic]:
        """TL002 for each comment that silenced nothing of what the rules of these codes could have found.

        ``noqa`` is left out, it may be meant for another tool.
        """
        for directive in self.directives:
            if directive.used or directive.noqa or not _concerns(directive, codes):
                continue
            row = directive.start.row
            yield Diagnostic(
                "TL002",
                "unused-suppression",
                "this comment silences nothing",
                directive.start,
                directive.end,
                (row, row),
            )


def mentioned(text: str) -> bool:
    """Whether a text could hold a suppressing comment at all."""
    return "torchlint:" in text or "noqa" in text or "noqa" in text.lower()


def _concerns(directive: Directive, codes: Collection[str]) -> bool:
    from torchlint.rules import catalogue

    if directive.selectors is None:
        return True
    names = {info.name: code for code, info in catalogue().items()}
    wanted = {names.get(selector, selector.upper()) for selector in directive.selectors}
    return any(code.startswith(selector) for selector in wanted for code in codes)


def _directives(text: str) -> Iterator[Directive]:
    for comment in _comments(text):
        for match in _OWN.finditer(comment.text):
            yield from _own(match, comment)
        for match in _NOQA.finditer(comment.text):
            yield from _noqa(match, comment)


@dataclass(frozen=True, slots=True)
class _Comment:
    text: str
    row: int
    column: int
    next_code: int | None
    """For a comment on a line of its own, the next line with code."""

    def span(self, match: re.Match[str]) -> tuple[Position, Position]:
        end = match.start() + len(match.group().rstrip())
        return Position(self.row, self.column + match.start()), Position(self.row, self.column + end)


def _own(match: re.Match[str], comment: _Comment) -> Iterator[Directive]:
    what = match["what"]
    if what is not None and not match["closed"]:
        return
    selectors = None if what is None else tuple(filter(None, (part.strip() for part in what.split(","))))
    start, end = comment.span(match)
    if match["kind"] == "file-ignore":
        yield Directive(start, end, selectors)
    elif comment.next_code is not None:
        yield Directive(start, end, selectors, (comment.next_code,))
    else:
        yield Directive(start, end, selectors, (comment.row,), trailing=True)


def _noqa(match: re.Match[str], comment: _Comment) -> Iterator[Directive]:
    if comment.next_code is not None or (match["colon"] and not match["what"]):
        return
    selectors = tuple(re.split(r"[,\s]+", match["what"])) if match["colon"] else None
    start, end = comment.span(match)
    yield Directive(start, end, selectors, (comment.row,), trailing=True, noqa=True)


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
