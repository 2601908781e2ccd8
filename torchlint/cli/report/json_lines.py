"""A JSON object on each line, one a finding, with the fields of the format ``json``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from torchlint.cli.report import FileFindings, Style
from torchlint.cli.report.json_ import entries


def lines(files: Sequence[FileFindings], style: Style) -> Iterator[str]:
    """One line for each finding."""
    for file in files:
        for entry in entries(file):
            yield json.dumps(entry)
