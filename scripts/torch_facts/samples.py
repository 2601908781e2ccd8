"""What to run: the samples of torch's own tests, plain calls, and variations of both."""

from __future__ import annotations

import collections
import contextlib
import functools
import importlib
import importlib.util
import itertools
import operator
import random
import sys
import types
import unittest
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import torch

from torch_facts import Result
from torch_facts.annotations import from_annotation
from torch_facts.execution import Call, Known, Leaf, Node, Seen, detached, map_tensors, requiring_grad, run, tensors_in
from torch_facts.merging import merge_calls
from torch_facts.signatures import Signature

SAMPLES = {torch.float32: 64, torch.complex64: 10, torch.int64: 20, torch.bool: 10}
"""Sample inputs taken per operation, spread evenly over those there are."""
VARIED = 5
"""Calls per function, case and set of flags that are varied."""
UNCHECKED = {"native_batch_norm"}
"""Functions that write outside of their memory if shapes do not fit (``MALLOC_CHECK_`` finds them): not varied."""


def seed() -> None:
    """Make what follows repeatable."""
    torch.default_generator.manual_seed(0)
    random.seed(0)
    np.random.seed(0)


@functools.cache
def import_testing() -> tuple[Any, Any]:
    """``op_db`` and ``module_db``; their modules import ``expecttest`` for a base class that is not used here."""
    if importlib.util.find_spec("expecttest") is None:
        stand_in = types.ModuleType("expecttest")
        stand_in.TestCase = unittest.TestCase  # type: ignore[attr-defined]
        sys.modules["expecttest"] = stand_in
    operations = importlib.import_module("torch.testing._internal.common_methods_invocations")
    modules = importlib.import_module("torch.testing._internal.common_modules")
    return operations.op_db, modules.module_db


def sample_calls() -> dict[str, list[Call]]:
    """Sample inputs from ``op_db`` by name of the operation and of its aliases."""
    found: dict[str, list[Call]] = collections.defaultdict(list)
    for operation in import_testing()[0]:
        calls = [call for dtype in SAMPLES if dtype in operation.dtypes for call in _samples(operation, dtype)]
        for name in {operation.name, *(alias.name for alias in operation.aliases)}:
            found[name] += calls
    return found


def _samples(operation: Any, dtype: torch.dtype) -> list[Call]:
    seed()
    needs_grad = dtype.is_floating_point and operation.supports_autograd
    calls = []
    with contextlib.suppress(Exception):
        for sample in operation.sample_inputs_func(operation, "cpu", dtype, needs_grad):
            calls.append(Call((sample.input, *sample.args), dict(sample.kwargs)))  # noqa: PERF401
    return spread(calls, SAMPLES[dtype])


