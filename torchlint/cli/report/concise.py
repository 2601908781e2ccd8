"""``path:row:column: code message``, one line a finding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchlint.cli.report import BOLD, CYAN, FileFindings, Style
from torchlint.cli.report.terminal import printable


def lines(files: Sequence[FileFindings], style: Style) -> Iterator[str]:
    """One line for each finding."""
    colon = style.paint(":", *CYAN)
    for file in files:
        path = style.paint(printable(file.path), *BOLD)
        for found in file.diagnostics:
            place = colon.join((path, *file.place(found.start).split(":")))
            yield f"{place}{colon} {style.code(found)} {style.mark(found)}{printable(found.message)}"
