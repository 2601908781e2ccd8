"""Files that stand beside others while these are written, and what is left of them by runs that were killed.

They are in the folders of the user. So a name says which run made it, and nothing is removed but files of such a name
which no running process can still need.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import stat
import time
from collections.abc import Iterable
from typing import NamedTuple

from torchlint.system.reading import is_own

PREFIX = ".torchlint-"

UNFINISHED = "tmp"
"""How the name of a file ends that is put in the place of another one when it is whole."""

WHOLE = "new"
"""The same of one that is whole while another one is written over in place: of a run that is killed just then it holds
all there is, so it is never removed."""

_NAME = re.compile(rf"{re.escape(PREFIX)}([0-9a-f]{{8}})-([1-9][0-9]{{0,9}})-[0-9a-f]{{16}}\.({UNFINISHED}|{WHOLE})")

_LONG = 86_400
"""Seconds after which nobody is writing such a file any more, whatever the machine."""


class Swept(NamedTuple):
    """What became of leftovers."""

    removed: list[str]
    kept: list[str]
    """Those that hold all there is of a file that was being written over."""
    failed: list[tuple[str, str]]
    """Those that cannot be removed, and why."""


def new_name(ending: str = UNFINISHED) -> str:
    """A name for a file of this process that nobody else has."""
    return f"{PREFIX}{_machine()}-{os.getpid()}-{os.urandom(8).hex()}.{ending}"


def is_leftover(name: str) -> bool:
    """Whether a file of this name is made by this program beside another one."""
    return name.startswith(PREFIX) and _NAME.fullmatch(name) is not None


@functools.cache
def sweep_folder(directory: str) -> None:
    """Remove what runs that were killed have left in a folder, where that is possible; once is enough."""
    with contextlib.suppress(OSError):
        sweep(os.path.join(directory, name) for name in os.listdir(directory) if is_leftover(name))


def sweep(paths: Iterable[str]) -> Swept:
    """Remove those of some files that runs which were killed have left."""
    swept = Swept([], [], [])
    for path in paths:
        try:
            if not _is_abandoned(path):
                continue
            if path.endswith(WHOLE):
                swept.kept.append(path)
                continue
            os.unlink(path)
        except FileNotFoundError:  # somebody else has just removed it
            continue
        except OSError as error:
            swept.failed.append((path, error.strerror or str(error)))
        else:
            swept.removed.append(path)
    return swept


def _is_abandoned(path: str) -> bool:
    """Whether a file is one of ours that no running process has to do with."""
    match = _NAME.fullmatch(os.path.basename(path))
    status = os.lstat(path)
    if match is None or not stat.S_ISREG(status.st_mode) or status.st_nlink != 1 or not _is_of_user(status):
        return False
    machine, process = match[1], int(match[2])
    return time.time() - status.st_mtime > _LONG or (machine == _machine() and not _may_run(process))


def _is_of_user(status: os.stat_result) -> bool:
    """Whether a file may have been made by this user: the administrator gives such files to the owners of others."""
    return is_own(status) or os.geteuid() == 0


@functools.cache
def _machine() -> str:
    """What tells the machine, or the container, in which a process has its number."""
    name = os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")
    with contextlib.suppress(OSError):
        name += os.readlink("/proc/self/ns/pid")
    return hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:8]


def _may_run(process: int) -> bool:
    """Whether a process of this number may be running here."""
    if os.name != "posix":  # where asking would end it
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
