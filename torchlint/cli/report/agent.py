"""Findings for coding assistants: what is wrong, why, and the fix, without what a reader pays for and does not use.

Under each file a line for a finding, or for several of which the same is to be said, with lines below it that begin
with a space. What ``--fix`` does is told in words; what it leaves is written out, as lines to take away and to add.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchlint.cli.report import FileFindings, Style, is_fixable
from torchlint.cli.report.hunks import NumberedText, hunks
from torchlint.cli.report.terminal import printable
from torchlint.diagnostic import Diagnostic, LocatedFix


def lines(files: Sequence[FileFindings], style: Style) -> Iterator[str]:
    """Each file, and its findings."""
    for file in files:
        yield f"{printable(file.path)}:"
        text = NumberedText(file)
        for alike in _alike(file.diagnostics, style):
            first = alike[0]
            places = ", ".join(file.place(found.start) for found in alike)
            yield f"{places} {first.severity.value} {first.code} {style.mark(first)}{printable(first.message)}"
            reasons = dict.fromkeys(reason for found in alike if (reason := _reason(text, found)))
            yield from (f" why: {reason}" for reason in reasons)
            if first.fix is not None:
                yield from _remedy(text, first.fix, is_fixable(first, style.unsafe_fixes))


def _alike(found: Sequence[Diagnostic], style: Style) -> Iterator[list[Diagnostic]]:
    """Findings of which the same is to be said, the first ones first; one with a fix to write out is alone."""
    groups: dict[object, list[Diagnostic]] = {}
    for number, each in enumerate(found):
        is_told = each.fix is None or is_fixable(each, style.unsafe_fixes)
        said = (each.code, each.severity, each.message, each.fix and each.fix.message)
        groups.setdefault(said if is_told else number, []).append(each)
    yield from groups.values()


def _reason(text: NumberedText, found: Diagnostic) -> str:
    """Why it is believed; nothing where that is plain."""
    if found.evidence is None:
        return ""
    row = found.evidence.row
    place = "" if row is None or row == found.start.row else f", line {text.number(row)}"
    return f"{printable(found.evidence.message)}{place}"


def _remedy(text: NumberedText, fix: LocatedFix, is_applied: bool) -> Iterator[str]:
    yield f" {'fix' if is_applied else 'unsafe fix'}: {printable(fix.message)}"
    if is_applied:
        return
    changed = [(sign, line) for hunk in hunks(text, fix.edits) for sign, _, line in hunk.lines if sign != " "]
    indent = min((len(line) - len(line.lstrip()) for _, line in changed if line.strip()), default=0)
    yield from (f" {sign}{printable(line[indent:], keep=chr(9))}" for sign, line in changed)
    if fix.risk:
        yield f" risk: {printable(fix.risk)}"
    yield from (f" or: {printable(other.message)}" for other in fix.alternatives)
