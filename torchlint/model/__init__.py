"""What an expression is. Rules ask this layer and nothing else; it knows no rule.

    model.value(expr)         the abstract value: kind, grad, ndim, dtype, role, and the evidence for it
    model.is_tensor(expr)     a tensor, on evidence of the wanted strength
    model.qualified(expr)     ``torch.nn.functional.relu`` whatever it was imported as
    model.grad_enabled(node)  whether autograd records there

All questions are methods of :class:`torchlint.model.facade.Model`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchlint.model.facade import Model
    from torchlint.model.values import Dtype, Evidence, Kind, Ndim, Role, Strength, Tri, Usage, Value

__all__ = ["Dtype", "Evidence", "Kind", "Model", "Ndim", "Role", "Strength", "Tri", "Usage", "Value"]


def __getattr__(name: str) -> object:
    """Import what is asked for then: a module of this package is also imported where no file is looked into."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = importlib.import_module("torchlint.model.facade" if name == "Model" else "torchlint.model.values")
    found: object = getattr(home, name)
    globals()[name] = found
    return found
