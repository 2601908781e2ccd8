"""Checking and fixing from Python. What is public stands in ``__all__``; it changes as the command line does.

.. code-block:: python

    from torchlint.api import Linter

    linter = Linter(select=["TL1"])
    for report in linter.check("src"):
        for finding in report.findings:
            print(report.path, finding.row, finding.code, finding.message)
    print(linter.fix_text("import torch\\nx = torch.ones(3).data.shape\\n").text)

Settings files hold as they do for the command line, unless ``isolated`` says otherwise. Nothing is printed, no cache is
written, and torch is not imported.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from torchlint.cli.report import FileFindings
from torchlint.cli.report.json_ import entries
from torchlint.diagnostic import Applicability, Confidence, Diagnostic, Fixing, Group, Severity
from torchlint.file.text.source import Undecodable, decode, decode_utf8
from torchlint.project.discovery import NOTEBOOK, File, discover, shown
from torchlint.project.project import Project
from torchlint.project.selection import Selection, SettingsError, check_selectors, group_of
from torchlint.project.settings import check_version, given
from torchlint.session.scheduler import FileResult, Run, RunOptions
from torchlint.system.memory import give_back

__all__ = [
    "Applicability",
    "Confidence",
    "FileReport",
    "Group",
    "Linter",
    "ReportedFinding",
    "SettingsError",
    "Severity",
]


@dataclass(frozen=True, slots=True)
class ReportedFinding:
    """One finding. Rows and columns count characters, from 1; in a notebook they are those of the cell."""

    code: str
    name: str
    """The name of the rule."""
    message: str
    severity: Severity
    group: Group | None
    """What the rule is about; None for what is said of the file itself."""
    confidence: Confidence
    cell: int | None
    """The number of the cell in a notebook."""
    row: int
    column: int
    end_row: int
    end_column: int
    reason: str | None
    """Why it is believed, where that is not plain."""
    fix: Applicability | None
    """Whether there is a fix, and how far it can be trusted."""
    json: Mapping[str, object] = field(repr=False, compare=False)
    """All of it, edits too, as ``torchlint check --output-format json`` has it."""


@dataclass(frozen=True, slots=True)
class FileReport:
    """What became of one file or text."""

    path: str
    """As reports show it: relative to the working directory where it is below it."""
    findings: tuple[ReportedFinding, ...]
    """What was found; after fixing, what is left."""
    errors: tuple[str, ...] = ()
    """Why it could not be checked, or not all of it, or not be fixed."""
    fixed: Mapping[str, int] = field(default_factory=dict)
    """How many findings were fixed, by code."""
    text: str = field(default="", repr=False)
    """Of what was given as a text: the text after fixing. Of a notebook that is its JSON."""

    def as_json(self) -> list[Mapping[str, object]]:
        """The findings as objects for JSON."""
        return [found.json for found in self.findings]


class Linter:
    """Checks and fixes, always with the same options; they mean what those of the command line mean.

    Raises:
        SettingsError: an option makes no sense. Settings files that make none are noticed when a file is checked.
    """

    def __init__(
        self,
        *,
        select: Iterable[str] | None = None,
        extend_select: Iterable[str] = (),
        ignore: Iterable[str] = (),
        target_torch: str | None = None,
        min_confidence: Confidence | None = None,
        config: Iterable[str] = (),
        isolated: bool = False,
        jobs: int = 1,
    ) -> None:
        selection = Selection(
            None if select is None else _selectors(select, "select"),
            _selectors(extend_select, "extend_select"),
            _selectors(ignore, "ignore"),
        )
        if target_torch is not None:
            check_version(target_torch, "target_torch")
        self._project = Project(
            selection, isolated, target_torch, min_confidence=min_confidence, given=given(tuple(config))
        )
        self._jobs = jobs

    def check(self, *paths: str | os.PathLike[str]) -> Iterator[FileReport]:
        """Check files, and all below folders, in the order of their names; the reports come while the run goes on.

        A path that does not exist is a report with an error. Files without findings have reports, too.
        """
        return self._files(paths, Fixing.NONE)

    def fix(self, *paths: str | os.PathLike[str], unsafe: bool = False) -> Iterator[FileReport]:
        """The same, with safe fixes (``unsafe``: all) written to the files."""
        return self._files(paths, Fixing.UNSAFE if unsafe else Fixing.SAFE)

    def check_text(self, text: str | bytes, filename: str = "-") -> FileReport:
        """Check a text as if it were what is in a file, which need not exist.

        The name decides which settings hold; one that ends in ``.ipynb`` says that the text is a notebook.
        """
        return self._text(text, filename, Fixing.NONE)

    def fix_text(self, text: str | bytes, filename: str = "-", *, unsafe: bool = False) -> FileReport:
        """Fix a text; ``text`` of the report is what it becomes, and nothing is written."""
        return self._text(text, filename, Fixing.UNSAFE if unsafe else Fixing.SAFE)

    def _files(self, paths: Iterable[str | os.PathLike[str]], fixing: Fixing) -> Iterator[FileReport]:
        found = discover([os.fspath(path) for path in paths], self._project)
        for message in found.missing:
            yield FileReport(message.rpartition(": ")[0], (), (message,))
        for problem in found.problems:
            yield FileReport(problem.path, (), (str(problem),))
        run = Run(self._project, RunOptions(fixing, jobs=self._jobs))
        try:
            yield from map(_report, run.stream(found.files))
        finally:
            give_back()

    def _text(self, text: str | bytes, filename: str, fixing: Fixing) -> FileReport:
        location = os.path.abspath(filename)
        file = File(filename if filename == "-" else shown(location), location, named=True)
        is_notebook = filename.endswith(NOTEBOOK)
        result = Run(self._project, RunOptions(fixing)).text(file, text)
        after = text if result.after is None else result.after
        return _report(result, after if isinstance(after, str) else _decoded(after, is_notebook))


def _decoded(data: bytes, is_notebook: bool) -> str:
    """A text with its byte order mark, so that it can be written back."""
    try:
        source = decode_utf8(data) if is_notebook else decode(data)
        return source.bom.decode() + source.text
    except Undecodable:
        return data.decode("utf-8", "replace")


def _report(result: FileResult, text: str = "") -> FileReport:
    file = FileFindings(result.file.path, result.file.location, result.text, result.diagnostics, result.cells)
    findings = zip(result.diagnostics, entries(file), strict=True)
    return FileReport(
        result.file.path,
        tuple(_finding(found, file, entry) for found, entry in findings),
        tuple(map(str, result.problems)),
        dict(result.fixed),
        text,
    )


def _finding(found: Diagnostic, file: FileFindings, entry: Mapping[str, object]) -> ReportedFinding:
    cell, start = file.where(found.start)
    end = file.where(found.end)[1]
    return ReportedFinding(
        found.code,
        found.name,
        found.message,
        found.severity,
        group_of(found.code),
        found.confidence,
        cell,
        start.row,
        start.column,
        end.row,
        end.column,
        found.evidence.message if found.evidence is not None else None,
        found.fix.applicability if found.fix is not None else None,
        entry,
    )


def _selectors(given: Iterable[str], where: str) -> tuple[str, ...]:
    """The rules that an option names, if each is one; a text is not taken letter by letter."""
    if isinstance(given, str):
        raise SettingsError(f'{where} must be a list of rules, as in ["TL1"]')
    return check_selectors(given, where)
