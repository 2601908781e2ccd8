"""What to say of an exception that nobody expected: enough for a report, on one line, whatever is in it."""

from __future__ import annotations

import os
import sys
from types import TracebackType

from torchlint import PACKAGE, __version__

ISSUES = "https://github.com/torchlint/torchlint/issues"

INTENDED = (KeyboardInterrupt, SystemExit, GeneratorExit)
"""What ends the program on purpose. All else is not expected, a panic of libcst's parser included, which is no
:class:`Exception`."""

LENGTH = 200
"""Characters of an exception's text that are shown."""

FRAMES = 40
"""The innermost calls of a traceback that are shown: one of endless recursion has thousands."""


def described(error: BaseException) -> str:
    """Type, text and place of an exception, the version of this program, and where to send that.

    Of an :class:`OSError` the machine is to blame: there is nothing to send.
    """
    text = _text(error)
    said = f"{type(error).__name__}: {text}" if text else type(error).__name__
    where = f"{_place(error.__traceback__)}, torchlint {__version__}, Python {sys.version.split()[0]}"
    return f"{said} ({where})" if isinstance(error, OSError) else f"{said} ({where}); please report it at {ISSUES}"


def described_for(distribution: str, error: BaseException) -> str:
    """The same of an exception in another package, whose authors are to be told; with the innermost line of it."""
    text = _text(error)
    said = f"{type(error).__name__}: {text}" if text else type(error).__name__
    where = (
        f"{_innermost(error.__traceback__)}, {distribution}, torchlint {__version__}, Python {sys.version.split()[0]}"
    )
    return f"{said} ({where}); please report it to the authors of {distribution.partition(' ')[0]}"


def traceback_of(error: BaseException) -> str:
    """Where an exception comes from, on several lines."""
    import traceback

    return "".join(traceback.format_exception(type(error), error, error.__traceback__, limit=-FRAMES))


def _text(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:  # its own code fails, too
        return "its text cannot be had"
    return text if len(text) <= LENGTH else f"{text[:LENGTH]}…"


def _innermost(traceback: TracebackType | None) -> str:
    """The innermost line of all, with the folder that its file is in, but for those that import modules."""
    place = "no line"
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if not file.startswith("<frozen"):
            place = f"{'/'.join(file.split(os.sep)[-2:])}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return place


def _place(traceback: TracebackType | None) -> str:
    """The innermost line of this program."""
    package = PACKAGE + os.sep
    place = "outside of torchlint"
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if file.startswith(package):
            place = f"{file[len(package) :].replace(os.sep, '/')}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return place
