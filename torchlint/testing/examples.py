"""The ``diff`` blocks of a rule's docstring: its documentation, and its tests.

Every line of a block starts with one marker:

===== ==================================================================
``␣`` stays silent
``-`` a finding with a safe fix; the ``+`` lines after it are what it becomes, none: the line goes
``~`` a finding with an unsafe fix; the ``+`` lines after it are what it becomes, none: the line goes
``!`` a finding without a fix
===== ==================================================================

Several ``-`` (or ``~``) lines in a row and the ``+`` lines after them are one hunk, a statement over several lines say:
at least one finding starts on one of its lines. ``+`` lines that follow no such line are new (an import that a fix
needs). Words after the fence are options: ``run`` says that the block is a whole program that runs before and after,
``run-after`` that it runs only when fixed, ``run-differs`` that it runs, and that unsafe fixes change what it computes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from torchlint.diagnostic import Applicability

OPTIONS = frozenset(("run", "run-after", "run-differs"))

_MARKERS = {"-": Applicability.SAFE, "~": Applicability.UNSAFE, "!": None}


class BadExample(ValueError):
    """A block that does not follow the format."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Rows of ``before`` (1-based, one hunk) on which at least one finding starts."""

    rows: tuple[int, ...]
    applicability: Applicability | None
    """Of the fix; None if there is none."""


@dataclass(frozen=True, slots=True)
class Example:
    """One block."""

    before: str
    marks: tuple[Mark, ...]
    after_safe: str
    after_unsafe: str
    options: frozenset[str]
    row: int
    """Row of the opening fence in the docstring (1-based)."""
    silent: int
    """How many lines with code on them stay silent."""


def examples(doc: str) -> Iterator[Example]:
    """The blocks of a docstring, in order.

    Raises:
        BadExample: a block has an unknown option or marker, or does not end.
    """
    lines = doc.split("\n")
    at = 0
    while at < len(lines):
        fence = lines[at].rstrip()
        at += 1
        if fence != "```diff" and not fence.startswith("```diff "):
            continue
        row = at
        while at < len(lines) and lines[at].rstrip() != "```":
            at += 1
        if at == len(lines):
            raise BadExample(f"line {row}: the block does not end")
        yield _example(lines[row:at], frozenset(fence.split()[1:]), row)
        at += 1


def _example(lines: list[str], options: frozenset[str], row: int) -> Example:
    if options - OPTIONS:
        raise BadExample(f"line {row}: unknown option {', '.join(sorted(options - OPTIONS))}")
    has_safe = any(line.startswith("-") for line in lines)
    before: list[str] = []
    safe: list[str] = []
    unsafe: list[str] = []
    marks: list[Mark] = []
    silent = 0
    hunk = ""  # the marker of the lines that ``+`` lines would replace; empty once those have come
    for number, line in enumerate(lines, row + 1):
        marker, code = line[:1] or " ", line[1:]
        if marker == "+":
            unsafe.append(code)
            if hunk.strip("+") == "-" or (hunk in ("", "+") and has_safe):
                safe.append(code)
            hunk = hunk if "+" in hunk else hunk + "+"
            continue
        if marker not in (" ", *_MARKERS):
            raise BadExample(f"line {number}: unknown marker {marker!r}")
        before.append(code)
        if marker in "-~":
            if marker == hunk:
                marks[-1] = Mark((*marks[-1].rows, len(before)), _MARKERS[marker])
            else:
                marks.append(Mark((len(before),), _MARKERS[marker]))
            if marker == "~":
                safe.append(code)
            hunk = marker
            continue
        if marker == "!":
            marks.append(Mark((len(before),), None))
        elif code.strip():
            silent += 1
        safe.append(code)
        unsafe.append(code)
        hunk = ""
    return Example(_text(before), tuple(marks), _text(safe), _text(unsafe), options, row, silent)


def _text(lines: list[str]) -> str:
    return "".join(line + "\n" for line in lines)
