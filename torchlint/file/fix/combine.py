"""Which fixes are applied together, and the edits that this makes.

Statements that fixes put under a header of their own share one block where they stand together. Where a block begins is
only known when it is known which fixes are applied, so each of them says where its statements stand
(:class:`LocatedBlock`), and :func:`edits_of` writes the headers.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Collection, Iterable, Iterator, Sequence

from torchlint.diagnostic import Diagnostic, Fixing, LocatedBlock, LocatedFix, TextEdit
from torchlint.file.text.blocks import block_edits
from torchlint.file.text.edits import Replaced


def edits_of(fixed: Iterable[Diagnostic]) -> list[TextEdit]:
    """The edits of some fixes, those that they share once, and with one block for what stands together."""
    fixes = [diagnostic.fix for diagnostic in fixed if diagnostic.fix is not None]
    written = dict.fromkeys(edit for fix in fixes for edit in _own(fix))
    written.update(dict.fromkeys(block_edits(fix.block for fix in fixes if fix.block is not None)))
    return list(written)


def _own(fix: LocatedFix) -> Sequence[TextEdit]:
    """The edits of a fix but for those that make a block."""
    if fix.block is None:
        return fix.edits
    making = set(block_edits([fix.block]))
    return [edit for edit in fix.edits if edit not in making]


def chosen(
    diagnostics: Iterable[Diagnostic], text: str, fixing: Fixing, off: Collection[str] = ()
) -> Iterator[Diagnostic]:
    """The findings whose fixes are applied in one round: as many as do not overlap, without those of some rules.

    What is detached in a new block waits until that is there: it may not have to be then. So does what says that it
    comes after something that is replaced now.
    """
    taken = _Taken(text)
    fixes = [
        (each, each.fix)
        for each in diagnostics
        if each.fix is not None and not each.fix.deferred and each.code not in off and fixing.applies(each.fix)
    ]
    blocks = [fix.block for _, fix in fixes if fix.block is not None]
    inside = _Extents((block.first, block.end) for block in blocks)
    replaced = Replaced(edit for _, fix in fixes for edit in _own(fix))
    for diagnostic, fix in fixes:
        is_apart = diagnostic.half_of is None  # halves of a statement are fixed together
        if is_apart and any(edit.start in inside and "detach" in edit.content for edit in _own(fix)):
            continue
        if any(place in replaced for place in fix.after):
            continue
        if taken.take(_own(fix), fix.block):
            yield diagnostic


class _Extents:
    """Parts of a text."""

    def __init__(self, extents: Iterable[tuple[int, int]]) -> None:
        self._extents = sorted(extents)
        self._ends = list(itertools.accumulate((end for _, end in self._extents), max))
        """How far the extents up to one reach."""

    def __contains__(self, offset: int) -> bool:
        number = bisect.bisect_right(self._extents, (offset, offset))
        return number > 0 and self._ends[number - 1] > offset


class _Taken:
    """What is taken of a text by the fixes chosen so far."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._edits: set[TextEdit] = set()
        self._extents: list[tuple[int, int]] = []
        self._owners: dict[tuple[int, int], LocatedBlock | None] = {}
        """For what blocks write to the block; None where a line is only divided, for whatever block."""

    def take(self, edits: Iterable[TextEdit], block: LocatedBlock | None) -> bool:
        """Take what a fix edits, unless another one is in the way."""
        new = [edit for edit in edits if edit not in self._edits]
        extents = [_extent(edit, self._text) for edit in new]
        areas = _areas(block) if block is not None else {}
        for area, owner in areas.items():
            if area not in self._owners:
                extents.append((2 * area[0], 2 * area[1]))
            elif owner is not None and self._owners[area] not in (None, owner):
                return False
        if any(_clash(extent, self._extents) for extent in extents):
            return False
        self._edits.update(new)
        self._owners.update((area, owner or self._owners.get(area)) for area, owner in areas.items())
        for extent in extents:
            bisect.insort(self._extents, extent)
        return True


def _areas(block: LocatedBlock) -> dict[tuple[int, int], LocatedBlock | None]:
    """What a block writes to, with itself where no other may."""
    areas: dict[tuple[int, int], LocatedBlock | None] = {(split.start, split.end): None for split in block.splits}
    areas[block.start, block.first] = block
    areas.update(((offset, offset), block) for offset in (*block.above, *block.lines))
    return areas


def _extent(edit: TextEdit, text: str) -> tuple[int, int]:
    """What an edit takes, in half characters: where a line goes, nothing can be inserted at its start."""
    line_goes = not edit.content and edit.end > edit.start and text[edit.end - 1] in "\r\n"
    return (2 * edit.start - line_goes, 2 * edit.end - line_goes)


def _clash(new: tuple[int, int], taken: list[tuple[int, int]]) -> bool:
    """Whether an edit touches what another one replaces, or inserts where another one inserts."""
    index = bisect.bisect_left(taken, new)
    if index < len(taken) and (taken[index][0] < new[1] or taken[index] == new):
        return True
    return index > 0 and taken[index - 1][1] > new[0]
