"""One call, run and seen: what comes out, beside what went in."""

from __future__ import annotations

import contextlib
import functools
import re
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from torch_facts.signatures import Signature

SIZES = ("size", "shape", "repeats")


@dataclass(frozen=True)
class Known:
    """What is known of a callable before it runs."""

    name: str
    signatures: tuple[Signature, ...] = ()
    takes_self: bool = False

    def has(self, name: str) -> bool:
        """Whether it takes a parameter of this name."""
        return any(name in signature.names for signature in self.signatures)

    @property
    def dim_at(self) -> int | None:
        """Position of ``dim`` among the positional arguments."""
        found = [at for one in self.signatures if (at := one.position(("dim", "axis"))) is not None]
        return min(found, default=None)

    def at(self, name: str) -> int | None:
        """Position of a parameter among the positional arguments."""
        return min((at for one in self.signatures if (at := one.position((name,))) is not None), default=None)

    def only_at(self, name: str) -> int | bool:
        """Position of a parameter, true if it has none or several."""
        found = {at for one in self.signatures if (at := one.position((name,))) is not None}
        return found.pop() if len(found) == 1 else True

    @property
    def size_at(self) -> int | None:
        """First position of a size among the positional arguments."""
        found = [at for one in self.signatures if (at := one.position(SIZES)) is not None]
        return min(found, default=0 if self.takes_sizes else None)

    @property
    def takes_sizes(self) -> bool:
        """Whether a size can be given as several arguments."""
        return any(one.variadic in SIZES for one in self.signatures)

    def size(self, args: Sequence[Any], kwargs: dict[str, Any]) -> int | None:
        """How many dimensions the size has that a call gives."""
        for value in (kwargs[name] for name in SIZES if name in kwargs):
            return len(value) if isinstance(value, list | tuple) else None
        if self.size_at is None:
            return None
        rest = args[self.size_at + self.takes_self :]
        sizes = [value for value in rest if isinstance(value, list | tuple)]
        if sizes:
            return len(sizes[0])
        return len(rest) if rest and self.takes_sizes and all(type(value) is int for value in rest) else None

    @property
    def takes_one_tensor(self) -> bool:
        """Whether the signatures are known and have no parameters but the first that can be tensors."""
        others = [one.parameters[0 if self.takes_self else 1 :] for one in self.signatures]
        annotations = [annotation for parameters in others for _, annotation, _, _ in parameters]
        return any(others) and not any(a == "" or re.search("Tensor|Any|Sequence$|_empty", a) for a in annotations)

    @property
    def any_length(self) -> bool:
        """Whether an annotation says that a sequence of any length comes back."""
        return any(re.search(r"\.\.\.\]|[Ll]ist\[|Sequence\[", signature.returns) for signature in self.signatures)

    def gets_dim(self, args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
        """Whether a call reduces along given dimensions only, or keeps them all."""
        if kwargs.get("keepdim") is True or any(kwargs.get(key) is not None for key in ("dim", "axis")):
            return True
        at = self.dim_at
        index = -1 if at is None else at + self.takes_self
        return 0 < index < len(args) and args[index] is not None and not isinstance(args[index], bool)

    def writes(self, call: Call) -> bool:
        """Whether a call asks for its first argument to be changed."""
        at = self.at("inplace")
        given = call.args[at + self.takes_self :][:1] if at is not None else ()
        return any(value is not False for value in (*given, call.kwargs.get("inplace", False)))

    def flags(self, args: Sequence[Any], kwargs: dict[str, Any]) -> frozenset[str]:
        """Names of the arguments that are literally ``True``."""
        found = {key for key, value in kwargs.items() if value is True}
        for at, value in enumerate(args[1:], 0 if self.takes_self else 1):
            if value is True:
                found |= {one.positional[at] for one in self.signatures if len(one.positional) > at}
        return frozenset(found)


@dataclass(frozen=True)
class Call:
    """Positional and keyword arguments; ``raw`` if they are to be used as they are."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    raw: bool = False


@dataclass(frozen=True)
class Leaf:
    """What one tensor that came out has to do with those that went in."""

    requires_grad: bool
    inputs_require: bool | None
    """Whether an input did; ``None`` if there was no tensor among the inputs."""
    first_requires: bool | None
    """Whether a tensor of the first argument did."""
    kind: str
    kinds: tuple[str, ...]
    """Kinds (bool, int, float) of the first tensor, of all tensors promoted, and of tensors and numbers; or empty."""
    second: str | None
    """Kind of the second argument, if it is a tensor."""
    inputs: int
    """How many tensors went in."""
    ndim: int
    size: int | None
    """Number of dimensions of the size that was given."""
    depth: int | None
    """How deep the first argument is nested, if it is a number or a list."""
    first_ndim: int | None
    shape_is_broadcast: bool
    is_first: bool
    changed: bool
    """Whether the first argument was written to."""
    shares: bool
    is_new: bool
    """Whether it has memory of its own."""


@dataclass(frozen=True)
class Node:
    """A sequence that came out: ``tuple`` or ``list``, its items, its field names."""

    kind: str
    items: tuple[Any, ...]
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Seen:
    """One executed call: its arguments in short, and the tree of what came out."""

    tree: Any
    case: str = "no_args"
    flags: frozenset[str] = frozenset()
    has_dim: bool = False
    unreduced: bool = False
    dtype_given: bool = False
    dtype_positional: bool = False


@dataclass(frozen=True)
class Before:
    """The inputs of a call before it ran (it may change them)."""

    first: Any
    version: int
    storages: set[int]
    require: bool | None
    first_requires: bool | None
    kinds: tuple[str, ...]
    shapes: list[torch.Size]
    second: str | None
    size: int | None
    depth: int | None

    @property
    def broadcast(self) -> torch.Size | None:
        """The shape that all inputs broadcast to."""
        return broadcast(self.shapes)

    @classmethod
    def of(cls, args: Sequence[Any], kwargs: dict[str, Any], known: Known) -> Before:
        """Note what matters of the arguments."""
        inputs = list(tensors_in((args, kwargs)))
        kinds = [dtype_kind(tensor.dtype) for tensor in inputs]
        numbers = [type(value).__name__ for value in (*args, *kwargs.values()) if type(value) in {int, float}]
        first = args[0] if args else None
        return cls(
            first,
            _version(first),
            {storage_of(tensor) for tensor in inputs} - {0},
            any(tensor.requires_grad for tensor in inputs) if inputs else None,
            any(tensor.requires_grad for tensor in tensors_in(first)) if first is not None else None,
            (kinds[0], max(kinds, key=ORDER.index), max([*kinds, *numbers], key=ORDER.index)) if kinds else (),
            [tensor.shape for tensor in inputs if not tensor.is_nested],
            dtype_kind(args[1].dtype) if len(args) > 1 and isinstance(args[1], torch.Tensor) else None,
            known.size(args, kwargs),
            next((nesting(arg) for arg in args[known.takes_self : known.takes_self + 1]), None),
        )


def nesting(value: Any) -> int | None:
    """0 for a number, 1 for a list of numbers, and so on."""
    if isinstance(value, list | tuple):
        inner = nesting(value[0]) if value else 0
        return None if inner is None else inner + 1
    return 0 if isinstance(value, int | float | complex) else None


ORDER = ("bool", "int", "float")
PLAIN: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (type(None), "none"),
    (bool, "bool"),
    ((int, torch.SymInt), "int"),
    (float, "float"),
    (complex, "number"),
    (str, "str"),
    (torch.Size, "size"),
    (torch.device, "device"),
    (torch.dtype, "dtype"),
    (torch.layout, "layout"),
    ((torch.UntypedStorage, torch.TypedStorage), "storage"),  # torchlint: ignore[TL302] it is still there
    (torch.Generator, "generator"),
    (torch.utils.hooks.RemovableHandle, "handle"),
    (np.ndarray, "ndarray"),
)


@functools.cache
def dtype_kind(dtype: torch.dtype) -> str:
    """``bool``, ``int`` or ``float`` (which complex is, too)."""
    if dtype == torch.bool:
        return "bool"
    return "float" if dtype.is_floating_point or dtype.is_complex else "int"


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """All tensors in nested lists, tuples and dictionaries."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors_in(item)


def storage_of(tensor: torch.Tensor) -> int:
    """Address of a tensor's memory, 0 where there is none."""
    try:
        return tensor.untyped_storage().data_ptr()
    except (RuntimeError, NotImplementedError):
        return 0


def _version(value: Any) -> int:
    return value._version if isinstance(value, torch.Tensor) and not value.is_inference() else 0


def broadcast(shapes: Sequence[torch.Size]) -> torch.Size | None:
    """The shape that shapes broadcast to, if they do."""
    longest = max((len(shape) for shape in shapes), default=-1)
    padded = [(1,) * (longest - len(shape)) + tuple(shape) for shape in shapes]
    sizes = [set(column) - {1} for column in zip(*padded, strict=True)]
    return None if longest < 0 or any(len(size) > 1 for size in sizes) else torch.Size(min(s, default=1) for s in sizes)


def map_tensors(value: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """The same nested lists, tuples and dictionaries with all tensors changed."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if type(value) in {list, tuple}:
        return type(value)(map_tensors(item, change) for item in value)
    if type(value) is dict:
        return {key: map_tensors(item, change) for key, item in value.items()}
    return value


def requiring_grad(tensor: torch.Tensor) -> torch.Tensor:
    fresh = tensor.detach().clone()
    floating = tensor.is_floating_point() or tensor.is_complex()
    return fresh.requires_grad_().clone() if floating else fresh


def _as_marked(tensor: torch.Tensor) -> torch.Tensor:
    return requiring_grad(tensor) if tensor.requires_grad else tensor.detach().clone()


def detached(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().clone()


def run(function: Callable[..., Any], call: Call, known: Known) -> Seen | None:
    """Run a call: with all float inputs requiring grad; if that fails, those the sample marks; if that fails, none."""
    if call.raw:
        with contextlib.suppress(Exception):
            return run_once(function, call.args, call.kwargs, known)
    for change in (requiring_grad, _as_marked, detached):
        seen, fits = _attempt(function, call, known, change)
        if seen or not fits:
            return seen
    return None


def _attempt(
    function: Callable[..., Any], call: Call, known: Known, change: Callable[[torch.Tensor], torch.Tensor]
) -> tuple[Seen | None, bool]:
    """What a call gave, if it ran, and whether its arguments fit at all."""
    try:
        return run_once(function, map_tensors(call.args, change), map_tensors(call.kwargs, change), known), True
    except TypeError:
        return None, False
    except Exception:
        return None, True


def run_once(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], known: Known) -> Seen:
    """Run a call as it is, and compare what comes out with what went in."""
    before = Before.of(args, kwargs, known)
    value = function(*args, **kwargs)
    if value is NotImplemented:
        raise TypeError(known.name)
    positional = any(isinstance(arg, torch.dtype) or (isinstance(arg, str) and "Tensor" in arg) for arg in args[1:])
    return Seen(
        tree(value, before),
        _case(args, kwargs),
        known.flags(args, kwargs),
        known.gets_dim(args, kwargs),
        kwargs.get("reduction", "") in {"none", 0},
        positional or kwargs.get("dtype") is not None,
        positional,
    )


def _case(args: Sequence[Any], kwargs: dict[str, Any]) -> str:
    if args and isinstance(args[0], list | tuple):
        return "sequence"
    rest = [*args[1:], *(value for value in kwargs.values() if not isinstance(value, bool))]
    if any(kwargs.get(key) is not None for key in ("dim", "axis")) or type(next(iter(args[1:]), None)) is int:
        return "dim"
    if rest and isinstance(rest[0], torch.Tensor):
        return "tensor"
    return "one_arg" if rest else "no_args"


def tree(value: Any, before: Before) -> Any:
    if isinstance(value, torch.Tensor):
        return _leaf(value, before)
    for cls, name in PLAIN:
        if isinstance(value, cls):
            return name
    if isinstance(value, tuple):
        names = getattr(value, "_fields", ()) or (() if type(value) is tuple else getattr(value, "__match_args__", ()))
        return Node("tuple", tuple(tree(item, before) for item in value), tuple(names))
    if isinstance(value, list):
        items = tuple(tree(item, before) for item in value)
        return Node("list", items) if items and all(isinstance(item, Leaf) for item in items) else "list"
    return "any" if isinstance(value, types.FunctionType | functools.partial) else "other"


def _leaf(value: torch.Tensor, before: Before) -> Leaf:
    return Leaf(
        requires_grad=value.requires_grad,
        inputs_require=before.require,
        first_requires=before.first_requires,
        kind=dtype_kind(value.dtype),
        kinds=before.kinds,
        second=before.second,
        inputs=len(before.shapes),
        ndim=value.dim(),
        size=before.size,
        depth=before.depth,
        first_ndim=len(before.shapes[0]) if before.shapes else None,
        shape_is_broadcast=not value.is_nested and value.shape == before.broadcast,
        is_first=value is before.first,
        changed=_version(before.first) != before.version,
        shares=storage_of(value) in before.storages,
        is_new=value is not before.first and storage_of(value) not in {0, *before.storages} and value.numel() > 0,
    )
