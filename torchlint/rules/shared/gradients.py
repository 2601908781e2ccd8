"""Gradients that a later ``backward()`` still needs: what is written in place to one of them must be counted."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.model import Kind, Model, Tri
from torchlint.rules.shared import data_sites


def are_saved(model: Model) -> bool:
    """Whether some result of a file that may require grad is computed with a gradient, which it then has saved."""
    return model.remember(_are_saved)


def _are_saved(model: Model) -> bool:
    return any(_is_saved(place, model) for node in model.tree.attributes("grad") for place in _places(node, model))


def _places(node: cst.Attribute, model: Model) -> Iterator[cst.BaseExpression]:
    """Where a gradient is used: there, or by the name that it is given."""
    whole = _same_memory(node, model)
    yield whole
    match model.tree.parent(whole):
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name) as target)]):
            for use in model.references(name, model.scopes.scope_of(target)):
                yield _same_memory(use, model)


def _same_memory(node: cst.BaseExpression, model: Model) -> cst.BaseExpression:
    """All of an expression that gives the same memory: ``w.grad.data[0]``."""
    whole = node
    for name, outer in data_sites.chain(node, model):
        if name != "[]" and not data_sites.aliases(name, outer):
            break
        assert isinstance(outer, cst.BaseExpression)
        whole = outer
    return whole


def _is_saved(node: cst.BaseExpression, model: Model) -> bool:
    if model.grad_enabled(node) == Tri.NO:
        return False
    match model.tree.parent(node):
        case cst.BinaryOperation() as operation:
            return _may_require_grad(operation, model)
        case cst.Arg() as arg:
            call = model.tree.parent(arg)
            return isinstance(call, cst.Call) and _may_require_grad(call, model)
    return False


def _may_require_grad(node: cst.BaseExpression, model: Model) -> bool:
    value = model.value(node)
    if value.kind & Kind.TENSOR:
        return value.grad != Tri.NO
    return bool(value.kind & Kind.UNKNOWN) and not isinstance(model.tree.parent(node), cst.Expr)
