"""What a trainer of Lightning keeps of each step: all that `training_step` returns, for `training_epoch_end`."""

from __future__ import annotations

import libcst as cst

from torchlint.model.classes import class_of, find_method
from torchlint.model.context import Context
from torchlint.model.expressions import value_of
from torchlint.model.graphs.scaled import may_have_graph
from torchlint.model.modes import grad_enabled
from torchlint.model.possibilities import Kind, Tri
from torchlint.model.syntax import last_name, parameters
from torchlint.model.values import Strength


def kept_of_step(context: Context, node: cst.Return) -> list[cst.BaseExpression]:
    """What a `training_step` returns beside the loss with its graph, if the trainer keeps that for a whole epoch."""
    function = context.scopes.scope_of(node)
    if not isinstance(node.value, cst.Dict) or not isinstance(function, cst.FunctionDef):
        return []
    if function.name.value != "training_step" or not _wants_outputs(context, function):
        return []
    if grad_enabled(context, node) != Tri.YES:
        return []
    entries = (each for each in node.value.elements if isinstance(each, cst.DictElement))
    return [each.value for each in entries if not _is_loss(each.key) and _has_graph(context, each.value)]


def _wants_outputs(context: Context, step: cst.FunctionDef) -> bool:
    cls = class_of(context, step)
    end = find_method(context, cls, "training_epoch_end") if cls is not None else None
    return isinstance(end, cst.FunctionDef) and len(list(parameters(end))) > 1


def _is_loss(key: cst.BaseExpression) -> bool:
    """Whether it is what the trainer sends back and detaches."""
    return isinstance(key, cst.SimpleString) and key.evaluated_value == "loss"


def _has_graph(context: Context, node: cst.BaseExpression) -> bool:
    """Whether it is a tensor with a graph, by what it is or by what it is called."""
    value = value_of(context, node)
    if not may_have_graph(value) or value.kind & ~(Kind.TENSOR | Kind.UNKNOWN):
        return False
    if value.kind == Kind.TENSOR and value.grad == Tri.YES and (value.strength or Strength.NAME) > Strength.NAME:
        return True
    return isinstance(node, (cst.Name, cst.Attribute)) and "loss" in last_name(node).lower()
