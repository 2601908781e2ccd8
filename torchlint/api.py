"""The table of what torch removed, renamed and deprecated.

It is written by hand in ``data/api.toml``. ``scripts/build_docs.py`` turns that into two files which load quickly:
``data/api.json``, the columns that rules need, read when a rule runs, and ``data/gate.json``, the words one of which a
file must contain for a rule to have anything to say about it.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from torchlint.target import Target, Version, text, version

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True)
class Case:
    """One way to rewrite a call."""

    write: str
    """What to write, with ``{x}`` for the argument ``x``."""
    when: str = ""
    """Conditions on the arguments."""
    field: int | None = None
    """Only where this field alone is used of the result."""
    since: Version | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One row; ``data/api.toml`` explains the columns."""

    name: str
    kind: str
    rule: str
    deprecated: Version
    removed: Version | None = None
    argument: str = ""
    replacement: str = ""
    since: Version | None = None
    advice: str = ""
    fix: str = ""
    to: str = ""
    text: str = ""
    literal: str = ""
    position: int | None = None
    signature: str = ""
    fields: str = ""
    cases: tuple[Case, ...] = ()
    safe: bool = False

    @property
    def last(self) -> str:
        """The last part of the name."""
        return self.name.rpartition(".")[2]

    @property
    def package(self) -> str:
        """The package that it is about."""
        return self.name.partition(".")[0]

    def is_removed(self, target: Target) -> bool:
        """Whether some version that is supported does not have it any more."""
        return self.removed is not None and (not self._is_of_torch or target.reaches(self.removed))

    def concerns(self, target: Target) -> bool:
        """Whether a project that supports these versions has to hear of it.

        Not of what is deprecated only later, nor of what is deprecated while its replacement is not there in all
        supported versions: nothing can be done about it yet.
        """
        if not self._is_of_torch or self.is_removed(target):
            return True
        if not target.reaches(self.deprecated):
            return False
        is_later = target.oldest is not None and self.deprecated > target.oldest
        return not is_later or (self.since is not None and target.has(self.since))

    def is_fixable(self, target: Target) -> bool:
        """Whether what replaces it exists in all supported versions."""
        return not self._is_of_torch or target.has(self.since)

    @property
    def _is_of_torch(self) -> bool:
        return self.package in ("torch", "functorch")

    @property
    def instead(self) -> str:
        """What to use instead, for messages; empty if there is nothing."""
        return self.advice or (f"`{self.replacement}`" if self.replacement else "")

    def since_when(self, target: Target) -> str:
        """Since when it is deprecated, or gone."""
        package = {"torchvision": "torchvision ", "torchaudio": "torchaudio ", "torchtext": "torchtext "}
        label = package.get(self.package, "PyTorch ")
        if self.removed is not None and self.is_removed(target):
            return f"was removed in {label}{text(self.removed)}"
        return f"is deprecated since {label}{text(self.deprecated)}"


def row(entry: Mapping[str, object]) -> Row:
    """A row from an entry of the table."""
    values = {key: value for key, value in entry.items() if key in Row.__slots__}
    for key in ("deprecated", "removed", "since"):
        if key in values:
            values[key] = version(str(values[key]))
    cases = values.get("cases", ())
    assert isinstance(cases, (list, tuple))
    values["cases"] = tuple(_case(case) for case in cases)
    return Row(**values)  # type: ignore[arg-type]


def _case(entry: Mapping[str, str | int]) -> Case:
    since = entry.get("since")
    field = entry.get("field")
    return Case(
        str(entry["write"]),
        str(entry.get("when", "")),
        int(field) if field is not None else None,
        version(str(since)) if since else None,
    )


@functools.cache
def table() -> tuple[Row, ...]:
    """All rows."""
    return tuple(row(entry) for entry in json.loads((DATA / "api.json").read_text(encoding="utf-8")))


@functools.cache
def of_rule(*rules: str) -> Mapping[str, tuple[Row, ...]]:
    """The rows that rules report, by the last part of their names."""
    found: dict[str, list[Row]] = {}
    for each in table():
        if each.rule in rules:
            found.setdefault(each.last, []).append(each)
    return {name: tuple(rows) for name, rows in found.items()}


@functools.cache
def names(rule: str) -> Mapping[str, tuple[Row, ...]]:
    """The rows of a rule that are about a name as such, by that name."""
    found: dict[str, list[Row]] = {}
    for each in table():
        if each.rule == rule and each.kind in ("function", "class", "attribute", "module"):
            found.setdefault(each.name, []).append(each)
    return {name: tuple(rows) for name, rows in found.items()}


# ---------------------------------------------------------------------- the gate


@functools.cache
def _gates() -> Mapping[str, Mapping[str, str]]:
    loaded: dict[str, dict[str, str]] = json.loads((DATA / "gate.json").read_text(encoding="utf-8"))
    return loaded


_BLANK = bytes(c if chr(c).isalnum() or chr(c) == "_" or c >= 128 else 32 for c in range(256))


@functools.lru_cache(maxsize=1)
def _words(data: bytes) -> frozenset[bytes]:
    """The words of a text: splitting it takes a fraction of what searching for hundreds of words takes."""
    return frozenset(data.translate(_BLANK).split())


@functools.cache
def _gate(rules: frozenset[str]) -> Mapping[bytes, re.Pattern[bytes] | None]:
    """The words of some rules, each with the pattern that it has to stand in, if it is a common one."""
    found: dict[bytes, set[str]] = {}
    for rule in rules:
        for word, pattern in _gates().get(rule, {}).items():
            found.setdefault(word.encode(), set()).add(pattern)
    return {
        word: None if "" in patterns else re.compile("|".join(sorted(patterns)).encode())
        for word, patterns in found.items()
    }


_RENAMING = re.compile(rb"import\s+(?:torch|functorch)[\w.]*\s+as\s+(?!F\b|nn\b|init\b|optim\b|dist\b|mp\b|lr_scheduler\b|T\b)")
"""An import that gives a module of torch a name of the file's own."""


def can_match(data: bytes, rules: frozenset[str]) -> bool:
    """Whether a text has one of the words that the rows of these rules are found by."""
    gate = _gate(rules)
    hits = gate.keys() & _words(data)
    if not hits:
        return False
    return any((pattern := gate[word]) is None or pattern.search(data) for word in hits) or bool(
        _RENAMING.search(data)
    )
