"""What makes nothing but integers, booleans and indices of a tensor, and so nothing with a graph."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Dtype, Kind, Model
from torchlint.model.aliasing.here import only_metadata
from torchlint.model.bindings import own_references
from torchlint.model.overriding import always, is_replaced
from torchlint.model.standing import stands
from torchlint.model.syntax import chain, has_stars, keyword, last_name
from torchlint.model.torch import library
from torchlint.model.torch.schema import TorchResult, may_alias
from torchlint.rules.shared import compared, memory
from torchlint.rules.shared.arguments import parameter_of
from torchlint.rules.shared.captured import is_captured


def gives_no_graph(node: cst.BaseExpression, model: Model) -> bool:
    """Whether integers or booleans are made of what is read: on the spot, or by the function that it is given to."""
    return _is_made_discrete(node, model) or _is_given_to_one(node, model)


def _is_made_discrete(node: cst.BaseExpression, model: Model) -> bool:
    """Whether they are made on the spot: ``x.data.max(1)[1]``, ``x.data > 0``, ``torch.min(x.data) > 0``."""
    whole: cst.CSTNode = node
    for name, outer in chain(node, model.tree):
        if isinstance(outer, cst.Call) and (memory.is_inplace(name) or library.method(name) is None):
            return False
        if isinstance(outer, cst.Call) and library.leaves_torch(name):
            return False
        if isinstance(outer, cst.Attribute) and not memory.shares(name, outer):
            return False
        if _is_discrete(outer, model) or (isinstance(outer, cst.Call) and library.is_discrete(name)):
            return True
        if isinstance(outer, cst.Call) and (name in _COMPARING or _gives_only_indices(outer, model)):
            return True
        whole = outer
    parent = model.tree.parent(whole)
    match parent:
        case cst.ComparisonTarget() if isinstance(comparison := model.tree.parent(parent), cst.Comparison):
            return _is_made_by(comparison, model)
        case cst.Comparison():
            return _is_made_by(parent, model)
        case cst.Arg(keyword=None, star="") if isinstance(call := model.tree.parent(parent), cst.Call):
            if _compares(call, model) or _gives_only_indices(call, model):
                return True
            result = result_of(call, model)
            if result is None or may_alias(result) or has_stars(call.args) or keyword(call.args, "out") is not None:
                return False
            index = model.tree.parent(call)
            is_taken = isinstance(index, cst.Subscript) and index.value is call and _is_discrete(index, model)
            return is_taken or _is_discrete(call, model) or _is_made_discrete(call, model)
    return False


_COMPARING = frozenset(("equal", "allclose"))
"""Methods, and functions of torch, that compare two tensors and give a truth value."""


def _compares(call: cst.Call, model: Model) -> bool:
    """Whether tensors are only compared: ``torch.equal(x.data, y.data)``."""
    match call.func:
        case cst.Attribute(value=owner, attr=cst.Name(value=name)) if name in _COMPARING and model.is_tensor(owner):
            return True
    name = model.qualified(call.func) or ""
    return name == "torch.testing.assert_close" or name.removeprefix("torch.") in _COMPARING


def _gives_only_indices(call: cst.Call, model: Model) -> bool:
    """Whether of the values and indices that are computed only the latter are used: ``_, best = x.data.max(1)``."""
    match model.tree.parent(call):
        case cst.Assign(
            targets=[
                cst.AssignTarget(target=cst.Tuple(elements=[cst.Element(value=cst.Name(value=unused) as target), _]))
            ]
        ) if unused.startswith("_") and memory.gives_two(call, model):
            scope = model.scopes.scope_of(target)
            if not isinstance(scope, cst.FunctionDef) or not _is_along_dimension(call, model):
                return False
            is_its_own = target in model.ask(own_references, unused, scope) and not is_captured(model, unused, scope)
            return is_its_own and all(map(model.is_target, model.references(unused, scope)))
    return False


def _is_along_dimension(call: cst.Call, model: Model) -> bool:
    """Whether no argument beside the tensor can be a second one: of two `max` gives elements and no indices."""
    if last_name(call.func) not in ("max", "min"):
        return True
    is_method = isinstance(call.func, cst.Attribute) and compared.can_be_tensor(call.func.value, model)
    others = [arg for arg in call.args if arg.keyword is None][0 if is_method else 1 :]
    return all(not model.value(arg.value).kind & ~Kind.NUMBER for arg in others)


def _is_given_to_one(node: cst.BaseExpression, model: Model) -> bool:
    """Whether a function of the project makes nothing else of what it is given: ``accuracy(out.data, target)``."""
    arg = model.tree.parent(node)
    call = model.tree.parent(arg) if isinstance(arg, cst.Arg) else None
    found = parameter_of(call, arg, model) if isinstance(call, cst.Call) and isinstance(arg, cst.Arg) else None
    if found is None or not isinstance(call, cst.Call) or model.value(call.func).choices:
        return False
    return model.home(found[0]).remember(_take_no_values, *found)


def _take_no_values(model: Model, function: cst.FunctionDef, name: str) -> bool:
    """The same of a parameter of a function, and of all that may be called in its place."""
    if not model.ask(stands, function) or model.ask(is_replaced, function):
        return False
    return model.ask(always, function, lambda each: model.home(each).remember(_makes_no_values, each, name))


def _makes_no_values(model: Model, function: cst.FunctionDef, name: str) -> bool:
    """Whether a function makes nothing but integers and booleans of one of its parameters."""
    uses = [use for use in model.ask(own_references, name, function) if model.tree.is_inside(use, function.body)]
    is_seen = bool(uses) and not function.decorators and not is_captured(model, name, function)
    return is_seen and not any(
        model.is_target(use) or not (model.ask(only_metadata, use) or _is_made_discrete(use, model)) for use in uses
    )


def result_of(call: cst.Call, model: Model) -> TorchResult | None:
    """What a function of torch gives, or a method of something that is known to be a tensor."""
    match call.func:
        case cst.Attribute(value=owner, attr=cst.Name(value=name)) if model.value(owner).is_tensor:
            return library.method(name)
    return library.function(model.qualified(call.func) or "")


def _is_made_by(comparison: cst.Comparison, model: Model) -> bool:
    return not model.remember(asks_for_identity, comparison) and _is_discrete(comparison, model)


def _is_discrete(node: cst.CSTNode, model: Model) -> bool:
    value = model.value(node)
    return value.is_tensor and not value.dtype & Dtype.FLOAT


def asks_for_identity(_: Model, comparison: cst.Comparison) -> bool:
    """Whether anything in a comparison, which may have thousands of parts, is not about values."""
    operators = (target.operator for target in comparison.comparisons)
    return any(isinstance(each, (cst.Is, cst.IsNot, cst.In, cst.NotIn)) for each in operators)
