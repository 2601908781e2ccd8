"""Triggers as what is searched for in the bytes of a file."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace

from torchlint.file.text.tokens import GAP, words
from torchlint.file.triggers.outline import DOUBT, LOOPS, around
from torchlint.rules import catalogue
from torchlint.trigger import (
    AllOf,
    AnyOf,
    Attribute,
    InLoops,
    Listed,
    Part,
    Pattern,
    Trigger,
    Word,
    spelled,
)


@dataclass(frozen=True, slots=True)
class Search:
    """One thing to search for, and where it counts."""

    pattern: re.Pattern[bytes]
    any_word: frozenset[bytes] = frozenset()
    """Words of which one is in every text that has it; empty if none are known. They are asked first, and quicker."""
    beside: tuple[tuple[Search, ...], ...] = ()
    """What must be in the file, too: of each of these one."""
    is_in_loop: bool = False
    """Whether it counts only in loops."""

    def places(self, data: bytes) -> Iterator[re.Match[bytes]]:
        """Where it stands and counts."""
        found = words(data)
        if not self._is_possible(found):
            return
        if not all(any(other._is_possible(found) for other in others) for others in self.beside):
            return
        is_beside = not self.beside
        for match in self.pattern.finditer(data):
            is_beside = is_beside or self._is_beside(data)
            if not is_beside:
                return
            if self.is_in_loop:
                outer = around(data, match.start())
                opened = outer.words if outer is not None else frozenset[bytes]()
                if DOUBT not in opened and not opened & LOOPS:
                    continue
            yield match

    def _is_possible(self, found: frozenset[bytes]) -> bool:
        """Whether it can be in a text of these words."""
        return not self.any_word or not found.isdisjoint(self.any_word)

    def _is_beside(self, data: bytes) -> bool:
        """Whether what must be in the file, too, is there."""
        return all(any(_has(other.pattern, data) for other in others) for others in self.beside)


@dataclass(frozen=True, slots=True)
class Searches:
    """All that is searched for on behalf of some rules."""

    own: tuple[Search, ...]
    """What each rule names, the quickest first."""
    listed: frozenset[str] = field(default_factory=frozenset)
    """The rules whose words are in the table of torch's API."""


@functools.lru_cache(maxsize=64)
def _has(pattern: re.Pattern[bytes], data: bytes) -> bool:
    return pattern.search(data) is not None


@functools.cache
def searches(codes: frozenset[str]) -> Searches:
    """What is searched for on behalf of some rules.

    One pattern each: `re` finds the literal that it begins with far quicker than any of several.
    """
    rules = catalogue()
    triggers = [rules[code].trigger for code in sorted(codes) if code in rules]
    own = list(dict.fromkeys(each for trigger in triggers for each in _searches(trigger)))
    own.sort(key=lambda each: (each.is_in_loop, bool(each.beside)))
    return Searches(tuple(own), frozenset(code for trigger in triggers for code in _listed(trigger)))


@functools.cache
def _searches(trigger: Trigger) -> tuple[Search, ...]:
    """A trigger taken apart: one of these has to be found, but for what is in the table."""
    match trigger:
        case AnyOf(triggers):
            return tuple(each for one in triggers for each in _searches(one))
        case AllOf(first, others):
            beside = tuple(map(_searches, others))
            return tuple(replace(each, beside=each.beside + beside) for each in _searches(first))
        case InLoops(inner):
            return tuple(replace(each, is_in_loop=True) for each in _searches(inner))
        case Listed():
            return ()
    return (_search(trigger),)


def _listed(trigger: Trigger) -> Collection[str]:
    """The rules whose words in the table a trigger is about."""
    match trigger:
        case Listed(code):
            return (code,)
        case AnyOf(triggers):
            return [code for each in triggers for code in _listed(each)]
    return ()


_FIRST = re.compile(r"(?:\\\. ?|\\b)(?:([A-Za-z_]\w*)|\(\?:(\w+(?:\|\w+)*)\)(\w*))(?: |\\[(.b]|\Z)")
"""The whole word that every match of a pattern begins with, or one of several that may have their end in common."""
_BOUNDARY = re.compile(r"\A\\b(\w+)")


def _search(trigger: Trigger) -> Search:
    match trigger:
        case Word(name):
            return Search(_compiled(_whole(name)), frozenset((name.encode(),)))
        case Attribute(name):
            return Search(_compiled(rf"\.{GAP}{name}\b"), frozenset((name.encode(),)))
        case Part(text):
            return Search(_compiled(text))
        case Pattern(regex):
            behind = _BOUNDARY.sub(r"\1(?<!\\w\1)", regex, count=1)  # `re` finds a literal far quicker than a boundary
            return Search(_compiled(spelled(behind)), _first_words(regex))
    raise TypeError(f"{trigger} is nothing to search for")


def _first_words(regex: str) -> frozenset[bytes]:
    match = _FIRST.match(regex)
    if match is None:
        return frozenset()
    return frozenset(f"{word}{match[3] or ''}".encode() for word in (match[1] or match[2]).split("|"))


def _whole(name: str) -> str:
    return rf"{name}(?<!\w{name})\b"


def _compiled(regex: str) -> re.Pattern[bytes]:
    return re.compile(regex.encode())


@functools.lru_cache(maxsize=64)
def occurs(search: Search, data: bytes) -> bool:
    """Whether something stands anywhere but in an import. Rules share searches, so the last answers are kept."""
    for match in search.places(data):
        if not match.group().startswith(b"."):
            return True
        start = max(data.rfind(b"\n", 0, match.start()), data.rfind(b"\r", 0, match.start())) + 1
        before = data[start : match.start()].lstrip()
        if not before.startswith((b"import ", b"from ")) or b";" in before:
            return True
    return False
