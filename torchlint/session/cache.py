"""Findings of earlier runs: one file for all of a project.

An entry counts as long as everything that it follows from is what it was: the content of the file and where it is, the
rules that are on, the settings that rules see, the program itself, and the other files that were looked at.

Nothing is read to find that out where the file system says that it is unchanged: same size, times and inode. That can
be wrong for a file that was written just before it was read, for a second change may come within one tick of the
file system's clock. So what is younger than :data:`MARGIN` when it is looked at is remembered by its content only.

Runs side by side take each other's entries over before they write; at worst one of them has to find out something
again. Whatever is wrong with the file, it counts as absent; so does one that no run of this user's on this machine has
written (:mod:`torchlint.session.secret`). That it cannot be written costs nothing but time.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from torchlint import PACKAGE, __version__
from torchlint.diagnostic import (
    Applicability,
    Diagnostic,
    FindingSite,
    LocatedEvidence,
    LocatedFix,
    Position,
    Severity,
    TextEdit,
)
from torchlint.rules.plugins import installed
from torchlint.session import cachedir
from torchlint.session.cachedir import OpenFolder, is_temporary
from torchlint.session.secret import is_signed, sign
from torchlint.system import ending, importable
from torchlint.system.states import FOLDER, digest, state

MARGIN = 2_000_000_000
"""Nanoseconds. The coarsest clock of a file system (FAT's) ticks every other second."""

_ABANDONED = 3_600
"""Seconds after which a file that nobody has finished writing goes."""

_MAGIC = b"torchlint cache 2 "

_LIMIT = 100_000_000
"""Bytes of a cache file. One of a hundred thousand files has a third of that."""

Stamp = list[int]
"""What the file system says of a file; of a file that is too young to be known by that it is empty."""

_DAMAGE = (ValueError, TypeError, LookupError, AttributeError, RecursionError)
"""What reading something else than what was written may raise."""


def stamp(status: os.stat_result) -> Stamp:
    """What tells that a file is unchanged; nothing does for a pipe and its like."""
    if not stat.S_ISREG(status.st_mode):
        return []
    if os.name == "nt":  # the others mean something else there, or depend on how they are asked for
        return [status.st_size, status.st_mtime_ns]
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]


class Seen(NamedTuple):
    """A file as it was when it was read."""

    stamp: Stamp
    digest: str


class Known(NamedTuple):
    """What is known of a file."""

    diagnostics: tuple[Diagnostic, ...] = ()
    suppressed: int = 0
    is_gated: bool = False
    """Whether a rule could find something in it; if not, there are findings only where it was asked to parse."""
    is_parsed: bool = False
    """Whether that it parses was verified though no rule wanted to know."""

    def answers(self, thorough: bool) -> bool:
        """Whether that is enough to know, where a file must parse or need not."""
        return self.is_gated or self.is_parsed or not thorough


class Entry(NamedTuple):
    """What is written of a file. ``variant`` and ``rests_on`` are positions in tables."""

    stamp: Stamp
    digest: str
    variant: int
    flags: int
    suppressed: int = 0
    rests_on: Sequence[int] = ()
    diagnostics: Sequence[list[Any]] = ()

    @property
    def known(self) -> Known:
        """What it says."""
        found = tuple(map(_diagnostic, self.diagnostics))
        return Known(found, int(self.suppressed), bool(self.flags & 1), bool(self.flags & 2))


FileState = tuple[str, str]
"""Another file and its state (:func:`torchlint.system.states.state`)."""


