"""Texts that a test asks about several times are examined once.

What is found in a text does not depend on which fixes are asked for, nor on the texts before it; but to announce safe
fixes and unsafe ones, to apply either and to look at the result again examines the same few texts over and over.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from torchlint.diagnostic import Fixing
from torchlint.file import check
from torchlint.file.check import Outcome
from torchlint.file.dispatch.subject import Subject
from torchlint.file.suppress.suppress import Examined

_examine = check.examine


@functools.lru_cache(maxsize=256)
def _examined(text: str, path: str, codes: frozenset[str]) -> Examined:
    return _examine(text, Subject(path, codes))


def _examined_once(text: str, subject: Subject) -> Examined:
    if subject != Subject(subject.path, subject.codes):  # what else it rests on may have changed
        return _examine(text, subject)
    return _examined(text, subject.path, subject.codes)


@contextmanager
def once() -> Iterator[None]:
    """Whatever is checked here is examined once, with what was checked here before."""
    with mock.patch.object(check, "examine", _examined_once):
        yield


@once()
def checked(text: str, path: str, codes: frozenset[str], fixing: Fixing = Fixing.NONE) -> Outcome:
    """As ``check_text``."""
    return check.check_text(text, path, codes, fixing)
