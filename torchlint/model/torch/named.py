"""The value of something imported, made from its qualified name."""

from __future__ import annotations

import functools
import math

from torchlint.model.names import GRAD_CONTEXTS
from torchlint.model.possibilities import Kind, Tri
from torchlint.model.torch import library
from torchlint.model.values import NUMBER, Value
from torchlint.system.records import replace

_CONSTANTS = frozenset(
    f"{module}.{name}"
    for name, value in vars(math).items()
    if isinstance(value, float)
    for module in ("math", "numpy")
    if (module, name) != ("numpy", "tau")
)
"""``math.pi``; NumPy has the same by the same names, but for one."""


@functools.lru_cache(maxsize=10_000)
def named(name: str) -> Value:
    """The value for a qualified name: a reference to its public name in torch, with the grad mode that it sets."""
    if name in _CONSTANTS:
        return replace(NUMBER, ref=name)
    ref = library.canonical(name)
    return Value(Kind.REFERENCE, GRAD_CONTEXTS.get(ref, Tri.NEITHER), ref=ref)
