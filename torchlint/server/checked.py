"""What was found in a document, in the terms of the client: which text, which range, which edits."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from lsprotocol import types

from torchlint.diagnostic import Diagnostic, Position, Problem, TextEdit
from torchlint.file.text.lines import Lines
from torchlint.server.documents import Snapshot
from torchlint.server.encoding import Encoding

if TYPE_CHECKING:
    from torchlint.file.notebook.cells import Cells

Edits = Mapping[str, Sequence[types.TextEdit]]
"""Edits by the URI of the text they are for."""

_COMPARED = 2_000
"""Lines that are compared one by one; where more have changed, they are replaced together."""


class DocumentPlace(NamedTuple):
    """A place in a text of a document."""

    uri: str
    position: Position


@dataclass(frozen=True, slots=True)
class Checked:
    """A document that was checked."""

    snapshot: Snapshot
    encoding: Encoding
    diagnostics: tuple[Diagnostic, ...] = ()
    cells: Cells | None = None
    """Of a notebook, where the lines of its program are."""
    problems: tuple[Problem, ...] = ()
    """Why not all of it was checked."""

    def place(self, position: Position) -> DocumentPlace:
        """A place in what was checked."""
        uris = list(self.snapshot.parts)
        if self.cells is None:
            return DocumentPlace(uris[0], position)
        cell, at = self.cells.place(position)
        return DocumentPlace(uris[cell - 1], at)

    def location(self, start: Position, end: Position) -> types.Location:
        """A part of what was checked; one that reaches beyond its cell ends with that."""
        first, last = self.place(start), self.place(end)
        lines = self.snapshot.parts[first.uri]
        stop = last.position if last.uri == first.uri else Position(lines.rows, len(lines.line(lines.rows)) + 1)
        return types.Location(first.uri, self.encoding.range(lines, first.position, stop))

    def found_at(self, uri: str, within: types.Range) -> Iterator[tuple[Diagnostic, types.Range]]:
        """The findings in a part of a text, each with its range."""
        for each in self.diagnostics:
            place = self.location(each.start, each.end)
            if place.uri == uri and _meet(place.range, within):
                yield each, place.range

    def edits(self, edits: Sequence[TextEdit]) -> Edits:
        """Edits of what was checked.

        Raises:
            NotInCell: one of them reaches out of its cell.
        """
        uris = list(self.snapshot.parts)
        if self.cells is None:
            return {uris[0]: self._in_text(uris[0], edits)}
        changed = self.cells.sources_edited([edits])
        return {uri: self._in_text(uri, its) for cell, its in changed for uri in (uris[cell.written.number - 1],)}

    def _in_text(self, uri: str, edits: Iterable[TextEdit]) -> list[types.TextEdit]:
        lines = self.snapshot.parts[uri]
        return [
            types.TextEdit(
                self.encoding.range(lines, lines.position(each.start), lines.position(each.end)), each.content
            )
            for each in edits
        ]

    def edits_to(self, texts: Iterable[tuple[str, str]]) -> Edits:
        """The edits that make other texts of those of the document."""
        changed = ((uri, text, self.snapshot.parts[uri]) for uri, text in texts)
        return {
            uri: self._in_text(uri, _differences(lines, Lines(text)))
            for uri, text, lines in changed
            if lines.text != text
        }


def _meet(one: types.Range, other: types.Range) -> bool:
    """Whether two ranges share a place, if only their ends."""
    return _key(one.start) <= _key(other.end) and _key(other.start) <= _key(one.end)


def _key(position: types.Position) -> tuple[int, int]:
    return position.line, position.character


def _differences(before: Lines, after: Lines) -> Iterator[TextEdit]:
    """The lines in which two texts differ, as edits of the first."""
    old, new = _with_ends(before), _with_ends(after)
    if max(len(old), len(new)) > _COMPARED:
        head = _common(old, new)
        tail = _common(old[head:][::-1], new[head:][::-1])
        changes = [("replace", head, len(old) - tail, head, len(new) - tail)]
    else:
        changes = list(difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes())
    ends = [*before.starts, len(before.text)]
    for kind, start, end, first, last in changes:
        if kind != "equal":
            yield TextEdit(ends[start], ends[end], "".join(new[first:last]))


def _with_ends(lines: Lines) -> list[str]:
    """The lines of a text with what ends them."""
    ends = [*lines.starts[1:], len(lines.text)]
    return [lines.text[start:end] for start, end in zip(lines.starts, ends, strict=True)]


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    """How many lines two texts begin with in common."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((number for number, (one, other) in pairs if one != other), min(len(left), len(right)))
