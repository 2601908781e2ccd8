"""torchlint as a plugin of flake8: its findings among those of others. Fixes and notebooks are for the program itself.

flake8 finds it by its entry point, asks it for each file, and heeds ``# noqa`` itself. The settings of torchlint hold
as they do elsewhere; files that they exclude give nothing. The codes that flake8 selects are left to flake8.
"""

from __future__ import annotations

import ast
import functools
import os
from collections.abc import Iterator, Sequence

from torchlint import __version__
from torchlint.project.discovery import File, is_excluded, shown
from torchlint.project.project import Project
from torchlint.session.scheduler import Run, RunOptions

STDIN = ("stdin", "-")
"""What flake8 calls standard input."""


class TorchlintPlugin:
    """What flake8 makes for each file."""

    name = "torchlint"
    version = __version__

    def __init__(self, tree: ast.AST, filename: str, lines: Sequence[str]) -> None:
        self._path, self._lines = filename, lines

    def run(self) -> Iterator[tuple[int, int, str, type]]:
        """Row, column from 0, code and message of each finding."""
        name = "-" if self._path in STDIN else self._path
        location = os.path.abspath(name)
        project = _project(os.getcwd())
        if is_excluded(location, project):
            return
        file = File(shown(location), location)
        result = Run(project, RunOptions()).text(file, "".join(self._lines))
        for found in result.diagnostics:
            yield found.start.row, found.start.column - 1, f"{found.code} {found.message}", type(self)


@functools.cache
def _project(directory: str) -> Project:
    """What is known of settings, once for all files of a process."""
    return Project()
