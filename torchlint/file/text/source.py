"""Bytes to text and back."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from torchlint.file.text.lines import Lines

MARK = "\ufeff"
"""A byte order mark in a text."""

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
    bom = _mark_of(data, "Python source has to be UTF-8 or declare its encoding")
    return _decoded(data, bom, _encoding(data[len(bom) :], bool(bom)))


def encoded(text: str) -> bytes:
    """The bytes of Python source in the encoding that it declares: what :func:`decode` makes the same text of.

    Raises:
        Undecodable: with the place of the first character that this encoding has not.
    """
    mark = MARK if text.startswith(MARK) else ""
    encoding = _encoding(text.removeprefix(mark).encode("utf-8", "surrogatepass"), bool(mark))
    try:
        data = text.encode(encoding)
        if decode(data).text == text.removeprefix(mark):
            return data
    except UnicodeEncodeError as error:
        place, reason = Lines(text).position(error.start), f"{text[error.start]!r} cannot be written in {encoding}"
        raise Undecodable(f"{reason}, the encoding of this file", place.row, place.column) from None
    except UnicodeError:  # `idna` and its like say no more
        pass
    raise Undecodable(f"this text cannot be written in {encoding}, the encoding of this file")


def encoded_utf8(text: str) -> bytes:
    """The bytes of what is UTF-8 whatever its first lines say; what that has not, :func:`decode_utf8` refuses."""
    return text.encode("utf-8", "surrogatepass")


def decode_utf8(data: bytes) -> Source:
    """Decode what is UTF-8 whatever its first lines say, such as JSON.

    Raises:
        Undecodable: with the place of the first byte that cannot be.
    """
    return _decoded(data, _mark_of(data, "it has to be UTF-8"), "utf-8")


def _mark_of(data: bytes, wanted: str) -> bytes:
    """The byte order mark that data begins with, empty if there is none; ``wanted`` is said of that of UTF-16."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise Undecodable(f"this file is UTF-16; {wanted}")
    return codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""


def decode_leniently(data: bytes) -> str:
    """Something to show of a file that cannot be decoded."""
    return data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")


def _decoded(data: bytes, bom: bytes, encoding: str) -> Source:
    try:
        return Source(data[len(bom) :].decode(encoding), encoding, bom)
    except UnicodeDecodeError as error:
        at = error.start + len(bom)
        row, column = _place(data, at, encoding)
        raise Undecodable(f"cannot decode byte 0x{data[at]:02x} as {encoding}", row, column) from None
    except (UnicodeError, ValueError) as error:
        raise Undecodable(f"cannot decode as {encoding}: {error}") from None


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
