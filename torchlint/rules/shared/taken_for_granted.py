"""What an author takes for granted to have no graph: no fix rests on it, but nothing is said of a graph there."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Kind, Model, Tri
from torchlint.model.modes import is_made_without_grad
from torchlint.model.syntax import dotted


def is_without_graph(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is made of a batch or of what calls under `no_grad` gave, and of nothing with a graph.

    Such a call may hand back a parameter, and another file may assign to the attribute in which a batch is kept.
    """
    for at in _receivers(node, model):
        if model.ask(is_made_without_grad, at) or _is_kept_without_graph(at, model):
            return True
    return False


def _receivers(node: cst.BaseExpression, model: Model) -> list[cst.BaseExpression]:
    """An expression, and what its methods are called on and its parts are taken from, without what has a graph."""
    found = [node]
    while True:
        match node:
            case cst.Call(func=cst.Attribute(value=inner), args=args):
                if not all(_has_no_graph(arg.value, model) for arg in args):
                    return found
            case cst.Attribute(value=inner) | cst.Subscript(value=inner):
                pass
            case _:
                return found
        node = inner
        found.append(node)


def _has_no_graph(node: cst.BaseExpression, model: Model) -> bool:
    value = model.value(node)
    return value.grad == Tri.NO or not value.kind & (Kind.TENSOR | Kind.UNKNOWN)


def _is_kept_without_graph(node: cst.BaseExpression, model: Model) -> bool:
    """Whether all that the function assigns to an attribute has no graph: ``dataset.images, _ = batch``."""
    path = dotted(node) if isinstance(node, cst.Attribute) else None
    if path is None or not isinstance(node, cst.Attribute):
        return False
    scope = model.scopes.scope_of(node)
    same = (each for each in model.tree.attributes(node.attr.value) if model.is_target(each) and dotted(each) == path)
    given = [model.value(each) for each in same if model.scopes.scope_of(each) is scope]
    return bool(given) and all(value.grad == Tri.NO for value in given)
