"""Findings as the protocol has them."""

from __future__ import annotations

from lsprotocol import types

from torchlint.cli.report import url
from torchlint.diagnostic import Diagnostic, LocatedEvidence, Position, Problem, Severity
from torchlint.file.text.lines import Lines
from torchlint.server.checked import Checked

SOURCE = "torchlint"
"""Who says so."""

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}


def diagnostics(checked: Checked) -> dict[str, list[types.Diagnostic]]:
    """What was found in each text of a document; of one in which nothing was, an empty list."""
    found: dict[str, list[types.Diagnostic]] = {uri: [] for uri in checked.snapshot.parts}
    for each in checked.diagnostics:
        place = checked.location(each.start, each.end)
        found[place.uri].append(diagnostic(each, place.range, checked))
    for uri in list(found)[:1]:
        found[uri] += [_unchecked(problem, checked.snapshot.parts[uri], checked) for problem in checked.problems]
    return found


def _unchecked(problem: Problem, lines: Lines, checked: Checked) -> types.Diagnostic:
    """Why a document was not checked, at its first line: else it would look like one without findings."""
    at = checked.encoding.range(lines, Position(1, 1), Position(1, len(lines.line(1)) + 1))
    return types.Diagnostic(at, problem.message, types.DiagnosticSeverity.Warning, source=SOURCE)


def diagnostic(found: Diagnostic, at: types.Range, checked: Checked) -> types.Diagnostic:
    """A finding at its place."""
    page = url(found.code, found.name)
    because = _because(found.evidence, checked) if found.evidence is not None else None
    return types.Diagnostic(
        range=at,
        message=found.message,
        severity=_SEVERITIES[found.severity],
        code=found.code,
        code_description=types.CodeDescription(page) if page is not None else None,
        source=SOURCE,
        tags=[types.DiagnosticTag.Unnecessary] if found.code == "TL002" else None,
        related_information=[because] if because is not None else None,
    )


def _because(evidence: LocatedEvidence, checked: Checked) -> types.DiagnosticRelatedInformation | None:
    """Where the evidence comes from, if it is in the same document."""
    if evidence.row is None:
        return None
    at = Position(evidence.row, 1)
    uri, place = checked.place(at)
    line = checked.snapshot.parts[uri].line(place.row)
    start = Position(place.row, len(line) - len(line.lstrip()) + 1)
    around = checked.encoding.range(checked.snapshot.parts[uri], start, Position(place.row, len(line) + 1))
    return types.DiagnosticRelatedInformation(types.Location(uri, around), evidence.message)
