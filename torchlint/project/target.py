"""Which versions of torch a project supports: what was asked for, or what its own requirements say."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from torchlint.system.reading import SETTINGS, read

Version = tuple[int, int]


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

    def __str__(self) -> str:
        ends = (text(self.oldest) if self.oldest else "", text(self.newest) if self.newest else "")
        return ends[0] if ends[0] == ends[1] else "..".join(ends)


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

FILES = (
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "requirements.txt",
    "environment.yml",
    "environment.yaml",
    "Pipfile",
    "uv.lock",
    "poetry.lock",
    "pdm.lock",
    "Pipfile.lock",
)
"""Where a project says what it needs, the most telling first."""


def of_project(directory: str) -> Target:
    """What the nearest project around a directory says of torch; :data:`ANY` if it says nothing."""
    return _around(os.path.realpath(directory)).target


def sources(directory: str) -> str | None:
    """The file that says it."""
    return _around(os.path.realpath(directory)).file


def unread(directory: str) -> tuple[str, ...]:
    """What is to be said of files that might have said it and could not be read."""
    return _around(os.path.realpath(directory)).unread


class _Required(NamedTuple):
    """What a project requires of torch."""

    target: Target = ANY
    file: str | None = None
    """Which file says it."""
    unread: tuple[str, ...] = ()


@functools.cache
def _around(directory: str) -> _Required:
    unread: tuple[str, ...] = ()
    for name in _candidates(directory):
        path = os.path.join(directory, name)
        try:
            content = read(path, SETTINGS).decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
        except OSError as error:
            unread += (f"{path}: {error.strerror or error}",)
            continue
        found = of_text(os.path.basename(name), content)
        if found is not None:
            return _Required(found, path, unread)
    parent = os.path.dirname(directory)
    if parent == directory or os.path.exists(os.path.join(directory, ".git")):
        return _Required(unread=unread)
    above = _around(parent)
    return above._replace(unread=unread + above.unread)


def may_require(names: Iterable[str]) -> bool:
    """Whether files of these names may say something of torch."""
    return bool(_candidates_among(names))


def _candidates(directory: str) -> list[str]:
    try:
        return _candidates_among(os.listdir(directory))
    except OSError:
        return []


def _candidates_among(listed: Iterable[str]) -> list[str]:
    names = set(listed)
    requirements = (name for name in names if name.startswith("requirements"))
    more = sorted(name for name in requirements if re.fullmatch(r"requirements[\w.-]*\.(txt|in|lock)", name))
    more = [name for name in more if name != "requirements.txt"]
    return [name for name in FILES if name in names] + more


def of_text(name: str, content: str) -> Target | None:
    """What the text of one of :data:`FILES` says of torch."""
    if "torch" not in content:
        return None
    if name.endswith(".lock"):
        return _locked(content)
    if name == "setup.py":
        return _first(re.findall(r"[\"']torch\s*((?:\[\w+\])?[<>=!~][^\"';]*)[\"']", content))
    if name.startswith("environment"):
        lines = re.findall(r"(?m)^\s*-\s*[\"']?(?:[\w-]+::)?(?:py)?torch\s*([<>=!~][^\"'#\n;]*)", content)
        return _first(line if re.match(r"[<>!~]|==", line) else "=" + line for line in lines)
    if name in ("pyproject.toml", "Pipfile"):
        return _first(_of_toml(content))
    return _first(re.findall(r"(?m)^\s*torch\s*(?:\[\w+\])?\s*\(?([<>=!~][^#;\n)]*)", content))


def _of_toml(content: str) -> Iterator[str]:
    """Specifiers of torch in a list of requirements, or in a table of Poetry's or Pipenv's."""
    yield from re.findall(r"[\"']torch\s*(?:\[\w+\])?\s*\(?([<>=!~][^\"';)]*)", content)
    yield from re.findall(r"(?m)^\s*torch\s*=\s*[\"']([^\"']*)[\"']", content)
    yield from re.findall(r"(?m)^\s*torch\s*=\s*\{[^}\n]*version\s*=\s*[\"']([^\"']*)[\"']", content)


def _first(specifiers: Iterable[str]) -> Target | None:
    """What the first specifier that says anything says."""
    return next((found for specifier in specifiers if (found := parse(specifier)) is not None), None)


def _locked(content: str) -> Target | None:
    match = re.search(r"name = \"torch\"\s*\nversion = \"([^\"]*)\"", content)
    match = match or re.search(r"\"torch\": \{[^}]*\"version\": \"==([^\"]*)\"", content)
    return parse(f"=={match[1]}") if match else None
