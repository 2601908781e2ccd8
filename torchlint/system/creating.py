"""Files that hold what a run has found: written anew as a whole, or left as they were."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import sys

from torchlint.system import ending, leftovers
from torchlint.system.reading import is_own
from torchlint.system.writing import write_new

_IN_PLACE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY)
"""Where nothing may be put beside a file, or in its place, though it may be written to: it is a mount, for example."""


def create(path: str, data: bytes) -> None:
    """Put data into a file that may be there already, atomically.

    A link stays a link. What is no regular file, or would lose something if another one came into its place (its owner,
    its other names, what else the system keeps of it), is written to as it is.

    To a descriptor of this process, ``/dev/stdout`` say, data is added: the file behind it can be a log, which holds
    what other programs have said.

    Raises:
        OSError: it could not be written; unless it is written to as it is, what was there still is.
    """
    if (descriptor := descriptor_of(path)) is not None:
        _append(descriptor, data)
        return
    target = os.path.realpath(path)
    status = _status(path)
    if status is not None and not _is_replaceable(path, target, status):
        _overwrite(path, data)
        return
    try:
        with ending.in_order():
            _replace(target, data, status)
    except OSError as error:
        if status is None or error.errno not in _IN_PLACE:
            raise
        _overwrite(path, data)


_DESCRIPTOR = re.compile(r"/(?:dev|proc/(?:self|thread-self|([1-9][0-9]*)))/fd/([0-9]{1,9})")


def descriptor_of(path: str) -> int | None:
    """The descriptor of this process that a path stands for, be it by links; None for any other file."""
    name = os.path.abspath(path)
    for _ in range(_LINKS):
        match = _DESCRIPTOR.fullmatch(name)
        if match is not None and match[1] in (None, str(os.getpid())):
            return int(match[2])
        try:
            name = os.path.normpath(os.path.join(os.path.dirname(name), os.readlink(name)))
        except (OSError, ValueError):
            return None
    return None


_LINKS = 40
"""How many links are followed: no system follows more."""


def _append(descriptor: int, data: bytes) -> None:
    """Write to a descriptor behind all that this process has written."""
    if descriptor > 2 and not os.get_inheritable(descriptor):  # one of this program's own, which nobody can mean
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    with open(descriptor, "wb", closefd=False) as file:
        file.write(data)


def _status(path: str) -> os.stat_result | None:
    """What is there; None for nothing, as where a link leads to nothing yet."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _is_replaceable(path: str, target: str, status: os.stat_result) -> bool:
    """Whether another file may come into the place of one.

    Not where another process has it open under a name like ``/proc/1/fd/1``, which would go on writing to the old one.
    """
    if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1 or not is_own(status):
        return False
    if os.path.abspath(path).startswith(("/dev/", "/proc/")) or not os.access(target, os.W_OK):
        return False
    return not (hasattr(os, "listxattr") and os.listxattr(target))


def _replace(target: str, data: bytes, status: os.stat_result | None) -> None:
    directory = os.path.dirname(target)
    leftovers.sweep_folder(directory)
    temporary = os.path.join(directory, leftovers.new_name())
    try:
        write_new(temporary, data, 0o666)
        if status is not None:
            os.chmod(temporary, stat.S_IMODE(status.st_mode))
        os.replace(temporary, target)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


def _overwrite(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)