def spread(calls: Sequence[Call], count: int) -> list[Call]:
    """At most so many of the calls, evenly distributed."""
    return [calls[at * len(calls) // count] for at in range(count)] if len(calls) > count else list(calls)


def _is_dense(tensor: torch.Tensor) -> bool:
    return tensor.layout == torch.strided and not tensor.is_quantized and not tensor.is_nested


def _flat(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().reshape(-1)[:3] if _is_dense(tensor) else tensor


def _single(tensor: torch.Tensor) -> torch.Tensor:
    if not _is_dense(tensor) or not tensor.numel():
        return tensor
    floating = tensor.is_floating_point() or tensor.is_complex()
    return tensor.detach().reshape(-1)[0] if floating else torch.zeros((), dtype=tensor.dtype)


def _batched(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach()[None] if _is_dense(tensor) else tensor


def _transposed(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().transpose(0, -1) if _is_dense(tensor) and tensor.dim() > 1 else tensor


def variations(call: Call, known: Known) -> Iterator[Call]:
    """Other calls of the same kind: which claims survive them?"""
    args, kwargs = call.args, call.kwargs
    if args and isinstance(args[0], torch.Tensor):
        for change in (_flat, _single, _transposed):
            yield Call((change(args[0]), *args[1:]), kwargs)
        for change in (_flat, _single, _batched):
            yield Call(map_tensors(args, change), map_tensors(kwargs, change))
        yield Call((args[0], *map_tensors(args[1:], _batched)), map_tensors(kwargs, _batched))
    sizes = [i for i, arg in enumerate(args) if isinstance(arg, list | tuple) and all(type(n) is int for n in arg)]
    if sizes:
        empty = tuple(() if i in sizes else arg for i, arg in enumerate(args))
        yield Call(empty, kwargs)
        yield Call(map_tensors(empty, _single), kwargs)
    if kwargs.get("dtype") is not None:
        yield Call(args, {key: value for key, value in kwargs.items() if key != "dtype"})
    if known.has("reduction"):
        for reduction in ("none", 0, 1):
            yield Call(args, {**kwargs, "reduction": reduction})


@functools.cache
def plain_calls() -> tuple[Call, ...]:
    """Calls that many functions accept: one tensor, two of several shapes, a tensor and a number."""
    seed()
    shapes = ((), (3,), (2, 3), (2, 3, 3))
    one = [torch.rand(shape) for shape in shapes]
    integers = [torch.ones(shape, dtype=torch.int64) for shape in shapes]
    booleans = [torch.ones(shape, dtype=torch.bool) for shape in shapes]
    calls = [Call((tensor,)) for tensor in (*one, *integers, *booleans)]
    calls += [Call((one[i], one[j])) for i, j in ((0, 1), (1, 0), (1, 2), (2, 1), (2, 2), (0, 0))]
    calls += [Call((tensor, integers[2])) for tensor in (one[2], integers[2], booleans[2])]
    calls += [Call((integers[2], booleans[2])), Call((booleans[2], booleans[2]))]
    calls += [Call((one[2], 0)), Call((one[2],), {"dim": 0}), Call((one[3], 1)), Call((one[2], 0.5))]
    calls += [Call((integers[2], 0)), Call((integers[2], 0.5)), Call((booleans[2], 0)), Call((booleans[2], 0.5))]
    return tuple(calls)


def inputs() -> dict[str, Any]:
    """Names for the expressions in the tables, made anew for each."""
    seed()
    leaf, other = torch.rand(2, 3, requires_grad=True), torch.rand(2, 3, requires_grad=True)
    vector, integers = torch.rand(3), torch.ones(2, 3, dtype=torch.int64)
    mha, query = torch.nn.MultiheadAttention(4, 2), torch.rand(3, 2, 4)
    projection = (mha.in_proj_weight, mha.in_proj_bias)
    graded = torch.nn.Linear(3, 2)
    torch.autograd.backward(graded(vector).sum())
    return {
        "torch": torch,
        "np": np,
        "w": leaf,
        "l": other,
        "x": leaf.clone(),
        "v": vector,
        "s": torch.rand(()),
        "m": torch.rand(3, 3),
        "t3": torch.rand(3, 3, 3),
        "i": integers,
        "b": integers.bool(),
        "linear": torch.nn.Linear(3, 2),
        "graded": graded,
        "wave": torch.rand(16),
        "spectrum": torch.ones(3, 17, dtype=torch.complex64),
        "quantized": torch.quantize_per_tensor(vector, 0.1, 0, torch.quint8),  # torchlint: ignore[TL302] what it gives
        # torchlint: ignore[TL302] what it gives
        "per_channel": torch.quantize_per_channel(leaf.detach(), vector[:2], integers[0, :2], 0, torch.quint8),
        "attention": (query, query, query, 4, 2, *projection, None, None, False, 0.0, *mha.out_proj.parameters()),
        "f": lambda tensor: (tensor**2).sum(),
        "g": lambda tensor: tensor * 2,
        "g2": lambda tensor: (tensor * 2, tensor * 3),
        "f3": lambda one, two, three: (one * two * three).sum(),
        "f2": lambda one, two: (one * two).sum(),
        "args": lambda *args, **kwargs: Call(args, kwargs, raw=True),
    }


def probe_calls(texts: Iterable[str], **names: Any) -> list[Call]:
    """The calls that argument lists stand for."""
    return [eval(f"args({text})", {**inputs(), **names}) for text in texts]


def look(function: Callable[..., Any], calls: Iterable[Call], known: Known) -> Result | None:
    """Run calls and variations of them, and merge what comes out; ``None`` if nothing could be run."""
    seed()
    ran = [(call, seen) for call in calls if (seen := run(function, call, known))]
    ran = [(call, seen) for call, seen in ran if not known.writes(call)]
    by_case: dict[Any, list[Call]] = collections.defaultdict(list)
    for call, seen in ran:
        by_case[seen.case, seen.flags].append(call)
    varied = [] if known.name in UNCHECKED else [spread(calls, VARIED) for calls in by_case.values()]
    for call in itertools.chain(*varied):
        ran += [(other, seen) for other in variations(call, known) if (seen := run(function, other, known))]
    ran += [(again, seen) for again in _repeated(function, ran) if (seen := run(function, again, known))]
    if not ran:
        return None
    result = merge_calls([seen for _, seen in ran], known)
    if known.has("inplace") and isinstance(result, dict) and _in_place(function, [call for call, _ in ran], known):
        result["inplace_flag"] = "inplace"
    ran_calls = [call for call, _ in ran]
    if _each_alone(function, ran_calls, known):
        result = with_each(result)
    elif _first_decides(function, ran_calls, known):
        result = with_grad(result, "first")
    return _as_factory(function, result, ran_calls)


def where(call: Call, is_chosen: Callable[[int], bool]) -> Call:
    """The call with exactly the chosen of its tensors (numbered, those of the first argument are 0) requiring grad."""
    numbers = itertools.count(1)

    def change(tensor: torch.Tensor) -> torch.Tensor:
        return requiring_grad(tensor) if is_chosen(next(numbers)) else detached(tensor)

    first = map_tensors(call.args[0], requiring_grad if is_chosen(0) else detached) if call.args else None
    args = (first, *map_tensors(list(call.args[1:]), change)) if call.args else ()
    return Call(args, map_tensors(call.kwargs, change), raw=True)


def _tensors_of(tree: Any) -> list[Leaf]:
    if isinstance(tree, Node):
        return [leaf for item in tree.items for leaf in _tensors_of(item)]
    return [tree] if isinstance(tree, Leaf) else []


def _first_decides(function: Callable[..., Any], calls: Sequence[Call], known: Known) -> bool:
    """Whether the result requires grad if the first argument does, whatever the others are."""
    if known.takes_one_tensor and not any(map(_is_given_others, calls)):
        return True
    asked = False
    for call in calls:
        if call.raw or not call.args or not _is_given_others(call):
            continue
        seen = run(function, where(call, lambda number: number > 0), known)
        if seen is None:
            continue
        if any(leaf.requires_grad for leaf in _tensors_of(seen.tree)):
            return False
        asked = True
    return asked


def _is_given_others(call: Call) -> bool:
    """Whether a call has tensors behind the first argument that may have a graph; no signature of ``set_`` says so."""
    return any(t.is_floating_point() or t.is_complex() for t in tensors_in((call.args[1:], call.kwargs)))


def with_grad(result: Result, grad: str) -> Result:
    """The result with what its tensors require grad of, where they follow the inputs."""
    match result:
        case {"k": "tensor"}:
            return {"k": "tensor", "grad": grad, **result}
        case {"k": "overload", "cases": cases}:
            return {**result, "cases": {name: with_grad(case, grad) for name, case in cases.items()}}
        case {"items": items}:
            return {**result, "items": [with_grad(item, grad) for item in items]}
        case {"item": item}:
            return {**result, "item": with_grad(item, grad)}
    return result


def _each_alone(function: Callable[..., Any], calls: Sequence[Call], known: Known) -> bool:
    """Whether of several tensors as many come back, each of which depends on its own alone."""
    asked = False
    for call in calls:
        if len(call.args) < 2 or not all(isinstance(a, torch.Tensor) and a.is_floating_point() for a in call.args):
            continue
        for chosen in range(len(call.args)):
            seen = run(function, where(call, functools.partial(operator.eq, chosen)), known)
            if seen is None or not isinstance(seen.tree, Node):
                return False
            wanted = [number == chosen for number in range(len(call.args))]
            if [isinstance(leaf, Leaf) and leaf.requires_grad for leaf in seen.tree.items] != wanted:
                return False
            asked = True
    return asked


def with_each(result: Result) -> Result:
    """The result, of which sequences hold something for each of the arguments."""
    match result:
        case {"k": "tuple_of" | "list_of"}:
            return {**result, "each": True}
        case {"k": "overload", "cases": cases}:
            return {**result, "cases": {name: with_each(case) for name, case in cases.items()}}
    return result


def _repeated(function: Callable[..., Any], ran: Sequence[tuple[Call, Seen]]) -> Iterator[Call]:
    """The function on its own result: does it return what needs no change?"""
    single = [call for call, seen in ran if len(call.args) == 1 and not call.kwargs and isinstance(seen.tree, Leaf)]
    for call in single[:3]:
        with contextlib.suppress(Exception):
            yield Call((function(map_tensors(call.args, detached)[0]),))


def _in_place(function: Callable[..., Any], calls: Sequence[Call], known: Known) -> bool:
    asking = [Call(call.args, {**call.kwargs, "inplace": True}) for call in calls[:VARIED]]
    seen = [one for call in asking if (one := run(function, call, known))]
    return bool(seen) and all(isinstance(one.tree, Leaf) and one.tree.is_first for one in seen)


def _as_factory(function: Callable[..., Any], result: Result, calls: Sequence[Call]) -> Result:
    """A result that never requires grad does so only if asked to, where ``requires_grad=True`` is accepted.

    One that does if an input does may be asked to as well.
    """
    if not isinstance(result, dict) or result.get("k") != "tensor" or result.get("grad") == "always":
        return result
    if result.get("grad") not in {"never", "factory"}:
        return {**result, "asked": True} if any(_obeys(function, call) for call in calls[:4]) else result
    for call in calls[:4]:
        with contextlib.suppress(TypeError, RuntimeError):
            args, kwargs = map_tensors(call.args, detached), map_tensors(call.kwargs, detached)
            made = function(*args, **{**kwargs, "requires_grad": True})
            return {**result, "grad": "factory" if getattr(made, "requires_grad", False) is True else "never"}
    return result


def _obeys(function: Callable[..., Any], call: Call) -> bool:
    """Whether what a call gives requires grad if that is asked for, and no input does."""
    args, kwargs = map_tensors(call.args, detached), map_tensors(call.kwargs, detached)
    with contextlib.suppress(Exception):
        return getattr(function(*args, **{**kwargs, "requires_grad": True}), "requires_grad", False) is True
    return False


def from_signatures(known: Known) -> Result:
    """The result that annotations promise."""
    results = [from_annotation(signature.returns) for signature in known.signatures]
    if not results:
        return "any"
    if all(result == results[0] for result in results):
        return results[0]
    cases: dict[str, Result] = {}
    for signature, result in zip(known.signatures, results, strict=True):
        cases.setdefault(_declared_case(signature, known), result)
    return {"k": "overload", "cases": {"no_args": cases.get("no_args", results[0]), **cases}}


def _declared_case(signature: Signature, known: Known) -> str:
    flags = [name for name, annotation, _, _ in signature.parameters if annotation == "Literal[True]"]
    if flags:
        return "flag:" + ",".join(sorted(flags))
    rest = [parameter for parameter in signature.parameters[0 if known.takes_self else 1 :] if parameter[3]]
    if not rest:
        return "no_args"
    name, annotation, _, _ = rest[0]
    return "dim" if name in {"dim", "axis"} else "tensor" if annotation == "Tensor" else "one_arg"


@functools.cache
def viewing_operators() -> frozenset[str]:
    """Names of the operators whose schemas say that they can return an argument, or a view of it, unchanged."""
    return frozenset(
        schema.name.removeprefix("aten::")
        for schema in torch._C._jit_get_all_schemas()
        if any(returned.alias_info is not None and not returned.alias_info.is_write for returned in schema.returns)
    )