class CacheContent:
    """What is in a cache file."""

    def __init__(self) -> None:
        self.files: dict[str, Entry] = {}
        self.variants: dict[str, int] = {}
        """All that findings follow from but the content, each with its number."""
        self.others: dict[FileState, int] = {}
        self.stamps: dict[FileState, Stamp] = {}

    def variant(self, text: str) -> int:
        """The number of a variant."""
        return self.variants.setdefault(text, len(self.variants))

    def other(self, row: FileState, stamp: Stamp) -> int:
        """The number of a row."""
        if stamp:
            self.stamps[row] = stamp
        return self.others.setdefault(row, len(self.others))

    def take(self, theirs: CacheContent, locations: Iterable[str]) -> None:
        """Take entries over, and what they refer to."""
        variants, rows = list(theirs.variants), list(theirs.others)
        for location in locations:
            entry = theirs.files[location]
            rests_on = [self.other(rows[n], theirs.stamps.get(rows[n], [])) for n in entry.rests_on]
            self.files[location] = entry._replace(variant=self.variant(variants[entry.variant]), rests_on=rests_on)

    def packed(self) -> dict[str, Any]:
        """As it is written: without what nobody refers to."""
        compact = CacheContent()
        compact.take(self, sorted(self.files))
        others = [[*row, *compact.stamps.get(row, ())] for row in compact.others]
        return {"variants": list(compact.variants), "others": others, "files": compact.files}

    @classmethod
    def unpacked(cls, packed: Mapping[str, Any]) -> CacheContent:
        """The other way round."""
        content = cls()
        content.variants = {text: number for number, text in enumerate(packed["variants"])}
        for number, (path, then, *stamp_) in enumerate(packed["others"]):
            content.others[path, then] = number
            content.stamps[path, then] = stamp_
        content.files = {location: Entry._make(entry) for location, entry in packed["files"].items()}
        return content


