"""What may go to a terminal: text without control characters, and whether colours are wanted."""

from __future__ import annotations

import os
import sys

from torchlint.file.text.lines import NEWLINE


def printable(text: str, keep: str = "") -> str:
    """``text`` on one line, whatever is in it: a file name, a message or a line of source may hold anything.

    Control characters and what reorders or hides text are escaped as in a string, but for characters to ``keep``.
    """
    if text.isprintable():  # most
        return text
    return "".join(c if c.isprintable() or c in keep or "\udc80" <= c <= "\udcff" else _escaped(c) for c in text)


def printable_lines(text: str) -> str:
    """The same of a text on several lines, with its tabs."""
    return "\n".join(printable(line, "\t") for line in NEWLINE.split(text))


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()


def wants_color(choice: str) -> bool:
    """Whether to write colours: what the option says, then the environment, then the terminal."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if any(os.environ.get(name, "0") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def columns() -> int | None:
    """The columns of the terminal that reports go to; None if they go elsewhere."""
    if not sys.stdout.isatty():
        return None
    import shutil

    return shutil.get_terminal_size().columns
