"""Which files to look at."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from torchlint.config import Project, Settings, relative
from torchlint.diagnostic import Problem
from torchlint.reading import SETTINGS, read

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

SUFFIXES = (".py", ".pyi")


class File(NamedTuple):
    """A file to lint."""

    path: str
    """As it is shown: relative to the working directory where it is below it."""
    location: str
    """Its absolute path."""
    named: bool = False
    """Whether it was asked for by its own name."""


@dataclass(slots=True)
class Found:
    """The outcome of discovery."""

    files: list[File] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    """One message for each given path that does not exist."""
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What was left out and is not excluded."""


def shown(location: str, here: str | None = None) -> str:
    """An absolute path as reports show it (``here`` is the working directory, for those who ask often)."""
    below = relative(location, here or os.getcwd())
    return location if below is None else below.replace("/", os.sep)


def discover(paths: Iterable[str], project: Project, force_exclude: bool = False) -> Found:
    """The Python files among and below the given paths, each real file once, sorted by what is shown.

    Below a directory what git ignores and what the settings exclude is left out; a file given by name is taken, unless
    ``force_exclude`` says that the settings hold for it too.
    """
    found, taken = Found(), dict[str, tuple[bool, bool, str]]()
    for path in paths:
        location = os.path.abspath(path)
        try:
            os.stat(location)
        except (OSError, ValueError) as error:
            found.missing.append(f"{path}: {getattr(error, 'strerror', None) or error}")
            continue
        if os.path.isdir(location):
            _Walk(project, found, taken).run(location)
        elif not (force_exclude and is_excluded(location, project)):
            _take(taken, os.path.realpath(location), named=True, linked=os.path.islink(location), location=location)
    here = os.getcwd()
    found.files = sorted(File(shown(location, here), location, not walked) for walked, _, location in taken.values())
    return found


def _take(taken: dict[str, tuple[bool, bool, str]], real: str, *, named: bool, linked: bool, location: str) -> None:
    """Note a file under its real path; of several names the one that was given wins, then the one that is no link."""
    name = (not named, linked, location)
    taken[real] = min(taken.get(real, name), name)


