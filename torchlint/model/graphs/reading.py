"""What calls do with what they are given, by what is called: do they only read it, or can anything come of it."""

from __future__ import annotations

import builtins

import libcst as cst

from torchlint.model.context import Context
from torchlint.model.expressions import value_of
from torchlint.model.graphs.flow import flow_of
from torchlint.model.graphs.mentions import CUTTING, CUTTING_FUNCTIONS
from torchlint.model.syntax import last_name
from torchlint.model.values import reference

_READING = frozenset(
    (
        *("print", "format", "float", "int", "str", "len", "round", "isnan", "isinf", "isinstance", "info", "debug"),
        *("warning", "log", "add_scalar", "add_scalars", "append", "item", "tolist", "numpy", "cpu", "detach", "mean"),
        *("sum", "write", "update", "set_postfix", "set_description", "isfinite", "min", "max", "abs", "join", "range"),
        *("zip", "enumerate", "sorted", "list", "tuple", "dict", "array", "asarray", "save", "plot", "average", "exp"),
        *("add", "extend", "insert", "appendleft", "setdefault", "items", "values", "keys", "get", "copy", "stack"),
    )
)
"""Callables that read or pass on what they are given, and no more: they never send gradients back through it."""
_REPORTING = ("log", "print", "report", "record", "plot", "meter", "write", "format")
"""What the names of callables contain that only tell people something."""
_HARMLESS = ("torch.", "builtins.", "numpy.", "math.", "logging.", "statistics.")
"""Where callables are from that send nothing back but those that are called so."""


def is_unknown(context: Context, call: cst.Call) -> bool:
    """Whether a call may send gradients back through what it is given, or give it to somebody who does."""
    last = last_name(call.func)
    if any(last_name(arg.value) == "backward" for arg in call.args):  # `map(torch.Tensor.backward, losses)`
        return True
    if isinstance(call.func, cst.Name) and _is_given(context, call.func):
        return True
    if last in _READING or last in CUTTING or last in CUTTING_FUNCTIONS:
        return False
    if any(word in last.lower() for word in _REPORTING):
        return False
    known = reference(value_of(context, call.func))
    if known is not None and known.startswith(_HARMLESS) and not _hands_on(last):
        return False
    return not isinstance(context.tree.parent(call), cst.FormattedStringExpression)


def _hands_on(builtin: str) -> bool:
    """Whether somebody else gets what a function of Python is given: by an attribute, by catching an exception."""
    made = getattr(builtins, builtin, None)
    return builtin in ("getattr", "setattr") or (isinstance(made, type) and issubclass(made, BaseException))


def _is_given(context: Context, name: cst.Name) -> bool:
    """Whether a function is one that its caller gives."""
    scope = context.scopes.scope_of(name)
    return any(isinstance(event.node, cst.Param) for event in flow_of(context, scope).bindings(name.value))
