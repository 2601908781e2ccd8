"""One inquiry: all that is begun to answer one question, what of that is finished, and what may be kept of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar, cast

from torchlint.model.interpret.keys import Answer, Answers, Home, Key, Trail
from torchlint.model.interpret.summary import Trace

if TYPE_CHECKING:
    import libcst as cst

    from torchlint.model.interpret.frame import Frame

_MAX_ROUNDS = 3
"""How often something is looked at whose answer rests on what is unfinished; then the last answer has to do."""

_DEEPEST = 3
"""How many functions and classes of other files may wait for each other; beyond that nothing is known."""

T = TypeVar("T")


@dataclass(eq=False, slots=True)
class _Open:
    """Something that is being found out."""

    key: Key[object]
    position: int
    low: int
    """The position of the lowest one of which it has seen an unfinished state; its own if it has not."""
    is_far: bool
    """Whether it counts for how far one is from where the question was put."""
    trail: Trail = field(default_factory=Trail)


@dataclass(eq=False, slots=True)
class _Anew:
    """An answer that may be found by others already, but not from here."""

    answer: Answer[object]
    held: int
    """How much was kept for the inquiry when it was found, or last seen to be still the same."""


@dataclass(eq=False)
class Inquiry:
    """All that was begun to answer one question.

    The questions about the file that is being checked are one; each question that it has about another file is one of
    its own (``is_elsewhere``), answered as if nothing else was being interpreted. So every answer can be kept, also one
    that has gone round in circles, though that comes out differently where the circle is entered elsewhere.

    On the way to an answer other things are found out. What has seen an unfinished state of something else is kept
    until that is finished; what has gone round in circles, until the question is answered. All else comes out the same
    for any question, unless it was cut short: then only for those that ask from as far away; and unless something that
    it has looked at is being interpreted, or has gone round in circles on the way to this answer.
    """

    cut: dict[tuple[Key[object], int], Answer[object]]
    """What was cut short, by how far away it was asked for."""
    is_elsewhere: bool = False
    frames: dict[Key[object], Frame] = field(default_factory=dict)
    """The scopes that are being interpreted."""
    _open: list[_Open] = field(default_factory=list)
    _drafts: dict[Key[object], object] = field(default_factory=dict)
    """What the round before has found, of what is computed in several."""
    _positions: dict[Key[object], int] = field(default_factory=dict)
    traces: dict[Key[object], Trace] = field(default_factory=dict)
    """What the last interpretation of a scope has seen that went round in circles."""
    _suspects: set[Key[object]] = field(default_factory=set)
    """All that has gone round in circles, whether it is still kept or not."""
    _circular: dict[Key[object], Answer[object]] = field(default_factory=dict)
    """What of that is kept until the question is answered."""
    _settled: dict[Key[object], Answer[object]] = field(default_factory=dict)
    """What was looked at often enough."""
    _rounds: Counter[Key[object]] = field(default_factory=Counter)
    """How often what rests on something unfinished was looked at."""
    _held: list[Key[object]] = field(default_factory=list)
    """The keys of all that was kept only for this inquiry, in order, whether it still is or not."""
    _passing: dict[Key[object], tuple[Answer[object], _Open]] = field(default_factory=dict)
    """What rests on something unfinished, which is open still."""
    _rooted: dict[int, list[Key[object]]] = field(default_factory=lambda: defaultdict(list))
    """The keys of what is passing, by the position of what it rests on."""
    _anew: dict[tuple[Key[object], int], _Anew] = field(default_factory=dict)
    """What was found anew in this inquiry, by how far away it was asked for."""
    _begun: set[int] = field(default_factory=set)
    """The lambdas and classes that are being looked into."""
    _distance: int = 0

    # ------------------------------------------------------------------ what is known

    def known(self, key: Key[T], home: Home) -> Answer[T] | None:
        """What was found for ``key``, if it would be found from here, too."""
        return cast("Answer[T] | None", self._known(key, home.answers, home.is_part))

    def _known(self, key: Key[object], answers: Answers, is_elsewhere: bool) -> Answer[object] | None:
        found = answers.get(key)
        if found is not None and not is_elsewhere:  # nearly always
            self._rest_on(found.trail)
            return found
        if is_elsewhere and not self.is_elsewhere:
            return found
        if is_elsewhere and found is not None and found.trail.is_circular:
            found = None  # the circle was entered there
        elif is_elsewhere:
            found = self._apart(self._in_reach(found))
        found = found or self._in_reach(self._circular.get(key))
        if found is None and (passing := self._passing.get(key)) is not None:
            answer, opened = passing
            self._rest_on(answer.trail, opened)
            return answer
        found = found or self._in_reach(self._settled.get(key)) or self._apart(self.cut.get((key, self._distance)))
        found = found or self._found_anew(key)
        if found is not None:
            self._rest_on(found.trail)
        return found

    def _in_reach(self, found: Answer[object] | None) -> Answer[object] | None:
        """What was found, if one needs not look further for it than one does from here."""
        return found if found is not None and self._distance + found.trail.height <= _DEEPEST else None

    def _apart(self, found: Answer[object] | None) -> Answer[object] | None:
        """What was found, if nothing that has led to it is being interpreted here, or has gone round in circles."""
        if found is None:
            return None
        asked = found.trail.asked
        return found if self._positions.keys().isdisjoint(asked) and asked.isdisjoint(self._suspects) else None

    def _found_anew(self, key: Key[object]) -> Answer[object] | None:
        """What was found anew from as far away, if it would come out the same once more."""
        found = self._anew.get((key, self._distance))
        if found is None:
            return None
        asked = found.answer.trail.asked
        if not self._positions.keys().isdisjoint(asked) or not asked.isdisjoint(self._held[found.held :]):
            return None
        found.held = len(self._held)
        return found.answer

    # ------------------------------------------------------------------ what is open

    @property
    def depth(self) -> int:
        """How many questions wait for each other."""
        return len(self._open)

    @property
    def is_circular(self) -> bool:
        """Whether what was begun last has seen something that was not finished then."""
        return self._open[-1].trail.is_circular

    def is_open(self, key: Key[object]) -> bool:
        """Whether ``key`` is being found out; then whoever asks sees an unfinished state."""
        position = self._positions.get(key)
        if position is None:
            return False
        asker = self._open[-1]
        asker.low = min(asker.low, position)
        asker.trail.is_circular = True
        return True

    def draft(self, key: Key[T], initial: T) -> T:
        """The answer so far of something that is open."""
        return cast("T", self._drafts.get(key, initial))

    def is_too_far(self, key: Key[object]) -> bool:
        """Whether one more function of another file, that of ``key``, would be too many."""
        if self._distance < _DEEPEST:
            return False
        trail = self._open[-1].trail
        trail.asked.add(key)
        trail.is_cut = True
        return True

    def begins(self, node: cst.CSTNode) -> bool:
        """Begin with a lambda, or the fields of a class; not inside itself, whoever asks is given less then."""
        if id(node) not in self._begun:
            self._begun.add(id(node))
            return True
        if self._open:
            self._open[-1].trail.is_circular = True
        return False

    def ends(self, node: cst.CSTNode) -> None:
        """What was begun has ended."""
        self._begun.discard(id(node))

    # ------------------------------------------------------------------ finding out

    def computed(self, key: Key[T], compute: Callable[[int], T], initial: T, counts: bool) -> tuple[T, _Open]:
        """Find out the answer, in as many rounds as there are to be."""
        self._positions[key] = len(self._open)
        with self.opened(key, counts) as opened:
            value = self._in_rounds(key, compute, initial) if key.rounds > 1 else compute(0)
        return value, opened

    @contextmanager
    def opened(self, key: Key[object], counts: bool = False) -> Iterator[_Open]:
        """Find out something; what is asked for meanwhile, it rests on."""
        opened = _Open(key, len(self._open), len(self._open), counts)
        self._open.append(opened)
        self._distance += counts
        try:
            yield opened
        finally:
            self._close()

    def _in_rounds(self, key: Key[T], compute: Callable[[int], T], initial: T) -> T:
        before = len(self._held)
        self._drafts[key] = initial
        try:
            for number in range(key.rounds - 1):
                self._drafts[key] = compute(number)
                if not self._is_entangled():
                    self._forget(before)
            return compute(key.rounds - 1)
        finally:
            del self._drafts[key]

    def _is_entangled(self) -> bool:
        """Whether what was begun last rests on others, among them such a one: one round has to do for it then."""
        opened = self._open[-1]
        return opened.low < opened.position and len(self._drafts) > 1

    def _forget(self, before: int) -> None:
        """Forget what rests on what is unfinished, except for the first that were kept, to find it again."""
        for key in self._held[before:]:
            self._passing.pop(key, None)

    def _close(self) -> None:
        """What was begun last has ended; what waits for it rests on what it has seen."""
        opened = self._open.pop()
        self._distance -= opened.is_far
        opened.trail.height += opened.is_far
        opened.trail.asked.add(opened.key)
        self._positions.pop(opened.key, None)
        for key in self._rooted.pop(opened.position, ()):
            self._passing.pop(key, None)
        self._rest_on(opened.trail, opened)

    def _rest_on(self, found: Trail, opened: _Open | None = None) -> None:
        """What was begun last has seen an answer; if that is not final, it was found while ``opened`` was open."""
        if not self._open:
            return
        asker = self._open[-1]
        trail = asker.trail
        trail.is_circular |= found.is_circular
        trail.is_cut |= found.is_cut
        trail.height = max(trail.height, found.height)
        if self.is_elsewhere:
            trail.asked |= found.asked
        if opened is not None:
            asker.low = min(asker.low, opened.low)

    # ------------------------------------------------------------------ keeping

    def keep(self, opened: _Open, value: object, answers: Answers) -> None:
        """Keep what was found as long as it is of use."""
        answer, trail = Answer(value, opened.trail), opened.trail
        if trail.is_circular:
            self._suspects.add(opened.key)
        if opened.low < opened.position:
            self._keep_for_now(opened, answer)
        elif trail.is_cut and self._distance and not trail.is_circular:
            self.cut[opened.key, self._distance] = answer
        elif self.is_elsewhere and self._open and trail.is_circular:
            self._circular[opened.key] = answer
            self._held.append(opened.key)
        else:
            answers[opened.key] = answer
        if self.is_elsewhere and not trail.is_circular:
            self._anew[opened.key, self._distance] = _Anew(answer, len(self._held))

    def _keep_for_now(self, opened: _Open, answer: Answer[object]) -> None:
        self._passing[opened.key] = (answer, opened)
        self._held.append(opened.key)
        self._rooted[opened.low].append(opened.key)
        self._rounds[opened.key] += 1
        if self._rounds[opened.key] >= _MAX_ROUNDS:
            self._settled[opened.key] = answer
