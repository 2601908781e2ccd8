"""Where in a file findings can be: in which of its functions a trigger is, or another name for what one names."""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable, Iterable

from torchlint.file.triggers.prose import without_prose
from torchlint.file.triggers.search import searches
from torchlint.system.layers import Layer, is_on


def sites(data: bytes, codes: frozenset[str]) -> Callable[[int, int], bool]:
    """Where findings of some rules can be: asked with the first line of a function and the one behind its last.

    That is where a trigger is, or another name for what a word names, but not in prose.
    """
    if not is_on(Layer.TRIGGERS):
        return lambda first, end: True
    data = without_prose(data)
    found: list[tuple[int, int]] = []
    named: list[tuple[int, int]] = []
    wanted = searches(codes)
    for search in wanted.own:
        (named if search.is_name else found).extend(match.span() for match in search.places(data))
    if wanted.listed:
        from torchlint.rules.api import words

        named += words.places(data, wanted.listed)
    known: set[bytes] = set()
    while named:
        found += named
        new = _other_names(data, named) - known
        known |= new
        pattern = rb"\b(?:%s)\b" % b"|".join(sorted(new))
        named = [match.span() for match in re.finditer(pattern, data)] if new else []
    starts = [0, *(match.end() for match in re.finditer(rb"\n", data))]
    rows = sorted({bisect.bisect_right(starts, start) - 1 for start, _ in found})

    def is_wanted(first: int, end: int) -> bool:
        at = bisect.bisect_left(rows, first)
        return at < len(rows) and rows[at] < end

    return is_wanted


_ASSIGNED = re.compile(rb"\A[ \t]*(?:\w+\.)*(\w+)[ \t]*(?::[^=\n]*)?=(?:[\w. \t]|\bpartial\()*\Z")
_NAMED_AS = re.compile(rb"[ \t]+as[ \t]+(\w+)")


def _other_names(data: bytes, places: Iterable[tuple[int, int]]) -> set[bytes]:
    """What names are also called by, where they stand: in ``x = name`` and ``import name as x``; or just so."""
    others: set[bytes] = set()
    for start, end in places:
        if data[start - 1 : start] != b".":
            others.add(data[start:end])
        if (renamed := _NAMED_AS.match(data, end)) is not None:
            others.add(renamed[1])
        elif data[end : end + 1] != b"(":
            line = data[data.rfind(b"\n", 0, start) + 1 : start]
            if (assigned := _ASSIGNED.search(line)) is not None:
                others.add(assigned[1])
    return others
