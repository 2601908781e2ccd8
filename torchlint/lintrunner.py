"""``python -m torchlint.lintrunner @FILE``: an adapter for lintrunner, which puts the paths to check into a file.

It prints a JSON object on each line, as lintrunner wants them. What safe fixes would change is one object for a file, a
patch that ``lintrunner --apply-patches`` takes; all else is an object for each finding.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence

from torchlint.api import Applicability, FileReport, Linter, Severity
from torchlint.project.discovery import is_excluded
from torchlint.project.project import Project
from torchlint.system.reading import read

CODE = "TORCHLINT"
"""What lintrunner calls this linter."""

SEVERITIES = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "advice"}


def main(arguments: Sequence[str]) -> int:
    """Check the files that arguments name, or that stand in a file behind ``@``."""
    paths = [path for argument in arguments for path in _paths(argument)]
    for message in messages(paths, os.cpu_count() or 1):
        print(json.dumps(message), flush=True)
    return 0


def _paths(argument: str) -> list[str]:
    if not argument.startswith("@"):
        return [argument]
    return read(argument[1:]).decode("utf-8").splitlines()


def messages(paths: Sequence[str], jobs: int) -> Iterator[dict[str, object]]:
    """What there is to say of files, without those that the settings exclude."""
    project, linter = Project(), Linter(jobs=jobs)
    for report in linter.check(*(path for path in paths if not is_excluded(os.path.abspath(path), project))):
        for error in report.errors:
            yield _message(report, "not-checked", "error", error)
        patch = _patch(report, linter)
        if patch is not None:
            yield patch
        for found in report.findings:
            if patch is None or found.fix is not Applicability.SAFE:
                cell = f"cell {found.cell}: " if found.cell is not None else ""
                said = f"{cell}{found.message} ({found.code})"
                place = {"line": found.row, "char": found.column} if found.cell is None else {}
                yield _message(report, found.name, SEVERITIES[found.severity], said) | place


def _patch(report: FileReport, linter: Linter) -> dict[str, object] | None:
    """What safe fixes change in a file; None if they change nothing, or it is not UTF-8, which lintrunner writes."""
    safe = [found for found in report.findings if found.fix is Applicability.SAFE]
    if not safe:
        return None
    try:
        original = read(report.path).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    fixed = linter.fix_text(original.encode("utf-8"), report.path)
    replacement = f"\ufeff{fixed.text}" if original.startswith("\ufeff") else fixed.text
    if replacement == original:
        return None
    worst = min((found.severity for found in safe), key=lambda severity: severity.rank)
    listed = "\n".join(
        f"{found.row}:{found.column} {found.message} ({found.code})"
        if found.cell is None
        else f"cell {found.cell}:{found.row}:{found.column} {found.message} ({found.code})"
        for found in safe
    )
    said = _message(report, "safe-fixes", SEVERITIES[worst], listed)
    return said | {"original": original, "replacement": replacement}


def _message(report: FileReport, name: str, severity: str, description: str) -> dict[str, object]:
    return {
        "path": report.path,
        "line": None,
        "char": None,
        "code": CODE,
        "severity": severity,
        "name": name,
        "original": None,
        "replacement": None,
        "description": description,
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
