"""What comments silence stays as it is, and silenced, whatever is fixed beside it; so does what a baseline has.

A fix that rewrites what a comment silences, or parts the two (it puts a block over the statement, or gives it lines of
its own), would undo what the author asked for; one that changes a statement of the baseline would have it reported.
Whether one does is seen in what is found in the text after it.
"""

from __future__ import annotations

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
    lines = Lines(examined.text)
    waiting = [d for d in examined.diagnostics if d.fix is not None and _near(d.fix, examined.silenced, lines)]
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
    lines = Lines(before.text)
    places = {(d.code, d.start) for d in applied if d.fix is not None and _near(d.fix, parted, lines)}
    return [d for d in before.diagnostics if (d.code, d.start) in places]


def _near(fix: LocatedFix, silenced: Sequence[Silenced], lines: Lines) -> list[Silenced]:
    """The silenced findings that an edit of a fix, or of an alternative, comes near to."""
    edits = [edit for each in (fix, *fix.alternatives) for edit in each.edits]
    rows = [(lines.position(edit.start).row, lines.position(edit.end).row) for edit in edits]
    return [each for each in silenced if any(start <= each.extent[1] and end >= each.extent[0] for start, end in rows)]


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
