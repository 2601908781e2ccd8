"""Attributes of objects that have a name of torch's."""

from __future__ import annotations

from typing import TypeGuard

import libcst as cst

from torchlint.model import Kind, Model, Value
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


def is_of_object(node: cst.BaseExpression, model: Model) -> TypeGuard[cst.Attribute]:
    """Whether an expression is an attribute of an object, which anybody may set: no attribute of a tensor."""
    return isinstance(node, cst.Attribute) and not model.value(node.value).kind & Kind.TENSOR
