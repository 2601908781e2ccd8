"""What the table knows that has no name of its own: contexts of autograd functions, iterators, called modules."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.model import Kind, Model
from torchlint.rules.api import sites
from torchlint.rules.api.table import Row


def methods(model: Model, rule: str) -> Iterator[tuple[cst.Attribute, Row]]:
    """Attributes of objects of torch, the contexts of autograd functions and the iterators of loaders included."""
    yield from sites.methods(model, rule)
    rows = sites.row_uses(model, rule, ("context", "iterator", "called-module"))
    if not rows:
        return
    for node in model.tree.parsed(cst.Attribute):
        for row in rows.get(node.attr.value, ()):
            if _is(row, node, model) and not sites.is_guarded(node, model):
                yield node, row


def _is(row: Row, node: cst.Attribute, model: Model) -> bool:
    if not sites.is_read(node, model):
        return False
    match row.kind:
        case "context":
            return is_context(node.value, model)
        case "iterator":
            return _is_called_plainly(node, model) and is_iterator(node.value, model)
        case "called-module":
            parent = model.tree.parent(node)
            found = sites.resolve(node, model)
            return isinstance(parent, cst.Call) and parent.func is node and found is not None and found[0] == row.name
    return False


def is_context(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is the first argument of the methods of an autograd function."""
    function = model.tree.enclosing(node, cst.FunctionDef)
    if not isinstance(node, cst.Name) or not isinstance(function, cst.FunctionDef):
        return False
    if function.name.value not in ("forward", "backward", "setup_context", "vjp", "jvp"):
        return False
    cls = model.class_of(function)
    params = [*function.params.posonly_params, *function.params.params]
    return (
        cls is not None and model.class_kind(cls) == "function" and bool(params) and params[0].name.value == node.value
    )


def _is_called_plainly(node: cst.Attribute, model: Model) -> bool:
    parent = model.tree.parent(node)
    return isinstance(parent, cst.Call) and parent.func is node and not parent.args


def is_iterator(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is `iter(loader)`, on the spot or by a name that is nothing else."""
    match node:
        case cst.Call(func=cst.Name("iter"), args=[cst.Arg(value=loader)]):
            return model.value(loader).kind == Kind.LOADER
        case cst.Name(value=name):
            bound = model.bindings_of(name, node)
            return bool(bound) and all(_binds_iterator(target, model) for target in bound)
    return False


def _binds_iterator(target: cst.Name, model: Model) -> bool:
    assign = model.tree.parent(model.tree.parent(target) or target)
    if not isinstance(assign, cst.Assign) or not isinstance(assign.value, cst.Call):
        return False
    return is_iterator(assign.value, model)
