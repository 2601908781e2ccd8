"""Reports: findings to text, one module a format, imported when it is used.

A format is a function ``lines(files, style)``; everything that formats share is here.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from torchlint import DOCS
from torchlint.diagnostic import OWN_PREFIX, Applicability, Diagnostic, FindingKey, Position, Severity

if TYPE_CHECKING:
    from torchlint.file.notebook.cells import Cells

FOR_PEOPLE = ("full", "concise", "grouped", "agent")
"""Formats that end with a summary, for those who read; the others hold nothing that is no finding."""

PAGES = f"{DOCS}/rules"


@dataclass(frozen=True, slots=True)
class FileFindings:
    """The findings of one file."""

    path: str
    """As it is shown."""
    location: str
    """Its absolute path."""
    text: str
    diagnostics: tuple[Diagnostic, ...]
    cells: Cells | None = None
    """Where the lines of the text are in a notebook."""
    baselined: frozenset[Diagnostic] | None = None
    """What of them the baseline has; None if there is none."""

    @property
    def slashed(self) -> str:
        """The path as it is shown, with forward slashes."""
        return self.path.replace(os.sep, "/")

    def where(self, position: Position) -> tuple[int | None, Position]:
        """The number of the cell that a place is in, None where there are no cells, and the place in it."""
        return (None, position) if self.cells is None else self.cells.place(position)

    def place(self, position: Position) -> str:
        """A place for people to read: ``7:3``, and ``cell 2:7:3`` in a notebook."""
        cell, at = self.where(position)
        return f"{at.row}:{at.column}" if cell is None else f"cell {cell}:{at.row}:{at.column}"

    def as_written(self) -> FileFindings:
        """The same for programs that look into the file: of a notebook that is the JSON, as far as it holds code."""
        if self.cells is None:
            return self
        found = tuple(self.cells.in_file(self.text, self.diagnostics))
        baselined = None
        if self.baselined is not None:
            baselined = frozenset(
                new for new, each in zip(found, self.diagnostics, strict=True) if each in self.baselined
            )
        return replace(self, text=self.cells.json, diagnostics=found, cells=None, baselined=baselined)


@dataclass(frozen=True, slots=True)
class Style:
    """How to write."""

    color: bool = False
    unsafe_fixes: bool = False
    """Whether ``--fix`` would apply unsafe fixes as well."""
    columns: int | None = None
    """Of the terminal that it is written to, if it is one."""

    def paint(self, text: str, *codes: int) -> str:
        """``text`` in a colour, if colours are wanted."""
        return f"\x1b[{';'.join(map(str, codes))}m{text}\x1b[0m" if self.color and codes and text else text

    def mark(self, diagnostic: Diagnostic) -> str:
        """``[*] `` for what ``--fix`` would fix."""
        return f"[{self.paint('*', *CYAN)}] " if is_fixable(diagnostic, self.unsafe_fixes) else ""

    def code(self, diagnostic: Diagnostic, before: str = "") -> str:
        """The code of a finding in the colour of how bad it is."""
        return self.paint(f"{before}{diagnostic.code}", *_COLORS[diagnostic.severity])


BOLD, RED, GREEN, YELLOW, BLUE, CYAN = (1,), (1, 31), (32,), (1, 33), (1, 34), (36,)

_COLORS = {Severity.ERROR: RED, Severity.WARNING: YELLOW, Severity.INFO: BLUE}

Format = Callable[[Sequence[FileFindings], Style], Iterator[str]]


def format_named(name: str) -> Format:
    """The function that writes a format."""
    function: Format = importlib.import_module(f"torchlint.cli.report.{_module(name)}").lines
    return function


def _module(name: str) -> str:
    """The module of a format: called like it, unless that is a module of Python's."""
    return "json_" if name == "json" else name.replace("-", "_")


def is_fixable(diagnostic: Diagnostic, unsafe: bool) -> bool:
    """Whether there is a fix that ``--fix`` (with ``--unsafe-fixes``) applies."""
    return diagnostic.fix is not None and (unsafe or diagnostic.fix.applicability is Applicability.SAFE)


def worst_first(files: Sequence[FileFindings]) -> Iterator[FileFindings]:
    """The findings of each file that are errors, then the warnings, then the rest."""
    for severity in Severity:
        for file in files:
            found = tuple(each for each in file.diagnostics if each.severity is severity)
            if found:
                yield replace(file, diagnostics=found)


def fingerprints(files: Sequence[FileFindings]) -> Iterator[tuple[FileFindings, Diagnostic, str]]:
    """All findings, each with what it is known by in the next report, though lines have moved: no two have the same."""
    import hashlib

    seen: dict[tuple[str, FindingKey], int] = {}
    for file in files:
        for found in file.diagnostics:
            place = (file.slashed, found.key)
            seen[place] = seen.get(place, 0) + 1
            text = repr((*place, seen[place]))
            yield file, found, hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:32]


def url(code: str, name: str) -> str | None:
    """The page of a rule; None for one of another package."""
    return f"{PAGES}/{name}.md" if code.startswith(OWN_PREFIX) else None


def counted(count: int, thing: str) -> str:
    """``1 finding``, ``2 findings``."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}{'es' if thing.endswith('x') else 's'}"
