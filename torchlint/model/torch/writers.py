"""What of torch writes to the memory it is given, from data generated from torch itself.

``scripts/generate_writers.py`` writes the data; its docstring says what it holds.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

import libcst as cst

from torchlint.model.syntax import is_none
from torchlint.model.torch.arguments import literal_bool
from torchlint.model.torch.data import writers
from torchlint.model.torch.schema import Asked
from torchlint.model.values import UNKNOWN, Argument, Value

_KEEPING = frozenset(("requires_grad_", "share_memory_"))
"""Methods with an underscore at the end that leave the elements alone."""

OF_THE_VIEW = frozenset(
    (
        *("t_", "transpose_", "unsqueeze_", "squeeze_", "swapaxes_", "swapdims_", "as_strided_", "resize_"),
        *("resize_as_", "set_", "rename_", "detach_"),
    )
)
"""Methods that change the shape or storage of one tensor, not of what shares its memory."""

REPLACING = frozenset(("vector_to_parameters",))
"""Functions that give tensors other memory."""

TELLING = frozenset(
    ("requires_grad_", "__setattr__", "retain_grad", "register_hook", "register_post_accumulate_grad_hook")
)
"""Methods that give one tensor flags, hooks or attributes, which what shares its memory does not get."""


def is_writing(name: str) -> bool:
    """Whether a method of a tensor of that name writes to it."""
    return (name.endswith("_") and not name.endswith("__") and name not in _KEEPING) or name in writers().methods


def refuses_to_record(name: str) -> bool:
    """Whether a method of that name raises for a tensor that requires grad, also where autograd is off."""
    return name in writers().refusing


def function_writes(ref: str, arg: cst.Arg, call: cst.Call, bound: Sequence[Argument]) -> bool:
    """Whether a function of torch writes to an argument, or may; ``bound`` was given to it before."""
    if arg.keyword is not None and arg.keyword.value == "out":
        return True
    if arg.star == "**":  # `out=` or `inplace=True` may be in it
        return True
    index = call.args.index(arg)
    if is_writing(ref.rpartition(".")[2]):
        return index == 0 or arg.keyword is not None or bool(arg.star)
    given = [*bound, *(Argument(a.keyword.value if a.keyword else None, UNKNOWN, a.value, a.star) for a in call.args)]
    keyword = arg.keyword.value if arg.keyword is not None else None
    index += sum(argument.keyword is None for argument in bound)
    for row in writers().functions.get(ref, ()):
        is_it = keyword == row.argument if keyword is not None else index == row.position or bool(arg.star)
        if is_it and (row.asked is None or _is_asked(given, row.asked)):
            return True
    return False


def module_writes(module: Value) -> bool:
    """Whether a module of torch writes to its input, or may."""
    asked = writers().inputs.get(module.ref or "")
    return asked is not None and (module.bound is None or _is_asked(module.bound, asked))


def writes_to_itself(ref: str, call: cst.Call) -> bool:
    """Whether a module of torch that is made by a call writes to its parameters, or may."""
    asked = writers().own.get(ref)
    given = [Argument(a.keyword.value if a.keyword else None, UNKNOWN, a.value, a.star) for a in call.args]
    return asked is not None and _is_asked(given, asked)


@functools.cache
def inplace_modules() -> Mapping[str, int]:
    """Last names of modules that can be asked to write to their input, and at which position."""
    asked = {name.rpartition(".")[2]: each.position for name, each in writers().inputs.items()}
    return {name: position for name, position in asked.items() if position is not None}


def _is_asked(given: Sequence[Argument], asked: Asked) -> bool:
    """Whether an argument is given, and not literally as what it is without."""
    positional = 0
    for argument in given:
        if argument.star:
            return True
        is_it = argument.keyword == asked.name
        if argument.keyword is None:
            is_it = positional == asked.position
            positional += 1
        if is_it and literal_bool(argument.node) is not False and not is_none(argument.node):
            return True
    return False
