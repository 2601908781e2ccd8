"""The table of what torch removed, renamed and deprecated.

It is written by hand in ``data/api.toml``. ``scripts/build_docs.py`` turns that into two files which load quickly:
``data/api.json``, the columns that rules need, read when a rule runs, and ``data/gate.json``, the words one of which a
file must contain for a rule to have anything to say about it (:mod:`torchlint.rules.api.words`).
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from torchlint.diagnostic import Applicability
from torchlint.versions import Target, Version, text, version

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
    keywords: str = ""
    """Keywords that have other names in the replacement: ``old=new``, several with blanks between them."""
    cases: tuple[Case, ...] = ()
    safe: bool = False
    same: bool = False
    """Whether the replacement is the very same object."""
    lost: tuple[str, ...] = ()
    """Names that are gone, or raise, with the replacement: a project that has one of them is not rewritten.

    What begins with `_` is the end of one, which stands for itself where it is all of a text.
    """

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
    def applicability(self) -> Applicability:
        """Of the fixes that it describes."""
        return Applicability.SAFE if self.safe else Applicability.UNSAFE

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
    position, cases = entry.get("position"), entry.get("cases", ())
    assert isinstance(position, int | None)
    assert isinstance(cases, (list, tuple))
    deprecated = _version(entry, "deprecated")
    assert deprecated is not None
    return Row(
        name=_text(entry, "name"),
        kind=_text(entry, "kind"),
        rule=_text(entry, "rule"),
        deprecated=deprecated,
        removed=_version(entry, "removed"),
        argument=_text(entry, "argument"),
        replacement=_text(entry, "replacement"),
        since=_version(entry, "since"),
        advice=_text(entry, "advice"),
        fix=_text(entry, "fix"),
        to=_text(entry, "to"),
        text=_text(entry, "text"),
        literal=_text(entry, "literal"),
        position=position,
        signature=_text(entry, "signature"),
        fields=_text(entry, "fields"),
        keywords=_text(entry, "keywords"),
        cases=tuple(map(_case, cases)),
        safe=bool(entry.get("safe")),
        same=bool(entry.get("same")),
        lost=tuple(str(entry.get("lost", "")).split()),
    )


def _case(entry: Mapping[str, object]) -> Case:
    field = entry.get("field")
    assert isinstance(field, int | None)
    return Case(_text(entry, "write"), _text(entry, "when"), field, _version(entry, "since"))


def _text(entry: Mapping[str, object], column: str) -> str:
    value = entry.get(column, "")
    assert isinstance(value, str)
    return value


def _version(entry: Mapping[str, object], column: str) -> Version | None:
    return version(written) if (written := _text(entry, column)) else None


@functools.cache
def rows() -> tuple[Row, ...]:
    """All rows."""
    return tuple(row(entry) for entry in json.loads((DATA / "api.json").read_text(encoding="utf-8")))


@functools.cache
def of_rule(*rules: str) -> Mapping[str, tuple[Row, ...]]:
    """The rows that rules report, by the last part of their names."""
    found: dict[str, list[Row]] = {}
    for each in rows():
        if each.rule in rules:
            found.setdefault(each.last, []).append(each)
    return {name: tuple(each) for name, each in found.items()}


def of_kinds(rule: str, kinds: Sequence[str], target: Target) -> Mapping[str, tuple[Row, ...]]:
    """The rows of a rule that are of some kinds and concern a project, by the last part of their names."""
    found = {
        name: tuple(row for row in each if row.kind in kinds and row.concerns(target))
        for name, each in of_rule(rule).items()
    }
    return {name: each for name, each in found.items() if each}


@functools.cache
def by_name(rule: str) -> Mapping[str, tuple[Row, ...]]:
    """The rows of a rule that are about a name as such, by that name."""
    found: dict[str, list[Row]] = {}
    for each in rows():
        if each.rule == rule and each.kind in ("function", "class", "attribute", "module"):
            found.setdefault(each.name, []).append(each)
    return {name: tuple(each) for name, each in found.items()}
