"""What is known when all findings of a file have their places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from torchlint.diagnostic import Diagnostic, Problem


@dataclass(frozen=True, slots=True)
class Located:
    """Findings with their places in the text."""

    diagnostics: tuple[Diagnostic, ...] = ()
    problems: tuple[Problem, ...] = ()
    rests_on: Mapping[str, str] = field(default_factory=dict)
    is_broken: bool = False
    """Whether the text is no Python, or had to be repaired to be parsed."""
    has_tree: bool = True
    """Whether it could be parsed at all, so that comments which silence nothing can be told."""
