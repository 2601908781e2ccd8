"""What is wrong with a text that is no Python, as a TL001 finding."""

from __future__ import annotations

import ast
import warnings

from torchlint.diagnostic import Diagnostic, Position, Severity
from torchlint.file.text.lines import Lines
from torchlint.file.text.scan import scan

NOT_UNDERSTOOD = "libcst cannot parse this file, though it is valid Python: it was not checked"
"""What is said of a file that only Python's own parser takes."""

TOO_DEEP = "an expression is nested too deeply to be analysed"
"""What is said of a file that the stack has no room for."""

_MARK = "\ufeff"
"""The byte order mark. That of a file is no part of its text; another one Python refuses in a file, not in a string."""


class Unparsed(ValueError):
    """A text is no Python; ``diagnostic`` says where and why."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class NotUnderstood(ValueError):
    """A text that Python takes and libcst does not: thousands of strings in a row, or syntax of a later version."""


def unparsable(text: str) -> Diagnostic | None:
    """What would kill the parser or pass it unnoticed: a second byte order mark, null bytes and bracket towers."""
    if text.startswith(_MARK):
        return no_python(Position(1, 1), "invalid non-printable character U+FEFF")
    if "\0" in text:
        return no_python(Lines(text).position(text.index("\0")), "source code cannot contain null bytes")
    deep = scan(text).too_deep
    return no_python(Lines(text).position(deep), "too many nested parentheses") if deep is not None else None


def no_python(at: Position, message: str) -> Diagnostic:
    """The finding that a text is no Python, at a place."""
    return Diagnostic(
        "TL001", "syntax-error", message, at, Position(at.row, at.column + 1), (at.row, at.row), severity=Severity.ERROR
    )


def syntax_error(text: str, path: str, flags: int = ast.PyCF_ONLY_AST) -> Diagnostic | None:
    """CPython's opinion of a text, as a TL001 diagnostic; None if it compiles."""
    if text.startswith(_MARK):
        return unparsable(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, path, "exec", flags=flags, dont_inherit=True)
        except SyntaxError as error:
            message = error.msg
            if "print" in message or "exec" in message:
                message += " (is this Python 2?)"
            return no_python(Position(max(error.lineno or 1, 1), max(error.offset or 1, 1)), message)
        except (ValueError, RecursionError, MemoryError, OverflowError) as error:
            return no_python(Position(1, 1), str(error) or type(error).__name__)
    return None
