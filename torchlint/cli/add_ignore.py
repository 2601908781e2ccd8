"""``torchlint check --add-ignore``: comments in the files for all that was found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from torchlint.cli.report import counted
from torchlint.cli.report.terminal import printable
from torchlint.diagnostic import Problem
from torchlint.file.comments.adding import silenced
from torchlint.file.text import source
from torchlint.project.selection import OWN, SettingsError
from torchlint.session.content import read_content
from torchlint.session.scheduler import FileResult
from torchlint.system import writing
from torchlint.system.reading import read


class Added:
    """What was written."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        """What to say of it."""
        self.problems: list[Problem] = []
        self.left = 0
        """Findings for which no comment could be written."""


def check_reason(reason: str) -> str:
    """A reason that can stand in a comment.

    Raises:
        SettingsError: it cannot.
    """
    if "#" in reason or not reason.isprintable():
        raise SettingsError("--add-ignore: a reason is one line without `#`")
    return reason.strip()


def add(results: Iterable[FileResult], reason: str) -> Added:
    """Write comments for all findings into the files."""
    added = Added()
    count = files = 0
    for result in results:
        if not result.diagnostics:
            continue
        try:
            written, left = _write(result, reason)
        except OSError as error:
            added.problems.append(Problem(result.file.path, f"no comments were written: {error.strerror or error}"))
            continue
        added.left += left
        if written:
            added.lines.append(f"{printable(result.file.path)}: {counted(written, 'finding')} silenced")
            count, files = count + written, files + 1
    added.lines += _summary(count, files, added.left)
    return added


def _summary(count: int, files: int, left: int) -> Iterator[str]:
    yield f"Wrote comments for {counted(count, 'finding')} in {counted(files, 'file')}."
    if left:
        yield f"{counted(left, 'finding')} cannot be silenced by a comment."


def _write(result: FileResult, reason: str) -> tuple[int, int]:
    """How many findings of a file are silenced now, and how many are not.

    Raises:
        OSError: it could not be written, or is not what was checked any more.
    """
    data = read(result.file.location)
    try:
        content = read_content(result.file.path, data).without_bad_cells()
    except source.Undecodable:
        return 0, len(result.diagnostics)
    if content.embedded is not None:  # what is said there is for readers
        return 0, len(result.diagnostics)
    if content.shown != result.text:
        raise writing.NotWritten("the file has changed since it was checked")
    done = silenced(content.text, [each for each in result.diagnostics if each.code not in OWN], reason)
    if done.silenced:
        writing.write(result.file.location, content.after(done.text, [done.edits]).data, data)
    return len(done.silenced), len(result.diagnostics) - len(done.silenced)
