"""Versions of torch: one, a range of them, and how they are written."""

from __future__ import annotations

import re
from dataclasses import dataclass

Version = tuple[int, int]

OLDEST_KNOWN: Version = (0, 3)
"""Nothing is known of versions before: which names they have, and since when."""


@dataclass(frozen=True, slots=True)
class Target:
    """A range of versions of torch, both ends included; None where it is open."""

    oldest: Version | None = None
    newest: Version | None = None

    def reaches(self, version: Version | None) -> bool:
        """Whether some supported version is as new as that."""
        return version is not None and (self.newest is None or version <= self.newest)

    def has(self, since: Version | None) -> bool:
        """Whether what came in a version exists in all supported ones; of an unknown range the latest is meant."""
        if since is None or (self.oldest is None and self.newest is None):
            return True
        return self.oldest is not None and since <= self.oldest

    def is_before(self, version: Version) -> bool:
        """Whether all supported versions are older than that."""
        return self.newest is not None and self.newest < version

    def __str__(self) -> str:
        ends = (text(self.oldest) if self.oldest else "", text(self.newest) if self.newest else "")
        return ends[0] if ends[0] == ends[1] else "..".join(ends)

    @property
    def as_range(self) -> str:
        """As ``--target-torch`` takes it; nothing for all versions."""
        if self.oldest is not None and self.oldest == self.newest:
            return f"=={text(self.oldest)}"
        ends = ((">=", self.oldest), ("<=", self.newest))
        return ",".join(f"{sign}{text(end)}" for sign, end in ends if end is not None)


ANY = Target()


def version(text: str) -> Version:
    """``2.6`` or ``2.6.1`` as numbers."""
    major, minor = text.split(".")[:2]
    return int(major), int(minor)


def text(version: Version) -> str:
    """A version as it is written."""
    return f"{version[0]}.{version[1]}"


_CLAUSE = re.compile(r"(===|==|~=|>=|<=|!=|>|<|\^|~)?\s*v?(\d+)(?:\.(\d+))?((?:\.\d+)*)(\.?\*)?[^,\s|]*")


def parse(specifier: str) -> Target | None:
    """The range of a version specifier (``2.6``, ``>=1.13,<2.5``, ``~=2.1``, ``^2.0``); None if it says nothing.

    A version alone is the oldest one, which is what the command line and the settings mean by it.
    """
    oldest: Version | None = None
    newest: Version | None = None
    for match in _CLAUSE.finditer(specifier):
        operator, major, minor, patch = match[1] or "", int(match[2]), int(match[3] or 0), match[4]
        here = (major, minor)
        if operator in (">=", ">", "", "~=", "^", "~", "==", "==="):
            oldest = max(oldest, here) if oldest else here
        last: Version | None = None
        if operator in ("==", "===", "~"):
            last = here if match[3] or not match[5] else (major, _LAST)
        elif operator == "<=":
            last = here
        elif operator == "<":
            last = here if patch.strip(".0") else (major, minor - 1) if minor else (major - 1, _LAST)
        elif operator == "^" or (operator == "~=" and not patch):
            last = (major, _LAST)
        elif operator == "~=":
            last = here
        if last is not None:
            newest = min(newest, last) if newest else last
    return Target(oldest, newest) if oldest or newest else None


_LAST = 99
"""Minor version after which no other comes."""
