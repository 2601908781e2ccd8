"""Patterns for paths as git has them in ``.gitignore``, matched in bounded time.

A file from anywhere can hold a pattern, and one like ``*a*a*a*b`` takes a regular expression minutes: it tries all ways
to divide a name among the stars. None of that is needed. Between two stars stands a piece of fixed length, and if it is
taken where it is found first, most is left for the pieces after it. The same holds for the names between two ``**`` of
a path. So a pattern is a row of pieces with gaps between them, and a path is searched for them once, left to right.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass
from typing import Protocol, TypeVar

W = TypeVar("W", bound=Sized)
W_contra = TypeVar("W_contra", bound=Sized, contravariant=True)

MOST = 1_000
"""Patterns that may have to be compared with a path one by one. Most are looked up: a name, a path, `*.pyc`."""

_LITERAL = re.compile(r"[^*?\[\\/]+(?:/[^*?\[\\/]+)*")
_STARS = re.compile(r"\*+")
_NAMED_SET = re.compile(r"\[:([^\]]*)\]")
_SETS = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": r"\ \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": r"!-~",
    "lower": "a-z",
    "print": r"\ -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\ \t-\r",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}


class BadPattern(ValueError):
    """A pattern that git could not use; the message says why."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """Characters of a name between two stars."""

    text: str
    """What stands there, or an expression for it."""
    size: int
    is_literal: bool = True

    def find(self, name: str, start: int, end: int) -> int:
        """The first place of it in a part of a name; -1 if there is none."""
        if self.is_literal:
            return name.find(self.text, start, end)
        match = _expression(self.text).search(name, start, end)
        return match.start() if match else -1


class _Part(Protocol[W_contra]):
    """What stands between two gaps: characters of a name, names of a path."""

    @property
    def size(self) -> int:
        """How much of the whole it takes."""

    def find(self, whole: W_contra, start: int, end: int, /) -> int:
        """The first place of it in a part of the whole; -1 if there is none."""


def _are_all_of(parts: Sequence[_Part[W]], whole: W) -> bool:
    """Whether a name or path is made of parts in this order, with gaps between them and none at its ends."""
    first, last, size = parts[0], parts[-1], len(whole)
    if len(parts) == 1:
        return first.size == size and first.find(whole, 0, size) == 0
    start, end = first.size, size - last.size
    if start > end or last.find(whole, end, size) != end or first.find(whole, 0, start) != 0:
        return False
    for part in parts[1:-1]:
        found = part.find(whole, start, end)
        if found < 0:
            return False
        start = found + part.size
    return True


_expressions: dict[str, re.Pattern[str]] = {}


def _expression(text: str) -> re.Pattern[str]:
    """Compiled when it is needed first. It repeats nothing, so there is nothing to try twice."""
    if text not in _expressions:
        _expressions[text] = re.compile(text, re.DOTALL)
    return _expressions[text]


@dataclass(frozen=True, slots=True)
class _Name:
    """One name of a path: pieces with a star between each two of them."""

    pieces: tuple[_Piece, ...]

    def matches(self, name: str) -> bool:
        return _are_all_of(self.pieces, name)

    @property
    def ending(self) -> str:
        """What a name has to end in, as far as that is plain text."""
        last = self.pieces[-1]
        return last.text if last.is_literal else ""

    @property
    def is_literal(self) -> bool:
        return len(self.pieces) == 1 and self.pieces[0].is_literal


@dataclass(frozen=True, slots=True)
class _Run:
    """Names of a path between two ``**``."""

    names: tuple[_Name, ...]

    @property
    def size(self) -> int:
        return len(self.names)

    def find(self, path: Sequence[str], start: int, end: int) -> int:
        """The first place of them in a part of a path; -1 if there is none."""
        for at in range(start, end - self.size + 1):
            if all(name.matches(path[at + number]) for number, name in enumerate(self.names)):
                return at
        return -1


@dataclass(frozen=True, slots=True)
class PathPattern:
    """One pattern."""

    runs: tuple[_Run, ...]
    has_slash: bool
    """Whether it speaks of paths from the directory of the list on; else of names, wherever they are."""
    only_directories: bool = False
    takes_back: bool = False

    def matches(self, path: Sequence[str], is_directory: bool) -> bool:
        """Whether it speaks of this very path (its names)."""
        if self.only_directories and not is_directory:
            return False
        if not self.has_slash:
            return self.runs[0].names[0].matches(path[-1])
        return _are_all_of(self.runs, path)

    def covers(self, path: Sequence[str], is_directory: bool = False) -> bool:
        """Whether it speaks of a path, or of a directory that this is in."""
        ends = range(1, len(path) + 1)
        return any(self.matches(path[:end], is_directory or end < len(path)) for end in ends)

    @property
    def is_literal(self) -> bool:
        """Whether it has no wildcards."""
        return len(self.runs) == 1 and all(name.is_literal for name in self.runs[0].names)

    @property
    def is_looked_up(self) -> bool:
        """Whether a path needs no comparison with it: it is a name, a path, or all names that end in something."""
        if self.is_literal or self.has_slash:
            return self.is_literal
        pieces = self.runs[0].names[0].pieces
        return len(pieces) == 2 and not pieces[0].size and bool(self.ending)

    @property
    def ending(self) -> str:
        """What a name has to end in for it, as far as that is plain text."""
        return self.runs[-1].names[-1].ending

    @property
    def literal(self) -> str:
        """The only path, or name, that a pattern without wildcards speaks of."""
        return "/".join(name.ending for name in self.runs[0].names)


def lines(text: str) -> Iterator[tuple[int, str]]:
    """The patterns of a ``.gitignore``, each with the number of its line."""
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        line = without_trailing_spaces(line.removesuffix("\r"))
        if line and not line.startswith("#"):
            yield number, line


def without_trailing_spaces(line: str) -> str:
    """A pattern without the spaces at its end, which only count behind a backslash."""
    bare = line.rstrip(" ")
    escapes = len(bare) - len(bare.rstrip("\\"))
    return f"{bare} " if escapes % 2 and len(bare) < len(line) else bare


def parse(text: str) -> PathPattern:
    """A pattern from how it is written.

    Raises:
        BadPattern: git could not use it either, and would pass over it.
    """
    takes_back = text.startswith("!")
    body = text[takes_back:]
    only_directories = body.endswith("/")
    body = body.removesuffix("/")
    has_slash = "/" in body
    body = body.removeprefix("/")
    if _LITERAL.fullmatch(body):  # most
        runs: tuple[_Run, ...] = (_Run(tuple(_Name((_Piece(name, len(name)),)) for name in body.split("/"))),)
    else:
        runs = _runs(_names(_tokens(body)), has_slash)
    return PathPattern(runs, has_slash, only_directories, takes_back)


_Token = _Piece | str
"""A piece of one character, stars, or a slash."""


def _tokens(body: str) -> Iterator[_Token]:
    at = 0
    while at < len(body):
        if stars := _STARS.match(body, at):
            yield stars[0][:2]
            at = stars.end()
            continue
        character = body[at]
        if character == "[":
            expression, at = _set(body, at + 1)
            yield _Piece(expression, 1, False)
            continue
        if character == "\\":
            if at + 1 == len(body):
                raise BadPattern("it ends in a backslash")
            at += 1
            yield "/" if body[at] == "/" else _Piece(body[at], 1)
        elif character == "?":
            yield _Piece(".", 1, False)
        else:
            yield "/" if character == "/" else _Piece(character, 1)
        at += 1


def _set(body: str, at: int) -> tuple[str, int]:
    """The expression for a set of characters, from behind its opening bracket, and where what follows it begins."""
    negated = body[at : at + 1] in ("!", "^")
    at += negated
    parts: list[str] = []
    before = ""
    first = True
    while first or body[at : at + 1] != "]":
        first = False
        named = _NAMED_SET.match(body, at)
        if named is not None and named[1].endswith(":"):
            if named[1][:-1] not in _SETS:
                raise BadPattern(f"there is no set of characters `[:{named[1]}]`")
            parts.append(_SETS[named[1][:-1]])
            before, at = "", named.end()
            continue
        is_range = body[at : at + 1] == "-" and before and body[at + 1 : at + 2] not in ("", "]")
        character, at = _member(body, at + bool(is_range))
        if is_range:
            parts += [f"{re.escape(before)}-{re.escape(character)}"] * (before <= character)
            before = ""
        else:
            parts.append(re.escape(character))
            before = character
    return f"[{'^' * negated}{''.join(parts)}]", at + 1


def _member(body: str, at: int) -> tuple[str, int]:
    """A character of a set, which a backslash may stand before, and the place behind it."""
    at += body[at : at + 1] == "\\"
    if at >= len(body):
        raise BadPattern("its `[` is never closed")
    return body[at], at + 1


def _names(tokens: Iterable[_Token]) -> Iterator[list[_Token]]:
    """The tokens of each name of a pattern."""
    name: list[_Token] = []
    for token in tokens:
        if token == "/":
            yield name
            name = []
        else:
            name.append(token)
    yield name


def _runs(names: Iterable[list[_Token]], has_slash: bool) -> tuple[_Run, ...]:
    """The names of a pattern, divided where there is ``**`` for one."""
    runs: list[list[_Name]] = [[]]
    is_gap = False
    for name in names:
        if not name:
            raise BadPattern("there is a name missing in it")
        is_gap = has_slash and name == ["**"]
        if is_gap:
            runs.append([])
        else:
            runs[-1].append(_name(name))
    if is_gap:  # all that is in a directory, and not the directory
        runs[-1].append(_name(["*"]))
    return tuple(_Run(tuple(run)) for run in runs)


def _name(tokens: Iterable[_Token]) -> _Name:
    pieces: list[list[_Piece]] = [[]]
    for token in tokens:
        if isinstance(token, str):
            pieces.append([])
        else:
            pieces[-1].append(token)
    return _Name(tuple(map(_joined, pieces)))


def _joined(characters: Sequence[_Piece]) -> _Piece:
    if all(character.is_literal for character in characters):
        return _Piece("".join(character.text for character in characters), len(characters))
    expression = "".join(re.escape(each.text) if each.is_literal else each.text for each in characters)
    return _Piece(expression, len(characters), False)


class Patterns:
    """A list of patterns relative to a directory. The last one that speaks of a path decides."""

    def __init__(self, base: str, patterns: Iterable[PathPattern]) -> None:
        self.base = base
        self._ranks = {pattern: rank for rank, pattern in enumerate(patterns)}  # of equal ones the last counts
        self._literal: dict[str, list[tuple[int, PathPattern]]] = {}
        """Patterns without wildcards, by the only path or name that each speaks of."""
        self._by_ending: dict[str, list[tuple[int, PathPattern]]] = {}
        """All others, by what a name has to end in for them."""
        for pattern, rank in self._ranks.items():
            table, key = (self._literal, pattern.literal) if pattern.is_literal else (self._by_ending, pattern.ending)
            table.setdefault(key, []).append((rank, pattern))
        self._lengths = sorted({len(ending) for ending in self._by_ending})
        self.compared = sum(not pattern.is_looked_up for pattern in self._ranks)
        """How many of the patterns may have to be compared with a path one by one."""
        self._needs_path = any(pattern.has_slash for pattern in self._ranks)

    def verdict(self, path: str, is_directory: bool) -> bool | None:
        """Whether a path is matched; None if no pattern speaks of it, False if one takes it back."""
        name = os.path.basename(path)
        below = relative(path, self.base) if self._needs_path else None
        names = [name] if below is None else below.split("/")
        last, verdict = -1, None
        for rank, pattern in self._candidates(name, below):
            if rank > last and (below is not None or not pattern.has_slash) and pattern.matches(names, is_directory):
                last, verdict = rank, not pattern.takes_back
        return verdict

    def _candidates(self, name: str, below: str | None) -> Iterator[tuple[int, PathPattern]]:
        """The patterns that a path has to be compared with."""
        yield from self._literal.get(name, ())
        if below is not None and below != name:
            yield from self._literal.get(below, ())
        for length in self._lengths:
            if length > len(name):
                break
            yield from self._by_ending.get(name[len(name) - length :], ())

    def without(self, root: str) -> Patterns:
        """The patterns that leave ``root`` itself in: a directory that was asked for is not left out by its name.

        One without wildcards leaves it in anyhow, for it speaks of nothing in it, but of what has the same name again.
        """
        below = relative(root, self.base)
        if below is None:
            return self
        names = below.split("/")
        inside = [*names, "\0"]  # anything, which no pattern names
        kept = [
            pattern
            for pattern in self._ranks
            if pattern.takes_back
            or pattern.is_literal
            or not (pattern.covers(names, True) or pattern.matches(inside, True))
        ]
        return Patterns(self.base, kept)


def relative(path: str, root: str) -> str | None:
    """``path`` below ``root`` with forward slashes; None if it is somewhere else."""
    prefix = root.rstrip(os.sep) + os.sep
    return path[len(prefix) :].replace(os.sep, "/") if path.startswith(prefix) else None
