"""What is known of a value of code from before 0.4: volatile, without a graph, or perhaps with one."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import libcst as cst

from torchlint.model import Kind, Model, Tri, Value
from torchlint.model.syntax import last_name
from torchlint.model.torch.arguments import literal_bool
from torchlint.model.values import held as element
from torchlint.rules.shared.unrecorded_inputs import volatile_argument
from torchlint.rules.shared.variables import VARIABLE

VOLATILE = 1


FREE = 2
"""It carries no graph anyhow: a number, data, what has been cut."""


GRAPH = 4
"""It may carry a graph; nobody knows."""


@dataclass(frozen=True, slots=True)
class Held:
    """What an expression can be, as a set of the three, and from which volatile inputs (by ``id``) it comes."""

    bits: int
    sources: frozenset[int] = frozenset()

    def __or__(self, other: Held) -> Held:
        return Held(self.bits | other.bits, self.sources | other.sources)

    @property
    def is_volatile(self) -> bool:
        """Is volatile whatever happens."""
        return self.bits == VOLATILE

    @property
    def may_be_volatile(self) -> bool:
        """Is volatile on some path."""
        return bool(self.bits & VOLATILE)


EMPTY, NO_GRAPH, UNKNOWN = Held(0), Held(FREE), Held(GRAPH)


@dataclass(frozen=True, slots=True)
class Called:
    """What a function does that is called with volatile arguments."""

    returned: Held
    keeps_graph: bool
    """Whether it keeps what may carry a graph where somebody else finds it: a block would take that graph away."""


NOTHING = Called(EMPTY, False)


@dataclass(slots=True)
class Deed:
    """What a statement does with volatile values; of a compound one, with all that is in it."""

    recording: dict[int, cst.CSTNode] = field(default_factory=dict)
    """What is computed with a volatile input and would be recorded, by the input."""
    sources: set[int] = field(default_factory=set)
    """The volatile inputs with which something is computed, recorded or not."""
    computes: bool = False
    """Whether it does more with volatile values than to name or move them."""
    wants_graph: bool = False
    """Whether it computes something else, which may need its graph."""
    suspends: bool = False
    """Whether others run before it has ended: a block would take its mode along to them."""

    def absorb(self, other: Deed) -> None:
        """Add what a part of the statement does."""
        self.recording = {**other.recording, **self.recording}
        self.sources |= other.sources
        self.computes |= other.computes
        self.wants_graph |= other.wants_graph
        self.suspends |= other.suspends


_SETTINGS = re.compile(
    r"(^|_)(self|cls|args?|opts?|options?|conf|config|cfg|flags?|params?|settings?|hparams)$", re.IGNORECASE
)
"""Names of what is no tensor and has an attribute `volatile` of its own."""


def is_of_another(node: cst.BaseExpression, model: Model) -> bool:
    """Whether it is the `volatile` of another tensor, always False today: the block is around what made that one.

    An object of another kind may have a flag of that name.
    """
    match node:
        case cst.Attribute(value=owner, attr=cst.Name("volatile")) if not _SETTINGS.search(last_name(owner)):
            value = model.value(owner)
            return bool(value.kind & Kind.TENSOR or value.kind == Kind.UNKNOWN)
    return False


def asked_for(node: cst.BaseExpression, model: Model) -> bool | None:
    """Whether an argument `volatile` asks for it; None if something decides."""
    return False if is_of_another(node, model) else literal_bool(node)


def is_input(call: cst.Call, model: Model) -> bool:
    """Whether a call makes a volatile tensor, or may."""
    arg = volatile_argument(call)
    return arg is not None and asked_for(arg.value, model) is not False and model.qualified(call.func) == VARIABLE


def carries_no_graph(value: Value) -> bool:
    """Whether a value is known, and no tensor with a graph, nor anything that holds or makes one."""
    if not value.kind or value.kind & ~(
        Kind.TENSOR | Kind.NUMBER | Kind.STRING | Kind.NONE | Kind.NDARRAY | Kind.CONTAINER
    ):
        return False
    if value.kind & Kind.TENSOR and value.grad != Tri.NO:
        return False
    if value.kind & Kind.CONTAINER:
        inner = element(value)
        return inner is not None and carries_no_graph(inner)
    return True
