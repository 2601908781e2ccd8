"""What the engine hands to reports, cache and suppression: findings with positions, as plain data.

Nothing here knows libcst, so a report never has to import it.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field, replace
from typing import NamedTuple

OWN_PREFIX = "TL"
"""What the codes of this program begin with. Those of rules in other packages begin with something else."""


class Applicability(str, enum.Enum):
    """How far a fix can be trusted (the contract of the rules defines each word)."""

    SAFE = "safe"
    UNSAFE = "unsafe"


class Severity(str, enum.Enum):
    """How bad a finding is, the worst first (the contract of the rules defines each word)."""

    ERROR = "error"
    """It raises, or computes something else than what is meant, on a version of torch that the project supports."""
    WARNING = "warning"
    """It is wrong under conditions, costs memory or time, or is deprecated."""
    INFO = "info"
    """It is right today, and an old way of writing it."""

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return list(Severity).index(self)


class Group(str, enum.Enum):
    """What a rule is about. Groups select rules, as codes and names do."""

    CORRECTNESS = "correctness"
    """What raises, or computes something else than what is meant."""
    MIGRATION = "migration"
    """What was written for a PyTorch of long ago."""
    DEPRECATED = "deprecated"
    """What PyTorch is going to take away, or has renamed."""
    PERFORMANCE = "performance"
    """What costs time or memory for nothing."""
    SECURITY = "security"
    """What runs code that somebody else has written."""
    REPRODUCIBILITY = "reproducibility"
    """What comes out differently each time."""


class Confidence(str, enum.Enum):
    """How sure it is that a finding is about what it says, the surest first."""

    HIGH = "high"
    """It follows from what is written, from torch's own signatures, or from an annotation."""
    MEDIUM = "medium"
    """It follows from conventions of PyTorch, or from what else is done to the value."""
    LOW = "low"
    """It follows from a name."""

    @property
    def rank(self) -> int:
        """0 for the surest."""
        return list(Confidence).index(self)


_CONFIDENCE = {"use": Confidence.MEDIUM, "convention": Confidence.MEDIUM, "name": Confidence.LOW}
"""By the kind of evidence; without any, or with another one, it is high."""


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a text: 1-based row and 1-based column, both counted in code points."""

    row: int
    column: int


@dataclass(frozen=True, slots=True)
class TextEdit:
    """Replace the characters ``start:end`` (offsets into the decoded text) by ``content``."""

    start: int
    end: int
    content: str


@dataclass(frozen=True, slots=True)
class LocatedBlock:
    """Statements of one suite that go under a header of their own, with offsets into the text."""

    header: str
    start: int
    """Where what is written before the first statement stands, and how far it replaces what is there."""
    first: int
    end: int
    """Where the last statement ends."""
    after: int | None
    """Where the statement before it ends, in the same suite; None if there is none, or an empty line between."""
    lead: str
    """What comes before the header: a new line, where the statement shares one with others."""
    inner: str
    """What comes behind the header: a new line, as far in as the header."""
    step: str
    """How much further in the statements are."""
    is_open: bool = False
    """Whether the statement directly before is such a block already, and takes these in."""
    lines: tuple[int, ...] = ()
    """Where lines begin, behind the first, that move in with it."""
    splits: tuple[TextEdit, ...] = ()
    """Where a line is divided that other statements stand on; another block may begin there."""
    above: tuple[int, ...] = ()
    """Where the comments begin that stand between it and the statement before: they move in if one block holds both."""


@dataclass(frozen=True, slots=True)
class LocatedFix:
    """A fix as text edits, sorted and not overlapping; all of them are applied or none."""

    message: str
    applicability: Applicability
    edits: tuple[TextEdit, ...]
    deferred: bool = False
    """Reported, but only applied in a later round, when other fixes have made it possible
    (an import goes when its last use has gone)."""
    alternatives: tuple[LocatedFix, ...] = ()
    """Other modern forms of the same code, to choose by hand; none is applied."""
    block: LocatedBlock | None = field(default=None, compare=False)
    """The block that some of the edits make. Of use only while fixing: it is not kept for reports."""
    risk: str = ""
    """Of an unsafe fix, what can change in this place."""
    waits_for: tuple[tuple[int, int], ...] = field(default=(), compare=False)
    """Of a deferred fix, the places in the text that others have to remove first. As long-lived as ``block``."""
    after: tuple[tuple[int, int], ...] = field(default=(), compare=False)
    """Places that other fixes may replace in a round: this one waits for the next then. As long-lived as ``block``."""

    def doubted(self, risk: str) -> LocatedFix:
        """The same fix as an unsafe one, for a reason that counts if it has none of its own."""
        return replace(self, applicability=Applicability.UNSAFE, risk=self.risk or risk)


class Fixing(enum.Enum):
    """Which fixes to apply."""

    NONE = "none"
    SAFE = "safe"
    UNSAFE = "unsafe"

    def applies(self, fix: LocatedFix) -> bool:
        """Whether a fix is applied in this mode."""
        if self is Fixing.NONE:
            return False
        return fix.applicability is Applicability.SAFE or self is Fixing.UNSAFE


@dataclass(frozen=True, slots=True)
class Policy:
    """What the settings say about findings, and about the fixes of some rules (codes); of others the rules decide."""

    unfixable: frozenset[str] = frozenset()
    safe: frozenset[str] = frozenset()
    unsafe: frozenset[str] = frozenset()
    least: Confidence = Confidence.LOW
    """What is less sure is not reported, and so not fixed."""
    heeds_comments: bool = True
    """Whether comments silence anything."""

    def reports(self, found: Diagnostic) -> bool:
        """Whether a finding is sure enough."""
        return found.confidence.rank <= self.least.rank

    def of(self, fix: LocatedFix | None, code: str) -> LocatedFix | None:
        """A fix of a rule as the settings want it."""
        if fix is None or code in self.unfixable:
            return None
        if code in self.unsafe:
            return fix.doubted("the settings say so")
        return replace(fix, applicability=Applicability.SAFE, risk="") if code in self.safe else fix

    @property
    def key(self) -> list[list[str]]:
        """All of it, for the key of a cache."""
        return [
            *(sorted(codes) for codes in (self.unfixable, self.safe, self.unsafe)),
            [self.least.value, str(self.heeds_comments)],
        ]


AS_RULES_SAY = Policy()


@dataclass(frozen=True, slots=True)
class LocatedEvidence:
    """Why the model believes what the finding rests on."""

    kind: str
    """signature, annotation, convention, use or name: the strength, in the model's words."""
    message: str
    row: int | None
    """The line the evidence comes from, if it is in this file."""


