"""Whether an expression may make a tensor with a graph where it is evaluated, and not only name one that is there."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Kind, Model, Tri
from torchlint.model.syntax import without_brackets
from torchlint.model.torch import library
from torchlint.model.torch.schema import TensorResult


def may_carry_graph(node: cst.BaseExpression, model: Model) -> bool:
    """Whether what an expression stands for may have a graph, or hold something that does."""
    value = model.value(node)
    if value.kind == Kind.TENSOR:
        return value.grad != Tri.NO
    return bool(value.kind & (Kind.UNKNOWN | Kind.TENSOR | Kind.CONTAINER))


def is_new(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression may make a tensor with a graph, and not only name one that is there."""
    match without_brackets(node):
        case cst.Attribute(attr=cst.Name(value=name)):
            return _is_view(name) and may_carry_graph(node, model)
        case cst.Name():
            return False
        case cst.StarredElement(value=whole):
            return may_carry_graph(whole, model)
        case cst.Subscript(value=owner):
            value = model.value(owner)
            return is_new(owner, model) or (value.is_tensor and value.grad != Tri.NO)
        case cst.Tuple(elements=elements) | cst.List(elements=elements) | cst.Set(elements=elements):
            parts = (each if isinstance(each, cst.StarredElement) else each.value for each in elements)
            return any(is_new(part, model) for part in parts)
        case cst.IfExp(body=body, orelse=orelse):
            return is_new(body, model) or is_new(orelse, model)
        case cst.BooleanOperation(left=left, right=right):
            return is_new(left, model) or is_new(right, model)
        case cst.Call(func=func) if model.qualified(func) == "builtins.getattr":
            return False
    return may_carry_graph(node, model)


def _is_view(attribute: str) -> bool:
    """Whether an attribute of a tensor is another tensor with its graph: ``w.T``."""
    known = library.attribute(attribute)
    return isinstance(known, TensorResult) and known.grad == "follow"


def may_be_computed(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an attribute may be a property that computes a tensor, or a parameter that is made of others."""
    node = without_brackets(node)
    if not isinstance(node, cst.Attribute) or library.attribute(node.attr.value) is not None:
        return False
    return may_carry_graph(node, model)
