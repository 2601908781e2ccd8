"""Findings under the file they are in, a line each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchlint.cli.report import BOLD, FileFindings, Style
from torchlint.cli.report.terminal import printable


def lines(files: Sequence[FileFindings], style: Style) -> Iterator[str]:
    """The name of each file, and a line for each of its findings."""
    for file in files:
        yield f"{style.paint(printable(file.path), *BOLD)}:"
        places = [file.place(found.start) for found in file.diagnostics]
        width = max(map(len, places))
        levels = max(len(found.severity.value) for found in file.diagnostics)
        for place, found in zip(places, file.diagnostics, strict=True):
            head = f"{place:<{width}}  {found.severity.value:<{levels}}  {style.code(found)}"
            yield f"  {head} {style.mark(found)}{printable(found.message)}"
        yield ""
