"""Where the repository of a file begins."""

from __future__ import annotations

import os


def repository(directory: str) -> str | None:
    """The root of the git repository that a directory is in, or None; links in the path stay as they are written."""
    while not os.path.lexists(os.path.join(directory, ".git")):
        up = os.path.dirname(directory)
        if up == directory:
            return None
        directory = up
    return directory
