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
        yield _entry(found, file.location, text)


def _entry(found: Diagnostic, filename: str, text: Lines) -> dict[str, Any]:
    group = group_of(found.code)
    return {
        "cell": None,
        "code": found.code,
        "confidence": found.confidence.value,
        "end_location": _location(found.end),
        "evidence": _evidence(found.evidence),
        "filename": filename,
        "fix": _fix(found.fix, text),
        "group": group.value if group is not None else None,
        "location": _location(found.start),
        "message": found.message,
        "name": found.name,
        "noqa_row": found.rows[1],
        "severity": found.severity.value,
        "url": url(found.code, found.name),
    }


def _location(position: Position) -> dict[str, int]:
    return {"column": position.column, "row": position.row}


def _evidence(evidence: LocatedEvidence | None) -> dict[str, Any] | None:
    if evidence is None:
        return None
    return {"kind": evidence.kind, "message": evidence.message, "row": evidence.row}


def _fix(fix: LocatedFix | None, text: Lines) -> dict[str, Any] | None:
    if fix is None:
        return None
    edits = [
        {
            "content": edit.content,
            "end_location": _location(text.position(edit.end)),
            "location": _location(text.position(edit.start)),
        }
        for edit in fix.edits
    ]
    return {
        "alternatives": [_fix(other, text) for other in fix.alternatives],
        "applicability": fix.applicability.value,
        "edits": edits,
        "message": fix.message,
    }
