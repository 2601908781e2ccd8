"""Something imported, by its qualified name."""

from __future__ import annotations

from torchlint.model.names import GRAD_CONTEXTS
from torchlint.model.possibilities import Kind, Tri
from torchlint.model.torch import library
from torchlint.model.values import Value


def named(name: str) -> Value:
    """What a qualified name refers to, as the shortest public name of it in torch."""
    ref = library.canonical(name)
    return Value(Kind.REFERENCE, GRAD_CONTEXTS.get(ref, Tri.NEITHER), ref=ref)
