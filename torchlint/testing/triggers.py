"""Whether triggers keep from a rule what it would find."""

from __future__ import annotations

import os
from collections.abc import Iterator

from torchlint.file.check import examine_without_triggers
from torchlint.file.dispatch.subject import Subject
from torchlint.file.text.source import Undecodable, decode
from torchlint.file.triggers.gate import is_ours
from torchlint.system.reading import read
from torchlint.system.stack import with_big_stack
from torchlint.testing.linting import lint

FoundAt = tuple[int, int]
"""Row and column of a finding."""


def missed_in(text: str, codes: frozenset[str]) -> tuple[FoundAt, ...]:
    """Where rules find something in a text only if they look at it without triggers."""
    if not is_ours(text.encode(errors="surrogatepass")):
        return ()  # nothing of torch is in it, so it is none of our files whatever the triggers are
    found = {(d.start, d.code) for d in lint(text, codes).diagnostics}
    without = examine_without_triggers(text, Subject("case.py", codes)).diagnostics
    return tuple((d.start.row, d.start.column) for d in without if (d.start, d.code) not in found)


def missed(code: str, *paths: str) -> list[str]:
    """The same for one rule in files, and in all files below folders: ``file.py:3:7``.

    What is no Python and what cannot be decoded is passed over.

    Raises:
        AssertionError: the rule raises.
        OSError: a file cannot be read.
    """

    def found() -> list[str]:
        return [f"{file}:{row}:{column}" for file in _files(paths) for row, column in _missed_in_file(file, code)]

    return with_big_stack(found)


def _missed_in_file(file: str, code: str) -> tuple[FoundAt, ...]:
    data = read(str(file))
    try:
        return missed_in(decode(data).text, frozenset((code,)))
    except Undecodable:
        return ()


def _files(paths: tuple[str, ...]) -> Iterator[str]:
    for path in paths:
        if not os.path.isdir(path):
            yield path
        for folder, _, names in sorted(os.walk(path)):
            yield from (os.path.join(folder, name) for name in sorted(names) if name.endswith(".py"))
