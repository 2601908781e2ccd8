"""SARIF 2.1.0, as code scanning reads it: relative names, fingerprints, what the rules say, and fixes."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from typing import Any

from torchlint import __version__
from torchlint.cli.report import FileFindings, Style, fingerprints, url
from torchlint.diagnostic import Applicability, Confidence, Diagnostic, LocatedEvidence, LocatedFix, Position, Severity
from torchlint.file.text.lines import Lines
from torchlint.project.pages import documentation
from torchlint.project.selection import group_of, severity_of

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

MOST_CHARACTERS = 1_000
"""Of a description. Code scanning shows 1,024."""

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_PROBLEMS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "recommendation"}
_RANKS = {Confidence.HIGH: 90.0, Confidence.MEDIUM: 60.0, Confidence.LOW: 30.0}


def lines(files: Sequence[FileFindings], style: Style) -> Iterator[str]:
    """The whole document."""
    cells = [file.where(found.start)[0] for file in files for found in file.diagnostics]
    files = [file.as_written() for file in files]
    names = {found.code: found.name for file in files for found in file.diagnostics}
    codes = sorted(names)
    driver = {
        "name": "torchlint",
        "version": __version__,
        "semanticVersion": __version__,
        "informationUri": "https://github.com/torchlint/torchlint",
        "rules": [_rule(code, names[code]) for code in codes],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": list(_results(files, cells, {code: number for number, code in enumerate(codes)})),
    }
    yield json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(code: str, name: str) -> dict[str, Any]:
    text = re.sub(r"(?m)^```diff .*$", "```diff", documentation(code))  # what follows is for tests
    title, _, rest = text.partition("\n")
    page, group, severity = url(code, name), group_of(code), severity_of(code)
    return {
        "id": code,
        "name": name,
        "shortDescription": {"text": title},
        "fullDescription": {"text": _cut(rest.strip().partition("\n\n")[0].replace("\n", " ") or title)},
        "help": {"text": text, "markdown": text},
        **({"helpUri": page} if page is not None else {}),
        "defaultConfiguration": {"level": _LEVELS[severity]},
        "properties": {
            "tags": ["pytorch", *([group.value] if group is not None else [])],
            "problem.severity": _PROBLEMS[severity],
        },
    }


def _cut(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 1]}…"


def _results(
    files: Sequence[FileFindings], cells: Sequence[int | None], numbers: dict[str, int]
) -> Iterator[dict[str, Any]]:
    texts: dict[str, Lines] = {}
    for (file, found, fingerprint), cell in zip(fingerprints(files), cells, strict=True):
        if file.location not in texts:
            texts = {file.location: Lines(file.text)}  # of one file at a time
        result = _result(file, found, texts[file.location], fingerprint, numbers[found.code])
        if cell is not None:
            result["locations"][0]["logicalLocations"] = [_cell(file, cell)]
        yield result


def _cell(file: FileFindings, number: int) -> dict[str, str]:
    """A cell of a notebook: lines and columns are those of the JSON, which nobody sees in an editor of notebooks."""
    name = f"cell {number}"
    return {"name": name, "fullyQualifiedName": f"{file.slashed}:{name}", "kind": "cell"}


def _result(file: FileFindings, found: Diagnostic, text: Lines, fingerprint: str, number: int) -> dict[str, Any]:
    artifact = _artifact(file)
    fixes = [found.fix, *found.fix.alternatives] if found.fix is not None and not found.fix.deferred else []
    listed = [_fix(fix, artifact, text) for fix in fixes if fix.edits]
    return {
        "ruleId": found.code,
        "ruleIndex": number,
        "level": _LEVELS[found.severity],
        "rank": _RANKS[found.confidence],
        "message": {"text": found.message},
        "locations": [
            {"physicalLocation": {"artifactLocation": artifact, "region": _region(found.start, found.end)}},
        ],
        **_related(found.evidence, artifact),
        "partialFingerprints": {"torchlint/v1": fingerprint},
        **({"fixes": listed} if listed else {}),
        **({"baselineState": _state(found, file.baselined)} if file.baselined is not None else {}),
        "properties": {"confidence": found.confidence.value},
    }


def _related(evidence: LocatedEvidence | None, artifact: dict[str, str]) -> dict[str, Any]:
    """The line that a finding rests on, with what it says."""
    if evidence is None or evidence.row is None:
        return {}
    place = {"artifactLocation": artifact, "region": {"startLine": evidence.row}}
    return {"relatedLocations": [{"physicalLocation": place, "message": {"text": evidence.message}}]}


def _state(found: Diagnostic, baselined: frozenset[Diagnostic]) -> str:
    return "unchanged" if found in baselined else "new"


def _artifact(file: FileFindings) -> dict[str, str]:
    """The name of a file: relative to the working directory, or where it is if that is elsewhere."""
    from urllib.parse import quote

    if not os.path.isabs(file.path):
        return {"uri": quote(os.fsencode(file.slashed)), "uriBaseId": "%SRCROOT%"}
    from pathlib import Path

    return {"uri": Path(file.location).as_uri()}


def _fix(fix: LocatedFix, artifact: dict[str, str], text: Lines) -> dict[str, Any]:
    doubt = " (unsafe: the program may do something else afterwards)"
    replacements = [
        {
            "deletedRegion": _region(text.position(edit.start), text.position(edit.end)),
            "insertedContent": {"text": edit.content},
        }
        for edit in fix.edits
    ]
    return {
        "description": {"text": fix.message + doubt * (fix.applicability is Applicability.UNSAFE)},
        "artifactChanges": [{"artifactLocation": artifact, "replacements": replacements}],
    }


def _region(start: Position, end: Position) -> dict[str, int]:
    return {"startLine": start.row, "startColumn": start.column, "endLine": end.row, "endColumn": end.column}
