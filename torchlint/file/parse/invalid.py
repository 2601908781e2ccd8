"""What is wrong with a text that is no Python, as a TL001 finding."""

from __future__ import annotations

import ast
import re
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


_PYTHON_2 = re.compile(
    r"^\s*(?:print\s+[\w\"'%(]|print\s*>>|exec\s+[\w\"']|raise\s+[\w.]+\s*,|except\s+[\w.]+\s*,\s*\w+\s*:)"
    r"|<>|\b0[0-7]+\b|\b\d+L\b|\bur['\"]|\blambda\s*\("
)
"""A line of Python 2 that is none of Python 3."""


_ASYNC = re.compile(r"\basync\b(?!\s+(?:def|for|with)\b)\s*")
"""``async`` as a name, of an argument or of what is called, and what may stand behind it."""

_AS_PYTHON_2 = " (for Python 2 a tab went on to the next 8th column: `expand -t 8 FILE` prints that)"
"""What mixed tabs and spaces meant: a file that has ever run did so under Python 2. ``expand`` changes no file."""


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


def syntax_error(text: str, path: str, flags: int = ast.PyCF_ONLY_AST, part: str = "file") -> Diagnostic | None:
    """CPython's opinion of a text, a file or a ``part`` of one, as a TL001 diagnostic; None if it compiles."""
    if text.startswith(_MARK):
        return unparsable(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, f"<{path}>", "exec", flags=flags, dont_inherit=True)  # of a file, Python reads the line there
        except SyntaxError as error:
            message, row = error.msg, max(error.lineno or 1, 1)
            line = text.splitlines()[row - 1 : row]
            if "Missing parentheses" in message or (line and _PYTHON_2.search(line[0])):
                message += f"; this is Python 2, and nothing in the {part} was checked"
                message += ": convert it (`fissix -w FILE`)" * (part == "file")
            elif line and _is_at_async(line[0], (error.offset or 1) - 1):
                message += ": `async` is a keyword since Python 3.7"
            elif isinstance(error, TabError):
                message += f"; nothing in the {part} was checked: indent with spaces alone"
                message += _AS_PYTHON_2 * (part == "file")
            return no_python(Position(row, max(error.offset or 1, 1)), message)
        except (ValueError, RecursionError, MemoryError, OverflowError) as error:
            return no_python(Position(1, 1), str(error) or type(error).__name__)
    return None


def _is_at_async(line: str, offset: int) -> bool:
    """Whether Python stumbles over ``async`` as a name: at the word itself, or at what comes next."""
    return any(found.start() <= offset <= found.end() for found in _ASYNC.finditer(line))
