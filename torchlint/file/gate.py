"""Which files can hold findings, and where in them: from the needles that rules declare, in the bytes of a file.

For most files nothing but this runs. A needle is what :func:`torchlint.rule.on` says.
"""

from __future__ import annotations

import bisect
import functools
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from torchlint.file.text.source import GAP, words
from torchlint.rules import catalogue

_TABLE = "table:"
_TENSORS = re.compile(rb"\.(?:detach|cpu|backward)\(|requires_grad|no_grad")
"""What files that get their tensors from others do to them."""


class Needle(NamedTuple):
    """What a rule is looked for by."""

    pattern: re.Pattern[bytes]
    word: bytes = b""
    """One that is in every text that has it; empty if that is not known. Words are asked first, they are quicker."""
    is_name: bool = False
    """Whether it is a name, that may have other names."""
    beside: re.Pattern[bytes] | None = None
    """What must be in the file, too."""
    is_outside: bool = False
    """Whether it counts only outside of functions."""
    is_in_loop: bool = False
    """Whether it counts only in loops."""

    def places(self, data: bytes) -> Iterator[re.Match[bytes]]:
        """Where it stands and counts."""
        if self.word and self.word not in words(data):
            return
        if self.beside is not None and not _has(self.beside, data):
            return
        for match in self.pattern.finditer(data):
            if self.is_outside or self.is_in_loop:
                found = _around(data, match.start())
                around = found.words if found is not None else frozenset[bytes]()
                if _DOUBT not in around and (b"def" in around if self.is_outside else not around & _LOOPS):
                    continue
            yield match


@functools.lru_cache(maxsize=64)
def _has(pattern: re.Pattern[bytes], data: bytes) -> bool:
    return pattern.search(data) is not None


@functools.cache
def _parsed(text: str) -> Needle:
    if text.startswith("outside:"):
        return _parsed(text.removeprefix("outside:"))._replace(is_outside=True)
    if text.startswith("loop:"):
        return _parsed(text.removeprefix("loop:"))._replace(is_in_loop=True)
    if text.startswith("beside:"):
        other, _, rest = text.removeprefix("beside:").partition(":")
        return _parsed(rest)._replace(beside=_parsed(other).pattern)
    word = _FIRST.match(text)
    return Needle(re.compile(_regex(text).encode()), word[1].encode() if word is not None else b"", text.isidentifier())


_FIRST = re.compile(r"(?:\.|re:\\\. ?|re:\\b)?([A-Za-z_]\w*)(?: |\\[(.b]|\Z)")
_WHOLE = re.compile(r"\A\\b(\w+)")


def _regex(text: str) -> str:
    if text.startswith("re:"):  # what begins with a literal is found far quicker, so the boundary follows it
        return _WHOLE.sub(r"\1(?<!\\w\1)", text.removeprefix("re:"), count=1).replace(" ", GAP)
    if text.startswith("."):
        return r"\." + GAP + re.escape(text[1:]) + r"\b"
    if text.startswith("*") or text.endswith("*"):
        return re.escape(text.strip("*"))
    if text.isidentifier():
        return rf"{text}(?<!\w{text})\b"
    return re.escape(text)


@functools.cache
def _needles(codes: frozenset[str]) -> tuple[tuple[Needle, ...], frozenset[str]]:
    """The needles of some rules, and the rules that are found by the words of the table of torch's API.

    One pattern a needle: `re` finds the literal that each begins with far quicker than any of several.
    """
    rules = catalogue()
    texts = sorted({text for code in codes if code in rules for text in rules[code].needles})
    needles = [_parsed(text) for text in texts if not text.startswith(_TABLE)]
    needles.sort(key=lambda each: (each.is_outside or each.is_in_loop, each.beside is not None))
    return tuple(needles), frozenset(text.removeprefix(_TABLE) for text in texts if text.startswith(_TABLE))


def can_match(data: bytes, codes: frozenset[str]) -> bool:
    """Whether any of the rules could find anything in a file of these bytes.

    A match on an import line alone (``import torch.utils.data``) does not count for an attribute: no rule looks at
    module paths. Files that neither mention torch nor do what is only done to tensors are not ours.
    """
    return _is_ours(data) and _has_needle(data, codes)


def possible_rules(data: bytes, codes: frozenset[str]) -> frozenset[str]:
    """Those of the rules that could find something in a file of these bytes, if prose is not counted either."""
    if not _is_ours(data):
        return frozenset()
    code = without_prose(data)
    return frozenset(each for each in codes if _has_needle(code, frozenset((each,))))


def _is_ours(data: bytes) -> bool:
    return b"torch" in data or _TENSORS.search(data) is not None


def _has_needle(data: bytes, codes: frozenset[str]) -> bool:
    needles, tables = _needles(codes)
    if any(_occurs(needle, data) for needle in needles):
        return True
    if not tables:
        return False
    from torchlint.rules.api import words

    return words.can_match(data, tables)


@functools.lru_cache(maxsize=64)
def _occurs(needle: Needle, data: bytes) -> bool:
    """Whether a needle stands anywhere but in an import. Rules share needles, so the last answers are kept."""
    for match in needle.places(data):
        if not match.group().startswith(b"."):
            return True
        start = max(data.rfind(b"\n", 0, match.start()), data.rfind(b"\r", 0, match.start())) + 1
        before = data[start : match.start()].lstrip()
        if not before.startswith((b"import ", b"from ")) or b";" in before:
            return True
    return False


