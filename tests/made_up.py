"""A made-up file for tests of how questions are asked and answered."""

from __future__ import annotations

from dataclasses import dataclass, field

from torchlint.model.interpret.keys import Answers


@dataclass
class File:
    """A file whose answers are kept; a part is one of another file than the one being checked."""

    is_part: bool = False
    answers: Answers = field(default_factory=dict)
