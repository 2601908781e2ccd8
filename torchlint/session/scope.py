"""Findings that a change has brought: those on its lines, and those elsewhere in the file that are new."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from torchlint.diagnostic import Diagnostic
from torchlint.project.changes import ChangedFile, GitChanges
from torchlint.project.discovery import File
from torchlint.session.scheduler import FileResult, Run


class Brought(NamedTuple):
    """The results of a run without what a change has not brought."""

    results: list[FileResult]
    elsewhere: int
    """How many findings were there before."""
    caused: list[tuple[FileResult, Diagnostic]]
    """Findings on lines that are as they were: what changed elsewhere in the file has brought them."""


def changed(files: Iterable[File], changes: GitChanges) -> list[File]:
    """The files among some that have changed."""
    return [file for file in files if changes.of(file.location) is not None]


def checked(run: Run, files: Sequence[File], changes: GitChanges) -> list[FileResult]:
    """The results of a run over changed files: of what is staged, or of what is in them."""
    if changes.index is None:
        return run.files(files)
    contents = changes.now(file.location for file in files)
    return run.texts([(file, contents[file.location]) for file in files if file.location in contents])


def brought(results: Sequence[FileResult], changes: GitChanges, before: Run) -> Brought:
    """What a change has brought; ``before`` is a run in which the files can be looked at as they were."""
    kept, caused, elsewhere = list[FileResult](), list[tuple[FileResult, Diagnostic]](), 0
    known = _known(results, changes, before)
    for result in results:
        change = changes.of(result.file.location) or ChangedFile()
        left, found = known.get(result.file.location, Counter()), []
        for each, rows in zip(result.diagnostics, _rows(result), strict=True):
            is_touched = any(change.touches(*part) for part in rows)
            if is_touched and _lines_tell(result, change):
                found.append(each)
            elif left[each.key] > 0:
                left[each.key] -= 1
                elsewhere += 1
            else:
                found.append(each)
                if not is_touched:
                    caused.append((result, each))
        kept.append(result._replace(diagnostics=tuple(found)))
    return Brought(kept, elsewhere, caused)


def _lines_tell(result: FileResult, change: ChangedFile) -> bool:
    """Whether what is on a line that changed is new.

    Not in a notebook that was there before: whoever runs a cell changes the lines around its code, and some programs
    write all of a notebook on one line, or with another indentation. There the statements tell.
    """
    return result.cells is None or change.was is None


def _rows(result: FileResult) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """For each finding the lines of its statement in the file, and its own."""
    found = result.diagnostics
    written = found if result.cells is None else result.cells.in_file(result.text, found)
    return ((each.rows, (each.start.row, each.end.row)) for each in written)


def _known(
    results: Iterable[FileResult], changes: GitChanges, before: Run
) -> Mapping[str, Counter[tuple[str, str, str]]]:
    """What was found before in the files that have findings on lines that are as they were."""
    wanted = dict[str, File]()
    for result in results:
        change = changes.of(result.file.location)
        if change is not None and not (
            _lines_tell(result, change) and all(any(change.touches(*part) for part in rows) for rows in _rows(result))
        ):
            wanted[result.file.location] = result.file
    contents = changes.before(wanted)
    old = before.texts([(wanted[location], data) for location, data in contents.items()])
    return {result.file.location: Counter(found.key for found in result.diagnostics) for result in old}
