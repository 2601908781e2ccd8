"""Files that are either replaced as a whole or not at all."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import stat
import time

from torchlint.system import ending
from torchlint.system.reading import TooLarge, read


class NotWritten(OSError):
    """The file is as it was."""


def write(path: str, data: bytes, expected: bytes) -> None:
    """Replace the content of a file, which must still be ``expected``, atomically.

    A link stays a link (its target is replaced), the mode stays, a failure leaves the old bytes. What a run that was
    killed here has left beside the file is removed.

    Raises:
        NotWritten: with the reason.
    """
    target = os.path.realpath(path)
    try:
        status = os.stat(target)
        if not status.st_mode & 0o222:  # asked of the mode, for the administrator may write to anything
            raise NotWritten("the file is read-only")
        with ending.in_order():
            _replace(target, data, expected, status)
    except NotWritten:
        raise
    except OSError as error:
        raise NotWritten(error.strerror or str(error)) from error


def _replace(target: str, data: bytes, expected: bytes, status: os.stat_result) -> None:
    import tempfile  # not needed for most runs

    directory = os.path.dirname(target)
    _sweep(directory)
    handle, temporary = tempfile.mkstemp(prefix=".torchlint-", suffix=".tmp", dir=directory)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(OSError, AttributeError):
            os.chown(temporary, status.st_uid, status.st_gid)
        os.chmod(temporary, stat.S_IMODE(status.st_mode))
        if not _is_still(target, expected):  # as late as possible
            if _is_still(target, data):  # by another of its names it has been fixed just now
                return
            raise NotWritten("the file has changed since it was read")
        if status.st_nlink > 1:  # replacing would part it from its other names
            _overwrite(target, data)
        else:
            os.replace(temporary, target)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


_TEMPORARY = re.compile(r"\.torchlint-\w{8}\.tmp")
_STALE = 60
"""Seconds after which nobody is writing to such a file any more; who still is finds it gone: the old bytes stay."""


@functools.cache
def _sweep(directory: str) -> None:
    """Remove what runs that were killed have left in a directory, where that is possible; once is enough."""
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            if _TEMPORARY.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                if time.time() - entry.stat(follow_symlinks=False).st_mtime > _STALE:
                    os.unlink(entry.path)


def _is_still(path: str, expected: bytes) -> bool:
    try:
        return read(path, len(expected)) == expected
    except TooLarge:
        return False


def _overwrite(target: str, data: bytes) -> None:
    with ending.later(), open(target, "r+b") as file:
        file.write(data)
        file.truncate()
