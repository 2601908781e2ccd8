"""Write ``torchlint/model/torch/data/writers.json``: what of torch writes to the memory it is given.

``python scripts/generate_writers.py`` rewrites the file, ``--check`` only says whether it is up to date. Everything in
it was seen: each function is run on the samples of torch's own tests, and each module is made and called; whatever has
another version afterwards, or other memory, was written. (What is written without either no one can tell, `.data` or
not.) Names that end in an underscore are left out: they all write.

``functions``
    By qualified name: what is written, by the name and the position of the argument (no position where it is given
    by keyword only), and the argument that asks for it, by name and position; null where nothing has to.
``modules``
    By qualified name: ``input``, the argument of the constructor that makes a call write to its input, and ``own``,
    the one that makes a call write to its parameters; each by name and position.
``methods``
    Special methods of tensors that write.
``refusing``
    Methods that raise for what requires grad, also under ``no_grad``; they want ``x.detach()``.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch_facts.execution import Known, map_tensors, tensors_in
from torch_facts.generated import DATA, write_or_compare
from torch_facts.naming import PLAIN_MODULES, public_names, resolve
from torch_facts.probes import PROBES
from torch_facts.results import NOT_RUN, database_pairs, probe_pairs, sampled
from torch_facts.samples import UNCHECKED, import_testing, plain_calls, probe_calls, sample_calls, seed, spread
from torch_facts.signatures import live_signatures

OUTPUT = DATA / "writers.json"
RUNS = 10
"""Calls tried per function and argument that may ask for a write."""
ENDLESS = {"lobpcg"}
"""Functions that may not come to an end with what they are tried with."""
REPLACING = {"torch.nn.utils"}
"""Modules of functions that give nothing back and may write to what they are given, called with their probes."""
ASKING = (True, 0.1)
"""What an optional argument is tried with: a flag, a bound."""


def is_named_after_writing(name: str) -> bool:
    """Whether a name ends in one underscore, as those of all functions that write to their first argument do."""
    return name.endswith("_") and not name.endswith("__")


def parameters_of(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """What a Python function can be given by position or keyword; nothing of one that is built in."""
    with contextlib.suppress(TypeError, ValueError):
        return list(inspect.signature(inspect.unwrap(function)).parameters.values())
    return []


def optional(parameters: Iterable[inspect.Parameter]) -> Iterator[tuple[str, int]]:
    """Arguments that do nothing unless they are given, with their positions."""
    for position, parameter in enumerate(parameters):
        if parameter.default is None or parameter.default is False:
            yield parameter.name, position


def holds_tensors(value: Any) -> bool:
    """Whether an argument is a tensor, or has one in it."""
    return next(tensors_in(value), None) is not None


def copied(value: Any) -> Any:
    """The same with tensors of their own, which autograd does not watch."""
    return map_tensors(value, lambda tensor: tensor.detach().clone())


def state(tensor: torch.Tensor) -> tuple[int, int | None]:
    """What tells that a tensor was written: its version, and where its memory is, if it has one piece of it."""
    return tensor._version, tensor.data_ptr() if tensor.layout == torch.strided else None


def written(function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> list[str | int] | None:
    """Which arguments a call writes to, by keyword or position; None if it raises."""
    args, kwargs = copied(tuple(args)), copied(kwargs)
    named: list[tuple[str | int, Any]] = [*enumerate(args), *kwargs.items()]
    before = [[state(tensor) for tensor in tensors_in(value)] for _, value in named]
    try:
        seed()
        with torch.no_grad():
            function(*args, **kwargs)
    except Exception:
        return None
    after = [[state(tensor) for tensor in tensors_in(value)] for _, value in named]
    return [name for (name, _), old, new in zip(named, before, after, strict=True) if old != new]


def functions() -> dict[str, list[list[Any]]]:
    """Functions that write to an argument and are not named after it."""
    samples = sample_calls()
    found = {}
    results = json.loads((DATA / "torch.json").read_text(encoding="utf-8"))["functions"]
    for name, result in results.items():
        module, _, last = name.rpartition(".")
        gives_tensors = module in PLAIN_MODULES and isinstance(result, dict)
        is_told = module in REPLACING and result == "none"
        if not (gives_tensors or is_told) or is_named_after_writing(name) or last in UNCHECKED:
            continue
        if last in ENDLESS or NOT_RUN.search(last):
            continue
        function = resolve(name)
        rows = _writes(function, list(_calls(name, function, samples)))
        if rows:
            found[name] = rows
    return found


def _calls(name: str, function: Any, samples: dict[str, list[Any]]) -> Iterator[Any]:
    known = Known(name, tuple(live_signatures(function)), takes_self=False)
    yield from probe_calls(PROBES.get(name, ()))
    with contextlib.suppress(Exception):
        calls = sampled(name.removeprefix("torch."), samples, function, known)
        yield from spread(calls, RUNS)
    yield from plain_calls()


def _writes(function: Any, calls: list[Any]) -> list[list[Any]]:
    parameters = parameters_of(function)
    rows = _seen(function, calls, parameters, {})
    if not rows:  # one flag may be heard only with another: `training` and `inplace`
        flags = {parameter.name: True for parameter in parameters if parameter.default is False}
        rows = _seen(function, calls, parameters, flags) if len(flags) > 1 else rows
    always = {row[:2] for row in rows if row[2] is None}
    return sorted((list(row) for row in rows if row[2] is None or row[:2] not in always), key=str)


def _seen(
    function: Any, calls: list[Any], parameters: list[inspect.Parameter], besides: dict[str, Any]
) -> set[tuple[Any, ...]]:
    """What is written, and what asks for it, with other arguments given besides."""
    names = [parameter.name for parameter in parameters]
    rows: set[tuple[Any, ...]] = set()
    for asking, at in ((None, None), *optional(parameters)):
        for call in spread(calls, RUNS):
            args, kwargs = _without_asking(call, parameters)
            if at is not None and at < len(args):
                continue
            for value in ASKING if asking is not None else (None,):
                extra = {**besides, asking: value} if asking is not None else {}
                for which in written(function, args, {**kwargs, **extra}) or ():
                    rows.add(_row(which, names, asking, at))
    return rows


def _without_asking(call: Any, parameters: list[inspect.Parameter]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call without flags and bounds, of which some samples have given some."""
    args, kwargs = tuple(call.args), dict(call.kwargs)
    for name, at in optional(parameters):
        is_flag = parameters[at].default is False
        if at < len(args) and (is_flag or not holds_tensors(args[at])):
            args = args[:at]
        if name in kwargs and (is_flag or not holds_tensors(kwargs[name])):
            del kwargs[name]
    return args, kwargs


