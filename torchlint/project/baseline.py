"""The baseline: findings that a project has agreed to live with for now, in a file that only ever shrinks.

An entry says which rule found something in which file, in which function, and in what statement (a hash of it, which
formatting does not change). No line numbers: what stands above may grow. A line of JSON each, so that a difference
between two versions shows what came and went.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from torchlint.diagnostic import Diagnostic, FindingKey
from torchlint.project import keys
from torchlint.project.gitignore import relative
from torchlint.project.repository import repository
from torchlint.project.selection import SettingsError
from torchlint.project.settings import Settings
from torchlint.system import writing
from torchlint.system.reading import LIMIT, read

_BEGINNING = '{\n  "tool": "torchlint",\n  "baseline":'
"""What every baseline begins with."""
NAME = ".torchlint-baseline.json"
"""What it is called where nobody gives it another name."""

_VERSION = 1
_FIELDS = {"path": str, "rule": str, "in": str, "statement": str, "count": int, "source": str}


class BaselineEntry(NamedTuple):
    """So many findings of a rule in one statement, or in several that are equal."""

    path: str
    """From the folder of the baseline, with forward slashes."""
    code: str
    scope: str
    statement: str
    times: int
    source: str
    """The beginning of the statement as it was; for readers only."""

    @property
    def key(self) -> FindingKey:
        """What a finding is known by in the file."""
        return (self.code, self.scope, self.statement)


@dataclass(frozen=True, slots=True)
class Baseline:
    """What is in a baseline file, or the empty one that is to be written there."""

    file: str
    """Its absolute path."""
    entries: tuple[BaselineEntry, ...] = ()
    """Sorted; no two are about the same."""
    content: bytes | None = None
    """What was read; None if there is no such file yet."""

    @property
    def root(self) -> str:
        """The folder that paths start at."""
        return os.path.dirname(self.file)

    @property
    def findings(self) -> int:
        """How many findings it has in all."""
        return sum(entry.times for entry in self.entries)

    def path_of(self, location: str) -> str:
        """How it calls a file (absolute path)."""
        below = relative(location, self.root)
        if below is not None:
            return below
        with contextlib.suppress(ValueError):  # which it raises for another drive
            location = os.path.relpath(location, self.root)
        return location.replace(os.sep, "/")

    def location_of(self, path: str) -> str:
        """Where a file is that it calls so."""
        return os.path.normpath(os.path.join(self.root, path))

    def is_at(self, entry: BaselineEntry, path: str) -> bool:
        """Whether an entry is about a path, or about a file below it."""
        location, asked = self.location_of(entry.path), os.path.abspath(path)
        return location == asked or relative(location, asked) is not None


def file_for(given: str | None, settings: Settings) -> str:
    """The file of the baseline: what the command line says, or the settings of the working directory.

    Where nobody says anything it is at the root of the project.
    """
    if given is not None:
        return os.path.abspath(given)
    if settings.baseline is not None:
        return os.path.normpath(os.path.join(settings.root, settings.baseline))
    return os.path.join(home(settings), NAME)


def home(settings: Settings) -> str:
    """The root of a project: the folder of its settings, else that of the repository around the working directory.

    Without either it is the working directory.
    """
    here = os.getcwd()
    return settings.root if settings.file is not None else repository(here) or here


def of_project(given: str | None, settings: Settings, *, must_exist: bool = False) -> Baseline:
    """The baseline of a project, see :func:`file_for`; if one is named it ``must_exist``.

    Raises:
        SettingsError: it cannot be read, is something else, or is missing; with who named it.
    """
    who = ""
    if given is not None or settings.baseline is not None:
        who = "--baseline: " if given is not None else f"{settings.where(keys.BASELINE)}: "
    try:
        found = load(file_for(given, settings))
    except SettingsError as error:
        raise SettingsError(f"{who}{error}") from None
    if who and must_exist and found.content is None:
        raise SettingsError(f"{who}there is no baseline {found.file}: `torchlint baseline write` makes it")
    return found


def load(file: str) -> Baseline:
    """What is in a baseline file (absolute path); nothing if there is no such file.

    Raises:
        SettingsError: it cannot be read, or is something else.
    """
    try:
        data = read(file, LIMIT)
    except FileNotFoundError:
        return Baseline(file)
    except OSError as error:
        raise SettingsError(f"the baseline {file} cannot be read: {error.strerror or error}") from error
    return parse(file, data)


def parse(file: str, data: bytes) -> Baseline:
    """What a baseline file holds that is known already.

    Raises:
        SettingsError: it is something else.
    """
    try:
        entries = _entries(json.loads(data))
    except _OtherVersion as error:
        raise SettingsError(f"{file} is {error.args[0]}, so it is left as it is") from None
    except (ValueError, RecursionError) as error:
        about = error.args[0] if isinstance(error, _NoBaseline) else _why_no_json(data, error)
        raise SettingsError(f"{file} is not a baseline of torchlint ({about}), so it is left as it is") from None
    return Baseline(file, merged(entries), data)


class _NoBaseline(ValueError):
    """What was read is JSON, and something else."""


class _OtherVersion(ValueError):
    """What was read is a baseline that another version of this program has written."""


_CONFLICT = re.compile(rb"^<<<<<<< ", re.MULTILINE)


def _why_no_json(data: bytes, error: Exception) -> str:
    """What is wrong with a file that JSON should be in, with the line."""
    if conflict := _CONFLICT.search(data):
        line = data.count(b"\n", 0, conflict.start()) + 1
        return f"line {line} begins a conflict that git has marked"
    if isinstance(error, json.JSONDecodeError) and data.startswith(b"{"):
        return f"it is no JSON, see line {error.lineno}"
    return "it is no JSON"


def _entries(content: object) -> list[BaselineEntry]:
    if not isinstance(content, dict) or content.get("tool") != "torchlint" or "baseline" not in content:
        raise _NoBaseline("it does not say that it is one")
    if content["baseline"] != _VERSION:
        version = content["baseline"]
        raise _OtherVersion(f"a baseline of version {version!r}, and this program knows version {_VERSION}")
    listed = content.get("findings")
    if not isinstance(listed, list):
        raise _NoBaseline("it has no list of findings")
    return [_entry(each) for each in listed]


def _entry(given: object) -> BaselineEntry:
    if not isinstance(given, dict) or any(type(given.get(name)) is not kind for name, kind in _FIELDS.items()):
        raise _NoBaseline(f"this is no entry: {str(given)[:200]}")
    values = [given[name] for name in _FIELDS]
    entry = BaselineEntry(*values)
    if entry.times < 1:
        raise _NoBaseline(f"a count is less than 1: {str(given)[:200]}")
    return entry


def merged(entries: Iterable[BaselineEntry]) -> tuple[BaselineEntry, ...]:
    """Entries in order. Of several about the same, as a merge of two branches leaves them, the largest count holds."""
    found: dict[tuple[str, FindingKey], BaselineEntry] = {}
    for entry in entries:
        place = (entry.path, entry.key)
        if place not in found or found[place].times < entry.times:
            found[place] = entry
    return tuple(sorted(found.values()))


def counted(findings: Mapping[str, Iterable[Diagnostic]]) -> tuple[BaselineEntry, ...]:
    """Entries for findings by path."""
    counts: dict[tuple[str, FindingKey], BaselineEntry] = {}
    for path, found in findings.items():
        for each in found:
            known = counts.get((path, each.key))
            count = known.times + 1 if known is not None else 1
            counts[path, each.key] = BaselineEntry(path, *each.key, count, each.site.source)
    return tuple(sorted(counts.values()))


def begins_one(data: bytes) -> bool:
    """Whether the content of a file begins as that of baselines does."""
    return data[: len(_BEGINNING) + 3].replace(b"\r\n", b"\n").startswith(_BEGINNING.encode())


def text_of(entries: Iterable[BaselineEntry]) -> str:
    """A baseline as it is written."""
    lines = [f"    {_json(dict(zip(_FIELDS, entry, strict=True)))}" for entry in sorted(entries)]
    findings = "[\n" + ",\n".join(lines) + "\n  ]" if lines else "[]"
    return f'{_BEGINNING} {_VERSION},\n  "findings": {findings}\n}}\n'


def _json(value: object) -> str:
    """JSON on one line, in which characters that a terminal or an editor would obey or hide are escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isprintable() else "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


def save(baseline: Baseline, entries: Iterable[BaselineEntry]) -> None:
    """Write the entries to the file of a baseline, which must still be as it was read, or not be there.

    Raises:
        OSError: it could not be written; what was there still is.
    """
    data = text_of(entries).encode()
    if baseline.content is not None:
        writing.write(baseline.file, data, baseline.content)
        return
    writing.write_new(baseline.file, data, 0o666)
