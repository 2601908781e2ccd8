"""What is checked, apart from the text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from torchlint.diagnostic import AS_RULES_SAY, FindingKey, Policy
from torchlint.system.limits import BUDGET
from torchlint.versions import ANY, Target

if TYPE_CHECKING:
    from torchlint.model.codebase.modules import Codebase


@dataclass(frozen=True, slots=True)
class Subject:
    """What is checked, apart from the text."""

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
