"""Whether files that are not there are gone, or are only not to be seen from here.

Nothing can be said of what is below a folder that cannot be read, or behind a link that leads nowhere now; and git may
have a file that it has not written to the disk, in a sparse checkout or in a submodule.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import NamedTuple

from torchlint.diagnostic import Problem
from torchlint.project.gitignore import relative
from torchlint.project.repository import repository
from torchlint.project.selection import SettingsError

_SUBMODULE = b"160000"
_SKIPPED = b"S"
"""What git says of a file that it has and does not write to the disk."""


class Absence(NamedTuple):
    """What has become of some files."""

    gone: frozenset[str]
    problems: tuple[Problem, ...]
    """Why nothing is known of others."""


def absence(locations: Iterable[str]) -> Absence:
    """Which of some files (absolute paths) are gone for certain."""
    by_root: dict[str, list[str]] = {}
    for location in filter(_is_nowhere, locations):
        by_root.setdefault(repository(os.path.dirname(location)) or "", []).append(location)
    gone, problems = set(by_root.pop("", ())), []
    for root, missing in by_root.items():
        try:
            is_kept = _kept_by_git(root)
        except SettingsError as error:
            others = f", and {len(missing) - 1} more" if len(missing) > 1 else ""
            about = f"not there{others}; whether it is gone or only not checked out cannot be told: {error}"
            problems.append(Problem(relative(min(missing), os.getcwd()) or min(missing), about))
            continue
        gone.update(location for location in missing if not is_kept(location))
    return Absence(frozenset(gone), tuple(problems))


def _is_nowhere(location: str) -> bool:
    """Whether there is no such file, as far as all could be looked at on the way to it."""
    try:
        os.lstat(location)
    except (NotADirectoryError, ValueError):  # there can be no file of such a name
        return True
    except FileNotFoundError:
        above = os.path.dirname(location)
        while not os.path.lexists(above):
            above = os.path.dirname(above)
        return os.path.exists(above)  # not so where a link leads to nothing
    except OSError:
        return False
    return False


def _kept_by_git(root: str) -> Callable[[str], bool]:
    """Tells of a file that is not there whether the repository has it and has not written it to the disk.

    Raises:
        SettingsError: git does not say.
    """
    from torchlint.project import git  # brings subprocess with it, and most runs do without

    skipped, submodules = set[str](), set[str]()
    for entry in git.run(root, "ls-files", "-t", "--stage", "-z").split(b"\0"):
        head, _, name = entry.partition(b"\t")
        tag, mode, *_ = (*head.split(), b"", b"")
        location = os.path.join(root, os.fsdecode(name).replace("/", os.sep))
        if mode == _SUBMODULE and not os.path.lexists(os.path.join(location, ".git")):
            submodules.add(location)
        elif tag == _SKIPPED:
            skipped.add(location)
    return lambda location: location in skipped or any(relative(location, each) is not None for each in submodules)
