"""``torchlint clean``: the cache, and what runs that were killed have left beside files."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator

from torchlint.cli.exit_codes import CLEAN, INCOMPLETE, USAGE
from torchlint.cli.report import counted
from torchlint.cli.report.terminal import printable
from torchlint.project.discovery import discover, shown
from torchlint.project.project import Project
from torchlint.session import cachedir
from torchlint.system import leftovers

_SHOWN = 10
"""So many names of files are listed at most."""


def clean(cache_dir: str | None) -> int:
    """Remove both, say what was removed and what was not; the exit code.

    Raises:
        SettingsError: the settings make no sense.
    """
    project = Project()
    settings = project.settings(os.getcwd())
    return max(_cache(cachedir.directory_for(cache_dir, settings)), _leftovers(settings.root, project))


def _cache(directory: str) -> int:
    try:
        left = cachedir.clean(directory)
    except cachedir.Unusable as error:
        _tell(f"error: nothing was removed: {error}")
        return USAGE
    except OSError as error:
        _tell(f"error: {directory}: {error.strerror or error}")
        return INCOMPLETE
    if left is None:
        _tell("There is no cache here")
    elif not left:
        _tell(f"Removed {directory}")
    else:
        _tell(f"Removed the cache from {directory}, and left what is not its own: {_listed(left)}")
    return CLEAN


def _leftovers(root: str, project: Project) -> int:
    """Remove what is left of killed runs in a project, where files are looked for."""
    swept = leftovers.sweep(discover((root,), project).leftovers)
    for line in _told(swept):
        _tell(line)
    return INCOMPLETE if swept.failed else CLEAN


def _told(swept: leftovers.Swept) -> Iterator[str]:
    if swept.removed:
        yield f"Removed {counted(len(swept.removed), 'file')} of killed runs: {_listed(map(shown, swept.removed))}"
    if swept.kept:
        names = _listed(map(shown, swept.kept))
        yield f"Left for you to look at: a run was killed while it wrote over a file, and all of that is in {names}"
    yield from (f"error: {shown(path)}: {reason}" for path, reason in swept.failed)


def _listed(given: Iterable[str]) -> str:
    names = list(given)
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}"


def _tell(message: str) -> None:
    print(printable(message), file=sys.stderr)
