"""The edits that put statements into blocks of their own."""

from __future__ import annotations

from collections.abc import Iterable

from torchlint.diagnostic import LocatedBlock, TextEdit


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
        if block.start < block.first:
            written[block.start, block.first] = TextEdit(block.start, block.first, block.lead)
        lead = block.lead if block.start == block.first else ""  # `if a:b`, with nothing in between to replace
        # at the statement itself, so that it is seen to be what the edit is about
        written[block.first, block.first] = TextEdit(block.first, block.first, f"{lead}{header}{step}")
        above = block.above if joins or block.is_open else ()
        written.update(((offset, offset), TextEdit(offset, offset, step)) for offset in (*above, *block.lines))
        last = block
    return [*written.values()]


def _is_next(block: LocatedBlock, last: LocatedBlock) -> bool:
    """Whether a block stands directly behind another one like it, in the same suite: not behind what that one is in."""
    return (block.after, block.header, block.inner) == (last.end, last.header, last.inner)
