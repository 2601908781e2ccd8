"""What the rules declare, kept in ``index.json`` beside them, so that their sources need not be parsed at each start.

It is believed of a rule as long as the code of that rule is what it was, and read from the source otherwise;
``scripts/build_docs.py`` writes it anew, and a test says when that is due.
"""

from __future__ import annotations

import json
import os
from binascii import crc32
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Union

from torchlint.diagnostic import Group, Severity
from torchlint.rules.declared import Declared, declared
from torchlint.trigger import FUNCTIONS, KINDS, AllOf, AnyOf, Trigger

PATH = os.path.join(os.path.dirname(__file__), "index.json")

Packed = list[Union[str, "Packed"]]
"""A trigger as lists of strings: ``["any_of", ["word", "x"], ["word", "y"]]``."""

IndexEntry = tuple[int, bool, Packed, str, str, bool]
"""A mark of the code of a rule, and what it declares: the fields of :class:`Declared`, whether it is on first."""

_FIELDS = 6
"""How many there are, of which an index of before has fewer."""

_KINDS: Mapping[str, Callable[..., Trigger]] = dict(zip(FUNCTIONS, KINDS, strict=True))
_NAMES = {kind: name for name, kind in _KINDS.items()}


def read() -> dict[str, IndexEntry]:
    """The index, by module; empty where there is none that can be read."""
    try:
        with open(PATH, encoding="utf-8") as file:
            found: dict[str, IndexEntry] = json.load(file)
    except (OSError, ValueError):
        return {}
    return found


def lookup(index: Mapping[str, IndexEntry], module: str, source: str, path: str) -> Declared:
    """What a rule of this source declares, from the index if it is about this very code.

    Raises:
        DeclarationError: it is not in the index, and its source cannot be read either.
    """
    entry = index.get(module)
    if entry is None or entry[0] != _mark(source) or len(entry) != _FIELDS:
        return declared(source, path)
    return Declared(unpacked(entry[2]), entry[1], Severity(entry[3]), Group(entry[4]), entry[5])


def entry_of(source: str, path: str) -> IndexEntry:
    """What the index has to say of a rule."""
    found = declared(source, path)
    severity, group = found.severity.value, found.group.value
    return _mark(source), found.by_default, packed(found.trigger), severity, group, found.without_torch


def packed(trigger: Trigger) -> Packed:
    """A trigger as it is kept."""
    values: Packed = []
    for field in fields(trigger):
        value: Any = getattr(trigger, field.name)
        if isinstance(value, tuple):
            values += map(packed, value)
        else:
            values.append(value if isinstance(value, str) else packed(value))
    return [_NAMES[type(trigger)], *values]


def unpacked(values: Packed) -> Trigger:
    """The trigger that was kept. It was checked when it was read from the rule."""
    name, *given = values
    texts = [each for each in given if isinstance(each, str)]
    inner = [unpacked(each) for each in given if not isinstance(each, str)]
    match name:
        case "any_of":
            return AnyOf(tuple(inner))
        case "all_of":
            return AllOf(inner[0], tuple(inner[1:]))
    return _KINDS[str(name)](*texts, *inner)


def _mark(source: str) -> int:
    """What tells two sources apart that differ in more than the documentation they begin with."""
    start, quotes, rest = source.partition('"""')
    code = rest.partition('"""')[2] if quotes and start in ("", "r") else source
    return crc32(code.encode(errors="surrogatepass"))
