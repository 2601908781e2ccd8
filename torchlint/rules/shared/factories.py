"""Calls that make a tensor, with something done to it on the spot."""

from __future__ import annotations

from collections.abc import Collection

import libcst as cst

from torchlint.model import Model
from torchlint.model.syntax import has_stars, keyword
from torchlint.rules.api import names


def factory(node: cst.BaseExpression, last_names: Collection[str], model: Model) -> str | None:
    """The name of the function of torch that makes a tensor, if it is one of some; None also if not all is seen."""
    if not isinstance(node, cst.Call) or not isinstance(node.func, (cst.Name, cst.Attribute)):
        return None
    if names.called_name(node.func, model) not in last_names or has_stars(node.args) or node.lpar:
        return None
    if any(keyword(node.args, name) is not None for name in ("out", "pin_memory")):
        return None
    ref = model.qualified(node.func) or ""
    name = ref.removeprefix("torch.")
    return name if ref.startswith("torch.") and name in last_names else None


def is_leaf_to_train(node: cst.Call) -> bool:
    """Whether `requires_grad=` is given, and not False: what is made of such a tensor is no leaf."""
    given = keyword(node.args, "requires_grad")
    return given is not None and not (isinstance(given.value, cst.Name) and given.value.value == "False")
