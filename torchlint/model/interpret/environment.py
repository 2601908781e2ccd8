"""What names are bound to at a point of a function.

A branch writes to a layer of its own, and where branches meet only what they wrote is looked at: so a function costs
as much as it has statements, however many names it has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from torchlint.model.values import Value, join

Env = dict[str, Value]
"""Names with their values, in one layer."""

Changes = Mapping[str, Value | None]
"""What a branch has bound, and (None) unbound."""


Join = Callable[[Iterable[Value | None], Value | None, bool], Value | None]
"""How the values of a name are joined: with what it was before, and whether it is a path."""


class Watch:
    """What one round of a loop has asked of the names from before it: another round is of use only if that changes."""

    __slots__ = ("_asked", "_met")

    def __init__(self) -> None:
        self._asked: set[str] = set()
        self._met: list[tuple[str, Value | None]] = []

    def asked(self, name: str) -> None:
        """A name was looked up that the round has not bound itself."""
        self._asked.add(name)

    def met(self, name: str, value: Value | None) -> None:
        """Ways have met of which not all bind a name, and this is its value there."""
        self._met.append((name, value))

    def is_concerned(self, changed: Mapping[str, Value | None]) -> bool:
        """Whether what has changed could make another round come out differently."""
        if not changed:
            return False
        if not self._asked.isdisjoint(changed):
            return True
        return any(name in changed and _is_more(changed[name], value) for name, value in self._met)


class Names:
    """Names and paths (``self.x``) with their values, seen through the layers of the branches one is in."""

    __slots__ = ("_below", "_own", "_seen", "_watch")

    def __init__(
        self, own: Mapping[str, Value] | None = None, below: Names | None = None, watch: Watch | None = None
    ) -> None:
        self._own: dict[str, Value | None] = dict(own) if own else {}
        self._below = below
        self._watch = watch
        self._seen: dict[str, tuple[Value | None, tuple[Watch, ...]]] = {}
        """What is below, and who hears that it is looked up; that does not change as long as this layer is there."""

    def branch(self, watch: Watch | None = None) -> Names:
        """A layer on top of this one; ``watch`` hears what is looked up below it."""
        return Names(below=self, watch=watch)

    def get(self, name: str) -> Value | None:
        """The value of a name; None if it is not bound."""
        value, watches = self._unwatched(name)
        for watch in watches:
            watch.asked(name)
        return value

    def __contains__(self, name: str) -> bool:
        return self.get(name) is not None

    def __setitem__(self, name: str, value: Value) -> None:
        self._own[name] = value

    def unbind(self, name: str) -> None:
        """Forget a name; of a path that is forgotten nothing is known but what its class says."""
        if self._unwatched(name)[0] is not None:
            self._own[name] = None

    def changes(self, since: Names) -> Changes:
        """What the layers on top of ``since`` have changed."""
        names: Names | None = self
        layers: list[Changes] = []
        while names is not since and names is not None:
            layers.append(names._own)
            names = names._below
        if len(layers) == 1:
            return layers[0]
        changed: dict[str, Value | None] = {}
        for layer in reversed(layers):
            changed.update(layer)
        return changed

    def meet(self, ends: Sequence[Changes]) -> Changes:
        """Continue where several ways from here have met; what that changed.

        A name that only some of them bind is what those bind; a path is known only where all of them know it.
        """
        return self._meet(ends, _joined)

    def meet_from_last(self, ends: Sequence[Changes]) -> Changes:
        """The same where each way but the first begins in what was left by the one before."""
        return self._meet(ends, _joined_from_last)

    def _meet(self, ends: Sequence[Changes], join_all: Join) -> Changes:
        changed: dict[str, Value | None] = {}
        for name, bound in _bound_by(ends).items():
            before, watches = self._unwatched(name)
            value = join_all(_in_order(bound, before, len(ends)), before, "." in name)
            if len(bound) < len(ends):
                for watch in watches:
                    watch.met(name, value)
            if value is before or (value == before and not _leads_elsewhere(value, before)):
                continue
            self._own[name] = value
            if value != before:
                changed[name] = value
        return changed

    def _unwatched(self, name: str) -> tuple[Value | None, tuple[Watch, ...]]:
        """The value of a name, and who would have heard that it was looked up."""
        names: Names | None = self
        passed: list[Names] = []
        value: Value | None = None
        watches: tuple[Watch, ...] = ()
        while names is not None:
            if name in names._own:
                value = names._own[name]
                break
            if name in names._seen:
                value, watches = names._seen[name]
                break
            passed.append(names)
            names = names._below
        for layer in reversed(passed):  # so that the next way down is short
            watches = watches if layer._watch is None else (layer._watch, *watches)
            layer._seen[name] = value, watches
        return value, watches


def _bound_by(ends: Sequence[Changes]) -> dict[str, list[tuple[int, Value | None]]]:
    """What each name is bound to, with the numbers of the ways on which it is bound."""
    found: dict[str, list[tuple[int, Value | None]]] = {}
    for number, end in enumerate(ends):
        for name, value in end.items():
            found.setdefault(name, []).append((number, value))
    return found


def _in_order(bound: list[tuple[int, Value | None]], before: Value | None, count: int) -> Iterator[Value | None]:
    """The values of a name on all of ``count`` ways; on those that do not bind it the one from before.

    Where several of these follow each other the second says what the others do, so names cost what binds them.
    """
    last = -1
    for number, value in (*bound, (count, None)):
        for _ in range(min(number - last - 1, 2)):
            yield before
        if number < count:
            yield value
        last = number


def _leads_elsewhere(value: Value | None, before: Value | None) -> bool:
    """Whether values that are equal are not of the same functions or classes."""
    if value is None or before is None:
        return False
    return value.node is not before.node or len(value.choices) != len(before.choices)


def _is_more(value: Value | None, known: Value | None) -> bool:
    """Whether a value can be something that a known one cannot."""
    if value is None or known is None:
        return value is not known
    return join(known, value) != known


def _joined_from_last(values: Iterable[Value | None], before: Value | None, is_path: bool) -> Value | None:
    result: Value | None = None
    for number, value in enumerate(reversed(list(values))):
        if number == 0:
            result = value
        elif value is None or result is None:
            result = None if is_path else value or result
        else:
            result = join(value, result)
        if result == before and not _leads_elsewhere(result, before):
            result = before
    return result


def _joined(values: Iterable[Value | None], before: Value | None, is_path: bool) -> Value | None:
    result: Value | None = None
    for value in values:
        if value is None:
            if is_path:
                return None
        else:
            result = value if result is None else join(result, value)
    return result
