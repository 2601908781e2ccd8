"""Edits of a text: the text after them, and where characters are then."""

from __future__ import annotations

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
