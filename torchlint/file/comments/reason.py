"""Whether a suppressing comment says why."""

from __future__ import annotations

import re

_OF_OTHERS = re.compile(
    r"\s*(?:noqa|nosec|torchlint|ruff|pylint|type|mypy|pyright|pyre|pragma|fmt|isort|flake8|yapf|nopycln)\b\s*(?::|$|\[|-)",
    re.IGNORECASE,
)
"""What begins like a comment for a tool."""


def has_reason(comment: str, end: int) -> bool:
    """Whether something for people stands in a comment behind what is for us, which ends there.

    A second comment on the line will do, ``# torchlint: ignore[TL101]  # the weights are frozen``, but not another
    tool's.
    """
    parts = comment[end:].split("#")
    return any(re.search(r"\w", part) and not _OF_OTHERS.match(part) for part in parts)
