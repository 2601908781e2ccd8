"""``path:row: [code] message``, pylint's parseable format, which Jenkins and others read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchlint.cli.report import FileFindings, Style
from torchlint.cli.report.terminal import printable


def lines(files: Sequence[FileFindings], style: Style) -> Iterator[str]:
    """One line for each finding."""
    for file in files:
        for found in file.as_written().diagnostics:
            place = f"{printable(file.path)}:{found.start.row}"
            yield f"{place}: [{found.code}({found.name})] {printable(found.message)}"
