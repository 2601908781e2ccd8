"""What interpreting a scope leaves behind."""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst

from torchlint.model.interpret.environment import Env
from torchlint.model.possibilities import Tri
from torchlint.model.values import UNKNOWN, Value


@dataclass(slots=True)
class Trace:
    """What one interpretation of a scope has seen, by the identity of the nodes."""

    before: Trace | None = None
    """What the interpretation before has seen, as long as this one has not come to its end."""

    values: dict[int, Value] = field(default_factory=dict)
    """What each expression is."""
    modes: dict[int, Tri] = field(default_factory=dict)
    """Whether autograd records where a statement begins."""
    grown: dict[int, Value] = field(default_factory=dict)
    """What a name or attribute (by the node that names it) is after something was put into it."""
    bodies: dict[int, Env] = field(default_factory=dict)
    """What the statements of each class bind."""

    def value(self, node: cst.CSTNode) -> Value:
        """What an expression is."""
        found = self.values.get(id(node))
        if found is not None:
            return found
        return self.before.value(node) if self.before is not None else UNKNOWN

    def after(self, place: cst.CSTNode) -> Value | None:
        """What a name or attribute is after something was put into it; None if nothing was."""
        found = self.grown.get(id(place))
        return self.before.after(place) if found is None and self.before is not None else found

    def body(self, cls: cst.ClassDef) -> Env:
        """What the statements in a class bind."""
        found = self.bodies.get(id(cls))
        if found is not None:
            return found
        return self.before.body(cls) if self.before is not None else {}


NOTHING_SEEN = Trace()


@dataclass(slots=True)
class Summary:
    """What an interpreted scope leaves behind: all that others need of it."""

    bindings: Env = field(default_factory=dict)
    """Every name of the scope with the join of all that was bound to it: what closures see."""
    returns: Value | None = None
    """The join of all that it returns or yields; None if it does neither."""
    trace: Trace = field(default_factory=Trace)
