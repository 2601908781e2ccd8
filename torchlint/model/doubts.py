"""Values that may be others than what is known of them."""

from __future__ import annotations

import libcst as cst

from torchlint.model.possibilities import Kind
from torchlint.model.torch import library
from torchlint.model.values import Strength, Value, changed, held, tensor
from torchlint.system.records import replace

CALLED = Kind.MODULE | Kind.OBJECT | Kind.FUNCTION | Kind.REFERENCE
"""What may be called, or have methods."""


def perhaps(value: Value) -> Value:
    """Something that may be called, or have methods, where another may be there as well; anything else as it is."""
    return replace(value, kind=value.kind | Kind.UNKNOWN) if value.kind & CALLED else value


def doubted(value: Value) -> Value:
    """A value that may be another one: a tensor stays likely, and nothing else is known of it."""
    value = changed(value, doubted)
    if not value.kind & Kind.TENSOR:
        return perhaps(value)
    evidence = value.evidence and replace(value.evidence, strength=Strength.NAME)
    return replace(tensor(evidence=evidence), kind=value.kind | Kind.UNKNOWN, symbols=value.symbols)


def leads_somewhere(value: Value) -> bool:
    """Whether a value is something that can be called, or a container of that, of which is known what it is."""
    inner = held(value)
    if inner is not None and leads_somewhere(inner):
        return True
    return bool(value.kind & CALLED) and (_is_ours(value) or _gives_what_it_gets(value))


def _is_ours(value: Value) -> bool:
    return isinstance(value.node, (cst.ClassDef, cst.FunctionDef, cst.Lambda)) or bool(value.choices)


def _gives_what_it_gets(value: Value) -> bool:
    """Whether it is a layer of torch without parameters, or a function: of what these compute others may do more."""
    if value.kind & Kind.REFERENCE:
        return True
    info = library.module_info(value.ref) if value.kind & Kind.MODULE else None
    return info is not None and not info.params and not info.trainable


def perhaps_with(value: Value) -> Value:
    """A container into which others may put what is called in the same way."""
    return changed(value, perhaps_with) if held(value) is not None else perhaps(value)
