"""Findings without those that comments silence or a baseline has, and with what is to be said of the comments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from torchlint.diagnostic import Diagnostic, FindingKey, Problem
from torchlint.file.comments.suppressions import Suppressions
from torchlint.file.dispatch.subject import Subject
from torchlint.file.locate.located import Located
from torchlint.file.text.lines import Lines


@dataclass(frozen=True, slots=True)
class Silenced:
    """A silenced finding, and the lines of its statement and of the comments that silence it."""

    finding: Diagnostic
    rows: frozenset[int] = frozenset()
    """Of the comments, those of the first and the last that do the same."""
    is_accepted: bool = False
    """Whether a baseline has it, and no comment silences it."""

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


def suppressed(text: str, located: Located, subject: Subject) -> Examined:
    """What is reported of a text, sorted. Of findings that are accepted so many are silenced, the first ones."""
    policy, accepted = subject.policy, subject.accepted
    suppressions = Suppressions(text if policy.heeds_comments else "")
    about_comments = subject.codes if located.has_tree else frozenset[str]()
    found = [*located.diagnostics, *(suppressions.malformed() if "TL004" in about_comments else ())]
    kept, silenced = [], []
    lines = Lines(text) if suppressions.directives else None
    for diagnostic in found:
        by = suppressions.silencing(diagnostic)
        if by:
            silenced.append(Silenced(diagnostic, frozenset(each.start.row for each in by if each.rows)))
        else:
            kept.append(_without_fix_of_silenced(diagnostic, suppressions, lines))
    if "TL005" in about_comments:
        kept += suppressions.unreasoned()
    if "TL002" in about_comments:
        unused = suppressions.unused(subject.codes)
        kept += (replace(each, fix=policy.of(each.fix, each.code)) for each in unused)
    kept.sort(key=lambda diagnostic: diagnostic.sort_key)
    if accepted:
        kept, known = parted(kept, accepted)
        silenced += [Silenced(each, is_accepted=True) for each in known]
    return Examined(
        text,
        tuple(kept),
        tuple(silenced),
        located.problems,
        located.rests_on,
        located.is_broken,
    )


def parted(
    found: Iterable[Diagnostic], accepted: Mapping[FindingKey, int]
) -> tuple[list[Diagnostic], list[Diagnostic]]:
    """Findings without those that are accepted, and those: of equal ones the first are."""
    left, new, known = Counter(accepted), list[Diagnostic](), list[Diagnostic]()
    for each in found:
        if left[each.key] > 0:
            left[each.key] -= 1
            known.append(each)
        else:
            new.append(each)
    return new, known


def _without_fix_of_silenced(diagnostic: Diagnostic, suppressions: Suppressions, lines: Lines | None) -> Diagnostic:
    """A finding without its fix, if that edits other lines too and a comment there silences the rule.

    Uses of an imported name are fixed with the import, where they are reported.
    """
    if diagnostic.fix is None or lines is None:
        return diagnostic
    first, last = diagnostic.rows
    edits = diagnostic.fix.edits
    offsets = {offset for edit in edits for offset in (edit.start, max(edit.start, edit.end - 1))}
    rows = {lines.position(offset).row for offset in offsets} - {*range(first, last + 1)}
    found = [replace(diagnostic, rows=(row, row), start=replace(diagnostic.start, row=row)) for row in sorted(rows)]
    by = [directive for each in found for directive in suppressions.silencing(each)]
    return replace(diagnostic, fix=None) if by else diagnostic
