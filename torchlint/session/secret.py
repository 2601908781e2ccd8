"""A secret of the user's on this machine. What is signed with it was written by a run of their own.

A cache stands in a tree that others write to, too: it may have been committed, copied, or restored by a CI service. So
it is believed only with a signature, and the key to that never stands in a tree.
"""

from __future__ import annotations

import contextlib
import errno
import hmac
import os
import stat
import sys

from torchlint.system.reading import NotOwn, is_own, read_own

_SIZE = 32
"""Bytes of the key."""


def sign(data: bytes, *, make: bool = False) -> bytes:
    """The signature of some content, in hexadecimal digits; ``make``: a key is made if there is none.

    Raises:
        OSError: there is no key, or it is not the user's alone.
    """
    return hmac.digest(_key(make), data, "sha256").hex().encode()


def is_signed(data: bytes, signature: bytes) -> bool:
    """Whether a signature is that of some content; raises as :func:`sign` does."""
    return hmac.compare_digest(sign(data), signature)


def place() -> str:
    """Where the key is: in the folder of the user's for what programs keep.

    Raises:
        OSError: the user has none.
    """
    home = os.path.expanduser("~")
    folder = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(folder):
        if sys.platform == "win32":
            folder = os.environ.get("LOCALAPPDATA", "")
        elif sys.platform == "darwin":
            folder = os.path.join(home, "Library", "Application Support")
        else:
            folder = os.path.join(home, ".local", "state")
    if not os.path.isabs(folder):
        raise FileNotFoundError(errno.ENOENT, "there is no home directory to keep the key of the cache in")
    return os.path.join(folder, "torchlint", "cache.key")


def _key(make: bool) -> bytes:
    path = place()
    try:
        status, key = read_own(path, _SIZE)
    except FileNotFoundError:
        if not make:
            raise
        _make(path)
        status, key = read_own(path, _SIZE)
    is_open = os.name != "nt" and stat.S_IMODE(status.st_mode) & 0o077
    if is_open or len(key) != _SIZE:
        raise PermissionError(errno.EPERM, f"{path} is not a key that only you can read; remove it")
    return key


def _make(path: str) -> None:
    """Make a key; if another run is quicker, its key is the one."""
    folder = os.path.dirname(path)
    if not is_own(os.stat(_existing(folder))):  # as the administrator, in the home of a user
        raise NotOwn
    os.makedirs(folder, mode=0o700, exist_ok=True)
    temporary = f"{path}.{os.urandom(8).hex()}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with open(os.open(temporary, flags, 0o600), "wb") as file:
            file.write(os.urandom(_SIZE))
        with contextlib.suppress(FileExistsError):
            (os.rename if os.name == "nt" else os.link)(temporary, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


def _existing(folder: str) -> str:
    """A folder, or what of the folders around it there is."""
    while not os.path.exists(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    return folder
