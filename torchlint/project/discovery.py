"""Which files to look at."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from torchlint.diagnostic import Problem
from torchlint.project import gitignore
from torchlint.project.gitignore import PathPattern, Patterns, relative
from torchlint.project.project import Project
from torchlint.project.settings import Settings
from torchlint.system.leftovers import is_leftover
from torchlint.system.reading import SETTINGS, read

NOTEBOOK = ".ipynb"
PYTHON = (".py", ".pyi")
SUFFIXES = (*PYTHON, NOTEBOOK)
MARKDOWN = (".md", ".markdown")
RST = (".rst",)
PROSE = (*MARKDOWN, *RST)
"""Looked for where blocks of code in documentation are wanted."""

VIRTUAL = "pyvenv.cfg"
"""What is in a virtual environment, whatever its name."""


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
    """Paths that exist and could not be looked at."""
    empty: list[Problem] = field(default_factory=list)
    """Given directories without Python files."""
    warnings: list[str] = field(default_factory=list)
    """What nobody can have meant."""
    notes: list[str] = field(default_factory=list)
    """What was left out and is not excluded."""
    leftovers: list[str] = field(default_factory=list)
    """Files that this program makes beside others while it writes these, of a run that goes on or was killed."""

    def is_wrong(self, paths: Collection[str]) -> bool:
        """Whether paths that were given cannot be meant: one does not exist, or all hold nothing to check."""
        return bool(self.missing or (paths and self.empty and not self.files))


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
            os.stat(location if path else path)  # nothing is no name for the working directory
        except (FileNotFoundError, NotADirectoryError, ValueError) as error:  # no such name can exist: ValueError
            found.missing.append(f"{path}: {getattr(error, 'strerror', None) or error}")
            continue
        except OSError as error:
            found.problems.append(Problem(path, error.strerror or str(error)))
            continue
        if os.path.isdir(location):
            _Walk(project, found, taken).run(location, path)
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
        self.excludes: dict[Settings, list[Patterns]] = {}
        self.files = 0

    def run(self, root: str, given: str) -> None:
        failed = len(self.found.problems)
        self._below(root)
        if not self.files and failed == len(self.found.problems):
            self.found.empty.append(Problem(given, "no Python files found"))

    def _below(self, root: str) -> None:
        real_root = os.path.realpath(root)
        inherited = _inherited_ignores(root, self.found)
        stack = [(root, [ignore.without(root) for ignore in inherited])]
        while stack:
            directory, ignores = stack.pop()
            entries = self._entries(directory)
            names = {entry.name for entry in entries}
            self.project.learn(directory, names)
            if directory != root and VIRTUAL in names:
                continue
            if directory != root and ".git" in names:  # another repository
                ignores = []
            if ".gitignore" in names and (own := _gitignore(directory, ignores, self.found)):
                ignores = [*ignores, own]
            exclude = self._exclude(directory, root)
            wanted = suffixes(directory, self.project)
            for entry in entries:
                path = entry.path
                if entry.is_dir(follow_symlinks=False):
                    if not _left_out(path, True, exclude, ignores):
                        stack.append((path, ignores))
                elif entry.name.endswith(wanted) and not _left_out(path, False, exclude, ignores):
                    self._file(entry, real_root + path[len(root) :])
                elif is_leftover(entry.name):
                    self.found.leftovers.append(path)

    def _entries(self, directory: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(directory) as entries:
                return list(entries)
        except OSError as error:
            self.found.problems.append(Problem(shown(directory), error.strerror or str(error)))
            return []

    def _exclude(self, directory: str, root: str) -> list[Patterns]:
        settings = self.project.settings(directory)
        if settings not in self.excludes:
            self.excludes[settings] = [patterns.without(root) for patterns in _excludes(settings)]
        return self.excludes[settings]

    def _file(self, entry: os.DirEntry[str], real: str) -> None:
        linked = entry.is_symlink()
        is_file = entry.is_file(follow_symlinks=False) or (linked and os.path.isfile(entry.path))
        if not is_file:  # unlike entry.is_file(), os.path.isfile() survives a link to itself
            what = "not a regular file" if os.path.exists(entry.path) else "a broken link"
            self.found.notes.append(f"{shown(entry.path)}: {what}, skipped")
            return
        self.files += 1
        _take(
            self.taken,
            os.path.realpath(entry.path) if linked else real,
            named=False,
            linked=linked,
            location=entry.path,
        )


def _left_out(path: str, is_directory: bool, exclude: Sequence[Patterns], ignores: Sequence[Patterns]) -> bool:
    return _verdict(path, is_directory, exclude) or _verdict(path, is_directory, ignores)


def _verdict(path: str, is_directory: bool, lists: Sequence[Patterns]) -> bool:
    """Whether a path is matched; the last list that speaks of it decides, so the nearest `.gitignore`."""
    for patterns in reversed(lists):
        verdict = patterns.verdict(path, is_directory)
        if verdict is not None:
            return verdict
    return False


def _excludes(settings: Settings) -> list[Patterns]:
    return [Patterns(root, map(gitignore.parse, patterns)) for root, patterns in settings.excluded]


def is_excluded(location: str, project: Project) -> bool:
    """Whether a file, or a directory between it and the root of its settings, is excluded."""
    settings = project.settings(os.path.dirname(location))
    return _matches_on_the_way(location, settings.root, _excludes(settings))


def is_passed_over(location: str, root: str, project: Project) -> bool:
    """Whether a file is left out below a directory that was asked for, whatever git ignores."""
    parts = (relative(location, root) or os.path.basename(location)).split("/")
    for end in range(1, len(parts) + 1):
        path, is_directory = os.path.join(root, *parts[:end]), end < len(parts)
        if is_directory and os.path.exists(os.path.join(path, VIRTUAL)):
            return True
        exclude = [patterns.without(root) for patterns in _excludes(project.settings(os.path.dirname(path)))]
        if _verdict(path, is_directory, exclude):
            return True
    return False


def suffixes(directory: str, project: Project) -> tuple[str, ...]:
    """How the names of the files end that are looked for in a directory (absolute path)."""
    return (*SUFFIXES, *PROSE) if project.docs(directory) else SUFFIXES


def is_ignored(location: str) -> bool:
    """Whether a ``.gitignore`` matches a file, or a directory between it and the root of its repository."""
    ignores = _inherited_ignores(location, Found())
    return bool(ignores) and _matches_on_the_way(location, ignores[0].base, ignores)


def _matches_on_the_way(location: str, root: str, lists: Sequence[Patterns]) -> bool:
    """Whether patterns match a file, or a directory between it and ``root``."""
    below = relative(location, root)
    if below is None:
        return False
    parts = below.split("/")
    ends = range(1, len(parts) + 1)
    return any(_verdict(os.path.join(root, *parts[:end]), end < len(parts), lists) for end in ends)


def _gitignore(directory: str, above: Iterable[Patterns], found: Found) -> Patterns | None:
    path = os.path.join(directory, ".gitignore")
    try:
        data = read(path, SETTINGS)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as error:
        problem = Problem(shown(path), f"{error.strerror or error}; what it ignores is not known")
        if problem not in found.problems:
            found.problems.append(problem)
        return None
    room = gitignore.MOST - sum(patterns.compared for patterns in above)
    text = data.decode(sys.getfilesystemencoding(), "surrogateescape")  # as names of files are, so that both are alike
    patterns = list(_usable(text, room, shown(path), found.warnings))
    return Patterns(directory, patterns) if patterns else None


def _usable(text: str, room: int, name: str, warnings: list[str]) -> Iterator[PathPattern]:
    """The patterns of a ``.gitignore``; like git, pass over what makes no sense."""
    for number, line in gitignore.lines(text):
        try:
            pattern = gitignore.parse(line)
        except gitignore.BadPattern:
            continue
        room -= not pattern.is_looked_up
        if room < 0:
            most = f"more than {gitignore.MOST:,} patterns to compare with"
            warnings.append(f"{name}:{number}: {most}, the rest is not used")
            return
        yield pattern


def _inherited_ignores(root: str, found: Found) -> list[Patterns]:
    """The ``.gitignore`` files above a directory, up to the root of its repository, outermost first."""
    if os.path.exists(os.path.join(root, ".git")):
        return []
    above: list[str] = []
    directory = os.path.dirname(root)
    while True:
        above.append(directory)
        if os.path.exists(os.path.join(directory, ".git")):
            ignores: list[Patterns] = []
            for each in reversed(above):
                if ignore := _gitignore(each, ignores, found):
                    ignores.append(ignore)
            return ignores
        if directory == (directory := os.path.dirname(directory)):
            return []  # no repository
