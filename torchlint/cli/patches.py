"""What fixes would change, and fixed texts, on standard output: as bytes, for they go into files."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence

from torchlint.cli.report import Style
from torchlint.cli.report.terminal import printable_lines
from torchlint.file.text.source import decode_leniently
from torchlint.project.gitignore import relative
from torchlint.project.repository import repository
from torchlint.session.scheduler import FileResult


def print_patches(results: Sequence[FileResult], style: Style) -> str:
    """Print what would change in files as patches; the directory that their paths start at."""
    from torchlint.cli.report import patch

    changed = [result for result in results if result.after is not None]
    base = _base([result.file.location for result in changed])
    for result in changed:
        name = relative(result.file.location, base) or result.file.path
        change = (name, result.before, result.after or b"", style)
        if sys.stdout.isatty():
            sys.stdout.writelines(f"{line}\n" for line in patch.for_terminal(*change))
        else:
            _write(patch.patch(*change))
    return base


def _base(locations: list[str]) -> str:
    """The directory that the paths of a patch start at: the working directory, or above it what holds all of them."""
    here = os.getcwd()
    if all(relative(location, here) is not None for location in locations):
        return here
    common = os.path.commonpath([here, *locations])
    return repository(common) or common


def _write(chunks: Iterable[bytes]) -> None:
    """Bytes to standard output: a patch has the encodings and newlines of the files it is for."""
    sys.stdout.flush()
    sys.stdout.buffer.writelines(chunks)
    sys.stdout.buffer.flush()


def write_text(data: bytes) -> None:
    """A text to standard output: its bytes, unless somebody only looks at it."""
    if sys.stdout.isatty():
        sys.stdout.write(printable_lines(decode_leniently(data)))
    else:
        _write([data])
