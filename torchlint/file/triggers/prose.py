"""A text without what is no code: comments, and strings of several lines."""

from __future__ import annotations

import functools
import re

_PROSE = re.compile(
    rb"""#[^\r\n]*"""
    rb"""|\"{3}[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*\"{3}"""
    rb"""|'{3}[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'{3}"""
    rb"""|"[^"\\\r\n]*(?:\\(?:\r\n|.)[^"\\\r\n]*)*"|'[^'\\\r\n]*(?:\\(?:\r\n|.)[^'\\\r\n]*)*'|["']""",
    re.DOTALL,
)
_TYPE = re.compile(rb"#[ \t]*type:")
_PREFIX = re.compile(rb"[fFtT][rR]?\Z|[rR][fFtT]\Z")
_IN_LINE = re.compile(rb"[^\r\n]+")


@functools.lru_cache(maxsize=1)
def without_prose(data: bytes) -> bytes:
    """A text without what is in comments, but for types, and in strings of several lines; with as many lines.

    A string that is formatted has code in it, and stays. What has quotes in it that are those around it is not told
    apart here (https://peps.python.org/pep-0701/): such a text is left as it is.
    """
    parts: list[bytes] = []
    at = 0
    for match in _PROSE.finditer(data):
        start, end = match.span()
        token = match.group()
        if token[:1] == b"#":
            left = token if _TYPE.match(token) else b"#"
        elif end - start == 1:
            return data
        elif _PREFIX.search(data, max(0, start - 2), start):
            braces = token.replace(b"{{", b"").replace(b"}}", b"")
            if braces.count(b"{") != braces.count(b"}"):
                return data
            continue
        elif b"\n" not in token and b"\r" not in token:
            continue
        else:
            left = b'""' + _IN_LINE.sub(b" ", token)
        parts += (data[at:start], left)
        at = end
    return b"".join((*parts, data[at:])) if at else data
