"""What is known at one place of a scope, and what was found so far on the way there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import accumulate

import libcst as cst

from torchlint.model import Model
from torchlint.rules.shared.volatile.values import EMPTY, GRAPH, UNKNOWN, Called, Deed, Held

VolatileEnv = dict[str, Held]
"""What names and paths of attributes hold."""


@dataclass(slots=True)
class VolatileFrame:
    """One scope that is gone through in the order in which it runs."""

    model: Model
    scope: cst.FunctionDef | cst.Module
    depth: int
    """How many calls lead here from the scope that is asked about."""
    run: Callable[[Model, cst.FunctionDef, int, frozenset[str]], Called]
    """Goes through a function that is called with volatile arguments, but for some parameters, at a depth."""
    outer_names: frozenset[str]
    """Names of other scopes that this one binds."""
    env: VolatileEnv
    deeds: dict[int, Deed] = field(default_factory=dict)
    """What each statement does, by ``id``."""
    headers: dict[int, Deed] = field(default_factory=dict)
    """What the head of a compound statement does, by ``id``."""
    done: set[int] = field(default_factory=set)
    """Volatile inputs that something is computed with where autograd is off."""
    leaves: set[int] = field(default_factory=set)
    """Volatile inputs that go to where nobody follows them."""
    captured: dict[int, cst.CSTNode] = field(default_factory=dict)
    """Volatile inputs that functions in here take from here, and where: no block of this scope is around that."""
    inputs: set[int] = field(default_factory=set)
    """Those that were met."""
    sent: dict[int, cst.CSTNode] = field(default_factory=dict)
    """Volatile inputs through whose results gradients are sent back, with these: today that trains."""
    flagged: set[int] = field(default_factory=set)
    """Those of which a flag says whether they are volatile."""
    returned: Held = EMPTY
    keeps_graph: bool = False
    """Whether something that may carry a graph is kept where it outlives the call."""
    deed: Deed = field(default_factory=Deed)
    """What the statement at hand does."""
    is_off: bool = False
    """Whether autograd is off there."""
    is_decided: bool = False
    """Whether something that is not written out says there whether autograd is on."""
    ever: VolatileEnv = field(default_factory=dict)
    """What names held anywhere on the way."""
    inside: dict[str, set[str]] = field(default_factory=dict)
    """The paths of attributes that were ever bound, by what they begin with."""
    jumps: list[VolatileEnv] = field(default_factory=list)
    """What names held where the loop at hand was left or begun anew."""

    def bind(self, path: str, held: Held) -> None:
        """Say what a name or a path of attributes holds from here on; nothing is known of its attributes any more."""
        for other in self.inside.get(path, ()):
            self.env.pop(other, None)
        self.env[path] = held
        parts = path.split(".")
        for prefix in accumulate(parts[:-1], "{}.{}".format):
            self.inside.setdefault(prefix, set()).add(path)
        self.ever[path] = self.ever.get(path, EMPTY) | held

    def send_back(self, held: Held, node: cst.CSTNode) -> None:
        """Gradients are sent back through what an expression holds."""
        if held.is_volatile:
            self.sent.update((source, node) for source in held.sources)

    def keep(self, held: Held) -> None:
        """Something goes to where it stays when the scope is left."""
        self.leaves |= held.sources
        self.keeps_graph |= bool(held.bits & GRAPH)


def joined(*paths: VolatileEnv) -> VolatileEnv:
    """What names can hold where paths meet."""
    found: VolatileEnv = {}
    for name in {name for path in paths for name in path}:
        for path in paths:
            found[name] = found.get(name, EMPTY) | path.get(name, UNKNOWN)
    return found
