"""The halves of a statement are fixed together, or not at all: never ``p.data.copy_(p.detach() * q.detach())``.

What reads and what writes through `.data` in one statement are findings of several rules, some with a safe fix, some
with an unsafe one, some with none. A statement of which one half is old and the other one new is worse than either.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from torchlint.diagnostic import Applicability, Diagnostic, LocatedFix
from torchlint.file.suppress.suppress import Examined


def joined(examined: Examined) -> Examined:
    """The findings, those of one statement with fixes that are applied in the same modes."""
    halves: dict[tuple[int, int], list[LocatedFix | None]] = defaultdict(list)
    for each in examined.diagnostics:
        if each.half_of is not None:
            halves[each.half_of].append(each.fix)
    if not halves:
        return examined
    diagnostics = tuple(
        _joined(each, halves[each.half_of]) if each.half_of is not None else each for each in examined.diagnostics
    )
    return replace(examined, diagnostics=diagnostics)


def _joined(diagnostic: Diagnostic, fixes: list[LocatedFix | None]) -> Diagnostic:
    """A finding with the fix that it has beside those of the other halves."""
    fix = diagnostic.fix
    if fix is not None and fix.deferred and all(each is None or each.deferred for each in fixes):
        fix = replace(fix, deferred=False)  # the half that it would wait for is not asked for
        diagnostic = replace(diagnostic, fix=fix)
    if fix is None or all(each is not None and each.applicability is fix.applicability for each in fixes):
        return diagnostic
    if None in fixes:
        return replace(diagnostic, fix=None)
    others = (each.risk for each in fixes if each is not None and each.applicability is Applicability.UNSAFE)
    risk = next(filter(None, others), "the other half of the statement has an unsafe fix")
    return replace(diagnostic, fix=fix.doubted(risk))