def sites(data: bytes, codes: frozenset[str]) -> Callable[[int, int], bool]:
    """Where findings of some rules can be: asked with the first line of a function and the one behind its last.

    That is where a needle is, or another name for what a needle names, but not in prose.
    """
    data = without_prose(data)
    found: list[tuple[int, int]] = []
    named: list[tuple[int, int]] = []
    needles, tables = _needles(codes)
    for needle in needles:
        (named if needle.is_name else found).extend(match.span() for match in needle.places(data))
    if tables:
        from torchlint.rules.api import words

        named += words.places(data, tables)
    known: set[bytes] = set()
    while named:
        found += named
        new = _other_names(data, named) - known
        known |= new
        pattern = rb"\b(?:%s)\b" % b"|".join(sorted(new))
        named = [match.span() for match in re.finditer(pattern, data)] if new else []
    starts = [0, *(match.end() for match in re.finditer(rb"\n", data))]
    rows = sorted({bisect.bisect_right(starts, start) - 1 for start, _ in found})

    def is_wanted(first: int, end: int) -> bool:
        at = bisect.bisect_left(rows, first)
        return at < len(rows) and rows[at] < end

    return is_wanted


_ASSIGNED = re.compile(rb"\A[ \t]*(?:\w+\.)*(\w+)[ \t]*(?::[^=\n]*)?=(?:[\w. \t]|\bpartial\()*\Z")
_NAMED_AS = re.compile(rb"[ \t]+as[ \t]+(\w+)")


def _other_names(data: bytes, places: Iterable[tuple[int, int]]) -> set[bytes]:
    """What names are also called by, where they stand: in ``x = name`` and ``import name as x``; or just so."""
    others: set[bytes] = set()
    for start, end in places:
        if data[start - 1 : start] != b".":
            others.add(data[start:end])
        if (renamed := _NAMED_AS.match(data, end)) is not None:
            others.add(renamed[1])
        elif data[end : end + 1] != b"(":
            line = data[data.rfind(b"\n", 0, start) + 1 : start]
            if (assigned := _ASSIGNED.search(line)) is not None:
                others.add(assigned[1])
    return others


# ---------------------------------------------------------------------- what is no code

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


# ---------------------------------------------------------------------- the blocks around a place

_DOUBT = b"?"
_LOOPS = frozenset((b"for", b"while"))
_HEADER = re.compile(rb"(?:async[ \t]+)?(def|class|for|while|if|elif|else|try|except|finally|with|match|case)\b")
_FOLLOWS = frozenset((b"elif", b"else", b"except", b"finally"))
"""What follows another block, to whose statement it belongs."""
_TRIPLE = (b'"""', b"'''")


class _Around(NamedTuple):
    """The words that open the blocks around a place."""

    word: bytes
    """That of the innermost."""
    rest: _Around | None
    """Those around that."""
    words: frozenset[bytes]
    """All of them."""


def _around(data: bytes, at: int) -> _Around | None:
    """The words that open the blocks around a place, as indentation has it; None outside of any.

    Or doubt, and nothing more: in strings of several lines anything may stand at the beginning of a line.
    """
    outline = _outline(data)
    index = bisect.bisect_right(outline.starts, at) - 1
    line = outline.line(index)
    code = line.lstrip(b" ")
    around = outline.around(index, outline.parity(at))
    if (own := _HEADER.match(code)) is not None:
        return _put(own[1] if own[1] in _LOOPS else _DOUBT, around)
    if code.startswith((b"@", b")", b"]", b"}", b"\t", b"\f")) or b"\r" in line[:-1]:
        return _put(_DOUBT, around)
    return around


def _put(word: bytes, around: _Around | None) -> _Around:
    return _Around(word, around, (around.words if around is not None else frozenset()) | {word})


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
        self._known: dict[tuple[int, int, tuple[int, ...]], _Around | None] = {}
        self._find_outer()

    def _find_outer(self) -> None:
        widths: list[int] = []
        lines: list[int] = []
        for index in range(len(self.starts)):
            line = self.line(index)
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

    def around(self, index: int, parity: tuple[int, ...]) -> _Around | None:
        """The words that open the blocks a line is in, for a place of that parity on it. Each way out is gone once."""
        way: list[tuple[tuple[int, int, tuple[int, ...]], bytes]] = []
        found: _Around | None = None
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
            return _DOUBT, 0
        if code.startswith((b")", b"]", b"}")):  # it ends what begins on a line that is indented as much
            return b"", indent + 1
        if header is not None and bare.endswith((b":", b"(", b"[", b"{", b",")):
            if parity != self.parity(self.starts[index]) or (indent + 1 != width and not bare.endswith(b":")):
                return _DOUBT, 0
            return header[1], indent + 1 if header[1] in _FOLLOWS else indent
        if code.endswith((b"(", b"[", b"{", b",", b"\\")):
            return b"", indent
        return _DOUBT, 0


@functools.lru_cache(maxsize=2)
def _outline(data: bytes) -> _Outline:
    return _Outline(data)
