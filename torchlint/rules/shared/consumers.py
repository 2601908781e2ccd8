"""What goes through all of a generator."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Kind, Model
from torchlint.model.syntax import has_break

_WHOLE = frozenset(
    f"builtins.{name}" for name in ("list", "tuple", "set", "frozenset", "dict", "sum", "sorted", "max", "min")
)
_LAZY = frozenset(
    (
        *(f"builtins.{name}" for name in ("enumerate", "zip", "map", "filter")),
        *("itertools.chain", "itertools.chain.from_iterable"),
    )
)
"""What only goes through it when something goes through what comes out."""
_DISPLAYS = (cst.Dict, cst.DictElement, cst.List, cst.Tuple, cst.Element)
"""What stands around parameters that are given to an optimizer in groups."""


def consumer(use: cst.BaseExpression, model: Model) -> str | None:
    """What goes through all of a generator where it is named: ``torch`` for something of torch, else ``python``."""
    node: cst.CSTNode = use
    while True:
        parent = model.tree.parent(node)
        match parent:
            case cst.For() if parent.iter is node:
                ends_early = has_break(parent.body) or bool(model.tree.within(parent.body, cst.Return))
                return None if ends_early else "python"
            case cst.CompFor() if parent.iter is node:
                around = model.tree.enclosing(parent, cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)
                if not isinstance(around, cst.GeneratorExp):
                    return "python"
                node = around
            case cst.Arg(star="*") | cst.StarredElement():
                return "python"
            case cst.Arg():
                call = model.tree.parent(parent)
                if not isinstance(call, cst.Call):
                    return None
                ref = model.qualified(call.func) or ""
                if ref in _LAZY:
                    node = call
                    continue
                return "python" if ref in _WHOLE else "torch" if _is_torch(call, ref, model) else None
            case _ if isinstance(parent, _DISPLAYS):
                node = parent
            case _:
                return None


def _is_torch(call: cst.Call, ref: str, model: Model) -> bool:
    """Whether a function of torch that goes through parameters is called, or an optimizer made."""
    if ref.startswith(("torch.nn.utils.", "torch.autograd.")):
        return True
    return ref.startswith("torch.optim.") and model.value(call).kind == Kind.OPTIMIZER
