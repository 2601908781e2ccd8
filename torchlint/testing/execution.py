"""Runs programs under torch and says how two runs differ. The judge of every fix; it knows no rule.

After a safe fix nothing may differ: every variable at module level (tensors by value, dtype, shape, strides, device,
``requires_grad``, ``is_leaf``, ``.grad`` and their own attributes; arrays, numbers, containers and objects recursively,
with the Python type of each), what shares memory with what, the gradient of every result with respect to every leaf,
the random numbers drawn, the output, and the modes of torch at the end. After an unsafe fix the program runs and the
values are close.

The only module that imports torch: it is there to execute programs, and the linter never imports it.
"""

from __future__ import annotations

import cmath
import contextlib
import inspect
import io
import random
import types
import warnings
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.utils.hooks import RemovableHandle

_SKIPPED = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType, torch.Generator)
_MAX_PROBES = 40
_PROPERTIES = (
    "shape",
    "dtype",
    "device",
    "layout",
    "requires_grad",
    "is_leaf",
    "retains_grad",
    "stride",
    "storage_offset",
    "is_inference",
    "is_pinned",
)
"""What a tensor says of itself that a fix leaves as it is."""
_OF_THE_GRAPH = frozenset(("requires_grad", "is_leaf", "retains_grad"))


@dataclass(frozen=True)
class ProgramRun:
    """What a program left behind."""

    variables: dict[str, Any]
    output: str
    random_state: torch.Tensor
    error: BaseException | None
    modes: tuple[object, ...] = ()
    """Whether autograd records, and the default dtype, when the program has ended."""


def run(text: str, name: str = "program.py") -> ProgramRun:
    """Run a program as ``__main__`` from a fixed seed."""
    variables: dict[str, Any] = {"__name__": "__main__"}
    output = io.StringIO()
    error: BaseException | None = None
    modes: tuple[object, ...] = ()
    torch.set_default_dtype(torch.float32)  # hooks of the last program may have run since, when it was compared
    torch.set_grad_enabled(True)
    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)
    RemovableHandle.next_id = 0  # a module's hooks are known by a number that counts all there ever were
    with warnings.catch_warnings(), contextlib.redirect_stdout(output):
        warnings.simplefilter("ignore")
        try:
            exec(compile(text, name, "exec", dont_inherit=True), variables)
        except Exception as raised:
            error = raised
        finally:
            modes = (torch.is_grad_enabled(), torch.get_default_dtype())
            torch.set_grad_enabled(True)
            torch.set_default_dtype(torch.float32)
    kept = {name: value for name, value in variables.items() if not name.startswith("__") and not _is_code(value)}
    return ProgramRun(kept, output.getvalue(), torch.get_rng_state(), error, modes)


def differences(before: ProgramRun, after: ProgramRun, *, may_detach: bool = False) -> list[str]:
    """How a safe fix changed what a program does; ``may_detach``: what was kept no longer carries its graph."""
    if before.error is not None or after.error is not None:
        return [f"raised {before.error!r} before, {after.error!r} after"]
    compared = _Differences(exact=True, may_detach=may_detach)
    compared.variables(before.variables, after.variables)
    if not torch.equal(before.random_state, after.random_state):
        compared.found.append("other random numbers were drawn")
    if before.modes != after.modes:
        compared.differ("torch", "modes", before.modes, after.modes)
    if before.output != after.output and not may_detach:
        compared.found.append(f"output {before.output!r} became {after.output!r}")
    if _sharing(before, compared.both) != _sharing(after, compared.both):
        compared.found.append("other variables share memory")
    if not compared.found:
        compared.found += _gradients(before, after, may_detach=may_detach)
    return compared.found


def rough_differences(before: ProgramRun, after: ProgramRun) -> list[str]:
    """How an unsafe fix changed values, beyond the type of numbers. A program that raised may do anything but raise."""
    if after.error is not None:
        return [f"raises {after.error!r}"]
    if before.error is not None:
        return []
    compared = _Differences(exact=False)
    compared.variables(before.variables, after.variables)
    return compared.found


def _is_code(value: object) -> bool:
    return (
        isinstance(value, _SKIPPED) or inspect.isgenerator(value) or type(value).__module__ in ("typing", "__future__")
    )


def _number(value: object) -> object:
    """A tensor or array with one element as the number in it."""
    if isinstance(value, torch.Tensor) and value.numel() == 1:
        return value.item()
    if isinstance(value, (np.ndarray, np.generic)) and value.size == 1:
        return value.item()
    return value


