"""Commands for the log of Azure Pipelines, which shows them as issues of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchlint.cli.report import FileFindings, Style
from torchlint.cli.report.terminal import printable
from torchlint.diagnostic import Severity

_TYPES = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "warning"}
"""There are no others."""


def lines(files: Sequence[FileFindings], style: Style) -> Iterator[str]:
    """One command for each finding."""
    for file in files:
        for found in file.as_written().diagnostics:
            properties = {
                "type": _TYPES[found.severity],
                "sourcepath": file.slashed,
                "linenumber": str(found.start.row),
                "columnnumber": str(found.start.column),
                "code": found.code,
            }
            listed = "".join(f"{name}={_property(printable(value))};" for name, value in properties.items())
            yield f"##vso[task.logissue {listed}]{_data(printable(found.message))}"


def _data(text: str) -> str:
    return text.replace("%", "%AZP25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(";", "%3B").replace("]", "%5D")
