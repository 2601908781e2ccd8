"""Workflow commands: GitHub shows them as annotations on the lines of a pull request."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from torchlint.cli.report import FileFindings, Style
from torchlint.cli.report.terminal import printable
from torchlint.diagnostic import Diagnostic, Severity

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def lines(files: Sequence[FileFindings], style: Style) -> Iterator[str]:
    """One command for each finding; errors first, for GitHub shows only so many of each run."""
    found = [
        (file, *pair) for file in files for pair in zip(file.diagnostics, file.as_written().diagnostics, strict=True)
    ]
    for file, diagnostic, written in sorted(found, key=lambda each: each[1].severity.rank):
        yield _command(file.path, written, f"{file.path}:{file.place(diagnostic.start)}")


def _command(path: str, found: Diagnostic, place: str) -> str:
    properties = {
        "title": f"torchlint ({found.code})",
        "file": printable(path.replace(os.sep, "/")),
        "line": str(found.start.row),
        "endLine": str(found.end.row),
    }
    if found.start.row == found.end.row:  # columns are only allowed on a single line
        properties |= {"col": str(found.start.column), "endColumn": str(found.end.column)}
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{_LEVELS[found.severity]} {listed}::{_data(_message(place, found))}"


def _message(place: str, found: Diagnostic) -> str:
    message = printable(f"{place}: {found.code} {found.message}")
    return f"{message}\n  help: {printable(found.fix.message)}" if found.fix else message


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
