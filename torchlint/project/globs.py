"""Patterns for paths as people write them in settings, and what git's patterns are for them.

They are git's, with three things besides: a path may begin with ``./`` or be absolute, and a backslash before a letter
stands between folders, for that is how paths are written on Windows. What can match nothing is said to be doubtful.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import NamedTuple

from torchlint.project import gitignore

_SPECIAL = frozenset(r"*?[]!#\ {}")
"""Before these a backslash says that they mean themselves."""

_BACKSLASH = re.compile(r"\\(.?)", re.DOTALL)
_DRIVE = re.compile(r"[A-Za-z]:/")
_ALTERNATIVES = re.compile(r"\{[^{}]*,[^{}]*\}")


class Glob(NamedTuple):
    """A pattern of settings."""

    pattern: str
    """As git has it; empty if it means nothing."""
    doubt: str = ""
    """Why it will match nothing."""


class Globs:
    """The patterns of one settings file."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._compared = 0

    def read(self, text: str) -> Glob:
        """The pattern that is meant.

        Raises:
            torchlint.project.gitignore.BadPattern: it cannot mean anything, or there are more than can be compared
                with paths.
        """
        glob = of_settings(text, self.root)
        self._compared += bool(glob.pattern) and not gitignore.parse(glob.pattern).is_looked_up
        if self._compared > gitignore.MOST:
            raise gitignore.BadPattern(f"there are more than {gitignore.MOST:,} patterns to compare with")
        return glob


def of_settings(text: str, root: str) -> Glob:
    """The pattern that is meant by what is written in the settings of a directory.

    Raises:
        torchlint.project.gitignore.BadPattern: it cannot mean anything.
    """
    mark = "!" if text.startswith("!") else ""
    body = gitignore.without_trailing_spaces(text.removeprefix("!"))
    if not body and not mark:
        return Glob("", "it is empty")
    written = _BACKSLASH.sub(_slash, body)
    below = _from_root(written, root)
    names = None if below is None else _resolved(below)
    if below is None or names is None:
        return Glob("", f"it is outside of {root}, where patterns begin")
    if below and not names:
        return Glob("", "it means the folder of the settings itself")
    begins = "/" if below.startswith(("/", "./")) or ".." in below.split("/") else ""
    pattern = f"{mark}{begins}{'/'.join(names)}{'/' * below.endswith('/')}"
    gitignore.parse(pattern)
    return Glob(pattern, _doubt(written, names, root))


def _slash(backslash: re.Match[str]) -> str:
    return backslash[0] if backslash[1] in _SPECIAL else f"/{backslash[1]}"


def _from_root(body: str, root: str) -> str | None:
    """A path from the root on; None for an absolute one that leads elsewhere."""
    for directory in (root, os.path.realpath(root)) if os.path.isabs(body) else ():
        prefix = directory.replace(os.sep, "/").rstrip("/")
        if body.rstrip("/") == prefix:
            return "."
        if body.startswith(f"{prefix}/"):
            return body[len(prefix) :]
    return None if _DRIVE.match(body) else body


def _resolved(body: str) -> list[str] | None:
    """The names of a path without ``.`` and ``..``; None if these lead out of the root."""
    names: list[str] = []
    for name in body.split("/"):
        if name == "..":
            if not names:
                return None
            names.pop()
        elif name not in ("", "."):
            names.append(name)
    return names


def _doubt(written: str, names: Sequence[str], root: str) -> str:
    if _ALTERNATIVES.search(written):
        return "braces mean themselves; write one pattern for each alternative"
    if re.search(r"(?<!\\)(?:\\\\)*\\[*?]", written):
        return "`\\*` means a star in a name; write `/` between folders"
    first = names[0] if names else ""
    if written.startswith("/") and len(names) > 1 and os.path.isdir(f"/{first}"):
        if not os.path.lexists(os.path.join(root, first)):
            return f"it is looked for below {root}, where there is no `{first}`"
    return ""
