"""JUnit's XML, which most services that run tests show: a test suite for each file, a failed test for each finding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchlint.cli.report import FileFindings, Style
from torchlint.cli.report.terminal import printable
from torchlint.diagnostic import Diagnostic


def lines(files: Sequence[FileFindings], style: Style) -> Iterator[str]:
    """The whole document. Without findings it has one test, which has passed: some services take none for a mistake."""
    count = sum(len(file.diagnostics) for file in files)
    yield '<?xml version="1.0" encoding="utf-8"?>'
    yield f'<testsuites name="torchlint" tests="{max(count, 1)}" failures="{count}" errors="0">'
    for file in files:
        number = len(file.diagnostics)
        yield f'  <testsuite name={_quoted(file.slashed)} tests="{number}" failures="{number}" errors="0" skipped="0">'
        for found, written in zip(file.diagnostics, file.as_written().diagnostics, strict=True):
            yield from _case(file, found, written.start.row)
        yield "  </testsuite>"
    if not files:
        yield '  <testsuite name="torchlint" tests="1" failures="0" errors="0" skipped="0">'
        yield '    <testcase name="no findings" classname="torchlint"/>'
        yield "  </testsuite>"
    yield "</testsuites>"


def _case(file: FileFindings, found: Diagnostic, line: int) -> Iterator[str]:
    place = file.place(found.start)
    name = _quoted(f"{found.code} {found.name} ({place})")
    at = f'file={_quoted(file.slashed)} line="{line}"'
    yield f"    <testcase name={name} classname={_quoted(file.slashed)} {at}>"
    message = _quoted(found.message)
    text = _escaped(f"{file.slashed}:{place}: {found.severity.value} {found.code} {found.message}")
    yield f'      <failure type="{found.severity.value}" message={message}>{text}</failure>'
    yield "    </testcase>"


def _escaped(text: str) -> str:
    """A text in XML, which knows no control characters and no halves of characters, however they are written."""
    text = printable(text).encode(errors="backslashreplace").decode()
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _quoted(text: str) -> str:
    return '"{}"'.format(_escaped(text).replace('"', "&quot;"))
