"""The files that are staged: those in git's index, whatever stands in the working tree in their places."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator

from torchlint.diagnostic import Problem
from torchlint.project.changes import GitChanges
from torchlint.project.discovery import File, Found, is_excluded, is_passed_over, shown, suffixes
from torchlint.project.gitignore import relative
from torchlint.project.project import Project

CONFLICT = "in conflict: nothing of it is staged to be checked before `git add`"
"""What is said of a file of which the index has several versions."""


def staged_files(paths: Iterable[str], changes: GitChanges, project: Project, force_exclude: bool = False) -> Found:
    """What has been staged of the files among and below the given paths, sorted by what is shown.

    As :func:`torchlint.project.discovery.discover` finds files, but what git ignores counts once it is staged.
    """
    index = changes.index or {}
    known = {*index, *changes.conflicted}
    new = {*(changes.files.keys() & index.keys()), *changes.conflicted}
    found, taken = Found(), dict[str, bool]()
    for path in paths:
        places = _places(path)
        if not any(_is_there(place, known) for place in places):
            found.missing.append(f"{path}: No such file or directory, neither here nor staged")
            continue
        for place in places:
            if place in known:
                if place in new and not (force_exclude and is_excluded(place, project)):
                    taken[place] = True
                continue
            for location in _below(place, new, project):
                taken.setdefault(location, False)
    here = os.getcwd()
    found.files = sorted(
        File(shown(location, here), location, named) for location, named in taken.items() if location in index
    )
    found.problems = [Problem(shown(location, here), CONFLICT) for location in sorted(taken.keys() - index.keys())]
    return found


def _places(path: str) -> tuple[str, ...]:
    """What a path can mean to git: a link on the way may have come into the place of a directory since."""
    if not path:  # nothing is no name for the working directory
        return ()
    location = os.path.normpath(os.path.join(os.path.realpath(os.getcwd()), path))
    directory, name = os.path.split(location)
    return tuple(dict.fromkeys((location, os.path.join(os.path.realpath(directory), name))))


def _is_there(place: str, known: Collection[str]) -> bool:
    """Whether there is such a file or directory, here or among what git's index has."""
    is_known = place in known or os.path.lexists(place)
    return is_known or any(relative(location, place) is not None for location in known)


def _below(directory: str, new: Collection[str], project: Project) -> Iterator[str]:
    """The files below a directory that are staged and wanted."""
    for location in new:
        if relative(location, directory) is None:
            continue
        is_wanted = location.endswith(suffixes(os.path.dirname(location), project))
        if is_wanted and not is_passed_over(location, directory, project):
            yield location
