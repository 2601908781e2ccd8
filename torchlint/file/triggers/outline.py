"""Which blocks are around a place in a text, as its indentation has it: functions, loops."""

from __future__ import annotations

import bisect
import functools
import re
from typing import NamedTuple

DOUBT = b"?"
LOOPS = frozenset((b"for", b"while"))
_HEADER = re.compile(rb"(?:async[ \t]+)?(def|class|for|while|if|elif|else|try|except|finally|with|match|case)\b")
_FOLLOWS = frozenset((b"elif", b"else", b"except", b"finally"))
"""What follows another block, to whose statement it belongs."""
_TRIPLE = (b'"""', b"'''")


class Around(NamedTuple):
    """The words that open the blocks around a place."""

    word: bytes
    """That of the innermost."""
    rest: Around | None
    """Those around that."""
    words: frozenset[bytes]
    """All of them."""


def around(data: bytes, at: int) -> Around | None:
    """The words that open the blocks around a place, as indentation has it; None outside of any.

    Or doubt, and nothing more: in strings of several lines anything may stand at the beginning of a line.
    """
    outline = _outline(data)
    index = bisect.bisect_right(outline.starts, at) - 1
    line = outline.line(index)
    code = line.lstrip(b" ")
    around = outline.around(index, outline.parity(at))
    if (own := _HEADER.match(code)) is not None:
        return _put(own[1] if own[1] in LOOPS else DOUBT, around)
    if code.startswith((b"@", b")", b"]", b"}", b"\t", b"\f")) or b"\r" in line[:-1]:
        return _put(DOUBT, around)
    return around


def _put(word: bytes, around: Around | None) -> Around:
    return Around(word, around, (around.words if around is not None else frozenset()) | {word})


class _Outline:
    """The lines of a text, and for each the one before it that is further out: where the block begins it is in."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.starts = [0, *(match.end() for match in re.finditer(rb"\n", data))]
        self.less: list[int] = []
        """For each line the nearest before it that is indented less; -1 if there is none."""
        self.no_more: list[int] = []
        """For each line the nearest before it that is not indented more."""
        self._quotes = [[match.start() for match in re.finditer(quotes, data)] for quotes in _TRIPLE]
        self._known: dict[tuple[int, int, tuple[int, ...]], Around | None] = {}
        self._find_outer()

    def _find_outer(self) -> None:
        widths: list[int] = []
        lines: list[int] = []
        for index, line in enumerate(self.data.split(b"\n")):
            code = line.lstrip(b" ")
            width = len(line) - len(code)
            further_out = bisect.bisect_left(widths, width)
            as_far = bisect.bisect_right(widths, width)
            self.less.append(lines[further_out - 1] if further_out else -1)
            self.no_more.append(lines[as_far - 1] if as_far else -1)
            if code.rstrip() and not code.startswith(b"#"):
                widths[further_out:], lines[further_out:] = [width], [index]

    def line(self, index: int) -> bytes:
        """A line without its newline."""
        end = self.starts[index + 1] - 1 if index + 1 < len(self.starts) else len(self.data)
        return self.data[self.starts[index] : end]

    def parity(self, at: int) -> tuple[int, ...]:
        """Whether an odd number of each of the triple quotes stands before a place."""
        return tuple(bisect.bisect_left(places, at) % 2 for places in self._quotes)

    def around(self, index: int, parity: tuple[int, ...]) -> Around | None:
        """The words that open the blocks a line is in, for a place of that parity on it. Ways out are walked once."""
        way: list[tuple[tuple[int, int, tuple[int, ...]], bytes]] = []
        found: Around | None = None
        width, index = self._width(index), self.less[index]
        while index >= 0:
            key = (index, width, parity)
            if key in self._known:
                found = self._known[key]
                break
            word, width = self._opened(index, width, parity)
            way.append((key, word))
            index = self.no_more[index] if width > self._width(index) else self.less[index] if width else -1
        for key, word in reversed(way):
            found = self._known[key] = _put(word, found) if word else found
        return found

    def _width(self, index: int) -> int:
        line = self.line(index)
        return len(line) - len(line.lstrip(b" "))

    def _opened(self, index: int, width: int, parity: tuple[int, ...]) -> tuple[bytes, int]:
        """The word that a line opens a block with, empty if it opens none, and what is further out than that block.

        ``width`` is what this line is further out than; 0 ends the search.
        """
        code = self.line(index).strip()
        indent = self._width(index)
        header, bare = _HEADER.match(code), code.partition(b"#")[0].rstrip()
        if self.line(index).lstrip(b" ").startswith((b"\t", b"\r", b"\f", b"@")):
            return DOUBT, 0
        if code.startswith((b")", b"]", b"}")):  # it ends what begins on a line that is indented as much
            return b"", indent + 1
        if header is not None and bare.endswith((b":", b"(", b"[", b"{", b",")):
            if parity != self.parity(self.starts[index]) or (indent + 1 != width and not bare.endswith(b":")):
                return DOUBT, 0
            return header[1], indent + 1 if header[1] in _FOLLOWS else indent
        if code.endswith((b"(", b"[", b"{", b",", b"\\")):
            return b"", indent
        return DOUBT, 0


@functools.lru_cache(maxsize=2)
def _outline(data: bytes) -> _Outline:
    return _Outline(data)