class Cache:
    """The cache in one directory for one way to call the program.

    Raises:
        Unusable: there is something that must not become a cache (:func:`torchlint.session.cachedir.opened`).
    """

    def __init__(self, directory: str, about: object = None) -> None:
        self.directory = directory
        self._name = f"{zlib.crc32(repr(about).encode('utf-8', 'surrogatepass')):08x}.json"
        self._now = time.time_ns()
        self._program = _Program()
        self._is_changed = False
        self._content, self._read = self._load()
        self._touched: set[str] = set()
        self._holding: dict[int, bool] = {}
        self._rows = list(self._content.others)

    def unchanged(self, location: str, variant: str, now: Stamp) -> Known | None:
        """What is known of a file that looks as it did; None if it has to be read."""
        entry = self._content.files.get(location)
        if entry is None or not now or entry.stamp != now:
            return None
        return self._known(entry, variant)

    def has(self, location: str, variant: str) -> bool:
        """Whether there is anything that a file could be compared with."""
        entry = self._content.files.get(location)
        return entry is not None and self._content.variants.get(variant) == entry.variant

    def same(self, location: str, variant: str, seen: Seen) -> Known | None:
        """What is known of a file of this content."""
        entry = self._content.files.get(location)
        if entry is None or entry.digest != seen.digest:
            return None
        known = self._known(entry, variant)
        if known is not None and (settled := self._settled(seen.stamp)) != entry.stamp:
            self._keep(location, entry._replace(stamp=settled))
        return known

    def _known(self, entry: Entry, variant: str) -> Known | None:
        try:
            if self._content.variants.get(variant) != entry.variant or not all(map(self._holds, entry.rests_on)):
                return None
            return entry.known
        except _DAMAGE:
            return None

    def rests_on(self, locations: Iterable[str]) -> set[str]:
        """The other files that what is known of some files rests on."""
        entries, rows = self._content.files, list(self._content.others)
        return {rows[number][0] for each in locations if each in entries for number in entries[each].rests_on}

    def put(self, location: str, variant: str, seen: Seen, known: Known, rests_on: Mapping[str, str]) -> None:
        """Remember what is known of a file, and the state of the other files it rests on."""
        self._keep(
            location,
            Entry(
                self._settled(seen.stamp),
                seen.digest,
                self._content.variant(variant),
                known.is_gated + 2 * known.is_parsed,
                known.suppressed,
                [self._content.other(row, self._now_of(row)) for row in rests_on.items()],
                [_packed(diagnostic) for diagnostic in known.diagnostics],
            ),
        )

    def _keep(self, location: str, entry: Entry) -> None:
        self._content.files[location] = entry
        self._touched.add(location)
        self._is_changed = True

    def _settled(self, now: Stamp) -> Stamp:
        """A stamp, if it can be relied on: nothing since then can have gone unnoticed."""
        return now if now and max(now[1:3]) < self._now - MARGIN else []

    def _now_of(self, row: FileState) -> Stamp:
        if row in self._content.stamps:
            return self._content.stamps[row]
        path, then = row
        if then in ("", FOLDER):
            return []
        if then.startswith(importable.STATE):
            return self._settled(importable.stamp(path))
        try:
            return self._settled(stamp(os.stat(path)))
        except (OSError, ValueError):
            return []

    def _holds(self, number: int) -> bool:
        """Whether another file is what it was."""
        if number not in self._holding:
            self._holding[number] = self._is_as_before(self._rows[number])
        return self._holding[number]

    def _is_as_before(self, row: FileState) -> bool:
        path, then = row
        if then.startswith(importable.STATE):
            return self._is_same(row, importable.stamp(path), importable.state)
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            return then == ""
        if stat.S_ISDIR(status.st_mode):
            return then == FOLDER
        return self._is_same(row, stamp(status), state)

    def _is_same(self, row: FileState, now: Stamp, ask: Callable[[str], str]) -> bool:
        """Whether something looks as it did, or else is what it was."""
        known = self._content.stamps.get(row)
        if known and known == now:
            return True
        if ask(row[0]) != row[1]:
            return False
        if settled := self._settled(now):
            self._content.stamps[row] = settled
            self._is_changed = True
        return True

    # ------------------------------------------------------------------ the file

    def save(self) -> str | None:
        """Write what is new, if that is possible; else why not."""
        if not self._is_changed:
            return None
        try:
            with ending.in_order(), cachedir.made(self.directory) as folder, folder.folder(__version__, True) as inner:
                _sweep(inner)
                self._merge(inner)
                self._forget()
                data = json.dumps([*self._program.both, self._content.packed()], separators=(",", ":")).encode()
                inner.write(self._name, b"%s%s\n%s" % (_MAGIC, sign(data, make=True), data))
        except (OSError, ValueError) as error:
            return getattr(error, "strerror", None) or str(error)
        self._is_changed = False
        return None

    def _load(self) -> tuple[CacheContent, Stamp]:
        """What is in the file, and its stamp."""
        try:
            with cachedir.opened(self.directory) as folder, folder.folder(__version__) as inner:
                return self._loaded_from(inner)
        except OSError:
            return CacheContent(), []

    def _loaded_from(self, folder: OpenFolder) -> tuple[CacheContent, Stamp]:
        try:
            status, data = folder.read(self._name, _LIMIT)
        except (OSError, ValueError):
            return CacheContent(), []
        try:
            return self._loaded(data) or CacheContent(), stamp(status)
        except (OSError, *_DAMAGE):
            return CacheContent(), stamp(status)

    def _loaded(self, data: bytes) -> CacheContent | None:
        head, _, body = data.partition(b"\n")
        if not head.startswith(_MAGIC) or not is_signed(body, head.removeprefix(_MAGIC)):
            return None
        looks, content, packed = json.loads(body)
        if looks != self._program.looks:
            if content != self._program.content:
                return None
            self._is_changed = True  # the same, installed anew
        return CacheContent.unpacked(packed)

    def _merge(self, folder: OpenFolder) -> None:
        """Take over what others have written in the meantime."""
        theirs, read = self._loaded_from(folder)
        if read != self._read:
            self._content.take(theirs, [location for location in theirs.files if location not in self._touched])

    def _forget(self) -> None:
        """Forget files that are gone."""
        gone = [path for path in self._content.files if path not in self._touched and not os.path.exists(path)]
        for path in gone:
            del self._content.files[path]


def _sweep(folder: OpenFolder) -> None:
    """Remove what runs that were killed have left."""
    for entry in folder.entries():
        if is_temporary(entry.name) and entry.stat(follow_symlinks=False).st_mtime < time.time() - _ABANDONED:
            folder.remove(entry.name)


