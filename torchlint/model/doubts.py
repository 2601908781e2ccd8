"""Values that may be others than what is known of them."""

from __future__ import annotations

from torchlint.model.possibilities import Kind
from torchlint.model.values import Strength, Value, changed, tensor
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
