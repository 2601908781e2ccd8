"""Bytes to text and back, and files that are either replaced as a whole or not at all."""

from __future__ import annotations

import codecs
import contextlib
import functools
import os
import re
import stat
import time
from dataclasses import dataclass

from torchlint.system import ending
from torchlint.system.reading import IMPORTED, NotRegular, TooLarge, read

_COOKIE = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_NOTHING_ELSE = re.compile(rb"[ \t\f]*(?:#.*)?$")
_NEWLINE = re.compile(rb"\r\n|\r|\n")


class Undecodable(ValueError):
    """These bytes are not text in the encoding the file claims to have."""

    def __init__(self, reason: str, row: int = 1, column: int = 1) -> None:
        super().__init__(reason)
        self.reason, self.row, self.column = reason, row, column


@dataclass(frozen=True, slots=True)
class Source:
    """A decoded file: the text with its newlines as they are, and what is needed to write it back."""

    text: str
    encoding: str = "utf-8"
    bom: bytes = b""

    def encode(self, text: str) -> bytes:
        """``text`` as bytes of this file.

        Raises:
            UnicodeEncodeError: a character does not exist in the file's encoding.
        """
        return self.bom + text.encode(self.encoding)


def decode(data: bytes) -> Source:
    """Decode Python source by byte order mark and encoding cookie, as the interpreter does.

    Raises:
        Undecodable: with the place of the first byte that cannot be.
    """
    bom = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise Undecodable("this file is UTF-16; Python source has to be UTF-8 or declare its encoding")
    encoding = _encoding(data[len(bom) :], bool(bom))
    try:
        return Source(data[len(bom) :].decode(encoding), encoding, bom)
    except UnicodeDecodeError as error:
        at = error.start + len(bom)
        row, column = _place(data, at, encoding)
        raise Undecodable(f"cannot decode byte 0x{data[at]:02x} as {encoding}", row, column) from None
    except (UnicodeError, ValueError) as error:
        raise Undecodable(f"cannot decode as {encoding}: {error}") from None


FOLDER = "folder"
LARGE = "too large"
SPECIAL = "special"

UNREAD = {LARGE: "too large to be read for what imports it", SPECIAL: "not a regular file, so not imported"}
"""States of what is there and is not read, and what to say of it."""

GAP = r"(?:\s|\\|#[^\n]*\n)*"
"""A pattern of what may stand between two tokens: white space, continued lines, comments."""

_BLANK = bytes(c if chr(c).isalnum() or chr(c) == "_" or c >= 128 else 32 for c in range(256))


@functools.lru_cache(maxsize=2)
def words(data: bytes) -> frozenset[bytes]:
    """The words of a text: splitting it takes a fraction of what searching for hundreds of words takes."""
    return frozenset(data.translate(_BLANK).split())


def is_of_word(byte: int) -> bool:
    """Whether a byte is part of a word."""
    return _BLANK[byte] != 32


def state(path: str) -> str:
    """The content of a file in short, or one of the other states; nothing if there is nothing that could be read."""
    try:
        return digest(read(path, IMPORTED))
    except (OSError, ValueError) as error:
        return state_after(error)


def state_after(error: OSError | ValueError) -> str:
    """The state of a file that could not be read for what imports it."""
    kinds = {IsADirectoryError: FOLDER, TooLarge: LARGE, NotRegular: SPECIAL}
    return kinds.get(type(error), "")


def digest(data: bytes) -> str:
    """A content in short."""
    import hashlib  # brings OpenSSL with it, and most runs do without

    return hashlib.sha256(data).hexdigest()


def decode_leniently(data: bytes) -> str:
    """Something to show of a file that cannot be decoded."""
    return data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")


def _encoding(data: bytes, has_bom: bool) -> str:
    row, name = _cookie(data)
    if not name:
        return "utf-8"
    try:
        codec = codecs.lookup(_without_newlines(name))
        "".encode(codec.name)  # `rot13` and its like are no text encodings
    except (LookupError, UnicodeError):  # `undefined` is one that encodes nothing
        raise Undecodable(f"unknown encoding: {name}", row) from None
    if has_bom and codec.name != "utf-8":
        raise Undecodable(f"the file starts with a UTF-8 byte order mark but declares {name}", row)
    return codec.name


def _without_newlines(name: str) -> str:
    """The name of an encoding as the interpreter reads it: editors add how lines end, as in ``utf-8-unix``.

    It does so for two encodings only (``get_normal_name`` in CPython's tokenizer).
    """
    short = name.lower().replace("_", "-")
    for known in ("utf-8", "latin-1", "iso-8859-1", "iso-latin-1"):
        if short.startswith(f"{known}-"):
            return known
    return name


def _cookie(data: bytes) -> tuple[int, str]:
    """Row and name of the encoding declared in the first two lines; the second counts if the first holds no code."""
    start = 0
    for row in (1, 2):
        newline = _NEWLINE.search(data, start)
        line = data[start : newline.start() if newline else len(data)]
        if match := _COOKIE.match(line):
            return row, match[1].decode("ascii", "replace")
        if newline is None or not _NOTHING_ELSE.match(line):
            break
        start = newline.end()
    return 0, ""


def _place(data: bytes, offset: int, encoding: str) -> tuple[int, int]:
    """Row and column of a byte."""
    row, start = 1, 0
    for newline in _NEWLINE.finditer(data, 0, offset):
        row, start = row + 1, newline.end()
    before = data[start:offset].removeprefix(codecs.BOM_UTF8)
    try:
        return row, len(before.decode(encoding, "replace")) + 1
    except UnicodeError:  # `idna` knows no replacements
        return row, len(before) + 1


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
