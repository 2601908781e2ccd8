"""The file that is checked and what to check it with: the same in each round of fixing, while its text changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from torchlint.diagnostic import AS_RULES_SAY, Diagnostic, FindingKey, Policy
from torchlint.system.limits import BUDGET
from torchlint.versions import ANY, Target

if TYPE_CHECKING:
    from torchlint.model.codebase.modules import Codebase


Revise = Callable[[str, tuple[Diagnostic, ...]], tuple[Diagnostic, ...]]
"""Is told a text and what was found in it, and says what holds of that."""


@dataclass(frozen=True, slots=True)
class Subject:
    """One file, and what to check it with. Its text is not part of it, for each round of fixing has another one."""

    path: str
    """For messages."""
    codes: frozenset[str]
    """The rules to check it with."""
    location: str | None = None
    """Where the file is, so that what it imports can be found; without it nothing is looked for."""
    codebase: Codebase | None = None
    """What is known of the other files."""
    policy: Policy = AS_RULES_SAY
    """What the settings say about fixes."""
    target: Target = ANY
    """The versions of torch it is written for."""
    budget: int = BUDGET
    """How many expressions of it are interpreted; 0 for no limit."""
    accepted: Mapping[FindingKey, int] = field(default_factory=dict)
    """Findings that are left alone and not reported, with how many of each there may be."""
    revised: Revise | None = None
    """What changes the findings in a text of which not all is code of the file."""
    is_promising: bool = False
    """Whether rules found something in it a moment ago: then a first look would only tell what is known."""
    original: str = ""
    """Its text before the first round, where unsafe fixes are applied; empty else."""