class _Walk:
    """One directory tree. Links to directories are not followed, so there are no loops."""

    def __init__(self, project: Project, found: Found, taken: dict[str, tuple[bool, bool, str]]) -> None:
        self.project, self.found, self.taken = project, found, taken
        self.excludes: dict[Settings, Patterns] = {}

    def run(self, root: str) -> None:
        real_root = os.path.realpath(root)
        stack = [(root, [ignore.without(root) for ignore in _inherited_ignores(root, self.found)])]
        while stack:
            directory, ignores = stack.pop()
            entries = self._entries(directory)
            names = {entry.name for entry in entries}
            self.project.learn(directory, names)
            if directory != root and "pyvenv.cfg" in names:  # a virtual environment, whatever its name
                continue
            if directory != root and ".git" in names:  # another repository
                ignores = []
            if ".gitignore" in names and (own := _gitignore(directory, self.found)):
                ignores = [*ignores, own]
            exclude = self._exclude(directory, root)
            for entry in entries:
                path = entry.path
                if entry.is_dir(follow_symlinks=False):
                    if not _left_out(path, True, exclude, ignores):
                        stack.append((path, ignores))
                elif entry.name.endswith(SUFFIXES) and not _left_out(path, False, exclude, ignores):
                    self._file(entry, real_root + path[len(root) :])

    def _entries(self, directory: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(directory) as entries:
                return list(entries)
        except OSError as error:
            self.found.problems.append(Problem(shown(directory), error.strerror or str(error)))
            return []

    def _exclude(self, directory: str, root: str) -> Patterns:
        settings = self.project.settings(directory)
        if settings not in self.excludes:
            self.excludes[settings] = Patterns(settings.root, settings.exclude).without(root)
        return self.excludes[settings]

    def _file(self, entry: os.DirEntry[str], real: str) -> None:
        linked = entry.is_symlink()
        is_file = entry.is_file(follow_symlinks=False) or (linked and os.path.isfile(entry.path))
        if not is_file:  # unlike entry.is_file(), os.path.isfile() survives a link to itself
            what = "not a regular file" if os.path.exists(entry.path) else "a broken link"
            self.found.notes.append(f"{shown(entry.path)}: {what}, skipped")
            return
        _take(
            self.taken,
            os.path.realpath(entry.path) if linked else real,
            named=False,
            linked=linked,
            location=entry.path,
        )


def _left_out(path: str, is_directory: bool, exclude: Patterns, ignores: Sequence[Patterns]) -> bool:
    if exclude.verdict(path, is_directory):
        return True
    for ignore in reversed(ignores):  # the nearest `.gitignore` has the last word
        verdict = ignore.verdict(path, is_directory)
        if verdict is not None:
            return verdict
    return False


def is_excluded(location: str, project: Project) -> bool:
    """Whether a file, or a directory between it and the root of its settings, is excluded."""
    settings = project.settings(os.path.dirname(location))
    exclude, below = Patterns(settings.root, settings.exclude), relative(location, settings.root)
    if below is None:
        return False
    parts = below.split("/")
    ends = range(1, len(parts) + 1)
    return any(exclude.verdict(os.path.join(settings.root, *parts[:end]), end < len(parts)) for end in ends)


class Patterns:
    """Patterns as git has them in ``.gitignore``, relative to a directory."""

    def __init__(self, base: str, patterns: Sequence[str], spec: GitIgnoreSpec | None = None) -> None:
        self.base = base
        plain = not any(pattern.startswith("!") for pattern in patterns)
        self.names = frozenset(p for p in patterns if plain and re.fullmatch(r"[\w.-]+", p))
        """Patterns that are simply names: no need for pathspec, nor for its import."""
        rest = [pattern for pattern in patterns if pattern not in self.names]
        self.spec = _compiled(rest) if rest else spec

    def verdict(self, path: str, is_directory: bool) -> bool | None:
        """Whether a path is matched; None if no pattern speaks of it, False if one takes it back."""
        if os.path.basename(path) in self.names:
            return True
        below = relative(path, self.base) if self.spec is not None else None
        if self.spec is None or below is None:
            return None
        return self.spec.check_file(f"{below}/" if is_directory else below).include

    def without(self, root: str) -> Patterns:
        """The patterns that leave ``root`` itself in: a directory that was asked for is not left out by its name."""
        below = relative(root, self.base)
        if self.spec is None or below is None:
            return self
        kept = [p for p in self.spec.patterns if not (p.include and p.match_file(f"{below}/"))]
        return Patterns(self.base, sorted(self.names), type(self.spec)(kept))


def _compiled(lines: Iterable[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(lines)


def _gitignore(directory: str, found: Found) -> Patterns | None:
    path = os.path.join(directory, ".gitignore")
    try:
        lines = read(path, SETTINGS).decode("utf-8", "surrogateescape").splitlines()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as error:
        problem = Problem(shown(path), f"{error.strerror or error}; what it ignores is not known")
        if problem not in found.problems:
            found.problems.append(problem)
        return None
    usable = [line for line in lines if line.strip() and not line.startswith("#") and _is_valid(line)]
    return Patterns(directory, usable) if usable else None


def _is_valid(line: str) -> bool:
    """Whether git could use the line; like git, pass over one that it could not."""
    try:
        _compiled([line])
    except (ValueError, re.error):
        return False
    return True


def _inherited_ignores(root: str, found: Found) -> list[Patterns]:
    """The ``.gitignore`` files above a directory, up to the root of its repository, outermost first."""
    if os.path.exists(os.path.join(root, ".git")):
        return []
    above: list[str] = []
    directory = os.path.dirname(root)
    while True:
        above.append(directory)
        if os.path.exists(os.path.join(directory, ".git")):
            return [ignore for each in reversed(above) if (ignore := _gitignore(each, found))]
        if directory == (directory := os.path.dirname(directory)):
            return []  # no repository
