"""The one way to read what is in somebody's tree: regular files only, and never more than a limit.

A pipe may never end or never begin, a device may be endless or do something when it is opened, and a link may lead to
either. So a file is looked at before it is opened, opened without waiting, and looked at again.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import BinaryIO

LIMIT = 50_000_000
"""Bytes of a file that is checked, or of standard input."""

IMPORTED = 2_000_000
"""Bytes of a file that is read because another one imports it."""

SETTINGS = 4_000_000
"""Bytes of a file with settings, patterns to ignore, or requirements."""

_FLAGS = sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOCTTY", "O_BINARY", "O_NOINHERIT"))


class NotRegular(OSError):
    """What a name leads to is no regular file, nor a directory."""

    def __init__(self) -> None:
        super().__init__(errno.EINVAL, "not a regular file")


class TooLarge(OSError):
    """A file has more bytes than may be read."""

    def __init__(self, limit: int) -> None:
        super().__init__(errno.EFBIG, f"larger than {limit:,} bytes")


class NotOwn(OSError):
    """A file that only the user's own will do for is somebody else's."""

    def __init__(self) -> None:
        super().__init__(errno.EPERM, "belongs to another user")


def read(path: str, limit: int = LIMIT) -> bytes:
    """The content of a file.

    Raises:
        OSError: it cannot be read; :class:`NotRegular` or :class:`TooLarge` where it must not be.
    """
    return read_with_status(path, limit)[1]


def read_with_status(path: str, limit: int = LIMIT) -> tuple[os.stat_result, bytes]:
    """What the file system says of a file that was opened, and its content; raises as :func:`read` does."""
    _check(os.stat(path))
    return _read(os.open(path, os.O_RDONLY | _FLAGS), limit)


def read_own(name: str, limit: int = LIMIT, folder: int | None = None) -> tuple[os.stat_result, bytes]:
    """The same of a file of our own making: no link is followed, and it must belong to the user.

    ``folder`` is the descriptor of the directory that the name is in, where the system has such.

    Raises:
        OSError: as for :func:`read`; :class:`NotOwn` where it belongs to somebody else.
    """
    _check(os.stat(name, dir_fd=folder, follow_symlinks=False))
    flags = os.O_RDONLY | _FLAGS | getattr(os, "O_NOFOLLOW", 0)
    status, data = _read(os.open(name, flags, dir_fd=folder), limit)
    if not is_own(status):
        raise NotOwn
    return status, data


def is_own(status: os.stat_result) -> bool:
    """Whether something belongs to the current user, as far as the system has owners."""
    return not hasattr(os, "geteuid") or status.st_uid == os.geteuid()


def read_stream(stream: BinaryIO, limit: int = LIMIT) -> bytes:
    """All that a stream gives.

    Raises:
        TooLarge: that is more than may be read.
    """
    data = stream.read(limit + 1)
    if len(data) > limit:
        raise TooLarge(limit)
    return data


def _read(descriptor: int, limit: int) -> tuple[os.stat_result, bytes]:
    try:
        status = os.fstat(descriptor)
        _check(status)
        if status.st_size > limit:
            raise TooLarge(limit)
        parts: list[bytes] = []
        left = limit + 1  # the size may not be what it says, or grow
        while left and (part := os.read(descriptor, min(left, status.st_size + 1024))):
            parts.append(part)
            left -= len(part)
    finally:
        os.close(descriptor)
    if not left:
        raise TooLarge(limit)
    return status, b"".join(parts)


def _check(status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(status.st_mode):
        raise NotRegular
