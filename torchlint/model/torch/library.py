"""What torch has: its functions, classes and names, and those of tensors."""

from __future__ import annotations

import functools

from torchlint.model.torch.data import data, registering
from torchlint.model.torch.schema import (
    ModuleInfo,
    OverloadResult,
    PlainResult,
    SeveralResults,
    TensorResult,
    TorchResult,
    may_alias,
    may_reduce,
)
from torchlint.model.values import Fields, Value


@functools.cache
def tensor_only() -> frozenset[str]:
    """Names of tensor methods and attributes that no other common object has.

    Beyond the data: ``detach``, which of others only raw I/O streams have, and all in-place methods, which of others
    only torch's own storages have.
    """
    inplace = {name for name in data().methods if name.endswith("_") and not name.startswith("_")}
    return data().tensor_only | {"detach"} | inplace - data().tensor_or_module


@functools.cache
def tensor_names() -> frozenset[str]:
    """Names of all methods and attributes of a tensor."""
    return frozenset(data().methods) | frozenset(data().attributes)


def is_of_data(name: str) -> bool:
    """Whether what has such an attribute is a tensor if it stands in ``.data``.

    Modules, storages and packed sequences, which share some names with tensors, never stand there.
    """
    return name in tensor_only() or name in data().tensor_or_module - {"to", "type"} or _is_cast(name)


def _is_cast(name: str) -> bool:
    """Whether a method of tensors gives a certain dtype, and the tensor itself where it has that: ``long``."""
    result = data().methods.get(name)
    return isinstance(result, TensorResult) and result.same and result.dtype in ("int", "bool", "float")


def canonical(name: str) -> str:
    """The shortest public name of what ``name`` names in torch; other names unchanged."""
    return data().aliases.get(name, name)


def is_function(name: str) -> bool:
    """Whether ``name`` is a function of torch."""
    return name in data().functions


def is_view(name: str) -> bool:
    """Whether a method of tensors can return a view."""
    result = data().methods.get(name)
    return isinstance(result, TensorResult) and may_alias(result) and name != "detach"


def is_overlapping(name: str) -> bool:
    """Whether a method of tensors may give several elements one place in memory, as no parameter may have them."""
    return name in registering().overlapping


def attributes_of(container: str) -> frozenset[str]:
    """The names that a container of modules or parameters has: those of its methods, operators and attributes."""
    return registering().attributes[container]


def is_always_view(name: str) -> bool:
    """Whether a method of tensors returns a view, or the tensor itself, however it lies in memory: not ``reshape``."""
    result = data().methods.get(name)
    return is_view(name) and isinstance(result, TensorResult) and not result.copy


@functools.cache
def reductions() -> frozenset[str]:
    """Last names of what can reduce a tensor to one number: ``sum``, ``dist``, ``mse_loss``."""
    results = (*data().functions.items(), *data().methods.items())
    return frozenset(name.rpartition(".")[2] for name, result in results if may_reduce(result))


def takes_tensor(name: str) -> bool:
    """Whether the first argument of a function of torch must be a tensor."""
    result = data().functions.get(name)
    if name.startswith(("torch.nn.functional.", "torch.nn.init.")):
        return result is not None
    if name in ("torch.as_tensor", "torch.asarray", "torch.complex", "torch.polar"):
        return False
    if name in ("torch.equal", "torch.allclose", "torch.norm", "torch.nn.Parameter", "torch.autograd.Variable"):
        return True
    if name in ("torchvision.utils.save_image", "torchvision.utils.make_grid"):
        return True
    if name.startswith("torch.") and is_discrete(name.removeprefix("torch.")):
        return True  # a method, too: ``torch.nonzero(x)`` is ``x.nonzero()``
    if name.endswith("_like") or name in ("torch.max", "torch.min", "torch.sort", "torch.topk"):
        return result is not None
    return isinstance(result, TensorResult) and result.grad in ("follow", "first") and result.ndim != "size"


def is_discrete(name: str) -> bool:
    """Whether a method of tensors always makes new integers or booleans, which have no graph."""
    return _is_discrete(method(name))


def leaves_torch(name: str) -> bool:
    """Whether a method of tensors gives an array or a list, which has methods of its own: ``x.numpy().argmax()``."""
    match method(name):
        case PlainResult(word="ndarray" | "any"):
            return True
    return False


def _is_discrete(result: TorchResult | None) -> bool:
    match result:
        case TensorResult(dtype="int" | "bool"):
            return not may_alias(result)
        case SeveralResults(item=item):
            return _is_discrete(item)
        case OverloadResult(cases=cases):
            return bool(cases) and all(map(_is_discrete, cases.values()))
    return False


_DATA_SETS = ("torchvision.datasets.", "torchaudio.datasets.")
"""Packages all of whose classes are data sets of torch."""


def class_kind(name: str) -> str | None:
    """``module``, ``optimizer``, ``dataloader`` … if ``name`` is a class of torch."""
    if name in data().modules or name == "torch.nn.Module":
        return "module"
    if name.startswith(_DATA_SETS) and name.rpartition(".")[2][:1].isupper():
        return "dataset"
    return data().classes.get(name)


def module_info(name: str | None) -> ModuleInfo | None:
    """Parameters, buffers and output of a class of ``torch.nn``; None if it is none."""
    return data().modules.get(name)


@functools.cache
def parameter_names() -> frozenset[str]:
    """Names of the parameters that the classes of ``torch.nn`` have: ``weight``, ``bias``, ``in_proj_weight`` …"""
    return frozenset(name for _, info in data().modules.items() for name in info.params)


def function(name: str | None) -> TorchResult | None:
    """What a function of torch gives; None if it is none."""
    return data().functions.get(name)


def method(name: str) -> TorchResult | None:
    """What a method of tensors gives; None if it is none."""
    return data().methods.get(name)


def attribute(name: str) -> TorchResult | None:
    """What an attribute of tensors is; None if it is none, or a method."""
    return data().attributes.get(name)


def operator(name: str) -> TorchResult | None:
    """What a special method of tensors (``__add__``) gives; None if it is none."""
    return data().operators.get(name)


def position(function: str, argument: str) -> int | None:
    """Where an argument that decides what a function of torch gives stands; None if it is given by keyword alone."""
    result = data().functions.get(function)
    return result.at.get(argument) if isinstance(result, (TensorResult, OverloadResult)) else None


def is_tensor_or_module(name: str) -> bool:
    """Whether both tensors and modules have a method of that name."""
    return name in data().tensor_or_module


def gives_module(function: str) -> bool:
    """Whether a function of torch gives back the module that it is given, and may have changed its parameters."""
    return function in data().gives_module


def is_dtype(name: str) -> bool:
    """Whether ``name`` is a dtype of torch."""
    return name in data().dtypes


def field_named(value: Value, name: str) -> Value | None:
    """The field of a named tuple of torch."""
    if value.items is None or not isinstance(value.inner, Fields):
        return None
    names = value.inner.names
    return value.items[names.index(name)] if name in names and len(names) == len(value.items) else None
