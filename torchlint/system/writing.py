"""Files that are either replaced as a whole or not at all."""

from __future__ import annotations

import contextlib
import os

from torchlint.system import attributes, ending, leftovers
from torchlint.system.reading import TooLarge, read


class NotWritten(OSError):
    """The file is as it was."""


def write(path: str, data: bytes, expected: bytes) -> None:
    """Replace the content of a file, which must still be ``expected``, atomically.

    A link stays a link (its target is replaced), owner, mode and attributes stay, a failure leaves the old bytes. What
    a run that was killed here has left beside the file is removed.

    Raises:
        NotWritten: with the reason.
    """
    target = os.path.realpath(path)
    try:
        status = os.stat(target)
        if not status.st_mode & 0o222:  # asked of the mode, for the administrator may write to anything
            raise NotWritten("the file is read-only")
        _check_permission(target)
        with ending.in_order():
            _replace(target, data, expected, is_alone=status.st_nlink == 1)
    except NotWritten:
        raise
    except OSError as error:
        raise NotWritten(error.strerror or str(error)) from error


def _check_permission(target: str) -> None:
    """Raise what forbids this user to write to a file, though whoever may write to its folder could replace it."""
    if not os.access(target, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        open(target, "r+b").close()  # which says why


def _replace(target: str, data: bytes, expected: bytes, *, is_alone: bool) -> None:
    """Write to a file, in place only where another one in its place would not be the same to somebody.

    That is so if it has other names, or what another file cannot be given.
    """
    directory = os.path.dirname(target)
    leftovers.sweep_folder(directory)
    temporary = os.path.join(directory, leftovers.new_name())
    try:
        write_new(temporary, data, 0o600)
        is_same = attributes.copied(target, temporary)
        if not _is_still(target, expected):  # as late as possible
            if _is_still(target, data):  # by another of its names it has been fixed just now
                return
            raise NotWritten("the file has changed since it was read")
        if is_same and is_alone:
            os.replace(temporary, target)
        else:
            _overwrite(target, data, temporary)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


def write_new(path: str, data: bytes, mode: int) -> None:
    """Put data into a file that is not there yet, and on the disk; ``mode`` is what it is made with, less the umask.

    Raises:
        OSError: it could not be, or something has that name, be it a link. No file is left that holds a part of it.
    """
    descriptor = os.open(path, _FLAGS, mode)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(path)
        raise


_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)


def _is_still(path: str, expected: bytes) -> bool:
    try:
        return read(path, len(expected)) == expected
    except TooLarge:
        return False


def _overwrite(target: str, data: bytes, temporary: str) -> None:
    """Write over a file in place; what is to be in it is in another one as well until that is done."""
    whole = os.path.join(os.path.dirname(temporary), leftovers.new_name(leftovers.WHOLE))
    with ending.later(), open(target, "r+b", buffering=0) as file:  # what fails does so here, and not when it is closed
        os.rename(temporary, whole)
        left = memoryview(data)
        try:
            while left:
                left = left[file.write(left) :]
            file.truncate()
            os.fsync(file.fileno())
        except OSError as error:
            name = os.path.basename(whole)
            raise NotWritten(f"{error.strerror or error}; if it is half written: {name} holds all of it") from error
        os.unlink(whole)
