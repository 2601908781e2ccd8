"""Abstract values: what can be known of an expression without running the program.

A value is a set of possibilities in a few independent dimensions. "May" is a bit test, "must" is equality, joining two
control-flow paths is ``|``, and "not known" is all bits. Rules stay silent on what is not known.
"""

from __future__ import annotations

import enum
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field

import libcst as cst

from torchlint.model.certainty import Certainty
from torchlint.model.possibilities import Dtype, Kind, Ndim, Role, Tri
from torchlint.model.symbols import Symbol
from torchlint.system.records import frozen_dataclass, replace


class Strength(enum.IntEnum):
    """How strong the evidence is that a value is what it is said to be."""

    NAME = 1
    """It is called ``loss`` or ``criterion(...)``."""
    USE = 2
    """Tensor-only methods are called on it."""
    CONVENTION = 3
    """Arguments of ``forward``, what a module returns, what ``parameters()`` yields."""
    ANNOTATION = 4
    SIGNATURE = 5
    """torch's own stubs say so."""


class Usage(enum.IntEnum):
    """The worst that happens to the memory of a value."""

    METADATA = 0
    READ = 1
    SAVED = 2
    """It is computed with where autograd may keep it for ``backward()``, and only read."""
    RETURNED = 3
    """It is given back to callers, of which those in this file only read it."""
    ESCAPES = 4
    """It leaves to code that is not seen here: stored in an object, given to an unknown function."""
    OVERWRITTEN = 5
    """Its elements are written in place, by what carries no graph."""
    WRITTEN = 6
    """It gets a graph or another shape in place, or goes where a write could not be seen."""


@frozen_dataclass(frozen=True, slots=True)
class Evidence:
    """Why a value is believed to be what it is."""

    strength: Strength
    text: str
    node: cst.CSTNode | None = None
    is_of_data: bool = False
    """Only what is done with its `.data` speaks for it: that is a tensor, it may be what holds one."""

    @property
    def kind(self) -> str:
        """The strength in one lower-case word."""
        return self.strength.name.lower()


MAX_SYMBOLS = 4
"""Origins of a value that are remembered; what is learnt from its use holds for no others."""

MAX_DEPTH = 4
"""How deep in containers what two of them hold is joined; what is deeper is not known."""

MAX_KEYS = 32
"""Keys of a mapping that are known one by one, and modules of a ``Sequential``; with more of them none is."""

MAX_CHOICES = 8
"""How many functions or classes are followed where one of several is chosen; of more nothing is known."""

MAX_SIZE = 1_000
"""How many values one may be made of: each ``a = [a, a]`` doubles that."""


@frozen_dataclass(frozen=True, slots=True)
class Keys:
    """The keys of a mapping, the fields of a named tuple."""

    each: Value | None
    """What iterating over a mapping yields; None of a named tuple, whose elements are its items."""
    known: Mapping[str | int, Value] = field(default_factory=dict)
    """What is behind literal keys."""


class Owner(enum.Enum):
    """What has a method that no qualified name leads to."""

    PLAIN = enum.auto()
    """An array, a container, a string, a number, a loader, a packed sequence."""
    MODULES = enum.auto()
    """A container of modules, which the method puts something into."""
    OPTIMIZER = enum.auto()
    UNKNOWN = enum.auto()


@frozen_dataclass(frozen=True, slots=True)
class Method:
    """A method of ``Value.receiver`` that no qualified name leads to."""

    owner: Owner
    name: str


@frozen_dataclass(frozen=True, slots=True)
class Fields:
    """The names of the fields of a named tuple of torch, in order."""

    names: tuple[str, ...]


