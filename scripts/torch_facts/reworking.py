"""Which functions give back the very module that they are given: what changes its parameters, like ``weight_norm``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import torch

from torch_facts.naming import public_names, resolve

_OTHERS: tuple[tuple[Any, ...], ...] = ((), ("weight",), ("weight", 1), ("weight", 0.5), ("weight", 1, 0))
"""What a function may need beside the module."""

_PRUNE = resolve("torch.nn.utils.prune.l1_unstructured")


def giving_modules() -> list[str]:
    """The functions of ``torch.nn.utils`` that give back the module that they are given, found by running them."""
    names = public_names().objects.items()
    return sorted(name for name, value in names if name.startswith("torch.nn.utils.") and _gives_its_module(value))


def _gives_its_module(function: Any) -> bool:
    if not inspect.isfunction(function) or next(iter(inspect.signature(function).parameters), None) != "module":
        return False
    return any(_is_given_back(function, make, others) for make in _modules() for others in _OTHERS)


def _is_given_back(function: Callable[..., Any], make: Callable[[], torch.nn.Module], others: tuple[Any, ...]) -> bool:
    module = make()
    try:
        return function(module, *others) is module
    except Exception:  # whatever it says of arguments that it does not take
        return False


def _modules() -> Iterator[Callable[[], torch.nn.Module]]:
    """A layer, and layers with something that can be removed."""
    yield lambda: torch.nn.Linear(3, 3)
    yield lambda: torch.nn.utils.weight_norm(torch.nn.Linear(3, 3))  # torchlint: ignore[TL302]
    yield lambda: torch.nn.utils.spectral_norm(torch.nn.Linear(3, 3))
    yield lambda: torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(3, 3))
    yield lambda: _PRUNE(torch.nn.Linear(3, 3), "weight", 1)
