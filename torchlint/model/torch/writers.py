"""What of torch writes to the memory it is given, from data generated from torch itself.

``data/writers.json`` is written by ``scripts/generate_writers.py``; its docstring documents the format.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

import libcst as cst

from torchlint.model.torch import returned
from torchlint.model.torch.returned import Argument
from torchlint.model.values import Value

_KEEPING = frozenset(("requires_grad_", "share_memory_"))
"""Methods with an underscore at the end that leave the elements alone."""


@functools.cache
def _data() -> Mapping[str, Any]:
    text = resources.files("torchlint.model.torch").joinpath("data/writers.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


@functools.cache
def _special() -> frozenset[str]:
    return frozenset(_data()["methods"])


def is_writing(name: str) -> bool:
    """Whether a method of a tensor of that name writes to it."""
    return (name.endswith("_") and not name.endswith("__") and name not in _KEEPING) or name in _special()


def function_writes(ref: str, arg: cst.Arg, call: cst.Call, bound: Sequence[Argument]) -> bool:
    """Whether a function of torch writes to an argument, or may; ``bound`` was given to it before."""
    if arg.keyword is not None and arg.keyword.value == "out":
        return True
    if arg.star == "**":  # `out=` or `inplace=True` may be in it
        return True
    index = call.args.index(arg)
    if is_writing(ref.rpartition(".")[2]):
        return index == 0 or arg.keyword is not None or bool(arg.star)
    given = [*bound, *(Argument(a.keyword.value if a.keyword else None, _NO_VALUE, a.value, a.star) for a in call.args)]
    keyword = arg.keyword.value if arg.keyword is not None else None
    index += sum(argument.keyword is None for argument in bound)
    for name, position, asking, at in _data()["functions"].get(ref, ()):
        is_it = keyword == name if keyword is not None else index == position or bool(arg.star)
        if is_it and (asking is None or _is_asked(given, asking, at)):
            return True
    return False


_NO_VALUE = Value(0)


def module_writes(module: Value) -> bool:
    """Whether a module of torch writes to its input, or may."""
    asked = _data()["modules"].get(module.ref or "", {}).get("input")
    return asked is not None and (module.bound is None or _is_asked(module.bound, *asked))


def writes_to_itself(ref: str, call: cst.Call) -> bool:
    """Whether a module of torch that is made by a call writes to its parameters, or may."""
    asked = _data()["modules"].get(ref, {}).get("own")
    given = [Argument(a.keyword.value if a.keyword else None, _NO_VALUE, a.value, a.star) for a in call.args]
    return asked is not None and _is_asked(given, *asked)


@functools.cache
def inplace_modules() -> Mapping[str, int]:
    """Last names of modules that can be asked to write to their input, and at which position."""
    return {
        name.rpartition(".")[2]: entry["input"][1] for name, entry in _data()["modules"].items() if "input" in entry
    }


def _is_asked(given: Sequence[Argument], name: str, position: int | None) -> bool:
    """Whether an argument is given, and not literally as what it is without."""
    positional = 0
    for argument in given:
        if argument.star:
            return True
        is_it = argument.keyword == name
        if argument.keyword is None:
            is_it = positional == position
            positional += 1
        if is_it and returned.literal_bool(argument.node) is not False and not _is_none(argument.node):
            return True
    return False


def _is_none(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and node.value == "None"
