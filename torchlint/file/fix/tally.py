"""How many findings were fixed: counted where one fix does the work of another."""

from __future__ import annotations

import bisect
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from torchlint.diagnostic import Diagnostic, TextEdit
from torchlint.file.text.edits import images, moved
from torchlint.file.text.lines import Lines


class Tally:
    """How many findings were fixed, by code: those that were announced and are no longer there.

    What fixes leave to be tidied up (a second `.detach()` after the one that was written) belongs to them, and is not
    counted; what only came to light by a fix elsewhere is.
    """

    def __init__(self, text: str, announced: Iterable[Diagnostic]) -> None:
        self._open = _by_offset(text, announced)
        self._written: list[tuple[int, int]] = []
        """The places of what fixes have written, in order."""
        self._settled = Counter[str]()

    def count(self, text: str, applied: Iterable[Diagnostic], edits: Iterable[TextEdit]) -> None:
        """Take note of the fixes that were applied to a text in one round, by these edits."""
        for offset, codes in _by_offset(text, applied, self._is_new).items():
            self._settled.update(codes - self._open.get(offset, Counter()))
        ordered = sorted(edits, key=lambda edit: (edit.start, edit.end))
        after = moved(self._open, ordered)
        for offset in self._open.keys() - after.keys():
            self._settled.update(self._open[offset])
        self._open = {after[offset]: codes for offset, codes in self._open.items() if offset in after}
        written = ((start, end) for start, end in images(ordered) if start < end)
        self._written = sorted([*self._kept(ordered), *written])

    def total(self, text: str, left: Iterable[Diagnostic]) -> Counter[str]:
        """What was fixed, with these findings left in a text."""
        still = _by_offset(text, left)
        fixed = self._settled.copy()
        for offset, codes in self._open.items():
            fixed.update(codes - still.get(offset, Counter()))
        return fixed

    def _is_new(self, found: Diagnostic) -> bool:
        """Whether a fix is about what was in the text, and touches nothing that fixes have written."""
        if found.fix is None:
            return False
        for edit in found.fix.edits:
            number = bisect.bisect_left(self._written, edit.start, key=lambda place: place[1])
            if number < len(self._written) and self._written[number][0] <= edit.end:
                return False
        return True

    def _kept(self, edits: Sequence[TextEdit]) -> Iterator[tuple[int, int]]:
        after = moved((start for start, _ in self._written), edits)
        for start, end in self._written:
            if start in after:
                yield after[start], after[start] + end - start


def _by_offset(
    text: str, found: Iterable[Diagnostic], is_counted: Callable[[Diagnostic], bool] = bool
) -> dict[int, Counter[str]]:
    lines, codes = Lines(text), defaultdict[int, Counter[str]](Counter)
    for each in found:
        if is_counted(each):
            codes[lines.offset(each.start)][each.code] += 1
    return dict(codes)
