"""Attributes that a class of the project has itself, where torch's would have that name."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Model, Value
from torchlint.model.syntax import decorator_names


def has_attribute(value: Value, name: str, model: Model) -> bool:
    """Whether an object is of a class of the project that has an attribute or property of that name, not a method."""
    if not isinstance(value.node, cst.ClassDef):
        return False
    method = model.find_method(value.node, name)
    if method is not None:
        return "property" in decorator_names(method)
    home = model.home(value.node)
    return bool(home.scopes.attribute(value.node, name).assigned) or name in home.scopes.info(value.node).declared
