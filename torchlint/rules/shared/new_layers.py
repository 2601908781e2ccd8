"""Parameters of layers that a function has just made, and so nobody has computed with: ``emb = nn.Embedding(9, 3)``."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Model
from torchlint.model.bindings import bound_value
from torchlint.model.torch import library
from torchlint.rules.shared.lifetimes import comes_first
from torchlint.rules.shared.order import loops_around

_MANY = 12
"""A layer with more uses is not followed."""
_TAKING_WEIGHTS = "Embedding"
"""Layers of such a name take a tensor that becomes their parameter."""
_PLAIN = frozenset(("data", "size", "shape", "dtype", "device", "numel", "dim", "ndim", "requires_grad"))
"""What of a parameter can be asked, or written through, without that autograd saves it."""


def is_of_one(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is a parameter of a layer that is only written to from where it is made to there."""
    scope = model.scopes.scope_of(node)
    match node:
        case cst.Attribute(value=cst.Name() as name) if isinstance(scope, cst.FunctionDef):
            return _is_new(name, scope, model)
    return False


def _is_new(name: cst.Name, scope: cst.FunctionDef, model: Model) -> bool:
    targets, names = model.targets(name.value, scope), model.references(name.value, scope)
    if len(targets) != 1 or len(names) > _MANY:
        return False
    if model.scopes.rebinders(scope, name.value) or not comes_first(targets[0], name, model):
        return False
    made = bound_value(targets[0], model.tree)
    if not isinstance(made, cst.Call) or any(model.is_tensor(arg.value) for arg in made.args):
        return False
    ref = model.qualified(made.func) or ""
    if library.module_info(ref) is None or (_TAKING_WEIGHTS in ref and any(arg.star for arg in made.args)):
        return False
    order, loops = model.tree.order, list(loops_around(name, model))
    begun = [each for each in loops if not model.tree.is_inside(targets[0], each)]
    uses = [
        use
        for use in names
        if use is not targets[0] and (order(use) < order(name) or any(model.tree.is_inside(use, at) for at in begun))
    ]
    return all(_only_writes(use, model) for use in uses)


def _only_writes(use: cst.Name, model: Model) -> bool:
    """Whether a parameter of a layer is written to where the layer's name stands, or asked for its shape."""
    parameter = model.tree.parent(use)
    if not isinstance(parameter, cst.Attribute) or model.is_target(parameter):
        return False
    match model.tree.parent(parameter):
        case cst.Attribute(attr=cst.Name(value=name)):
            return name in _PLAIN
        case cst.Subscript() as part:
            return model.is_target(part)
        case cst.Arg() as arg:
            call = model.tree.parent(arg)
            return isinstance(call, cst.Call) and (model.qualified(call.func) or "").startswith("torch.nn.init.")
    return False
