"""What a file has beside its content: owner, group, mode, and extended attributes, access lists among them."""

from __future__ import annotations

import errno
import os
import stat


def copied(source: str, target: str) -> bool:
    """Give a file what another one has, and nothing else; whether it has all of that now."""
    try:
        _copy(source, target)
        return _owner(source) == _owner(target) and _extended(source) == _extended(target)
    except OSError:
        return False


def _copy(source: str, target: str) -> None:
    user, group, mode = _owner(source)
    if _owner(target)[:2] != (user, group):
        os.chown(target, user, group)
    wanted, had = _extended(source), _extended(target)
    for name in had.keys() - wanted.keys():  # as a folder gives its access list to all that is made in it
        os.removexattr(target, name)
    for name, value in wanted.items():
        if had.get(name) != value:
            os.setxattr(target, name, value)
    os.chmod(target, mode)  # last, for another owner takes bits of it away


def _owner(path: str) -> tuple[int, int, int]:
    """User, group and mode."""
    status = os.stat(path)
    return status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)


def _extended(path: str) -> dict[str, bytes]:
    """Extended attributes, where Python can read them and the file system has them."""
    if not hasattr(os, "listxattr"):
        return {}
    try:
        names = os.listxattr(path)
    except OSError as error:
        if error.errno in (errno.ENOTSUP, errno.ENOSYS):
            return {}
        raise
    return {name: os.getxattr(path, name) for name in names}
