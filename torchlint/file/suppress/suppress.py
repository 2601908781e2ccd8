"""Findings without those that comments silence, and with what is to be said of the comments."""

from __future__ import annotations

from torchlint.file.results import Examined, Located, Silenced
from torchlint.file.suppress.comments import Suppressions


def suppressed(text: str, located: Located, codes: frozenset[str]) -> Examined:
    """What is reported of a text, sorted; ``codes`` are the rules that were asked for."""
    suppressions = Suppressions(text)
    about_comments = codes if located.has_tree else frozenset[str]()
    found = [*located.diagnostics, *(suppressions.malformed() if "TL004" in about_comments else ())]
    kept, silenced = [], []
    for diagnostic in found:
        by = suppressions.silencing(diagnostic)
        if by:
            silenced.append(Silenced(diagnostic, frozenset(each.start.row for each in by if each.rows)))
        else:
            kept.append(diagnostic)
    if "TL002" in about_comments:
        kept += suppressions.unused(codes)
    return Examined(
        text,
        tuple(sorted(kept, key=lambda diagnostic: diagnostic.sort_key)),
        tuple(silenced),
        located.problems,
        located.rests_on,
        located.is_broken,
    )
