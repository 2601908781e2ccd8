"""What the stages of a file's way hand on, in their order, and what they are given besides.

text -> the rules that are possible -> tree -> Findings -> Located -> Examined -> the next text … -> Outcome
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from torchlint.diagnostic import AS_RULES_SAY, Diagnostic, Policy, Problem
from torchlint.system.limits import BUDGET
from torchlint.versions import ANY, Target

if TYPE_CHECKING:
    from torchlint.model.codebase.modules import Codebase
    from torchlint.rule import Finding, Rule

TOO_DEEP = "an expression is nested too deeply to be analysed"
"""What is said of a file that the stack has no room for."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What is checked, apart from the text."""

    path: str
    """For messages."""
    codes: frozenset[str]
    """The rules to check it with."""
    location: str | None = None
    """Where the file is, so that what it imports can be found; without it nothing is looked for."""
    codebase: Codebase | None = None
    """What is known of the other files."""
    policy: Policy = AS_RULES_SAY
    """What the settings say about fixes."""
    target: Target = ANY
    """The versions of torch it is written for."""
    budget: int = BUDGET
    """How many expressions of it are interpreted; 0 for no limit."""


@dataclass(frozen=True, slots=True)
class Look:
    """What a first look at a file has shown."""

    codes: frozenset[str]
    """The rules that found something."""
    rests_on: Mapping[str, str] = field(default_factory=dict)
    """The other files that were looked at, with their state then."""
    is_cut_short: bool = False
    """Whether there was more to interpret than the budget allows."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What the rules found in a tree."""

    found: tuple[tuple[Rule, Finding], ...]
    problems: tuple[Problem, ...]
    rests_on: Mapping[str, str]
    is_cut_short: bool


@dataclass(frozen=True, slots=True)
class Located:
    """Findings with their places in the text."""

    diagnostics: tuple[Diagnostic, ...] = ()
    problems: tuple[Problem, ...] = ()
    rests_on: Mapping[str, str] = field(default_factory=dict)
    is_broken: bool = False
    """Whether the text is no Python, or had to be repaired to be parsed."""
    has_tree: bool = True
    """Whether it could be parsed at all, so that comments which silence nothing can be told."""


@dataclass(frozen=True, slots=True)
class Silenced:
    """A silenced finding, and the lines of its statement and of the comments that silence it."""

    finding: Diagnostic
    rows: frozenset[int]

    @property
    def extent(self) -> tuple[int, int]:
        """The first and the last of the lines between which comment and finding belong together."""
        rows = {*self.rows, *self.finding.rows, self.finding.start.row, self.finding.end.row}
        return min(rows), max(rows)


@dataclass(frozen=True, slots=True)
class Examined:
    """All that is known of a text: what is reported, what is silenced."""

    text: str
    diagnostics: tuple[Diagnostic, ...]
    """Sorted."""
    silenced: tuple[Silenced, ...] = ()
    problems: tuple[Problem, ...] = ()
    rests_on: Mapping[str, str] = field(default_factory=dict)
    is_broken: bool = False

    def without_fixes(self, refused: Collection[Diagnostic]) -> Examined:
        """The same without the fixes of some findings."""
        if not refused:
            return self
        kept = (replace(each, fix=None) if each in refused else each for each in self.diagnostics)
        return replace(self, diagnostics=tuple(kept))

    def with_problems(self, problems: Iterable[Problem]) -> Examined:
        """The same with problems that came up while it was fixed."""
        return replace(self, problems=(*self.problems, *problems))

    def outcome(self, fixed: Mapping[str, int] | None = None) -> Outcome:
        """What is handed out of it, after some fixes, which are counted by code."""
        counts = tuple(sorted(fixed.items())) if fixed else ()
        return Outcome(self.diagnostics, self.text, counts, self.problems, len(self.silenced), self.rests_on)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one file."""

    diagnostics: tuple[Diagnostic, ...]
    """What remains, sorted, without what is suppressed."""
    text: str
    """The text with fixes applied; the very same text if there were none."""
    fixed: tuple[tuple[str, int], ...] = ()
    """How many fixes of each code were applied."""
    problems: tuple[Problem, ...] = ()
    suppressed: int = 0
    rests_on: Mapping[str, str] = field(default_factory=dict)
    """The other files that were looked at, with their state then."""
