"""What of the findings of a run a baseline has, and what of the baseline is gone.

First an entry stands for findings where it says. Of what is left on both sides, an entry that is gone from its place
stands for findings of the same statement in another file (which was renamed, or got the function), and then for those
under another name in its file (the function or class was renamed). None stands for more findings than it counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from torchlint.diagnostic import Diagnostic, FindingKey, Problem
from torchlint.project.absence import absence
from torchlint.project.baseline import Baseline, BaselineEntry

KnownAt = tuple[str, FindingKey]
"""A path as the baseline calls it, and what a finding is known by there."""

UNCHECKED = ("TL001", "TL003")
"""Findings that say a file could not be looked at. What else was in it need not be gone; a patch must not hide them."""


@dataclass(frozen=True, slots=True)
class Looked:
    """A file that was checked."""

    path: str
    """As the baseline calls it."""
    diagnostics: Sequence[Diagnostic]
    codes: frozenset[str]
    """The rules that were on."""
    is_complete: bool

    def settles(self, code: str) -> bool:
        """Whether what was not found here of a rule is not there."""
        was_read = all(found.code not in UNCHECKED or found.code == code for found in self.diagnostics)
        return self.is_complete and was_read and code in self.codes


@dataclass(slots=True)
class Accounts:
    """A baseline against the findings of a run."""

    accepted: dict[str, Counter[FindingKey]] = field(default_factory=dict)
    """For each file the findings that are in the baseline, with how many of each."""
    gone: Counter[KnownAt] = field(default_factory=Counter)
    """What is in the baseline and was not found, where it would have been."""
    moved: Counter[tuple[KnownAt, KnownAt]] = field(default_factory=Counter)
    """What was found in another place than the baseline says: from there to here."""
    problems: tuple[Problem, ...] = ()
    """Why it is not known of some files whether they are gone."""

    def left_of(self, entries: Iterable[BaselineEntry]) -> list[BaselineEntry]:
        """The entries without what is gone, and with what moved where it is now."""
        found = {(entry.path, entry.key): entry for entry in entries}
        for place, count in self.gone.items():
            found[place] = found[place]._replace(times=found[place].times - count)
        for (old, new), count in self.moved.items():
            was = found[old]
            found[old] = was._replace(times=was.times - count)
            here = found.get(new)
            path, (code, scope, statement) = new
            there = here.times if here is not None else 0
            found[new] = BaselineEntry(path, code, scope, statement, there + count, was.source)
        return [entry for entry in found.values() if entry.times > 0]


def settled(baseline: Baseline, files: Sequence[Looked], is_on: Callable[[str, str], bool]) -> Accounts:
    """The accounts of a run over some files; ``is_on`` says whether a rule is on for a path that does not exist."""
    accounts = Accounts()
    wanted = {(entry.path, entry.key): entry.times for entry in baseline.entries}
    new = Counter[KnownAt]()
    for file in files:
        counts = Counter(found.key for found in file.diagnostics)
        known = Counter({key: min(count, wanted.get((file.path, key), 0)) for key, count in counts.items()})
        accounts.accepted[file.path] = +known
        new.update({(file.path, key): count for key, count in (counts - known).items()})
    _find_gone(wanted, accounts, files, is_on, baseline)
    if new and accounts.gone:
        for alike in (_same_statement, _same_file):
            _move(accounts, new, alike)
    return accounts


def _find_gone(
    wanted: Mapping[KnownAt, int],
    accounts: Accounts,
    files: Sequence[Looked],
    is_on: Callable[[str, str], bool],
    baseline: Baseline,
) -> None:
    looked = {file.path: file for file in files}
    others = {path: baseline.location_of(path) for path, _ in wanted if path not in looked}
    absent = absence(others.values())
    gone = Counter[KnownAt]()
    for (path, key), count in wanted.items():
        file = looked.get(path)
        if file is not None:
            if file.settles(key[0]):
                gone[path, key] = count - accounts.accepted[path][key]
        elif others[path] in absent.gone and is_on(path, key[0]):
            gone[path, key] = count
    accounts.gone, accounts.problems = +gone, absent.problems


def _same_statement(place: KnownAt) -> Hashable:
    """Equal for one statement in two files."""
    return place[1]


def _same_file(place: KnownAt) -> Hashable:
    """Equal for one statement under two names in a file."""
    path, (code, _, statement) = place
    return (path, code, statement)


def _move(accounts: Accounts, new: Counter[KnownAt], alike: Callable[[KnownAt], Hashable]) -> None:
    """Let what is gone stand for what is new and alike; in order, so that nothing depends on who was first."""
    waiting: dict[Hashable, list[KnownAt]] = {}
    for place in sorted(accounts.gone, reverse=True):
        if place[1][2]:  # without a statement there is nothing to know it by elsewhere
            waiting.setdefault(alike(place), []).append(place)
    for here in sorted(new):
        candidates = waiting.get(alike(here), [])
        while new[here] and candidates:
            old = candidates[-1]
            count = min(new[here], accounts.gone[old])
            accounts.moved[old, here] += count
            accounts.accepted[here[0]][here[1]] += count
            accounts.gone[old] -= count
            new[here] -= count
            if not accounts.gone[old]:
                candidates.pop()
    accounts.gone = +accounts.gone
