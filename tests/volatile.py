"""PyTorch 0.3 in one respect: what a volatile tensor takes part in has no graph and is volatile, until `.data` is read.

A program is run with this in place of `Variable`, and what required grad is compared with the program as it is fixed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from torchlint.testing.execution import ProgramRun, run

IMPORT = "from torch.autograd import Variable\n"
OLD = "from volatile import Variable\n"
_CUTS = ("data", "detach", "item", "numpy", "tolist")


class Volatile(torch.Tensor):
    """A volatile tensor."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        with torch.no_grad():
            result = super().__torch_function__(func, types, args, kwargs or {})  # type: ignore[no-untyped-call]
        name = getattr(func, "__self__", func)
        if getattr(name, "__name__", "") in _CUTS or getattr(func, "__name__", "") in _CUTS:
            return plain(result)
        return result


def plain(value: Any) -> Any:
    """A value that is no longer volatile."""
    return value.as_subclass(torch.Tensor).detach() if isinstance(value, torch.Tensor) else value


def Variable(data: Any, requires_grad: bool = False, volatile: bool = False) -> Any:
    """What wrapping did."""
    tensor = plain(data)
    return tensor.as_subclass(Volatile) if volatile else tensor.requires_grad_(requires_grad)


def as_it_was(text: str) -> ProgramRun:
    """A run of a program as it was meant."""
    assert IMPORT in text
    return run(text.replace(IMPORT, OLD))


def _tensors(value: Any, path: str) -> Iterator[tuple[str, torch.Tensor]]:
    if isinstance(value, torch.Tensor):
        yield path, value
    elif isinstance(value, (list, tuple)):
        for number, each in enumerate(value):
            yield from _tensors(each, f"{path}[{number}]")
    elif isinstance(value, torch.nn.Module):
        for name, each in value.named_parameters():
            yield f"{path}.{name}", each
    elif hasattr(value, "__dict__") and not isinstance(value, type):
        for name, each in vars(value).items():
            yield from _tensors(each, f"{path}.{name}")


def differences(was: ProgramRun, fixed: ProgramRun, *, is_complete: bool) -> list[str]:
    """Where a fixed program has no graph though it had one; and, if all is fixed, has one though it had none."""
    if was.error is not None or fixed.error is not None:
        return [f"raised {was.error!r}, and now {fixed.error!r}"]
    after = {path: t for name, value in fixed.variables.items() for path, t in _tensors(value, name)}
    found = []
    for name, value in was.variables.items():
        for path, tensor in _tensors(value, name):
            now = after.get(path)
            if now is None:
                found.append(f"{path} is gone")
            elif tensor.requires_grad and not now.requires_grad:
                found.append(f"{path} has lost its graph")
            elif is_complete and isinstance(tensor, Volatile) and now.requires_grad:
                found.append(f"{path} has a graph")
            elif tensor.is_leaf and now.is_leaf and (tensor.grad is None) != (now.grad is None):
                found.append(f"{path} has another gradient")
            elif not torch.allclose(plain(tensor).double(), now.detach().double()):
                found.append(f"{path} has another value")
    return found
