"""The value of something imported, made from its qualified name."""

from __future__ import annotations

import functools

from torchlint.model.names import GRAD_CONTEXTS
from torchlint.model.possibilities import Kind, Tri
from torchlint.model.torch import library
from torchlint.model.values import Value


@functools.lru_cache(maxsize=10_000)
def named(name: str) -> Value:
    """The value for a qualified name: a reference to its public name in torch, with the grad mode that it sets."""
    ref = library.canonical(name)
    return Value(Kind.REFERENCE, GRAD_CONTEXTS.get(ref, Tri.NEITHER), ref=ref)