def _plain(values: Set[object]) -> set[object]:
    """The elements of a set that are compared by value."""
    return {value for value in values if isinstance(value, (str, bytes, int, float, type(None)))}


def _property(value: torch.Tensor, name: str) -> object:
    if value.layout != torch.strided and name in ("stride", "storage_offset", "is_pinned"):
        return None
    try:
        found = getattr(value, name)
        return found() if callable(found) else found
    except RuntimeError as error:  # of a view whose base was written where autograd must not see it
        return str(error)


def _same_values(a: torch.Tensor, b: torch.Tensor, *, exact: bool) -> bool:
    a, b = (each.detach().as_subclass(torch.Tensor) for each in (a, b))  # of two subclasses nothing can be computed
    if a.layout != torch.strided or b.layout != torch.strided:
        a, b = a.to_dense(), b.to_dense()
    if not exact:
        return a.shape == b.shape and torch.allclose(a.double(), b.double(), rtol=1e-3, atol=1e-5, equal_nan=True)
    return bool(((a == b) | ((a != a) & (b != b))).all())


class _Differences:
    """Two structures, compared recursively."""

    def __init__(self, *, exact: bool, may_detach: bool = False) -> None:
        self.exact, self.may_detach = exact, may_detach
        self.found: list[str] = []
        self.both: set[str] = set()
        self.seen: set[tuple[int, int]] = set()

    def variables(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        for name in before:
            if name in after:
                self.values(name, before[name], after[name])
            elif self.exact:
                self.found.append(f"{name} is gone")
        if self.exact:
            self.found += [f"{name} is new" for name in after if name not in before]

    def differ(self, path: str, what: str, a: object, b: object) -> None:
        self.found.append(f"{path}: {what} {a!r} became {b!r}")

    def values(self, path: str, a: Any, b: Any) -> None:
        if (id(a), id(b)) in self.seen or _is_code(a):
            return
        self.seen.add((id(a), id(b)))
        self.both.add(path)
        if not self.exact:
            a, b = _number(a), _number(b)
        elif (type(a).__module__, type(a).__qualname__) != (type(b).__module__, type(b).__qualname__):
            self.differ(path, "type", type(a).__name__, type(b).__name__)
            return
        if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
            self.tensors(path, a, b)
        elif isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
            if a.dtype != b.dtype or a.shape != b.shape:
                self.differ(path, "array", (a.dtype, a.shape), (b.dtype, b.shape))
            elif not np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"):
                self.differ(path, "value", a, b)
        elif isinstance(a, (bool, int, float, complex, np.generic)) and isinstance(
            b, (bool, int, float, complex, np.generic)
        ):
            close = a == b if self.exact else cmath.isclose(complex(a), complex(b), rel_tol=1e-3, abs_tol=1e-5)
            if not close and not (a != a and b != b):
                self.differ(path, "value", a, b)
        elif isinstance(a, (str, bytes, torch.Size, torch.dtype, torch.device)):
            if a != b and self.exact:
                self.differ(path, "value", a, b)
        elif isinstance(a, Mapping) and isinstance(b, Mapping):
            self.pairs(path, list(a.items()), list(b.items()))
        elif isinstance(a, (set, frozenset)) and isinstance(b, (set, frozenset)):
            if len(a) != len(b) or _plain(a) != _plain(b):
                self.differ(path, "elements", a, b)
        elif isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
            self.pairs(path, list(enumerate(a)), list(enumerate(b)))
        elif hasattr(a, "__dict__") and hasattr(b, "__dict__"):
            self.pairs(path, list(vars(a).items()), list(vars(b).items()))

    def pairs(self, path: str, a: list[tuple[Any, Any]], b: list[tuple[Any, Any]]) -> None:
        if len(a) != len(b):
            self.differ(path, "length", len(a), len(b))
            return
        for number, ((key_a, item_a), (key_b, item_b)) in enumerate(zip(a, b, strict=True)):
            simple = isinstance(key_a, (str, int))
            if not simple:
                self.values(f"{path} (key {number})", key_a, key_b)
            elif key_a != key_b:
                self.differ(path, "key", key_a, key_b)
            self.values(f"{path}[{key_a!r}]" if simple else f"{path} (item {number})", item_a, item_b)

    def tensors(self, path: str, a: torch.Tensor, b: torch.Tensor) -> None:
        if not self.exact:
            if not _same_values(a, b, exact=False):
                self.differ(path, "value", a, b)
            return
        for what in _PROPERTIES:
            of_a, of_b = _property(a, what), _property(b, what)
            if of_a == of_b or (self.may_detach and what in _OF_THE_GRAPH and not b.requires_grad):
                continue
            self.differ(path, what, of_a, of_b)
            return
        if not _same_values(a, b, exact=True):
            self.differ(path, "value", a, b)
        self.pairs(f"{path}.__dict__", list(vars(a).items()), list(vars(b).items()))
        if _property(a, "is_leaf") is True and _property(b, "is_leaf") is True:
            if (a.grad is None) != (b.grad is None):
                self.differ(path, "gradient", a.grad, b.grad)
            elif a.grad is not None and b.grad is not None:
                self.values(f"{path}.grad", a.grad, b.grad)


def _objects(run_: ProgramRun) -> Iterator[tuple[str, Any]]:
    """All tensors and arrays that can be reached from a run's variables, with a path each."""
    stack = [(name, value) for name, value in reversed(run_.variables.items())]
    seen: set[int] = set()
    while stack:
        path, value = stack.pop()
        if _is_code(value) or isinstance(value, (str, bytes, int, float)):
            continue
        if isinstance(value, (torch.Tensor, np.ndarray)):
            yield path, value
            if isinstance(value, torch.Tensor) and _property(value, "is_leaf") is True and value.grad is not None:
                yield f"{path}.grad", value.grad
            continue
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, Mapping):
            stack += [(f"{path}[{key!r}]", item) for key, item in value.items() if isinstance(key, (str, int))]
        elif isinstance(value, (list, tuple)):
            stack += [(f"{path}[{index}]", item) for index, item in enumerate(value)]
        elif hasattr(value, "__dict__"):
            stack += [(f"{path}[{key!r}]", item) for key, item in vars(value).items()]


