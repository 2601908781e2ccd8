"""Parameters that are known to be a number, or a tensor without a graph, by their use: torch takes no others there."""

from __future__ import annotations

from bisect import bisect_left

import libcst as cst

from torchlint.model import Model, Strength
from torchlint.model.syntax import parameters
from torchlint.rules.shared.order import is_always_before

_NEAR = 6
"""How many uses of a parameter are looked at."""
_FILLING = frozenset(("random_", "uniform_", "normal_", "exponential_", "geometric_", "cauchy_", "log_normal_"))
"""Methods that take numbers and refuse what requires grad."""
_SIZED = frozenset(("zeros", "ones", "empty", "rand", "randn", "eye", "randperm"))
"""Functions of torch whose arguments are sizes."""
_ARITHMETIC = (cst.Add, cst.Subtract, cst.Multiply, cst.Divide)


def needs_no_graph(node: cst.Name, function: cst.FunctionDef, model: Model) -> bool:
    """Whether whoever comes to the name of a parameter has come by where it would have raised if it required grad."""
    if node.value not in {each.name.value for each in parameters(function)}:
        return False
    if model.targets(node.value, function) or model.scopes.rebinders(function, node.value):
        return False
    if not _is_own(node, function, model):
        return False
    uses = model.references(node.value, function)
    place = bisect_left(uses, model.tree.order(node), key=model.tree.order)
    return any(_is_refused(use, node, function, model) for use in uses[max(0, place - _NEAR) : place])


def _is_refused(use: cst.Name, node: cst.Name, function: cst.FunctionDef, model: Model) -> bool:
    """Whether a use before a node would have raised if the name had a tensor that requires grad."""
    taker = _taker(use, model)
    if taker is None or model.tree.is_inside(node, taker) or not _is_own(use, function, model):
        return False
    return is_always_before(use, node, model)


def _is_own(node: cst.Name, function: cst.FunctionDef, model: Model) -> bool:
    """Whether nothing in a function has names of its own around a name."""
    around = (cst.Lambda, cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp, cst.FunctionDef, cst.ClassDef)
    return model.tree.enclosing(node, *around) is function


def _taker(use: cst.Name, model: Model) -> cst.Call | None:
    """The call that takes a name, or a sum or product with it, and refuses what requires grad."""
    whole: cst.CSTNode = use
    while isinstance(up := model.tree.parent(whole), (cst.BinaryOperation, cst.UnaryOperation)):
        operator = up.operator
        if not isinstance(operator, (*_ARITHMETIC, cst.Minus)):
            return None
        whole = up
    arg = model.tree.parent(whole)
    call = model.tree.parent(arg) if isinstance(arg, cst.Arg) else None
    if not isinstance(arg, cst.Arg) or not isinstance(call, cst.Call) or arg.star or arg.keyword is not None:
        return None
    return call if _refuses_graphs(call.func, model) else None


def _refuses_graphs(func: cst.BaseExpression, model: Model) -> bool:
    """Whether a function or method takes numbers, and no tensor that requires grad."""
    ref = model.qualified(func)
    if ref is not None:
        return ref == "builtins.range" or (ref.startswith("torch.") and ref.removeprefix("torch.") in _SIZED)
    if not isinstance(func, cst.Attribute) or func.attr.value not in _FILLING:
        return False
    value = model.value(func.value)
    return value.is_tensor and (value.strength or Strength.NAME) > Strength.USE
