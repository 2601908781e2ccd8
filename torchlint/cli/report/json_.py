"""A JSON list with one object a finding. Rows and columns count code points, from 1."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from torchlint.cli.report import FileFindings, Style, url
from torchlint.diagnostic import Diagnostic, LocatedEvidence, LocatedFix, Position
from torchlint.file.text.lines import Lines
from torchlint.project.selection import group_of


def lines(files: Sequence[FileFindings], style: Style) -> Iterator[str]:
    """The whole list, indented."""
    yield json.dumps([entry for file in files for entry in entries(file)], indent=2)


def entries(file: FileFindings) -> Iterator[dict[str, Any]]:
    """An object for each finding of a file."""
    text = Lines(file.text)
    for found in file.diagnostics:
        yield _entry(found, file, text)


def _entry(found: Diagnostic, file: FileFindings, text: Lines) -> dict[str, Any]:
    group = group_of(found.code)
    cell, start = file.where(found.start)
    return {
        "cell": cell,
        "code": found.code,
        "confidence": found.confidence.value,
        "end_location": _location(file.where(found.end)[1]),
        "evidence": _evidence(found.evidence, file),
        "filename": file.location,
        "fix": _fix(found.fix, file, text),
        "group": group.value if group is not None else None,
        "location": _location(start),
        "message": found.message,
        "name": found.name,
        "noqa_row": file.where(Position(found.rows[1], 1))[1].row,
        "severity": found.severity.value,
        "url": url(found.code, found.name),
    }


def _location(position: Position) -> dict[str, int]:
    return {"column": position.column, "row": position.row}


def _evidence(evidence: LocatedEvidence | None, file: FileFindings) -> dict[str, Any] | None:
    if evidence is None:
        return None
    if evidence.row is None:
        return {"kind": evidence.kind, "message": evidence.message, "row": None}
    cell, at = file.where(Position(evidence.row, 1))
    return {"kind": evidence.kind, "message": evidence.message, "row": at.row, **_in_cell(cell)}


def _in_cell(cell: int | None) -> dict[str, int]:
    """The cell, where there are any: evidence and edits of a finding may be in others than the finding."""
    return {"cell": cell} if cell is not None else {}


def _fix(fix: LocatedFix | None, file: FileFindings, text: Lines) -> dict[str, Any] | None:
    if fix is None:
        return None
    edits = []
    for edit in fix.edits:
        cell, start = file.where(text.position(edit.start))
        end = file.where(text.position(edit.end))[1]
        edits.append(
            {"content": edit.content, "end_location": _location(end), "location": _location(start), **_in_cell(cell)}
        )
    return {
        "alternatives": [_fix(other, file, text) for other in fix.alternatives],
        "applicability": fix.applicability.value,
        "edits": edits,
        "message": fix.message,
        "risk": fix.risk or None,
    }
