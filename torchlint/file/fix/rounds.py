"""Fixing: as many fixes as go together, then the text is examined again, until nothing is left to fix.

A round is handed the text as examined, and a way to examine the next one; of rules and trees it knows nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torchlint.diagnostic import Diagnostic, Fixing, Problem, TextEdit
from torchlint.file.fix.combine import chosen, edits_of
from torchlint.file.fix.protect import parting
from torchlint.file.fix.referee import Referee
from torchlint.file.fix.tally import Tally
from torchlint.file.locate.blank_lines import closed_up
from torchlint.file.suppress.suppress import Examined
from torchlint.file.text.edits import splice

MAX_ROUNDS = 500
"""Rounds of fixing before a file counts as not converging: fixes that overlap are applied one a round."""

FEW_ROUNDS = 40
"""Rounds that any file may take."""

MAX_CHARACTERS = 2_000_000
"""Characters that may be examined in all rounds together, if they are more than those few."""

Examine = Callable[[str], Examined]

Rounds = list[Sequence[TextEdit]]
"""The edits of each round, which are about the text that the one before has left."""


def fixed(original: Examined, examine: Examine, fixing: Fixing, path: str) -> tuple[Examined, Counter[str], Rounds]:
    """The text when all is fixed, how many fixes of each code that took, and the edits that led there.

    ``examine`` says what is found in the texts on the way.
    """
    off = frozenset[str]()
    while True:
        current, counts, rounds, endless = _rounds(original, examine, fixing, off, path)
        if not endless:
            break
        off |= endless
    if off:
        current = current.without_fixes([d for d in current.diagnostics if d.code in off and d.fix is not None])
        message = f"the fixes of {', '.join(sorted(off))} did not come to an end: left out"
        current = current.with_problems([Problem(path, message)])
    return current, counts, rounds


def _rounds(
    original: Examined, examine: Examine, fixing: Fixing, off: frozenset[str], path: str
) -> tuple[Examined, Counter[str], Rounds, frozenset[str]]:
    """Fix until nothing is left to fix, without the fixes of some rules; also the rules whose fixes never end."""
    current = original
    tally = Tally(current.text, [d for d in current.diagnostics if d.fix is not None and fixing.applies(d.fix)])
    seen = {original.text: 0}
    history: list[frozenset[str]] = []
    rounds: Rounds = []
    most = _allowed(original.text)
    for number in range(1, most + 1):
        this = one_round(current, examine, fixing, off, path)
        if not this.applied:
            return this.before, tally.total(current.text, this.before.diagnostics), rounds, frozenset()
        rounds.append(closed_up(edits_of(this.applied), current.text))
        tally.count(current.text, this.applied, rounds[-1])
        history.append(frozenset(diagnostic.code for diagnostic in this.applied))
        if this.after.text in seen:
            return this.before, Counter(), rounds, frozenset[str]().union(*history[seen[this.after.text] :])
        seen[this.after.text] = number
        current = this.after
    return current, Counter(), rounds, frozenset[str]().union(*history[-max(most // 10, 1) :])


def _allowed(text: str) -> int:
    """Rounds that a text may take: of a large one, each takes long."""
    return min(MAX_ROUNDS, max(FEW_ROUNDS, MAX_CHARACTERS // max(len(text), 1)))


@dataclass(frozen=True, slots=True)
class Round:
    """One round of fixing."""

    before: Examined
    """The text before, without the fixes that were refused."""
    applied: Sequence[Diagnostic]
    """The findings whose fixes were applied; none, where nothing is left to fix."""
    after: Examined


def _with(applied: Sequence[Diagnostic], text: str) -> str:
    """A text with the fixes of some findings."""
    return splice(text, closed_up(edits_of(applied), text))


def one_round(current: Examined, examine: Examine, fixing: Fixing, off: frozenset[str], path: str) -> Round:
    """Apply to a text as many fixes as go together, but for those of some rules."""
    while waiting := list(chosen(current.diagnostics, current.text, fixing, off)):
        referee = Referee(current.text)
        applied = referee.admitted(waiting)
        following = examine(_with(applied, current.text)) if applied else current
        if following.is_broken and not current.is_broken:
            applied = referee.admitted(applied, lambda text: examine(text).is_broken)
            following = examine(_with(applied, current.text)) if applied else current
        parted = parting(current, applied, following)
        refused = referee.refused
        current = current.without_fixes([*refused, *parted]).with_problems(
            Problem(path, f"the fix of {found.code} {reason}: left out", found.start.row)
            for found, reason in refused.items()
        )
        if applied and not parted:
            return Round(current, applied, following)
    return Round(current, (), current)  # what was left out others may have waited for, and those came after
