"""Reviewdog's JSON with an object on each line, one a finding."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from torchlint.cli.report import FileFindings, Style
from torchlint.cli.report.rdjson import SOURCE, entries


def lines(files: Sequence[FileFindings], style: Style) -> Iterator[str]:
    """One line for each finding."""
    for file in files:
        for entry in entries(file.as_written()):
            yield json.dumps({**entry, "source": SOURCE})
