"""Which comments begin and end what is silenced on several lines: ``disable[…]`` and ``enable[…]``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from torchlint.diagnostic import Position
from torchlint.file.comments.directive import Said


class RangeEnd(NamedTuple):
    """A comment that begins or ends a range, and where it is."""

    said: Said
    start: Position
    end: Position
    has_reason: bool = False

    @property
    def rules(self) -> str:
        """The rules as they are written, in brackets; nothing where it means all."""
        return "" if self.said.selectors is None else f"[{', '.join(self.said.selectors)}]"


class SilencedRange(NamedTuple):
    """What a comment disables, up to the one that enables it again; to the end of the file without that."""

    first: RangeEnd
    last: RangeEnd | None
    faults: tuple[str, ...] = ()
    """What is wrong with the comments."""
    is_none: bool = False
    """Whether nothing is silenced, for it is not clear what would be."""


def ranges(ends: Iterable[RangeEnd]) -> Iterator[SilencedRange]:
    """The ranges that comments make, which are given in their order.

    An ``enable`` ends what was disabled with the same rules; without rules it ends all.
    """
    opened: dict[frozenset[str] | None, RangeEnd] = {}
    for each in ends:
        rules = frozenset(each.said.selectors) if each.said.selectors is not None else None
        fault = ""
        if each.said.faults:
            yield SilencedRange(each, None, each.said.faults, is_none=True)
        elif each.said.kind == "disable":
            if rules in opened:
                fault = f"`disable{each.rules}` holds already since line {opened[rules].start.row}"
            opened.setdefault(rules, each)
        elif rules in opened:
            yield SilencedRange(opened.pop(rules), each)
        elif rules is None and opened:
            yield from (SilencedRange(first, each) for first in opened.values())
            opened.clear()
        else:
            fault = f"no `disable{each.rules}` stands before it"
        if fault:
            yield SilencedRange(each, None, (fault,), is_none=True)
    for first in opened.values():
        fault = (
            f"no `enable{first.rules}` ends it, so it holds to the end of the file, as `file-ignore{first.rules}` does"
        )
        yield SilencedRange(first, None, (fault,))
