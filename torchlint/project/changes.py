"""What has changed in a git repository: which lines of which files, and what was in them before."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from torchlint.project import git
from torchlint.project.selection import SettingsError

_DIFF = (
    "diff",
    "--no-ext-diff",
    "--no-textconv",
    "--text",  # files of which attributes say that they are none
    "--find-renames",
    "--unified=0",
    "--inter-hunk-context=0",
    "--src-prefix=a/",
    "--dst-prefix=b/",
)

_HUNK = re.compile(rb"@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@")
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_ESCAPED = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}


@dataclass(slots=True)
class ChangedFile:
    """A file that is not what it was."""

    was: str | None = None
    """What it was called, as git calls it; None if it is new."""
    spans: list[tuple[int, int]] = field(default_factory=list)
    """The first and the last line of what is new in it, in order."""

    def touches(self, first: int, last: int) -> bool:
        """Whether any of these lines is new."""
        return self.was is None or any(start <= last and end >= first for start, end in self.spans)


@dataclass(frozen=True, slots=True)
class GitChanges:
    """What has changed since a commit."""

    root: str
    """The root of the repository."""
    files: Mapping[str, ChangedFile]
    """By the absolute path they have now."""
    base: str
    """The commit, or an empty tree."""
    index: Mapping[str, bytes] | None = None
    """Where what is staged is looked at, and not what is in the files: all files there are, with git's objects."""
    conflicted: Collection[str] = ()
    """Of those in the index what is in conflict after a merge (absolute paths): git knows several versions of it."""

    def of(self, location: str) -> ChangedFile | None:
        """What has changed in a file (absolute path); None if nothing has."""
        if self.index is not None:  # a link in the working tree says nothing about what is staged
            return self.files.get(location)
        directory, name = os.path.split(location)
        return self.files.get(os.path.join(os.path.realpath(directory), name))

    def now(self, locations: Iterable[str]) -> dict[str, bytes]:
        """What is staged of some files."""
        index = self.index or {}
        return git.contents(self.root, {location: index[location] for location in locations if location in index})

    def before(self, locations: Iterable[str]) -> dict[str, bytes]:
        """What was in some files; those are left out that were not there."""
        wanted: dict[bytes, list[str]] = {}
        for location in locations:
            change = self.of(location)
            if change is not None and change.was is not None:
                wanted.setdefault(os.fsencode(change.was), []).append(location)
        blobs = {}
        for entry in git.run(self.root, "ls-tree", "-r", "-z", "--full-tree", self.base).split(b"\0"):
            head, _, name = entry.partition(b"\t")
            for location in wanted.get(name, ()):
                blobs[location] = head.split()[2]
        return git.contents(self.root, blobs)


def since(reference: str) -> GitChanges:
    """What has changed in the files since this branch left another one, or since a commit; new files included.

    Raises:
        SettingsError: there is no repository here, or nothing of that name in it.
    """
    root = git.root()
    if not reference or reference.startswith("-"):
        raise SettingsError(f"--since: `{reference}` is no commit")
    about = f"--since: `{reference}` is no commit"
    commit = git.run(root, "rev-parse", "--verify", "--quiet", f"{reference}^{{commit}}", about=about)
    base = git.run(
        root,
        "merge-base",
        commit.strip().decode(),
        "HEAD",
        about=f"--since: this branch has nothing in common with `{reference}`",
    )
    base = base.strip()
    files = _parsed(root, git.run(root, *_DIFF, base.decode(), "--"))
    untracked = git.run(root, "ls-files", "--others", "--exclude-standard", "-z", "--full-name", "--", root)
    for name in filter(None, untracked.split(b"\0")):
        files[_location(root, name)] = ChangedFile()
    return GitChanges(root, files, base.decode())


def staged() -> GitChanges:
    """What is staged.

    Raises:
        SettingsError: there is no repository here.
    """
    root = git.root()
    head = git.run(root, "rev-parse", "--verify", "--quiet", "HEAD", about="") or git.run(
        root, "hash-object", "-t", "tree", os.devnull
    )
    base = head.strip().decode()
    files = _parsed(root, git.run(root, *_DIFF, "--cached", base, "--"))
    indexed, conflicted = dict[str, bytes](), set[str]()
    for location, blob, version in _indexed(root):
        if version == _MERGED:
            indexed[location] = blob
        else:
            conflicted.add(location)
    return GitChanges(root, files, base, indexed, conflicted)


_MERGED = b"0"
"""The number that git gives to what is not in conflict: base, ours and theirs are 1 to 3."""


def _indexed(root: str) -> Iterator[tuple[str, bytes, bytes]]:
    """The files in the index, with their objects and git's numbers of versions; neither links nor submodules."""
    for entry in git.run(root, "ls-files", "--stage", "-z").split(b"\0"):
        head, _, name = entry.partition(b"\t")
        if head.startswith(b"100"):
            _, blob, version = head.split()
            yield _location(root, name), blob, version


def uncommitted(locations: Iterable[str]) -> list[str]:
    """What git could not give back if files (absolute paths) were written to: their absolute paths, in order.

    That is whatever is not committed in their repositories, and of new files those that are among them.
    """
    given = {os.path.join(os.path.realpath(os.path.dirname(each)), os.path.basename(each)) for each in locations}
    roots = {root for folder in {os.path.dirname(each) for each in given} if (root := git.root(folder, about=""))}
    found = set[str]()
    for root in roots:
        for entry in git.run(root, "status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all").split(
            b"\0"
        ):
            location = _location(root, entry[3:])
            if entry and (entry[:2] != b"??" or location in given):
                found.add(location)
    return sorted(found)


def _parsed(root: str, patch: bytes) -> dict[str, ChangedFile]:
    """The files of a patch."""
    files: dict[str, ChangedFile] = {}
    was: str | None = None
    current: ChangedFile | None = None
    for line in _heads(patch):
        if line.startswith(b"--- "):
            was = _name(line[4:], b"a/")
        elif line.startswith(b"+++ "):
            now = _name(line[4:], b"b/")
            current = ChangedFile(was)
            if now is not None:
                files[_location(root, os.fsencode(now))] = current
        elif current is not None and (hunk := _HUNK.match(line)):
            start, count = int(hunk[1]), int(hunk[2] or 1)
            if count:
                current.spans.append((start, start + count - 1))
    return files


def _heads(patch: bytes) -> Iterator[bytes]:
    """The lines of a patch that are about files and hunks: what is in the files may look like one of these."""
    left = 0
    for line in patch.split(b"\n"):
        if left and line[:1] in (b"+", b"-"):
            left -= 1
            continue
        if hunk := re.match(rb"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@", line):
            left = int(hunk[1] or 1) + int(hunk[2] or 1)
        yield line


def _name(written: bytes, prefix: bytes) -> str | None:
    """The name of a file in a patch, which is quoted if it is unusual; None for no file."""
    written = written.removesuffix(b"\t")
    if written == b"/dev/null":
        return None
    if written.startswith(b'"'):
        written = _ESCAPE.sub(_unescaped, written[1:-1])
    return os.fsdecode(written.removeprefix(prefix))


def _unescaped(match: re.Match[bytes]) -> bytes:
    return bytes([int(match[1], 8)]) if match[1].isdigit() else _ESCAPED.get(match[1], match[1])


def _location(root: str, name: bytes) -> str:
    return os.path.join(root, os.fsdecode(name).replace("/", os.sep))
