"""What the data says of torch, as records: what calls and attributes give, and what modules and distributions have.

``scripts/generate_torch_data.py`` writes the data; its docstring says what each word means.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

GradRule = Literal["follow", "first", "never", "factory", "always"]
DtypeRule = Literal[
    "first", "tensors", "promote", "count", "int", "bool", "float", "arg", "float_factory", "mixed", "any"
]
NdimRule = Literal["any", "zero", "more", "keep", "broadcast", "reduce", "loss", "size", "data"]


@dataclass(frozen=True, slots=True)
class PlainResult:
    """What is no tensor."""

    word: str
    """``bool``, ``int``, ``size``, …; ``other`` for anything else, ``any`` for what cannot be known."""


@dataclass(frozen=True, slots=True)
class TensorResult:
    """One tensor."""

    grad: GradRule = "follow"
    """Whether it requires grad."""
    asked: bool = False
    """Whatever that says, it does if ``requires_grad=True`` is given."""
    dtype: DtypeRule = "first"
    """What its dtype is, unless ``dtype=`` is given."""
    ndim: NdimRule = "any"
    """How many dimensions it has."""
    as_first: bool = False
    """With ``more``: as many as the first tensor has."""
    is_input: bool = False
    """It is the first argument itself, always."""
    alias: bool = False
    """It can be the first argument, or can share its memory."""
    same: bool = False
    """With ``alias``: it can be the first argument itself."""
    copy: bool = False
    """With ``alias``: it can be new."""
    keepdim: int | None = None
    """The position of ``keepdim``, or true; None if there is no such argument."""
    dim_at: int | None = None
    """The position of ``dim``, the tensor not counted; None if it is by keyword alone, or is the first."""
    size_at: int = 0
    """The first position where a size can be."""
    sizes: bool = False
    """Whether a size can be given as several integers."""
    at: Mapping[str, int] = field(default_factory=dict)
    """Positions of arguments that decide what comes back."""
    elementwise: bool = False
    """A loss that is broadcast with ``reduction="none"``."""
    inplace_flag: str | None = None
    """With this keyword literally true, it is the first argument itself."""
    optional: bool = False
    """It can be None instead."""


@dataclass(frozen=True, slots=True)
class TupleResult:
    """A tuple of known length."""

    items: tuple[TorchResult, ...]
    names: tuple[str, ...] = ()
    """Those of the fields of a named tuple."""


@dataclass(frozen=True, slots=True)
class SeveralResults:
    """A tuple or list of any length."""

    item: TorchResult
    each: bool = False
    """One for each of several tensors, computed from that one alone."""


@dataclass(frozen=True, slots=True)
class OverloadResult:
    """One of several results, by what is given."""

    cases: Mapping[str, TorchResult]
    at: Mapping[str, int] = field(default_factory=dict)
    """Positions of the arguments that choose."""


TorchResult: TypeAlias = PlainResult | TensorResult | TupleResult | SeveralResults | OverloadResult


@dataclass(frozen=True, slots=True)
class Flag:
    """An argument of a constructor that is true or false."""

    name: str
    position: int
    default: bool


@dataclass(frozen=True, slots=True)
class ModuleInfo:
    """A class of ``torch.nn``."""

    params: tuple[str, ...] = ()
    buffers: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    output: TorchResult | None = None
    """What a call gives; None if that is not known."""
    trainable: bool | Flag = False
    """Whether the output requires grad though no input does, or which argument has to be true for that."""


@dataclass(frozen=True, slots=True)
class DistributionInfo:
    """A class of ``torch.distributions``."""

    parameters: tuple[str, ...]
    free: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For a method or attribute the parameters of which it is no function."""
    integers: tuple[str, ...] = ()
    """Methods and attributes that are made of integers."""


@dataclass(frozen=True, slots=True)
class Asked:
    """An argument that asks for something to be written to."""

    name: str
    position: int | None
    """None if it is given by keyword alone."""


@dataclass(frozen=True, slots=True)
class Writing:
    """An argument of a function of torch that is written to."""

    argument: str
    position: int
    asked: Asked | None
    """What has to be given for that; None if it is always written to."""


@dataclass(frozen=True, slots=True)
class Writers:
    """What of torch writes to the memory it is given."""

    functions: Mapping[str, tuple[Writing, ...]]
    methods: frozenset[str]
    """Those of tensors whose names do not say it."""
    refusing: frozenset[str]
    """Methods of tensors that raise for what requires grad, also where autograd is off."""
    inputs: Mapping[str, Asked]
    """Modules that can write to their input."""
    own: Mapping[str, Asked]
    """Modules that can write to their parameters."""


def may_alias(result: TorchResult | None) -> bool:
    """Whether what comes back can be memory of the input."""
    match result:
        case TensorResult():
            return result.alias or result.is_input
        case SeveralResults(item=item):
            return may_alias(item)
        case TupleResult(items=items):
            return any(map(may_alias, items))
        case OverloadResult(cases=cases):
            return any(map(may_alias, cases.values()))
    return False


def makes_new(result: TorchResult | None) -> bool:
    """Whether a tensor comes back that shares no memory with the input."""
    return isinstance(result, TensorResult) and not (result.alias or result.is_input)


def may_reduce(result: TorchResult | None) -> bool:
    """Whether a tensor can be reduced to one number."""
    match result:
        case TensorResult(ndim=ndim):
            return ndim in ("reduce", "zero", "loss")
        case OverloadResult(cases=cases):
            return any(map(may_reduce, cases.values()))
    return False


@dataclass(frozen=True, slots=True)
class Registering:
    """What can be registered with a module, and by what."""

    attributes: Mapping[str, frozenset[str]]
    """The names that the containers of torch have."""
    overlapping: frozenset[str]
    """Methods of tensors that may give several elements one place in memory."""