def _memory(value: torch.Tensor | np.ndarray[Any, Any]) -> int:
    if isinstance(value, torch.Tensor):
        return value.untyped_storage().data_ptr() if value.layout == torch.strided else 0
    while isinstance(value.base, np.ndarray):
        value = value.base
    return int(value.__array_interface__["data"][0])


def _sharing(run_: ProgramRun, compared: set[str]) -> set[frozenset[str]]:
    groups: dict[int, set[str]] = {}
    for path, value in _objects(run_):
        if path in compared and (memory := _memory(value)):
            groups.setdefault(memory, set()).add(path)
    return {frozenset(group) for group in groups.values() if len(group) > 1}


def _gradients(before: ProgramRun, after: ProgramRun, *, may_detach: bool) -> list[str]:
    """Differences between the gradients of all results with respect to all leaves."""
    a, b = _probe(before), _probe(after)
    found = []
    for path, gradients in a.items():
        others = b.get(path)
        if gradients is None or (others is None and may_detach and path not in b):
            continue  # it raised before, or it was detached on purpose
        if others is None:
            found.append(f"backward() from {path} raises")
        elif gradients.keys() != others.keys():
            found.append(f"backward() from {path} reaches {sorted(others)}, not {sorted(gradients)}")
        else:
            wrong = [leaf for leaf, g in gradients.items() if not _same_values(g, others[leaf], exact=True)]
            found += [f"backward() from {path} gives {leaf} another gradient" for leaf in wrong]
    return found


def _probe(run_: ProgramRun) -> dict[str, dict[str, torch.Tensor] | None]:
    tensors = {path: t for path, t in _objects(run_) if isinstance(t, torch.Tensor)}
    tensors = {path: t for path, t in tensors.items() if _property(t, "requires_grad") is True}
    leaves = {path: t for path, t in tensors.items() if _property(t, "is_leaf") is True}
    results = [(path, t) for path, t in tensors.items() if _property(t, "is_leaf") is False][:_MAX_PROBES]
    return {path: _gradients_of(result, leaves) for path, result in results}


def _gradients_of(result: torch.Tensor, leaves: dict[str, torch.Tensor]) -> dict[str, torch.Tensor] | None:
    """The gradients of a result with respect to the leaves it depends on; None if ``backward()`` raises."""
    try:
        with (
            torch._C.DisableTorchFunctionSubclass()
        ):  # leaves may be of several subclasses, which know nothing of each other
            total = result.abs().sum() if result.is_complex() else result.sum()
            gradients = torch.autograd.grad(total, list(leaves.values()), retain_graph=True, allow_unused=True)
    except Exception:  # anything, where `backward()` of a class of the program's is called
        return None
    return {name: g for name, g in zip(leaves, gradients, strict=True) if g is not None}
