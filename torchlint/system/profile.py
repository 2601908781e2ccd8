"""Which rules take how much processor time, in which files; nothing is measured unless somebody asks."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class Profile:
    """What was measured."""

    seconds: dict[tuple[str, str], float] = field(default_factory=dict)
    """By the code of a rule and the path of a file."""


_profiles: list[Profile] = []
"""Those under way, the innermost last."""


@contextlib.contextmanager
def profiling() -> Iterator[Profile]:
    """Measure what this process does."""
    _profiles.append(Profile())
    try:
        yield _profiles[-1]
    finally:
        _profiles.pop()


@contextlib.contextmanager
def measured(code: str, path: str) -> Iterator[None]:
    """Count what is done here for a rule in a file."""
    if not _profiles:
        yield
        return
    start = time.process_time()
    try:
        yield
    finally:
        seconds, key = _profiles[-1].seconds, (code, path)
        seconds[key] = seconds.get(key, 0.0) + time.process_time() - start
