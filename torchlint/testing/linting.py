"""A text checked and fixed in a test, and how its findings are shown where the test fails."""

from __future__ import annotations

import ast
import difflib
import warnings

from torchlint.diagnostic import Applicability, Diagnostic, Fixing
from torchlint.file.check import Outcome, check_text


def lint(text: str, codes: frozenset[str], fixing: Fixing = Fixing.NONE) -> Outcome:
    """What ``torchlint check`` finds in a text, and the text with fixes, with the rules of some codes only.

    Raises:
        AssertionError: a rule raised, or a fix was left out because it breaks the file.
    """
    outcome = check_text(text, "case.py", codes, fixing)
    assert not outcome.problems, "\n".join(f"{problem}\n{problem.details}" for problem in outcome.problems)
    return outcome


def applicability(diagnostic: Diagnostic) -> Applicability | None:
    """How safe the fix of a finding is; None if it has none."""
    return diagnostic.fix.applicability if diagnostic.fix else None


def show(text: str, diagnostics: tuple[Diagnostic, ...]) -> str:
    """The text with its findings, for failure messages."""
    found: dict[int, list[str]] = {}
    for d in diagnostics:
        fix = applicability(d)
        found.setdefault(d.start.row, []).append(f"{d.code}@{d.start.column}[{fix.value if fix else 'no fix'}]")
    lines = [f"{row:4} {line:70} {' '.join(found.get(row, []))}" for row, line in enumerate(text.splitlines(), 1)]
    return "\n" + "\n".join(lines)


def same_text(got: str, wanted: str) -> None:
    """Raise ``AssertionError`` with the differences, if there are any."""
    assert got == wanted, "\n" + "".join(
        difflib.unified_diff(wanted.splitlines(keepends=True), got.splitlines(keepends=True), "wanted", "got")
    )


def compiles(text: str) -> None:
    """Raise ``SyntaxError`` where a text is no Python."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        compile(text, "case.py", "exec", flags=ast.PyCF_ONLY_AST, dont_inherit=True)