@frozen_dataclass(frozen=True, slots=True)
class Value:
    """One abstract value."""

    kind: Kind
    grad: Tri = Tri.NEITHER
    """Does it require grad. YES says that it may be counted on to (``certainty`` says how much), NO that it cannot."""
    certainty: Certainty = Certainty.SUPPOSED
    ndim: Ndim = Ndim.NEITHER
    dtype: Dtype = Dtype.NEITHER
    leaf: Tri = Tri.NEITHER
    role: Role = Role.NEITHER
    ref: str | None = None
    """Qualified name: of the imported thing, or of the class of an instance.

    Where objects of several classes can be meant it is the name of one of them, so it tells that they have some class,
    not that they are of this one.
    """
    inner: Method | Fields | None = None
    """What has no qualified name: a method, the fields of a named tuple."""
    node: cst.CSTNode | None = field(default=None, compare=False)
    """Definition in this file or another one: of the function or class, or of the class of an instance."""
    choices: tuple[Value, ...] = field(default=(), compare=False)
    """The functions and classes of which one is meant, or an object of one of them, if there are several."""
    is_exact: bool = field(default=False, compare=False)
    """Whether it is an object of this very class, and of none that derives from it."""
    receiver: Value | None = None
    """The object a bound method is bound to."""
    item: Value | None = None
    """What iterating yields (of a mapping: what it maps to)."""
    items: tuple[Value, ...] | None = None
    """Elements of a sequence of known length."""
    keys: Keys | None = None
    """Of a mapping and of a named tuple only."""
    bound: tuple[Argument, ...] | None = None
    """Arguments given before: to the constructor of an object of torch, to ``functools.partial``; None if unknown."""
    symbols: tuple[Symbol, ...] = ()
    """The origins of what is not known, in the order in which they were met."""
    evidence: Evidence | None = field(default=None, compare=False)
    size: int = field(init=False, compare=False, repr=False)
    """How many values it is made of, one that is in it twice counted twice."""

    def __post_init__(self) -> None:
        """Say only what all that is in a value has in common, if that is too much."""
        if self.items is not None or self.item is not None or self.keys is not None or self.bound:
            size = 1 + _size_within(self)
            if size > MAX_SIZE:
                item = held(self)
                item = item if item is not None and item.size == 1 else None
                keys = Keys(UNKNOWN) if self.is_mapping else None
                for name, rest in (("item", item), ("items", None), ("keys", keys), ("bound", None)):
                    object.__setattr__(self, name, rest)
                size = 1 if item is None else 3
        else:
            size = 1
        object.__setattr__(self, "size", size if self.receiver is None else size + self.receiver.size)

    def __or__(self, other: Value) -> Value:
        return join(self, other)

    @property
    def may_be_tensor(self) -> bool:
        """Is a tensor on some path."""
        return bool(self.kind & Kind.TENSOR)

    @property
    def is_tensor(self) -> bool:
        """Is a tensor on every path on which it is an object that could have a tensor's methods at all."""
        return bool(self.kind & Kind.TENSOR) and not self.kind & ~_TENSOR_OR_PLAIN

    @property
    def is_named(self) -> bool:
        """Whether it is known which imported thing, method or class of an instance it is."""
        return self.ref is not None or self.inner is not None

    @property
    def is_mapping(self) -> bool:
        """Is a dictionary of some kind."""
        return self.keys is not None and self.keys.each is not None

    @property
    def is_parameter(self) -> bool:
        """Is a parameter of a module, or a leaf made to be optimised."""
        return self.is_tensor and self.role == Role.PARAMETER

    @property
    def strength(self) -> Strength | None:
        """Strength of the evidence; None if nothing is known."""
        return self.evidence.strength if self.evidence else None

    def because(self, strength: Strength, text: str, node: cst.CSTNode | None = None) -> Value:
        """The same value on other evidence."""
        return replace(self, evidence=Evidence(strength, text, node))


def _size_within(value: Value) -> int:
    """How many values are in one; what stands for any number of them counts as two."""
    keys = value.keys if value.keys is not None else Keys(None)
    size = 2 * value.item.size if value.item is not None else 0
    size += keys.each.size if keys.each is not None else 0
    for parts in (value.items or (), keys.known.values(), (argument.value for argument in value.bound or ())):
        size += sum(map(_SIZE, parts))
    return size


