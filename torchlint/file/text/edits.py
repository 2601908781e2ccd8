"""Edits of a text: the text after them, and where characters are then."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterable, Iterator, Sequence

from torchlint.diagnostic import TextEdit


def splice(text: str, edits: Iterable[TextEdit]) -> str:
    """The text with edits applied, which do not overlap."""
    pieces, last = [], 0
    for edit in sorted(edits, key=lambda e: (e.start, e.end)):
        pieces += [text[last : edit.start], edit.content]
        last = edit.end
    return "".join([*pieces, text[last:]])


def images(edits: Sequence[TextEdit]) -> Iterator[tuple[int, int]]:
    """Where the new text of each edit begins and ends afterwards; they are given in the order of the text."""
    shift = 0
    for edit in edits:
        start = edit.start + shift
        yield start, start + len(edit.content)
        shift += len(edit.content) - (edit.end - edit.start)


def moved(offsets: Iterable[int], edits: Iterable[TextEdit]) -> dict[int, int]:
    """Where characters are after some edits, by where they were; without those that are gone."""
    ordered = sorted(edits, key=lambda edit: (edit.start, edit.end))
    after: dict[int, int] = {}
    number = shift = 0
    for offset in sorted(offsets):
        while number < len(ordered) and ordered[number].end <= offset:
            shift += len(ordered[number].content) - (ordered[number].end - ordered[number].start)
            number += 1
        if number == len(ordered) or offset < ordered[number].start:
            after[offset] = offset + shift
    return after


def composed(rounds: Iterable[Iterable[TextEdit]], length: int) -> list[TextEdit]:
    """Edits of a text of that length that do what several rounds of edits do, each to what the one before has left.

    They are in the order of the text, and no two touch each other.
    """
    pieces: list[_Left | str] = [(0, length)]
    for edits in rounds:
        pieces = list(_edited(pieces, sorted(edits, key=lambda edit: (edit.start, edit.end))))
    found, at, new = list[TextEdit](), 0, list[str]()
    for piece in (*pieces, (length, length)):
        if isinstance(piece, str):
            new.append(piece)
            continue
        start, end = piece
        if start == end and end != length:
            continue
        if start > at or new:
            found.append(TextEdit(at, start, "".join(new)))
            new = []
        at = end
    return found


_Left = tuple[int, int]
"""A part of a text that is still there."""


def _edited(pieces: Iterable[_Left | str], edits: Iterable[TextEdit]) -> Iterator[_Left | str]:
    """The pieces of a text after edits."""
    source = _Pieces(pieces)
    for edit in edits:
        yield from source.up_to(edit.start)
        for _ in source.up_to(edit.end):
            pass
        if edit.content:
            yield edit.content
    yield from source.up_to(None)


class _Pieces:
    """Pieces that are taken one after the other, cut where that is asked for."""

    def __init__(self, pieces: Iterable[_Left | str]) -> None:
        self._rest = iter(pieces)
        self._next: _Left | str | None = next(self._rest, None)
        self._at = 0

    def up_to(self, end: int | None) -> Iterator[_Left | str]:
        """What stands before a place, or all that is left."""
        while self._next is not None:
            piece = self._next
            size = len(piece) if isinstance(piece, str) else piece[1] - piece[0]
            if end is None or self._at + size <= end:
                self._next = next(self._rest, None)
                self._at += size
                yield piece
                continue
            cut = end - self._at
            if cut:
                self._next = piece[cut:] if isinstance(piece, str) else (piece[0] + cut, piece[1])
                self._at = end
                yield piece[:cut] if isinstance(piece, str) else (piece[0], piece[0] + cut)
            return


class Replaced:
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
