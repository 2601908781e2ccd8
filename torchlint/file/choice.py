"""Which fixes are applied together, and the edits that this makes.

Statements that fixes put under a header of their own share one block where they stand together. Where a block begins is
only known when it is known which fixes are applied, so each of them says where its statements stand
(:class:`LocatedBlock`), and :func:`edits_of` writes the headers.
"""

from __future__ import annotations

import bisect
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from torchlint.diagnostic import Diagnostic, Fixing, LocatedFix, TextEdit


@dataclass(frozen=True, slots=True)
class LocatedBlock:
    """A block with offsets into the text."""

    header: str
    start: int
    """Where what is written before the first statement stands, and how far it replaces what is there."""
    first: int
    end: int
    """Where the last statement ends."""
    after: int | None
    """Where the statement directly before it ends, in the same suite; None if there is none, or something between."""
    lead: str
    """What comes before the header: a new line, where the statement shares one with others."""
    inner: str
    """What comes behind the header: a new line, as far in as the header."""
    step: str
    """How much further in the statements are."""
    is_open: bool = False
    """Whether the statement directly before is such a block already, and takes these in."""
    lines: tuple[int, ...] = ()
    """Where lines begin, behind the first, that move in with it."""
    splits: tuple[TextEdit, ...] = ()
    """Where a line is divided that other statements stand on; another block may begin there."""


def block_edits(blocks: Iterable[LocatedBlock]) -> list[TextEdit]:
    """What puts statements into blocks; what stands directly behind a block with the same header joins it."""
    ordered = sorted(set(blocks), key=lambda block: block.first)
    written = {(split.start, split.end): split for block in ordered for split in block.splits}
    last: LocatedBlock | None = None
    step = ""
    for block in ordered:
        joins = last is not None and _is_next(block, last)
        step = step if joins else block.step
        header = "" if joins or block.is_open else block.header + block.inner
        written[block.start, block.first] = TextEdit(block.start, block.first, f"{block.lead}{header}{step}")
        written.update(((offset, offset), TextEdit(offset, offset, step)) for offset in block.lines)
        last = block
    return [*written.values()]


def _is_next(block: LocatedBlock, last: LocatedBlock) -> bool:
    """Whether a block stands directly behind another one like it, in the same suite: not behind what that one is in."""
    return (block.after, block.header, block.inner) == (last.end, last.header, last.inner)


Blocks = Mapping[tuple[TextEdit, ...], LocatedBlock]
"""For the edits of a fix the block that they make."""


def edits_of(fixed: Iterable[Diagnostic], blocks: Blocks) -> list[TextEdit]:
    """The edits of some fixes, those that they share once, and with one block for what stands together."""
    fixes = [diagnostic.fix for diagnostic in fixed if diagnostic.fix is not None]
    written = dict.fromkeys(edit for fix in fixes for edit in _own(fix, blocks))
    written.update(dict.fromkeys(block_edits(blocks[fix.edits] for fix in fixes if fix.edits in blocks)))
    return list(written)


def _own(fix: LocatedFix, blocks: Blocks) -> Iterable[TextEdit]:
    """The edits of a fix but for those that make a block."""
    block = blocks.get(fix.edits)
    if block is None:
        return fix.edits
    making = set(block_edits([block]))
    return [edit for edit in fix.edits if edit not in making]


def chosen(
    diagnostics: Iterable[Diagnostic], text: str, blocks: Blocks, fixing: Fixing, off: Collection[str]
) -> Iterator[Diagnostic]:
    """The findings whose fixes are applied in one round: as many as do not overlap, without those of some rules."""
    taken = _Taken(text)
    for diagnostic in diagnostics:
        fix = diagnostic.fix
        if fix is None or fix.deferred or diagnostic.code in off or not fixing.applies(fix):
            continue
        if taken.take(_own(fix, blocks), blocks.get(fix.edits)):
            yield diagnostic


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
    areas.update(((offset, offset), block) for offset in block.lines)
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
