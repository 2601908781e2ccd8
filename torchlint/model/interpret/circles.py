"""What has gone round in circles in one inquiry, and is taken over by others that would find the same.

Each inquiry about another file finds anew what goes round in circles, for that comes out differently where the circle
is entered elsewhere: a class whose methods ask for its attributes was interpreted once for each of these. But what has
seen nothing unfinished that was begun before it, and nothing that had gone round in circles before, comes out the same
in every inquiry that has not come upon any part of it. So that is kept with all that it leaves behind, and taken over.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from torchlint.model.interpret.keys import Answer, Key
from torchlint.model.interpret.summary import Trace


class Reached(NamedTuple):
    """How far an inquiry had come."""

    suspected: int
    held: int


@dataclass(eq=False, slots=True)
class Circle:
    """Something that has gone round in circles, and what of the way to it is kept for the inquiry."""

    answer: Answer[object]
    suspected: list[Key[object]]
    held: list[Key[object]]
    circular: dict[Key[object], Answer[object]]
    settled: dict[Key[object], Answer[object]]
    rounds: dict[Key[object], int]
    traces: dict[Key[object], Trace]
    minds_drafts: bool = False
    """Whether it came out as it did because something else was, or was not, being computed in rounds."""


Circles = dict[tuple[Key[object], int, bool], Circle]
"""By what was asked, from how far away, and whether something was being computed in rounds then."""


@dataclass(eq=False, slots=True)
class Gone:
    """What has gone round in circles in one inquiry."""

    suspects: set[Key[object]] = field(default_factory=set)
    """All of it, whether it is still kept or not."""
    circular: dict[Key[object], Answer[object]] = field(default_factory=dict)
    """What is kept until the question is answered."""
    settled: dict[Key[object], Answer[object]] = field(default_factory=dict)
    """What was looked at often enough."""
    rounds: Counter[Key[object]] = field(default_factory=Counter)
    """How often what rests on something unfinished was looked at."""
    traces: dict[Key[object], Trace] = field(default_factory=dict)
    """What the last interpretation of a scope has seen."""
    held: list[Key[object]] = field(default_factory=list)
    """The keys of all that was kept only for this inquiry, in order, whether it still is or not."""
    _suspected: list[Key[object]] = field(default_factory=list)
    """The suspects in the order in which they became so, some of them twice."""

    def suspect(self, key: Key[object]) -> None:
        """Something has gone round in circles."""
        self.suspects.add(key)
        self._suspected.append(key)

    def keep(self, key: Key[object], answer: Answer[object]) -> None:
        """Keep an answer until the question is answered."""
        self.circular[key] = answer
        self.held.append(key)

    def mark(self) -> Reached:
        """How far the inquiry has come."""
        return Reached(len(self._suspected), len(self.held))

    def circle(self, answer: Answer[object], key: Key[object], since: Reached) -> Circle | None:
        """What was found out since then, to be taken over by other inquiries; None if some of it was known before."""
        if not answer.trail.asked.isdisjoint(self._suspected[: since.suspected]):
            return None
        held = [each for each in self.held[since.held :] if each is not key]
        suspected = [each for each in self._suspected[since.suspected :] if each is not key]
        return Circle(
            answer,
            suspected,
            held,
            {each: self.circular[each] for each in held if each in self.circular},
            {each: self.settled[each] for each in held if each in self.settled},
            {each: self.rounds[each] for each in held if each in self.rounds},
            {each: self.traces[each] for each in (*suspected, key) if each in self.traces},
        )

    def go_round(self, circle: Circle) -> None:
        """Take over what another inquiry has left behind."""
        self.suspects.update(circle.suspected)
        self._suspected += circle.suspected
        self.held += circle.held
        self.circular.update(circle.circular)
        self.settled.update(circle.settled)
        self.rounds.update(circle.rounds)
        self.traces.update(circle.traces)
