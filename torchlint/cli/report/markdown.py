"""A table in Markdown, for the comment on a pull request or the summary of a workflow."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from torchlint.cli.report import FileFindings, Style, counted, url, worst_first
from torchlint.cli.report.terminal import printable
from torchlint.diagnostic import Diagnostic, Severity

MOST = 100
"""Rows of a table. GitHub takes 65,536 characters in a comment."""


def lines(files: Sequence[FileFindings], style: Style) -> Iterator[str]:
    """A title and a table, errors first."""
    found = [(file, each) for file in worst_first(files) for each in file.diagnostics]
    if not found:
        yield "### torchlint: no findings"
        return
    levels = [each.severity for _, each in found]
    listed = ", ".join(counted(levels.count(level), level.value) for level in Severity if level in levels)
    yield f"### torchlint: {counted(len(found), 'finding')} ({listed})"
    yield ""
    yield "| | where | rule | what |"
    yield "|---|---|---|---|"
    for file, each in found[:MOST]:
        where = _code(f"{file.slashed}:{file.place(each.start)}")
        yield f"| {each.severity.value} | {where} | {_rule(each)} | {_text(each.message)} |"
    if len(found) > MOST:
        yield ""
        yield f"And {len(found) - MOST} more."


def _rule(found: Diagnostic) -> str:
    page, name = url(found.code, found.name), f"{found.code} {found.name}"
    return f"[{name}]({page})" if page is not None else name


def _code(text: str) -> str:
    """A text as code in a table, whatever is in it."""
    text = _text(text)
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    space = " " * ("`" in text)
    return f"{fence}{space}{text}{space}{fence}"


def _text(text: str) -> str:
    """A message, which is Markdown already, in a cell of a table."""
    return printable(text).replace("|", "\\|")
