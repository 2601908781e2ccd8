"""GitLab's report of code quality: a JSON list that a merge request shows the new entries of."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from torchlint.cli.report import FileFindings, Style, fingerprints
from torchlint.diagnostic import Severity

_LEVELS = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.INFO: "minor"}


def lines(files: Sequence[FileFindings], style: Style) -> Iterator[str]:
    """The whole list."""
    entries = [
        {
            "description": f"{found.code}: {found.message}",
            "check_name": found.name,
            "fingerprint": fingerprint,
            "severity": _LEVELS[found.severity],
            "location": {
                "path": file.slashed,
                "positions": {
                    "begin": {"line": found.start.row, "column": found.start.column},
                    "end": {"line": found.end.row, "column": found.end.column},
                },
            },
        }
        for file, found, fingerprint in fingerprints([file.as_written() for file in files])
    ]
    yield json.dumps(entries, indent=2)
