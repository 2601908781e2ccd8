"""Reviewdog's JSON. Its columns count bytes of UTF-8, from 1."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from torchlint.cli.report import FileFindings, Style, url
from torchlint.diagnostic import Diagnostic, LocatedFix, Position, Severity
from torchlint.file.text.lines import Lines

SOURCE = {"name": "torchlint", "url": "https://github.com/torchlint/torchlint"}

_LEVELS = {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING", Severity.INFO: "INFO"}


def lines(files: Sequence[FileFindings], style: Style) -> Iterator[str]:
    """The whole document."""
    diagnostics = [entry for file in files for entry in entries(file.as_written())]
    yield json.dumps({"source": SOURCE, "severity": "WARNING", "diagnostics": diagnostics}, indent=2)


def entries(file: FileFindings) -> Iterator[dict[str, Any]]:
    """An object for each finding of a file."""
    text = Lines(file.text)
    for found in file.diagnostics:
        yield _entry(file, text, found)


def _entry(file: FileFindings, text: Lines, found: Diagnostic) -> dict[str, Any]:
    page = url(found.code, found.name)
    fixes = [found.fix, *found.fix.alternatives] if found.fix is not None and not found.fix.deferred else []
    return {
        "message": found.message,
        "location": {"path": file.slashed, "range": _range(text, found.start, found.end)},
        "severity": _LEVELS[found.severity],
        "code": {"value": found.code, **({"url": page} if page is not None else {})},
        "suggestions": [_suggestion(text, fix) for fix in fixes if fix.edits],
    }


def _suggestion(text: Lines, fix: LocatedFix) -> dict[str, Any]:
    """All edits of a fix as one, since suggestions are taken one by one."""
    pieces, at = list[str](), fix.edits[0].start
    for edit in fix.edits:
        pieces += (text.text[at : edit.start], edit.content)
        at = edit.end
    start, end = text.position(fix.edits[0].start), text.position(fix.edits[-1].end)
    return {"range": _range(text, start, end), "text": "".join(pieces)}


def _range(text: Lines, start: Position, end: Position) -> dict[str, Any]:
    return {"start": _position(text, start), "end": _position(text, end)}


def _position(text: Lines, position: Position) -> dict[str, int]:
    before = text.line(position.row)[: position.column - 1]
    return {"line": position.row, "column": len(before.encode(errors="surrogatepass")) + 1}