def _row(which: str | int, names: list[str], asking: str | None, at: int | None) -> tuple[Any, ...]:
    if isinstance(which, int):
        return names[which] if which < len(names) else None, which, asking, at
    return which, names.index(which) if which in names else None, asking, at


def modules() -> dict[str, dict[str, list[Any]]]:
    """Modules that write to their input or to their own parameters if they are asked to."""
    database = {info.module_cls: info for info in import_testing()[1]}
    found = {}
    for name, cls in public_names().objects.items():
        if name.startswith("torch.nn.") and inspect.isclass(cls) and issubclass(cls, torch.nn.Module):
            pairs = [*probe_pairs(cls.__name__), *database_pairs(database.get(cls))]
            described = _of_module(cls, [pair for pair in pairs if pair[1] is not None][:RUNS])
            if described:
                found[name] = described
    return dict(sorted(found.items()))


def _of_module(cls: Any, pairs: list[Any]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for asking, at in optional(parameters_of(cls)):
        for made, called in pairs:
            for value in ASKING:
                arguments = {**made.kwargs, asking: value}
                with contextlib.suppress(Exception):
                    module = cls(*made.args[:at], **arguments)
                    before = [parameter._version for parameter in module.parameters()]
                    if written(module, called.args, called.kwargs):
                        found["input"] = [asking, at]
                    if before != [parameter._version for parameter in module.parameters()]:
                        found["own"] = [asking, at]
    return found


def methods() -> list[str]:
    """Special methods of tensors that write to them."""
    found = set()
    for name in dir(torch.Tensor):
        if not name.startswith("__"):
            continue
        for arguments in ((1,), (0, 1), (torch.ones(3),)):
            for made in (torch.ones(3), torch.ones(3, dtype=torch.long), torch.ones(3, dtype=torch.bool)):
                version = made._version
                with contextlib.suppress(Exception):
                    getattr(made, name)(*arguments)
                    if made._version != version:
                        found.add(name)
    return sorted(found)


def refusing() -> list[str]:
    """Methods that write in place and raise for what requires grad, also where autograd is off."""
    return sorted(name for name in dir(torch.Tensor) if is_named_after_writing(name) and _refuses(name))


def _refuses(name: str) -> bool:
    """Whether a call that runs otherwise raises under ``no_grad`` because of the flag alone."""

    def first(*given: Any) -> Any:
        return given[0]

    for arguments in (
        (),
        (1,),
        (first,),
        (torch.ones(3),),
        (torch.ones(3), first),
        (torch.ones(3), torch.ones(3), first),
    ):
        with torch.no_grad(), contextlib.suppress(Exception):
            getattr(torch.ones(3), name)(*arguments)
            try:
                getattr(torch.ones(3, requires_grad=True), name)(*arguments)
            except RuntimeError as error:
                return "requires grad" in str(error)
    return False


def generate() -> dict[str, Any]:
    """All of it."""
    return {"functions": functions(), "modules": modules(), "methods": methods(), "refusing": refusing()}


def render(data: dict[str, Any]) -> str:
    """The text of the file, one entry a line."""
    parts = []
    for part, entries in data.items():
        if isinstance(entries, list):
            parts.append(f"{json.dumps(part)}: {json.dumps(entries)}")
            continue
        lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in entries.items())
        parts.append(f"{json.dumps(part)}: {{\n{lines}\n}}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    sys.exit(write_or_compare(OUTPUT, lambda: render(generate()), __doc__ or ""))