class _Program:
    """All that turns bytes into findings: this package, those with rules, libcst (not imported for it), Python."""

    def __init__(self) -> None:
        self._files = {path: os.path.relpath(path, PACKAGE) for path in _files(PACKAGE, ".py", ".json")}
        """Of all files that decide about findings what they are called wherever they are installed."""
        self._plugins = installed().plugins
        for plugin in self._plugins:
            root = os.path.dirname(plugin.root)
            self._files |= {path: os.path.relpath(path, root) for path in _files(plugin.root, "")}
        origin = _origin("libcst")
        around = os.scandir(os.path.dirname(origin)) if origin else ()
        self._libcst = sorted((entry for entry in around if entry.is_file()), key=lambda entry: entry.name)

    @property
    def looks(self) -> str:
        """What the file system says of it."""
        stamps = {path: stamp(os.stat(path)) for path in (*self._files, *(entry.path for entry in self._libcst))}
        return f"{sys.version} {self._versions} {stamps}"

    @property
    def content(self) -> str:
        """What it is, wherever and whenever it was installed."""
        parts = [f"{__version__} {sys.version} {self._versions}".encode()]
        for path, name in self._files.items():
            with open(path, "rb") as file:
                parts += (os.fsencode(name), file.read())
        for entry in self._libcst:
            parts.append(f"{entry.name} {entry.stat().st_size}".encode(errors="surrogatepass"))
            if entry.name == "_version.py":
                with open(entry.path, "rb") as file:
                    parts.append(file.read())
        return digest(b"\0".join(parts))

    @property
    def _versions(self) -> list[str]:
        return [plugin.distribution for plugin in self._plugins]

    @property
    def both(self) -> tuple[str, str]:
        """To be written."""
        return self.looks, self.content


def _files(folder: str, *suffixes: str) -> Iterator[str]:
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.is_dir() and entry.name != "__pycache__":
            yield from _files(entry.path, *suffixes)
        elif entry.name.endswith(suffixes):
            yield entry.path


def _origin(package: str) -> str | None:
    from importlib.machinery import PathFinder

    spec = PathFinder.find_spec(package)
    return spec.origin if spec is not None else None


def _packed(diagnostic: Diagnostic) -> list[Any]:
    from dataclasses import astuple  # which needs `copy`

    return [
        diagnostic.code,
        diagnostic.name,
        diagnostic.message,
        astuple(diagnostic.start),
        astuple(diagnostic.end),
        diagnostic.rows,
        _packed_fix(diagnostic.fix),
        astuple(diagnostic.evidence) if diagnostic.evidence is not None else None,
        diagnostic.severity,
        diagnostic.site,
    ]


def _packed_fix(fix: LocatedFix | None) -> list[Any] | None:
    """A fix without what is of use only while fixing."""
    if fix is None:
        return None
    edits = [(edit.start, edit.end, edit.content) for edit in fix.edits]
    others = [_packed_fix(other) for other in fix.alternatives]
    return [fix.message, fix.applicability, edits, fix.deferred, others, fix.risk]


def _diagnostic(packed: list[Any]) -> Diagnostic:
    code, name, message, start, end, (first, last), fix, evidence, severity, site = packed
    return Diagnostic(
        code,
        name,
        message,
        Position(*start),
        Position(*end),
        (first, last),
        _fix(fix),
        LocatedEvidence(*evidence) if evidence else None,
        Severity(severity),
        site=FindingSite(*site),
    )


def _fix(packed: list[Any] | None) -> LocatedFix | None:
    if packed is None:
        return None
    message, applicability, edits, deferred, alternatives, risk = packed
    others = tuple(fix for fix in map(_fix, alternatives) if fix is not None)
    replaced = tuple(TextEdit(*edit) for edit in edits)
    return LocatedFix(message, Applicability(applicability), replaced, deferred, others, risk=risk)
