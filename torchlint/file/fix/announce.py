"""What is announced is what is fixed: a fix that waits for others is no more than what those are together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from torchlint.diagnostic import Applicability, LocatedFix
from torchlint.file.suppress.suppress import Examined
from torchlint.file.text.edits import Replaced


def announced(examined: Examined) -> Examined:
    """The findings, with fixes that wait for others announced as what those are: an import goes if every use goes."""
    fixes = [each.fix for each in examined.diagnostics if each.fix is not None]
    if not any(fix.waits_for for fix in fixes):
        return examined
    replaced = Replaced(edit for fix in fixes for edit in fix.edits)
    safely = Replaced(edit for fix in fixes if fix.applicability is Applicability.SAFE for edit in fix.edits)
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


def _applicability(places: Sequence[tuple[int, int]], replaced: Replaced, safely: Replaced) -> Applicability | None:
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
