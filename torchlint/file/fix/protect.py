"""What comments silence stays as it is, and silenced, whatever is fixed beside it; so does what a baseline has.

A fix that rewrites what a comment silences, or parts the two (it puts a block over the statement, or gives it lines of
its own), would undo what the author asked for; one that changes a statement of the baseline would have it reported.
Whether one does is seen in what is found in the text after it.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Iterable, Sequence

from torchlint.diagnostic import Diagnostic, Fixing, LocatedFix, TextEdit
from torchlint.file.fix.combine import chosen, edits_of
from torchlint.file.suppress.suppress import Examined, Silenced
from torchlint.file.text.edits import moved, splice
from torchlint.file.text.lines import Lines


def protected(examined: Examined, examine: Callable[[str], Examined]) -> Examined:
    """A text without the fixes that would part what is silenced from its comment, or rewrite it.

    ``examine`` says what is found in the text after some fixes.
    """
    for fixing in (Fixing.SAFE, Fixing.UNSAFE) if examined.silenced else ():
        examined = _tried(examined, examine, fixing)
    return examined


def _tried(examined: Examined, examine: Callable[[str], Examined], fixing: Fixing) -> Examined:
    near = _Near(examined.silenced, Lines(examined.text))
    waiting = [d for d in examined.diagnostics if d.fix is not None and near.is_touched(d.fix)]
    while together := list(chosen(waiting, examined.text, fixing)):
        following = examine(splice(examined.text, edits_of(together)))
        examined = examined.without_fixes(parting(examined, together, following))
        seen = {(d.code, d.start) for d in together}
        waiting = [d for d in waiting if (d.code, d.start) not in seen]
    return examined


def parting(before: Examined, applied: Sequence[Diagnostic], following: Examined) -> list[Diagnostic]:
    """Those of the fixes that led to a text in which something is no longer silenced, or gone, though it was."""
    if not before.silenced or following.is_broken:
        return []
    parted = _lost(before, following, edits_of(applied))
    if not parted:
        return []
    near = _Near(parted, Lines(before.text))
    places = {(d.code, d.start) for d in applied if d.fix is not None and near.is_touched(d.fix)}
    return [d for d in before.diagnostics if (d.code, d.start) in places]


class _Near:
    """The lines on which silenced findings stand, and the comments that silence them."""

    def __init__(self, silenced: Iterable[Silenced], lines: Lines) -> None:
        self._lines = lines
        extents = sorted(each.extent for each in silenced)
        self._begins = [begin for begin, _ in extents]
        self._ends = list(itertools.accumulate((end for _, end in extents), max))
        """How far those up to one reach."""

    def is_touched(self, fix: LocatedFix) -> bool:
        """Whether an edit of a fix, or of an alternative, comes near to one of them."""
        return any(self._meets(edit) for each in (fix, *fix.alternatives) for edit in each.edits)

    def _meets(self, edit: TextEdit) -> bool:
        number = bisect.bisect_right(self._begins, self._lines.position(edit.end).row)
        return number > 0 and self._ends[number - 1] >= self._lines.position(edit.start).row


def _lost(before: Examined, after: Examined, edits: Iterable[TextEdit]) -> list[Silenced]:
    """What is reported after some edits though it was silenced, or is not found again.

    What a baseline has may be gone, as long as no edit touches it: nothing is left of it that could be reported.
    """
    was, now = Lines(before.text), Lines(after.text)
    offsets = [was.offset(each.finding.start) for each in before.silenced]
    after_edits = moved(offsets, edits)
    still = {(each.finding.code, now.offset(each.finding.start)) for each in after.silenced}
    reported = {(found.code, now.offset(found.start)) for found in after.diagnostics}

    def is_lost(each: Silenced, offset: int) -> bool:
        place = (each.finding.code, after_edits.get(offset))
        if each.is_accepted:
            return offset not in after_edits or place in reported
        return place not in still

    return [each for each, offset in zip(before.silenced, offsets, strict=True) if is_lost(each, offset)]
