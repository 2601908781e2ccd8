"""How many findings a baseline had, from commit to commit."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from torchlint.project import baseline, git
from torchlint.project.baseline import Baseline, BaselineEntry
from torchlint.project.gitignore import relative
from torchlint.project.selection import SettingsError

_LOG = (
    *("log", "--first-parent", "-m", "--raw", "--no-abbrev", "--no-renames", "--no-show-signature", "-z"),
    "--format=%x01%h%x09%cI%x09%s",
)
_TREE = ("diff-tree", "-r", "--raw", "--no-abbrev", "--no-renames", "--diff-filter=D", "-z")
_MOST_NAMES = 50
"""So many names of a baseline are followed."""

_AT_ONCE = 50
"""So many revisions of a baseline, which may be large, are in memory at a time."""

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


def of(now: Baseline, is_wanted: Callable[[Baseline, BaselineEntry], bool]) -> list[Revision]:
    """The commits of this branch that changed what is wanted of a baseline, the oldest first; then what is there now.

    Of a merge it counts what it brought to the branch. A revision that is no baseline (of this version) is left out. A
    baseline that had another name before is followed.

    Raises:
        SettingsError: there is no repository, or git fails.
    """
    root = git.root(os.path.dirname(now.file))
    name = relative(os.path.realpath(now.file), root)
    if name is None:
        raise SettingsError(f"{now.file} is in no git repository")
    found, last = list[Revision](), None
    for each, last in _with_contents(root, _followed(root, name)[::-1]):
        known = _entries(os.path.join(root, each.name), last)
        if known is not None:
            found.append(Revision(each.commit, each.date[:10], each.subject, _counted(known, is_wanted)))
    if now.content is not None and now.content != last:
        found.append(Revision("", "", "", _counted(now, is_wanted)))
    return [each for before, each in zip((None, *found), found, strict=False) if _is_new(before, each)]


def is_cut_off(now: Baseline) -> bool:
    """Whether the repository of a baseline has only the last commits of its history."""
    folder = os.path.dirname(now.file)
    return git.run(folder, "rev-parse", "--is-shallow-repository", about="").strip() == b"true"


class _Change(NamedTuple):
    """A commit that changed a file."""

    commit: str
    date: str
    subject: str
    is_new: bool
    """Whether it made the file."""
    blob: bytes
    name: str
    """What the file was called."""


def _with_contents(root: str, changes: Sequence[_Change]) -> Iterator[tuple[_Change, bytes]]:
    """Changes with what was in the file then: nothing where the commit removed it."""
    for start in range(0, len(changes), _AT_ONCE):
        part = changes[start : start + _AT_ONCE]
        contents = git.contents(root, {each.commit: each.blob for each in part})
        yield from ((each, contents.get(each.commit, b"")) for each in part)


def _followed(root: str, name: str) -> list[_Change]:
    """The commits that changed a file, the newest first, under the names that it had before as well."""
    found: list[_Change] = []
    start: tuple[str, ...] = ()
    for _ in range(_MOST_NAMES):
        printed = git.run(root, *_LOG, *start, "--", f":(top,literal){name}", about="")
        changes = list(_changes(printed, name))
        found += changes
        before = _name_before(root, changes[-1]) if changes and changes[-1].is_new else None
        if before is None:
            break
        name, start = before, (f"{changes[-1].commit}^",)
    return found


def _name_before(root: str, made: _Change) -> str | None:
    """The name of a baseline that went in the commit in which one came; None if none did."""
    printed = git.run(root, *_TREE, f"{made.commit}^", made.commit, about="").split(b"\0")
    ending = os.path.splitext(made.name)[1]
    gone = {
        name: head.split()[2]
        for head, name in zip(map(bytes, printed[::2]), map(os.fsdecode, printed[1::2]), strict=False)
        if name.endswith((ending or os.path.basename(made.name), ".json"))
    }
    contents = git.contents(root, gone) if gone else {}
    known = {name: _entries(name, content) for name, content in contents.items() if content}
    counts = {name: each.findings for name, each in known.items() if each is not None}
    return max(sorted(counts), key=lambda name: counts[name], default=None)


def _is_new(before: Revision | None, each: Revision) -> bool:
    return each.findings > 0 if before is None else each.rules != before.rules


def _changes(printed: bytes, name: str) -> Iterator[_Change]:
    """The commits that changed a file, as git prints them."""
    commit: list[str] = []
    for part in printed.split(b"\0"):
        line = part.lstrip(b"\n")
        if line.startswith(_COMMIT):
            commit = line.removeprefix(_COMMIT).decode(errors="replace").split("\t", 2)
        elif line.startswith(b":"):
            _, _, _, blob, status = line.split()
            yield _Change(commit[0], commit[1], commit[2], status == b"A", blob, name)


def _entries(file: str, content: bytes) -> Baseline | None:
    """What was in a baseline; None if that is no baseline."""
    try:
        return baseline.parse(file, content) if content else Baseline(file)
    except SettingsError:
        return None


def _counted(known: Baseline, is_wanted: Callable[[Baseline, BaselineEntry], bool]) -> Counter[str]:
    counts = Counter[str]()
    for entry in known.entries:
        if is_wanted(known, entry):
            counts[entry.code] += entry.times
    return counts