_SIZE = operator.attrgetter("size")


@frozen_dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a call: its keyword if it has one, its value, and its expression."""

    keyword: str | None
    value: Value
    node: cst.BaseExpression
    star: str = ""


_PLAIN = Kind.NUMBER | Kind.NONE | Kind.STRING

_TENSOR_OR_PLAIN = Kind.TENSOR | _PLAIN


_FLOATS = frozenset(("torch.Tensor", "torch.FloatTensor"))


def _same_but_for_device(a: str | None, b: str | None) -> str | None:
    """``torch.FloatTensor`` of ``torch.cuda.FloatTensor if cuda else torch.FloatTensor``.

    ``torch.Tensor`` makes the same, unless the default type is another one: it stands for both.
    """
    a, b = ((ref or "").replace("torch.cuda.", "torch.") for ref in (a, b))
    if a != b and {a, b} == _FLOATS:
        return "torch.Tensor"
    return a if a == b and a.endswith("Tensor") else None


def _are_of_same_definitions(a: Value, b: Value) -> bool:
    """Whether what is in two equal values has the same definitions, too, which do not count when they are compared."""
    if a is b:
        return True
    if a.node is not b.node or a.choices is not b.choices or a.is_exact is not b.is_exact:
        return False
    return all(map(_are_of_same_definitions, _parts(a), _parts(b)))


def _parts(value: Value) -> Iterator[Value]:
    """What is in a value, in an order that is the same for equal ones."""
    yield from value.items or ()
    yield from filter(None, (value.item, value.receiver))
    if value.keys is not None:
        yield from filter(
            None, (value.keys.each, *(value.keys.known[key] for key in sorted(value.keys.known, key=str)))
        )


def _join_optional(a: Value | None, b: Value | None, depth: int) -> Value | None:
    if a is None or b is None:
        return a or b
    return join(a, b, depth + 1)


def _either_node(a: Value, b: Value) -> cst.CSTNode | None:
    """The definition of one of two values, if the other one has none: unless that is a function nobody knows."""
    if a.node is b.node:
        return a.node
    if a.node is not None and b.node is not None:
        return None
    return None if a.kind & b.kind & Kind.FUNCTION else a.node or b.node


def _choices(a: Value, b: Value) -> tuple[Value, ...]:
    """All that is meant by one of two values, if that is several things that can be followed."""
    meant: list[Value] = []
    for value in (*(a.choices or (a,)), *(b.choices or (b,))):
        if not _can_be_followed(value):
            if value.is_named or value.node is not None:
                return ()
        elif not any(value.node is each.node and value == each for each in meant):
            meant.append(value)
    return tuple(meant) if 1 < len(meant) <= MAX_CHOICES else ()


def _can_be_followed(value: Value) -> bool:
    """Whether it is one function or class, an object of one, or something imported."""
    is_defined = value.node is not None and isinstance(value.node, (cst.ClassDef, cst.FunctionDef))
    return is_defined or reference(value) is not None or (value.kind == Kind.MODULE and value.ref is not None)


def _weaker(a: Value, b: Value) -> Evidence | None:
    """Evidence of a join: what speaks for the tensor; of two, the weaker."""
    tensors = [v.evidence for v in (a, b) if v.kind & Kind.TENSOR and v.evidence]
    return min(tensors, key=lambda e: (e.strength, not e.is_of_data)) if tensors else a.evidence or b.evidence


def join(a: Value, b: Value, depth: int = 0) -> Value:
    """What is known where two control-flow paths meet."""
    if a is b or (a == b and _are_of_same_definitions(a, b)):
        return a
    if a == b and not any(_parts(a)):
        choices = _choices(a, b)
        node = a.node if choices else _either_node(a, b)
        return replace(a, node=node, choices=choices, is_exact=a.is_exact and b.is_exact)
    if depth > MAX_DEPTH:
        return UNKNOWN
    items = None
    if a.items is not None and b.items is not None and len(a.items) == len(b.items):
        items = tuple(join(x, y, depth + 1) for x, y in zip(a.items, b.items, strict=True))
    # two classes of objects: one stands for both, so that they stay apart from objects of which nothing is known
    is_same = (a.ref, a.inner) == (b.ref, b.inner) or not (a.kind & b.kind) or a.kind == b.kind == Kind.OBJECT
    is_partial = a.bound != b.bound and bool((a.kind | b.kind) & (Kind.REFERENCE | Kind.FUNCTION))
    grad = a.grad | b.grad
    if grad and not (a.grad and b.grad):
        is_object = a.kind == b.kind == Kind.OBJECT  # a distribution, or a context that sets the grad mode; or neither
        telling = Kind.TENSOR | Kind.UNKNOWN  # the second is what may be part of a batch, which has no graph
        if is_object or ((b if a.grad else a).kind & Kind.UNKNOWN and (a if a.grad else b).kind & telling):
            grad = Tri.MAYBE
    dtype, ndim = a.dtype | b.dtype, a.ndim | b.ndim
    if dtype and not (a.dtype and b.dtype) and (a if b.dtype else b).kind & Kind.UNKNOWN:
        dtype |= Dtype.FLOAT  # what is not known may be a tensor of floats
    if ndim and not (a.ndim and b.ndim) and (a if b.ndim else b).kind & Kind.UNKNOWN:
        ndim = Ndim.ANY  # with any number of dimensions
    named = a if a.is_named else b
    ref = named.ref if is_same else _same_but_for_device(a.ref, b.ref)
    return Value(
        kind=a.kind | b.kind,
        grad=grad,
        certainty=min(a.certainty, b.certainty) if a.grad and b.grad else (a if a.grad else b).certainty,
        ndim=ndim,
        dtype=dtype,
        leaf=a.leaf | b.leaf,
        role=a.role | b.role,
        ref=ref if not is_partial else None,
        inner=named.inner if is_same and not is_partial else None,
        node=_either_node(a, b) if not is_partial else None,
        choices=_choices(a, b) if not is_partial else (),
        is_exact=all(each.is_exact or not each.kind & ~_PLAIN for each in (a, b)),
        receiver=_join_optional(a.receiver, b.receiver, depth),
        item=_join_optional(held(a), held(b), depth) if items is None else None,
        items=items,
        bound=a.bound if a.bound == b.bound else None,
        keys=_join_keys(a, b, depth) if a.keys is not None or b.keys is not None else None,
        symbols=_join_symbols(a.symbols, b.symbols),
        evidence=_weaker(a, b),
    )


def _join_symbols(a: tuple[Symbol, ...], b: tuple[Symbol, ...]) -> tuple[Symbol, ...]:
    if not b or a == b:
        return a
    return tuple(dict.fromkeys((*a, *b)))[:MAX_SYMBOLS]


def _join_keys(a: Value, b: Value, depth: int) -> Keys | None:
    """The keys of either; what is behind a key that only one of them has is not known."""
    if a.keys is None or b.keys is None:
        keys, other = (a.keys, b) if a.keys is not None else (b.keys, a)
        elements = held(other) if other.kind & Kind.CONTAINER else None
        if elements is None or keys is None or keys.each is None:
            return keys if elements is None else None
        return Keys(join(keys.each, elements, depth + 1))
    known = {key: join(v, b.keys.known[key], depth + 1) for key, v in a.keys.known.items() if key in b.keys.known}
    if a.item is None or b.item is None:  # of an empty one nothing is said
        return Keys(b.keys.each if a.item is None else a.keys.each, known)
    return Keys(_join_optional(a.keys.each, b.keys.each, depth), known)


def held(value: Value) -> Value | None:
    """What is in a container, behind any index or key; None if it is not known."""
    if value.item is not None or not value.items:
        return value.item
    result = value.items[0]
    for item in value.items[1:]:
        result = join(result, item, 1)
    return result


def iterated(value: Value) -> Value | None:
    """What iterating over a container yields; None if it is not known."""
    return value.keys.each if value.keys is not None and value.keys.each is not None else held(value)


def changed(value: Value, change: Callable[[Value], Value]) -> Value:
    """A container with everything in it changed, whatever it is; any other value as it is."""
    if value.item is None and value.items is None:
        return value
    item = change(value.item) if value.item is not None else None
    items = tuple(map(change, value.items)) if value.items is not None else None
    keys = value.keys
    if keys is not None and keys.known:
        keys = Keys(keys.each, {key: change(v) for key, v in keys.known.items()})
    return replace(value, item=item, items=items, keys=keys)


def reference(value: Value | None) -> str | None:
    """The qualified name of something imported; None for all else."""
    if value is None or not value.kind & Kind.REFERENCE or value.receiver is not None or value.bound:
        return None
    return value.ref


NOTHING = Value(Kind.TENSOR & Kind.NONE)
"""What comes of something that raises."""
UNKNOWN = Value(Kind.UNKNOWN)
NUMBER = Value(Kind.NUMBER)
STRING = Value(Kind.STRING)
NONE = Value(Kind.NONE)
NDARRAY = Value(Kind.NDARRAY)
OBJECT = Value(Kind.OBJECT)
MODULE = Value(Kind.MODULE)


def tensor(
    grad: Tri = Tri.MAYBE,
    ndim: Ndim = Ndim.ANY,
    dtype: Dtype = Dtype.ANY,
    *,
    leaf: Tri = Tri.MAYBE,
    role: Role = Role.PLAIN,
    certainty: Certainty = Certainty.SUPPOSED,
    evidence: Evidence | None = None,
) -> Value:
    """A tensor of which is known what the arguments say."""
    grad = grad if dtype & Dtype.FLOAT else Tri.NO
    certainty = certainty if grad == Tri.YES else Certainty.SUPPOSED
    if grad == Tri.NO:
        leaf = Tri.YES  # "All Tensors that have requires_grad which is False will be leaf Tensors by convention"
    return Value(Kind.TENSOR, grad, certainty, ndim, dtype, leaf, role, evidence=evidence)


def parameter(evidence: Evidence | None = None, certainty: Certainty = Certainty.SUPPOSED) -> Value:
    """A parameter of a module; whether it was frozen is for the caller to know."""
    return tensor(Tri.YES, dtype=Dtype.FLOAT, leaf=Tri.YES, role=Role.PARAMETER, certainty=certainty, evidence=evidence)


def container(item: Value | None = None, items: tuple[Value, ...] | None = None) -> Value:
    """A list, tuple, dict, set or iterator of what is given."""
    return Value(Kind.CONTAINER, item=item, items=items)


def mapping(key: Value, item: Value | None = None, known: Mapping[str | int, Value] | None = None) -> Value:
    """A dictionary: its keys, what they map to, and what is known of single ones."""
    known = known or {}
    return Value(Kind.CONTAINER, item=item, keys=Keys(key, known if len(known) <= MAX_KEYS else {}))


def record(fields: Mapping[str | int, Value], items: tuple[Value, ...]) -> Value:
    """A named tuple."""
    return Value(Kind.CONTAINER, items=items, keys=Keys(None, fields))


def unknown(*symbols: Symbol) -> Value:
    """An unknown value that remembers where it came from."""
    return Value(Kind.UNKNOWN, symbols=symbols)


def instance(node: cst.CSTNode | None, ref: str | None = None) -> Value:
    """An object of a class that is no ``nn.Module``."""
    return Value(Kind.OBJECT, node=node, ref=ref)


def is_opaque(value: Value) -> bool:
    """Whether a value is an object of which nothing but that is known: what comes out of it is none of ours either."""
    return value.kind == Kind.OBJECT and not value.is_named and value.node is None


def truth(literal: bool | None) -> Tri:
    """YES, NO, or MAYBE for a condition that is not known."""
    return Tri.MAYBE if literal is None else Tri.YES if literal else Tri.NO
