"""How many findings a baseline had, from commit to commit."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from torchlint.project import baseline, git
from torchlint.project.baseline import Baseline, BaselineEntry
from torchlint.project.gitignore import relative
from torchlint.project.selection import SettingsError

_LOG = (
    *("log", "--first-parent", "-m", "--raw", "--no-abbrev", "--no-renames", "--no-show-signature", "-z"),
    "--format=%x01%h%x09%cI%x09%s",
)
_COMMIT = b"\x01"
"""What a commit begins with in what git prints, and a file does not."""


@dataclass(frozen=True, slots=True)
class Revision:
    """A baseline as it was in a commit."""

    commit: str
    """Its hash; nothing for what is in the file now and in no commit."""
    date: str
    """When it was committed: a day, as ISO 8601 has it."""
    subject: str
    rules: Counter[str]
    """How many findings of each rule the baseline has."""

    @property
    def findings(self) -> int:
        """How many findings it has in all."""
        return self.rules.total()


def of(now: Baseline, is_wanted: Callable[[BaselineEntry], bool]) -> list[Revision]:
    """The commits of this branch that changed what is wanted of a baseline, the oldest first; then what is there now.

    Of a merge it counts what it brought to the branch. A revision that is no baseline (of this version) is left out.

    Raises:
        SettingsError: there is no repository, or git fails.
    """
    root = git.root(os.path.dirname(now.file))
    name = relative(os.path.realpath(now.file), root)
    if name is None:
        raise SettingsError(f"{now.file} is in no git repository")
    found: list[Revision] = []
    blobs: dict[str, bytes] = {}
    commits: dict[str, list[str]] = {}
    for commit, blob in _changes(git.run(root, *_LOG, "--", f":(top,literal){name}", about="")):
        commits[commit[0]] = commit
        blobs[commit[0]] = blob
    contents = git.contents(root, blobs)
    last = None
    for commit_hash, date, subject in reversed(commits.values()):
        last = contents.get(commit_hash, b"")  # nothing where the commit removed it
        entries = _entries(now.file, last)
        if entries is not None:
            found.append(Revision(commit_hash, date[:10], subject, _counted(entries, is_wanted)))
    if now.content is not None and now.content != last:
        found.append(Revision("", "", "", _counted(now, is_wanted)))
    return [each for before, each in zip((None, *found), found, strict=False) if _is_new(before, each)]


def _is_new(before: Revision | None, each: Revision) -> bool:
    return each.findings > 0 if before is None else each.rules != before.rules


def _changes(printed: bytes) -> Iterator[tuple[list[str], bytes]]:
    """Commits as git prints them (hash, date, subject), and the object of the file in each."""
    commit: list[str] = []
    for part in printed.split(b"\0"):
        if part.lstrip(b"\n").startswith(_COMMIT):
            commit = part.lstrip(b"\n").removeprefix(_COMMIT).decode(errors="replace").split("\t", 2)
        elif part.lstrip(b"\n").startswith(b":"):
            yield commit, part.split()[3]


def _entries(file: str, content: bytes) -> Baseline | None:
    """What was in a baseline; None if that is no baseline."""
    try:
        return baseline.parse(file, content) if content else Baseline(file)
    except SettingsError:
        return None


def _counted(known: Baseline, is_wanted: Callable[[BaselineEntry], bool]) -> Counter[str]:
    counts = Counter[str]()
    for entry in known.entries:
        if is_wanted(entry):
            counts[entry.code] += entry.times
    return counts