FindingKey = tuple[str, str, str]
"""What a finding is known by in its file, wherever it moves: its code, and the scope and the statement of its site."""


class FindingSite(NamedTuple):
    """Where a finding is, in terms that stay when lines move and code is formatted anew."""

    scope: str = ""
    """The functions and classes around it, by name: ``Net.forward``; nothing at the top of a module."""
    statement: str = ""
    """A hash of its statement without blanks, comments and other matters of form; nothing where a file has no tree."""
    source: str = ""
    """The beginning of the statement, for people to read."""


NOWHERE = FindingSite()


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding in one file."""

    code: str
    name: str
    message: str
    start: Position
    end: Position
    rows: tuple[int, int]
    """First and last row of the statement the finding is in (of a compound statement: its header). A suppression
    comment on either silences it; the last is where ``noqa_row`` points."""
    fix: LocatedFix | None = None
    evidence: LocatedEvidence | None = None
    severity: Severity = Severity.WARNING
    half_of: tuple[int, int] | None = field(default=None, compare=False)
    """The place of the statement that this is half of: its other findings are fixed together with it, or none is. Of
    use only while fixing."""
    site: FindingSite = NOWHERE

    @property
    def confidence(self) -> Confidence:
        """How sure it is, by the evidence."""
        return _CONFIDENCE.get(self.evidence.kind, Confidence.HIGH) if self.evidence is not None else Confidence.HIGH

    @property
    def key(self) -> FindingKey:
        """What it is known by; equal statements of one scope have the same."""
        return (self.code, self.site.scope, self.site.statement)

    @property
    def sort_key(self) -> tuple[Position, Position, str]:
        """Document order, then code: the order of every report."""
        return (self.start, self.end, self.code)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that kept the run from being complete (exit code 3): I/O, a rule that raised."""

    path: str
    message: str
    row: int | None = None
    details: str = ""
    """Where it comes from, if it is a mistake of this program: a traceback."""

    def __str__(self) -> str:
        row = "" if self.row is None else f":{self.row}"
        return f"{self.path}{row}: {self.message}"
