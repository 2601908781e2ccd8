"""What names are bound to at a point of a function.

A branch writes to a layer of its own, and where branches meet only what they wrote is looked at: so a function costs
as much as it has statements, however many names it has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torchlint.model.values import Value, join

Env = dict[str, Value]
"""Names with their values, in one layer."""

Changes = Mapping[str, Value | None]
"""What a branch has bound, and (None) unbound."""


class Names:
    """Names and paths (``self.x``) with their values, seen through the layers of the branches one is in."""

    __slots__ = ("_below", "_own")

    def __init__(self, own: Mapping[str, Value] | None = None, below: Names | None = None) -> None:
        self._own: dict[str, Value | None] = dict(own) if own else {}
        self._below = below

    def branch(self) -> Names:
        """A layer on top of this one."""
        return Names(below=self)

    def get(self, name: str) -> Value | None:
        """The value of a name; None if it is not bound."""
        names: Names | None = self
        while names is not None:
            if name in names._own:
                return names._own[name]
            names = names._below
        return None

    def __contains__(self, name: str) -> bool:
        return self.get(name) is not None

    def __setitem__(self, name: str, value: Value) -> None:
        self._own[name] = value

    def unbind(self, name: str) -> None:
        """Forget a name; of a path that is forgotten nothing is known but what its class says."""
        if name in self:
            self._own[name] = None

    def changes(self, since: Names) -> Changes:
        """What the layers on top of ``since`` have changed."""
        names, layers = self, []
        while names is not since and names is not None:
            layers.append(names._own)
            names = names._below  # type: ignore[assignment]
        if len(layers) == 1:
            return layers[0]
        changed: dict[str, Value | None] = {}
        for layer in reversed(layers):
            changed.update(layer)
        return changed

    def meet(self, ends: Sequence[Changes]) -> bool:
        """Continue where several ways from here have met; whether that changed anything.

        A name that only some of them bind is what those bind; a path is known only where all of them know it.
        """
        changed = False
        for name in {name: None for end in ends for name in end}:
            before = self.get(name)
            values = [end.get(name) if name in end else before for end in ends]
            value = _joined(values, is_path="." in name)
            if value is not before and value != before:
                self._own[name] = value
                changed = True
        return changed


def _joined(values: Sequence[Value | None], is_path: bool) -> Value | None:
    result: Value | None = None
    for value in values:
        if value is None:
            if is_path:
                return None
        else:
            result = value if result is None else join(result, value)
    return result
