"""What is announced is what is fixed: a fix that waits for others is no more than what those are together."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace

from torchlint.diagnostic import Applicability, LocatedFix, TextEdit
from torchlint.file.suppress.suppress import Examined


def announced(examined: Examined) -> Examined:
    """The findings, with fixes that wait for others announced as what those are: an import goes if every use goes."""
    fixes = [each.fix for each in examined.diagnostics if each.fix is not None]
    if not any(fix.waits_for for fix in fixes):
        return examined
    replaced = _Replaced(edit for fix in fixes for edit in fix.edits)
    safely = _Replaced(edit for fix in fixes if fix.applicability is Applicability.SAFE for edit in fix.edits)
    known: dict[int, Applicability | None] = {}
    found = []
    for each in examined.diagnostics:
        if each.fix is not None and each.fix.waits_for:
            places = each.fix.waits_for  # one object for all imports of a name
            if id(places) not in known:
                known[id(places)] = _applicability(places, replaced, safely)
            each = replace(each, fix=_announced(each.fix, known[id(places)]))
        found.append(each)
    return replace(examined, diagnostics=tuple(found))


def _applicability(places: Sequence[tuple[int, int]], replaced: _Replaced, safely: _Replaced) -> Applicability | None:
    """How far what removes some places can be trusted; None if something stays."""
    if all(place in safely for place in places):
        return Applicability.SAFE
    return Applicability.UNSAFE if all(place in replaced for place in places) else None


def _announced(fix: LocatedFix, applicability: Applicability | None) -> LocatedFix | None:
    if applicability is None:
        return None
    if applicability is not Applicability.SAFE:
        fix = fix.doubted("it goes with the fix of a use, which is unsafe")
    return replace(fix, waits_for=())


class _Replaced:
    """The places in a text that some edits replace."""

    def __init__(self, edits: Iterable[TextEdit]) -> None:
        extents = sorted((edit.start, edit.end) for edit in edits)
        self._starts = [start for start, _ in extents]
        self._ends = list(itertools.accumulate((end for _, end in extents), max))
        """How far the edits up to one reach."""

    def __contains__(self, place: tuple[int, int]) -> bool:
        start, end = place
        number = bisect.bisect_right(self._starts, start)
        return number > 0 and self._ends[number - 1] >= end
