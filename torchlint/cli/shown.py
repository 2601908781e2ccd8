"""What of the results of a run is shown."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from torchlint.cli.report import FileFindings
from torchlint.diagnostic import Diagnostic
from torchlint.session.scheduler import FileResult


def shown(
    results: Iterable[FileResult], only: Collection[str] | None = None, *, has_baseline: bool = False
) -> list[FileFindings]:
    """Results as reports want them: files with findings (of some codes)."""
    files = []
    for result in results:
        diagnostics = tuple(found for found in result.diagnostics if only is None or found.code in only)
        if diagnostics:
            file = findings(result, diagnostics)
            files.append(replace(file, baselined=frozenset(result.baselined)) if has_baseline else file)
    return files


def findings(result: FileResult, diagnostics: tuple[Diagnostic, ...]) -> FileFindings:
    """Some findings of a file as reports want them."""
    return FileFindings(result.file.path, result.file.location, result.text, diagnostics, result.cells)


def would_fix(results: Iterable[FileResult]) -> str:
    """The sentence under a patch."""
    count = sum(number for result in results for _, number in result.fixed)
    return f"Would fix {count} finding{'s' * (count != 1)}." if count else "Nothing to fix."
