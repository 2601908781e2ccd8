"""Reports: findings to text, one module a format, imported when it is used.

A format is a function ``lines(files, style)``; everything that formats share is here.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from torchlint.diagnostic import OWN_PREFIX, Applicability, Diagnostic

FORMATS = {"full": "full", "concise": "concise", "json": "json_", "github": "github"}
"""Formats by name, with the module of each."""

FOR_PEOPLE = ("full", "concise")
"""Formats that end with a summary; the others hold nothing that is no finding."""

PAGES = "https://github.com/torchlint/torchlint/blob/main/docs/rules"


@dataclass(frozen=True, slots=True)
class FileFindings:
    """The findings of one file."""

    path: str
    """As it is shown."""
    location: str
    """Its absolute path."""
    text: str
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class Style:
    """How to write."""

    color: bool = False
    unsafe_fixes: bool = False
    """Whether ``--fix`` would apply unsafe fixes as well."""

    def paint(self, text: str, *codes: int) -> str:
        """``text`` in a colour, if colours are wanted."""
        return f"\x1b[{';'.join(map(str, codes))}m{text}\x1b[0m" if self.color and codes and text else text

    def mark(self, diagnostic: Diagnostic) -> str:
        """``[*] `` for what ``--fix`` would fix."""
        return f"[{self.paint('*', *CYAN)}] " if is_fixable(diagnostic, self.unsafe_fixes) else ""


BOLD, RED, GREEN, BLUE, CYAN = (1,), (1, 31), (32,), (1, 34), (36,)

Format = Callable[[Sequence[FileFindings], Style], Iterator[str]]


def format_named(name: str) -> Format:
    """The function that writes a format."""
    function: Format = importlib.import_module(f"torchlint.cli.report.{FORMATS[name]}").lines
    return function


def is_fixable(diagnostic: Diagnostic, unsafe: bool) -> bool:
    """Whether there is a fix that ``--fix`` (with ``--unsafe-fixes``) applies."""
    return diagnostic.fix is not None and (unsafe or diagnostic.fix.applicability is Applicability.SAFE)


def url(code: str, name: str) -> str | None:
    """The page of a rule; None for one of another package."""
    return f"{PAGES}/{name}.md" if code.startswith(OWN_PREFIX) else None


def counted(count: int, thing: str) -> str:
    """``1 finding``, ``2 findings``."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}{'es' if thing.endswith('x') else 's'}"
