"""Memo and cycles: what is being found out right now, what that rests on, and what may be kept of it.

Functions and classes ask for each other, through several files and in circles, so something may be asked for before it
is finished; and so that it comes to an end, nobody looks further than a few files deep. Whatever is kept has to be what
would be found anew: otherwise what is known of a file would depend on which files were checked before.

Whoever wants to know something calls :meth:`Queries.ask` with a key, a function that finds the answer out, and what is
answered until then. All else stays in here.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Generic, Protocol, TypeVar, cast

from torchlint.model.interpret.summary import Summary, Trace
from torchlint.model.values import Value

if TYPE_CHECKING:
    import libcst as cst

    from torchlint.model.budget import Budget
    from torchlint.model.interpret.frame import Frame

_MAX_ROUNDS = 3
"""How often something is looked at whose answer rests on what is unfinished; then the last answer has to do."""

_DEEPEST = 2
"""How many functions and classes of other files may wait for each other; beyond that nothing is known."""

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


# ---------------------------------------------------------------------- keys and answers


@dataclass(frozen=True, slots=True)
class Key(Generic[T_co]):
    """What is asked for, by the identity of a node; each subclass says what the answer is."""

    rounds: ClassVar[int] = 1
    """How often the answer is computed: again where it may rest on itself, with what the round before found."""

    node: int


@dataclass(frozen=True, slots=True)
class ScopeKey(Key[Summary | None]):
    """What a function or module leaves behind."""

    cls: int | None = None
    """The class whose objects an inherited method is called on."""


@dataclass(frozen=True, slots=True)
class BodyKey(Key[Summary]):
    """What the statements of a class leave behind."""


@dataclass(frozen=True, slots=True)
class AttributeKey(Key[Value | None]):
    """What the methods of a class assign to an attribute."""

    rounds: ClassVar[int] = 2

    name: str


@dataclass(eq=False, slots=True)
class Trail:
    """What it took to find something out, by which one can tell where it would be found anew."""

    is_circular: bool = False
    """Whether something was seen that was not finished then, be it itself."""
    is_cut: bool = False
    """Whether something was not looked at because it is too far away."""
    height: int = 0
    """How many functions of other files had to be looked at one inside the other."""
    asked: set[Key[object]] = field(default_factory=set)
    """Everything that was asked for on the way, itself included."""


@dataclass(frozen=True, slots=True)
class Answer(Generic[T_co]):
    """What was found out, and how."""

    value: T_co
    trail: Trail


Answers = dict[Key[object], Answer[object]]
"""Each answer has the type that its key says."""


class Home(Protocol):
    """The file that a question is about."""

    @property
    def answers(self) -> Answers:
        """The answers to whole questions, which hold for good."""

    @property
    def is_part(self) -> bool:
        """Whether it is another file than the one being checked."""


# ---------------------------------------------------------------------- asking


class Queries:
    """All that is being asked. What may be kept is kept with the file that it is about."""

    def __init__(self) -> None:
        self._cut: dict[tuple[Key[object], int], Answer[object]] = {}
        self._now = _Inquiry({})
        self._aside: dict[int, _Inquiry] = {}
        """The inquiries about other files as a whole."""

    def begin(self) -> None:
        """Another file is checked from here on."""
        self._now = _Inquiry({})
        self._aside.clear()

    @contextmanager
    def about(self, file: Home) -> Iterator[None]:
        """Put questions about all of another file, as if that was checked: they are an inquiry of their own."""
        asker = self._now
        self._now = self._aside.setdefault(id(file), _Inquiry({}))
        try:
            yield
        finally:
            self._now = asker

    def ask(
        self,
        key: Key[T],
        compute: Callable[[int], T],
        initial: T,
        home: Home,
        *,
        before: Callable[[], object] | None = None,
        budget: Budget | None = None,
        is_far: bool = False,
        counts: bool = False,
    ) -> T:
        """The answer to a question, found out only once as long as it holds.

        ``compute`` is given the number of the round, from 0. Who asks for the same meanwhile is given the answer of the
        round before: in the first one ``initial``, which is also the answer where the question goes too far. ``before``
        asks for what has to be known first. ``budget`` is what the file may use, if that is checked. ``is_far`` says
        that there is no answer where too many functions of other files wait for each other, ``counts`` that this is
        one of them.
        """
        now = self._now
        known = now.known(key, home)
        if known is not None:
            return known.value
        if now.is_open(key):
            return now.draft(key, initial)
        if home.is_part and not now.is_elsewhere:
            with self._apart():
                return self.ask(key, compute, initial, home, before=before, budget=budget, is_far=is_far, counts=counts)
        if budget is not None and not budget.allows(now.depth):
            return initial
        if is_far and now.is_too_far(key):
            return initial
        if before is not None and is_far:
            with now.opened(key) as opened:  # what the outer function rests on, the inner one rests on
                before()
                value, _ = now.computed(key, compute, initial, counts)
        else:
            if before is not None:
                before()
            value, opened = now.computed(key, compute, initial, counts)
        now.keep(opened, value, home.answers)
        return value

    @contextmanager
    def _apart(self) -> Iterator[None]:
        """Put a question about another file, apart from all that is being interpreted."""
        asker = self._now
        self._now = _Inquiry(self._cut, is_elsewhere=True)
        try:
            yield
        finally:
            self._now = asker

    def is_open(self, key: Key[object]) -> bool:
        """Whether an answer is being found out; then whoever asks rests on something unfinished."""
        return self._now.is_open(key)

    def once(self, node: cst.CSTNode, compute: Callable[[], T], instead: T) -> T:
        """Compute something of a lambda or class, but not inside itself: there it is ``instead``."""
        now = self._now
        if not now.begins(node):
            return instead
        try:
            return compute()
        finally:
            now.ends(node)

    @contextmanager
    def running(self, key: Key[object], frame: Frame) -> Iterator[None]:
        """While an answer is found out by interpreting a scope: others can look at its frame."""
        now = self._now
        frame.trace.before = now.traces.get(key)
        now.frames[key] = frame
        try:
            yield
        finally:
            del now.frames[key]
        frame.trace.before = None
        if now.is_circular:
            now.traces[key] = frame.trace

    def frame(self, key: Key[object]) -> Frame | None:
        """The frame of a scope that is being interpreted; None if it is not."""
        return self._now.frames.get(key)


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
class _Inquiry:
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
    traces: dict[Key[object], Trace] = field(default_factory=dict)
    """What the last interpretation of a scope that went round in circles has seen."""
    _open: list[_Open] = field(default_factory=list)
    _drafts: dict[Key[object], object] = field(default_factory=dict)
    """What the round before has found, of what is computed in several."""
    _positions: dict[Key[object], int] = field(default_factory=dict)
    _passing: dict[Key[object], tuple[Answer[object], _Open]] = field(default_factory=dict)
    """What rests on something unfinished, which is open still."""
    _rooted: dict[int, list[Key[object]]] = field(default_factory=lambda: defaultdict(list))
    """The keys of what is passing, by the position of what it rests on."""
    _rounds: Counter[Key[object]] = field(default_factory=Counter)
    _settled: dict[Key[object], Answer[object]] = field(default_factory=dict)
    _circular: dict[Key[object], Answer[object]] = field(default_factory=dict)
    _suspect: set[Key[object]] = field(default_factory=set)
    """What has gone round in circles, whether it is still kept or not."""
    _anew: dict[tuple[Key[object], int], _Anew] = field(default_factory=dict)
    """What was found anew in this inquiry, by how far away it was asked for."""
    _held: list[Key[object]] = field(default_factory=list)
    """The keys of all that was kept only for this inquiry, in order, whether it still is or not."""
    _begun: set[int] = field(default_factory=set)
    _distance: int = 0

    # ------------------------------------------------------------------ what is known

    def known(self, key: Key[T], home: Home) -> Answer[T] | None:
        """What was found for ``key``, if it would be found from here, too."""
        return cast("Answer[T] | None", self._known(key, home.answers, home.is_part))

    def _known(self, key: Key[object], answers: Answers, is_elsewhere: bool) -> Answer[object] | None:
        found = answers.get(key)
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
        return found if asked.isdisjoint(self._positions) and asked.isdisjoint(self._suspect) else None

    def _found_anew(self, key: Key[object]) -> Answer[object] | None:
        """What was found anew from as far away, if it would come out the same once more."""
        found = self._anew.get((key, self._distance))
        if found is None:
            return None
        asked = found.answer.trail.asked
        if not asked.isdisjoint(self._positions) or not asked.isdisjoint(self._held[found.held :]):
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
        kept = set(self._passing)
        self._drafts[key] = initial
        try:
            for number in range(key.rounds - 1):
                self._drafts[key] = compute(number)
                if not self._is_entangled():
                    self._forget(kept)
            return compute(key.rounds - 1)
        finally:
            del self._drafts[key]

    def _is_entangled(self) -> bool:
        """Whether what was begun last rests on others, among them such a one: one round has to do for it then."""
        return self._open[-1].low < self._open[-1].position and len(self._drafts) > 1

    def _forget(self, kept: Collection[Key[object]]) -> None:
        """Forget what rests on what is unfinished, except for what was ``kept`` before, to find it again."""
        for key in [key for key in self._passing if key not in kept]:
            del self._passing[key]

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
            self._suspect.add(opened.key)
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
