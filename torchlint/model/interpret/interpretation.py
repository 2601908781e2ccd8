"""What is being interpreted right now, what it rests on, and what may be kept of it.

Functions and classes ask for each other, through several files and in circles, so something may be asked for before it
is finished; and so that it comes to an end, nobody looks further than a few files deep. Whatever is kept has to be what
would be found anew: otherwise what is known of a file would depend on which files were checked before.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import libcst as cst

    from torchlint.model.interpret.environment import Env
    from torchlint.model.interpret.frame import Frame
    from torchlint.model.interpret.summary import Summary, Trace

Key = int | tuple[int, int] | tuple[int, str]
"""Identity of a scope or class; of a method and the class that inherited it; of a class and its attribute."""

_MAX_ROUNDS = 3
"""How often something is looked at whose answer rests on what is unfinished; then the last answer has to do."""

_DEEPEST = 2
"""How many functions and classes of other files may wait for each other; beyond that nothing is known."""


@dataclass(eq=False, slots=True)
class Trail:
    """What it took to find something out, by which one can tell where it would be found anew."""

    is_circular: bool = False
    """Whether something was seen that was not finished then, be it itself."""
    is_cut: bool = False
    """Whether something was not looked at because it is too far away."""
    height: int = 0
    """How many functions of other files had to be looked at one inside the other."""
    asked: set[Key] = field(default_factory=set)
    """Everything that was asked for on the way, itself included."""


@dataclass(eq=False, slots=True)
class Open:
    """One scope or class that is being interpreted."""

    key: Key
    position: int
    low: int
    """The position of the lowest frame of which it has seen an unfinished state; its own if it has not."""
    is_far: bool
    """Whether it counts for how far one is from where the question was put."""
    trail: Trail = field(default_factory=Trail)


@dataclass(eq=False)
class Interpretation:
    """All that was begun to answer one question.

    The questions about the file that is being checked are one; each question that it has about another file is one of
    its own (``is_elsewhere``), answered as if nothing else was being interpreted. So every answer can be kept, also one
    that has gone round in circles, though that comes out differently where the circle is entered elsewhere.

    On the way to an answer other things are found out. What has seen an unfinished state of something else is kept
    until that is finished; what has gone round in circles, until the question is answered. All else comes out the same
    for any question, unless it was cut short: then only for those that ask from as far away; and unless something that
    it has looked at is being interpreted, or has gone round in circles on the way to this answer.
    """

    cut: dict[tuple[Key, int], Summary]
    """What was cut short, by how far away it was asked for."""
    is_elsewhere: bool = False
    frames: list[Open] = field(default_factory=list)
    running: dict[Key, Frame] = field(default_factory=dict)
    drafts: dict[Key, Env] = field(default_factory=dict)
    traces: dict[Key, Trace] = field(default_factory=dict)
    """What the last interpretation of a scope that went round in circles has seen."""
    _positions: dict[Key, int] = field(default_factory=dict)
    _passing: dict[Key, tuple[Summary, Open]] = field(default_factory=dict)
    _rooted: dict[int, list[Key]] = field(default_factory=lambda: defaultdict(list))
    _rounds: Counter[Key] = field(default_factory=Counter)
    _settled: dict[Key, Summary] = field(default_factory=dict)
    _circular: dict[Key, Summary] = field(default_factory=dict)
    _suspect: set[Key] = field(default_factory=set)
    """What has gone round in circles, whether it is still kept or not."""
    _begun: set[int] = field(default_factory=set)
    _distance: int = 0

    def known(self, key: Key, answers: dict[Key, Summary], is_elsewhere: bool) -> Summary | None:
        """What was found for ``key``, if it would be found from here, too. ``answers`` are those to whole questions."""
        found = answers.get(key)
        if is_elsewhere and not self.is_elsewhere:
            return found
        if is_elsewhere and found is not None and found.trail.is_circular:
            found = None  # the circle was entered there
        elif is_elsewhere:
            found = self._apart(self._in_reach(found))
        found = found or self._in_reach(self._circular.get(key))
        if found is None and (passing := self._passing.get(key)) is not None:
            result, frame = passing
            self._rest_on(result.trail, frame)
            return result
        found = found or self._in_reach(self._settled.get(key)) or self._apart(self.cut.get((key, self._distance)))
        if found is not None:
            self._rest_on(found.trail)
        return found

    def _in_reach(self, found: Summary | None) -> Summary | None:
        """What was found, if one needs not look further for it than one does from here."""
        return found if found is not None and self._distance + found.trail.height <= _DEEPEST else None

    def _apart(self, found: Summary | None) -> Summary | None:
        """What was found, if nothing that has led to it is being interpreted here, or has gone round in circles."""
        if found is None:
            return None
        asked = found.trail.asked
        return found if asked.isdisjoint(self._positions) and asked.isdisjoint(self._suspect) else None

    def is_open(self, key: Key) -> bool:
        """Whether ``key`` is being interpreted; then whoever asks sees an unfinished state."""
        position = self._positions.get(key)
        if position is None:
            return False
        asker = self.frames[-1]
        asker.low = min(asker.low, position)
        asker.trail.is_circular = True
        return True

    def begins(self, node: cst.CSTNode) -> bool:
        """Begin with a lambda, or the fields of a class; not inside itself, whoever asks is given less then."""
        if id(node) not in self._begun:
            self._begun.add(id(node))
            return True
        if self.frames:
            self.frames[-1].trail.is_circular = True
        return False

    def ends(self, node: cst.CSTNode) -> None:
        """What was begun has ended."""
        self._begun.discard(id(node))

    def is_too_far(self, key: Key) -> bool:
        """Whether another frame in another file, that of ``key``, would be too many."""
        if self._distance < _DEEPEST:
            return False
        trail = self.frames[-1].trail
        trail.asked.add(key)
        trail.is_cut = True
        return True

    def _rest_on(self, found: Trail, frame: Open | None = None) -> None:
        """The topmost frame has seen what was found, in a frame that is named if it has not seen the last of it."""
        if not self.frames:
            return
        asker = self.frames[-1]
        trail = asker.trail
        trail.is_circular |= found.is_circular
        trail.is_cut |= found.is_cut
        trail.height = max(trail.height, found.height)
        if self.is_elsewhere:
            trail.asked |= found.asked
        if frame is not None:
            asker.low = min(asker.low, frame.low)

    def enter(self, key: Key, is_far: bool) -> None:
        """Begin with ``key``."""
        self._positions[key] = len(self.frames)
        self._push(key, is_far)

    def surround(self, key: Key) -> None:
        """Begin with what has to be known before ``key``."""
        self._push(key, False)

    def _push(self, key: Key, is_far: bool) -> None:
        self.frames.append(Open(key, len(self.frames), len(self.frames), is_far))
        self._distance += is_far

    def forget(self, kept: Collection[Key]) -> None:
        """Forget what rests on what is unfinished, except for what was ``kept`` before, to find it again."""
        for key in [key for key in self._passing if key not in kept]:
            del self._passing[key]

    def kept(self) -> set[Key]:
        """What is kept that rests on what is unfinished."""
        return set(self._passing)

    def is_entangled(self) -> bool:
        """Whether the topmost frame rests on others, among them another class: one round has to do for it then."""
        return self.frames[-1].low < self.frames[-1].position and len(self.drafts) > 1

    def leave(self) -> Open:
        """The topmost frame has ended."""
        frame = self.frames.pop()
        self._distance -= frame.is_far
        frame.trail.height += frame.is_far
        frame.trail.asked.add(frame.key)
        self._positions.pop(frame.key, None)
        for key in self._rooted.pop(frame.position, ()):
            self._passing.pop(key, None)
        self._rest_on(frame.trail, frame)
        return frame

    def keep(self, frame: Open, result: Summary, answers: dict[Key, Summary]) -> None:
        """Keep what was found in a frame as long as it is of use."""
        trail = result.trail = frame.trail
        if trail.is_circular:
            self._suspect.add(frame.key)
        if frame.low < frame.position:
            self._keep_for_now(frame, result)
        elif trail.is_cut and self._distance and not trail.is_circular:
            self.cut[frame.key, self._distance] = result
        elif self.is_elsewhere and self.frames and trail.is_circular:
            self._circular[frame.key] = result
        else:
            answers[frame.key] = result

    def _keep_for_now(self, frame: Open, result: Summary) -> None:
        self._passing[frame.key] = (result, frame)
        self._rooted[frame.low].append(frame.key)
        self._rounds[frame.key] += 1
        if self._rounds[frame.key] >= _MAX_ROUNDS:
            self._settled[frame.key] = result
