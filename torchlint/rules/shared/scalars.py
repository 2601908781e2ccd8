"""Which ``x.data[0]`` asks a 0-dim tensor for its number, as it was done before PyTorch 0.4."""

from __future__ import annotations

import re

import libcst as cst

from torchlint.model import Dtype, Kind, Model, Ndim, Value, bindings
from torchlint.model.syntax import assigned_value, calls_method, chain, ending_name, integer, last_name
from torchlint.model.torch import library
from torchlint.rules.shared.as_number import is_made_number, is_with_number
from torchlint.rules.shared.lifetimes import targets_of

_SCALAR_NAME = re.compile(
    r"loss|err(or)?[dg]?(_|\d|$)|cost|(^|_)(acc|accuracy|prec\d?|top\d|norm|nll|kld?|kl|bce|mse|mae|ppl|perplexity|elbo|reward|"
    r"score|dist|entropy|correct|penalty|iou|dice|auc|psnr|ssim|correct|d_x|d_g_z\d?|total|objective|value)(\d|_|$)",
    re.IGNORECASE,
)


def scalar_index(node: cst.CSTNode, model: Model) -> cst.Subscript | None:
    """The ``[0]`` of ``x.data[0]``, ``x.data.cpu()[0]``, ``x.data.double().numpy()[0]``."""
    for name, outer in chain(node, model.tree):
        if name == "[]" and isinstance(outer, cst.Subscript):
            return outer if is_zero_index(outer) else None
        is_widened = name in ("float", "double") and model.value(node).dtype == Dtype.FLOAT
        if not (is_widened or name in ("cpu", "numpy", "cuda", "detach")) or not isinstance(outer, cst.Call):
            return None
    return None


def is_zero_index(node: cst.Subscript) -> bool:
    """Whether a subscript is a literal ``[0]``, however that is spelled: ``[0x0]``, ``[False]``."""
    match node.slice:
        case [cst.SubscriptElement(slice=cst.Index(value=index, star=None))]:
            return integer(index) == 0 or is_false(node)
    return False


def is_false(node: cst.Subscript) -> bool:
    """Whether a subscript is ``[False]``, which of a 0-dim tensor gives an empty one and does not raise."""
    match node.slice:
        case [cst.SubscriptElement(slice=cst.Index(value=cst.Name("False"), star=None))]:
            return True
    return False


def is_read(node: cst.Attribute, model: Model) -> bool:
    """Whether the first element of ``err.data`` is used as a number, of what is called like a loss or made of that."""
    is_named = isinstance(node.value, (cst.Name, cst.Attribute)) and bool(_SCALAR_NAME.search(ending_name(node.value)))
    if not is_named and not _is_made_of_scalars(node.value, model):
        return False
    index = scalar_index(node, model)
    if index is None or _has_elements(node.value, model):
        return False
    return is_made_number(index, model) or is_with_number(index, model)


def is_number_of_call(node: cst.Attribute, model: Model) -> bool:
    """Whether the first element of ``gap.data`` is used as a number, where a call made ``gap`` of a tensor."""
    name = node.value
    if not isinstance(name, cst.Name) or (index := scalar_index(node, model)) is None:
        return False
    targets = model.targets(name.value, model.scopes.scope_of(name))
    made = [bindings.bound_value(each, model.tree) or bindings.unpacked_from(each, model.tree) for each in targets]
    if not made or not all(isinstance(each, cst.Call) and _is_given_tensor(each, model) for each in made):
        return False
    if _has_elements(name, model):
        return False
    is_used = is_made_number(index, model) or is_with_number(index, model) or _has_name_of_number(index, model)
    return is_used or _is_number_elsewhere(name, model)


def _is_given_tensor(call: cst.Call, model: Model) -> bool:
    return any(not arg.star and model.is_tensor(arg.value) for arg in call.args)


_WHOLE = frozenset(("sum", "mean", "prod", "max", "min", "std", "var", "norm", "median"))
"""Methods that make one number of all elements if they are given no argument."""


def is_reduced(node: cst.BaseExpression) -> bool:
    """Whether an expression reduces something to one number: ``(x == y).sum()``, ``x.float().mean()``.

    Of what is no tensor that has no ``data`` with a first element.
    """
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and _is_widened(node):
        node = node.func.value
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=name)), args=[]):
            return name in _WHOLE
    return False


def _is_widened(node: cst.BaseExpression) -> bool:
    return calls_method(node, ("float", "double", "cpu", "cuda"))


def may_be_scalar(node: cst.BaseExpression, model: Model) -> bool:
    """Whether what a file does with names makes it worthwhile to ask the model if one of them is 0-dim.

    Indexed names are everywhere, and to know what one is a whole function has to be interpreted.
    """
    name = ending_name(node)
    return bool(_SCALAR_NAME.search(name)) or model.remember(_is_reduced, name)


def _is_reduced(model: Model, name: str) -> bool:
    """Whether a name or attribute is added to, or assigned what a reduction may have returned."""
    for node in model.all_called(name):
        match model.tree.parent(node):
            case cst.AugAssign(target=target) if target is node:
                return True
            case cst.AssignTarget() as target_:
                assign = model.tree.parent(target_)
                if isinstance(assign, cst.Assign) and _is_reduction(assign.value):
                    return True
    return False


def _is_reduction(node: cst.BaseExpression) -> bool:
    """Whether an expression has a call in it of what can reduce a tensor to one number."""
    match node:
        case cst.Call(func=func):
            name = ending_name(func)
            if name in library.reductions() or name == "criterion" or _SCALAR_NAME.search(name):
                return True
            return isinstance(func, cst.Attribute) and _is_reduction(func.value)
        case cst.BinaryOperation(left=left, right=right):
            return _is_reduction(left) or _is_reduction(right)
        case cst.UnaryOperation(expression=value) | cst.Attribute(value=value) | cst.Subscript(value=value):
            return _is_reduction(value)
    return False


def is_scalar(value: Value, node: cst.BaseExpression, index: cst.Subscript, model: Model) -> bool:
    """Whether ``value`` is 0-dim, or is a scalar by its name and the number is used as one."""
    if value.kind & Kind.TENSOR and (value.ndim == Ndim.ZERO or not value.ndim & Ndim.ZERO):
        return value.ndim == Ndim.ZERO
    parent = model.tree.parent(index)
    if isinstance(parent, (cst.Subscript, cst.Attribute)) and parent.value is index:
        return False
    if isinstance(parent, (cst.For, cst.CompFor)) and parent.iter is index:
        return False
    if _is_several(node, model):
        return False
    if isinstance(parent, cst.AugAssign) and parent.value is index and _begins_as_number(parent.target, model):
        return True
    if value.evidence is not None and value.evidence.text.endswith("sounds like a loss"):
        return True  # and not what else is only likely to be a tensor: of a network's output it is a row
    if (is_made_number(index, model) or _has_name_of_number(index, model)) and not _has_elements(node, model):
        return True
    if is_reduced(node) or _is_place(node, model):
        return True
    if _begins_reduced(node, model) and _is_given_on(node, index, model) and not _has_elements(node, model):
        return True
    if _is_one_draw(value, model) and _is_given_on(node, index, model):
        return True
    if _is_made_of_scalars(node, model) or _is_number_elsewhere(node, model):
        return True
    return bool(_SCALAR_NAME.search(ending_name(node))) or "backward" in _attributes_of(node, model)


def _begins_reduced(node: cst.BaseExpression, model: Model) -> bool:
    """Whether a name is assigned one number on one path: ``avg = r.mean()``, ``epe = args.scale * error(x, y)``."""
    if not isinstance(node, cst.Name):
        return False
    targets = model.targets(node.value, model.scopes.scope_of(node))
    made = (bindings.bound_value(target, model.tree) for target in targets)
    return any(each is not None and (is_reduced(each) or _is_scaled(each, model)) for each in made)


def _is_scaled(node: cst.BaseExpression, model: Model) -> bool:
    """Whether a 0-dim tensor is multiplied by what nobody says to be a tensor."""
    match node:
        case cst.BinaryOperation(left=left, operator=cst.Multiply() | cst.Divide(), right=right):
            values = model.value(left), model.value(right)
            is_known = any(each.is_tensor and each.ndim == Ndim.ZERO for each in values)
            return is_known and any(not each.kind & Kind.TENSOR for each in values)
    return False


def _is_made_of_scalars(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is made of nothing but what is called like a scalar, and factors: ``a * loss - err``."""
    match node:
        case cst.BinaryOperation(left=left, operator=cst.Add() | cst.Subtract(), right=right):
            terms = [each for each in (left, right) if model.value(each).kind != Kind.NUMBER]
            return bool(terms) and all(_is_term(each, model) for each in terms)
        case cst.BinaryOperation(operator=cst.Multiply() | cst.Divide()):
            return _is_term(node, model)
    return False


def _is_term(node: cst.BaseExpression, model: Model) -> bool:
    match node:
        case cst.BinaryOperation(left=left, operator=cst.Multiply() | cst.Divide(), right=right):
            return any(
                _is_term(one, model) and not model.value(other).is_tensor
                for one, other in ((left, right), (right, left))
            )
        case cst.BinaryOperation():
            return _is_made_of_scalars(node, model)
        case cst.UnaryOperation(operator=cst.Minus(), expression=operand):
            return _is_term(operand, model)
        case cst.Name() | cst.Attribute():
            value = model.value(node)
            may_be = not value.kind & Kind.TENSOR or bool(value.ndim & Ndim.ZERO)
            return may_be and bool(_SCALAR_NAME.search(ending_name(node))) and not _has_elements(node, model)
    return False


def is_sum_of_scaled(node: cst.BaseExpression, model: Model) -> bool:
    """Whether a name is a number to which scalars are added, each times what nobody says to be a tensor."""
    if not isinstance(node, cst.Name) or _has_elements(node, model):
        return False
    scope = model.scopes.scope_of(node)
    added = [each for each in model.tree.within(scope, cst.AugAssign) if _is_called(each.target, node.value)]
    begun = [bindings.bound_value(target, model.tree) for target in model.targets(node.value, scope)]
    rest = [each for each in begun if each is not None]
    is_begun = bool(rest) and all(model.value(each).kind == Kind.NUMBER for each in rest)
    is_added = all(isinstance(each.operator, cst.AddAssign) and _is_scaled(each.value, model) for each in added)
    return bool(added) and is_begun and is_added


def _is_called(node: cst.BaseExpression, name: str) -> bool:
    return isinstance(node, cst.Name) and node.value == name


def _is_place(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is a place in a matrix, or in a list of vectors: ``x[i, j]``, ``xs[t][i]``."""
    if not isinstance(node, cst.Subscript):
        return False
    keys = [each.slice.value for each in node.slice if isinstance(each.slice, cst.Index)]
    is_deep = len(keys) > 1 or isinstance(node.value, cst.Subscript)
    return is_deep and len(keys) == len(node.slice) and all(model.value(key).kind == Kind.NUMBER for key in keys)


def _has_name_of_number(index: cst.Subscript, model: Model) -> bool:
    """Whether a name is assigned an element that is used as a number by that name: ``k = k.data[0]``, ``min(k, 1)``."""
    order = model.tree.order
    for target in targets_of(index, model):
        uses = (
            use for use in model.references(target.value, model.scopes.scope_of(target)) if order(use) > order(index)
        )
        if any(is_made_number(use, model) or is_with_number(use, model) for use in uses):
            return True
    return False


def _is_number_elsewhere(node: cst.BaseExpression, model: Model) -> bool:
    """Whether the first element of what a name stands for is used as a number at another place of its function."""
    if not isinstance(node, cst.Name):
        return False
    return model.remember(_is_used_as_number, node.value, model.scopes.scope_of(node))


def _is_used_as_number(model: Model, name: str, scope: cst.FunctionDef | cst.Module) -> bool:
    uses = model.references(name, scope)
    reads = [up for use in uses if isinstance(up := model.tree.parent(use), cst.Attribute) and up.attr.value == "data"]
    indices = [index for read in reads if (index := scalar_index(read, model)) is not None]
    if not indices or len(model.targets(name, scope)) > 1 or _has_elements(uses[0], model):
        return False
    return any(is_made_number(each, model) or _has_name_of_number(each, model) for each in indices)


def _begins_as_number(target: cst.BaseExpression, model: Model) -> bool:
    """Whether what is added to is a number, or was one before that: ``total = 0.0`` and then ``total += …``."""
    if model.value(target).kind & Kind.NUMBER:
        return True
    bound = model.bindings_of(target.value, target) if isinstance(target, cst.Name) else []
    return bool(bound) and all(model.value(each).kind == Kind.NUMBER for each in bound)


def _is_len(call: cst.Call) -> bool:
    return isinstance(call.func, cst.Name) and call.func.value == "len"


def _has_elements(node: cst.BaseExpression, model: Model) -> bool:
    """Whether other elements are asked for as well, or a reduction over a dimension has left some.

    That gives values and indices, of which a name is one: ``values, indices = x.max(1)``.
    """
    code = model.tree.code(node)
    names = (code, f"{code}.data", f"{code}.detach()")
    scope = model.scopes.scope_of(node)
    for other in model.tree.within(scope, cst.Subscript):
        if not is_zero_index(other) and model.tree.code(other.value) in names:
            return True
    iterated = [loop.iter for loop in model.tree.within(scope, cst.For)]
    iterated += [loop.iter for loop in model.tree.within(scope, cst.CompFor)]
    iterated += [arg.value for call in model.tree.within(scope, cst.Call) if _is_len(call) for arg in call.args]
    if any(model.tree.code(each) in names for each in iterated):
        return True
    return isinstance(node, cst.Name) and any(
        isinstance(model.tree.parent(target), cst.Element) and _may_have_left_some(target, model)
        for target in model.bindings_of(node.value, node)
    )


def _may_have_left_some(target: cst.Name, model: Model) -> bool:
    """Whether a name is one of several that torch, a network or something else than a call gave."""
    if bindings.bound_value(target, model.tree) is not None:
        return False
    match bindings.unpacked_from(target, model.tree):
        case cst.Call(func=func):
            is_of_torch = library.is_function(model.qualified(func) or "") or model.value(func).kind == Kind.MODULE
            return is_of_torch or library.method(last_name(func)) is not None
    return True


_CHOICES = frozenset(("torch.distributions.Categorical", "torch.distributions.Bernoulli"))


def _is_one_draw(value: Value, model: Model) -> bool:
    """Whether a value is what one draw from a distribution over choices gave: the action of an agent."""
    match value.evidence.node if value.evidence is not None else None:
        case cst.Call(func=cst.Attribute(value=drawn_from, attr=cst.Name("sample")), args=[]) as call:
            return model.tree.parent(call) is not None and model.value(drawn_from).ref in _CHOICES
    return False


def _is_given_on(node: cst.BaseExpression, index: cst.Subscript, model: Model) -> bool:
    """Whether ``x.data[0]``, or with a transfer between, is returned or an argument of what is not of torch."""
    if any(name == "numpy" for name, _ in chain(node, model.tree)):
        return False
    parent = model.tree.parent(index)
    match parent:
        case cst.Return():
            return True
        case cst.Arg():
            call = model.tree.parent(parent)
            return isinstance(call, cst.Call) and not (model.qualified(call.func) or "").startswith("torch.")
    return False


def _attributes_of(node: cst.BaseExpression, model: Model) -> set[str]:
    """Attributes accessed on a name in its scope."""
    if not isinstance(node, cst.Name):
        return set()
    found = set()
    for use in model.references(node.value, model.scopes.scope_of(node)):
        parent = model.tree.parent(use)
        if isinstance(parent, cst.Attribute):
            found.add(parent.attr.value)
    return found


def _is_several(node: cst.BaseExpression, model: Model) -> bool:
    """Whether who computed a value expects several elements, though it may have none but one.

    The last dimension is called by that name, or the loss is asked for of each sample.
    """
    match node:
        case cst.Name():
            bound = [assigned_value(at, model.tree) for at in model.bindings_of(node.value, node)]
            values = [value for value in bound if value is not None]
            return bool(bound) and len(values) == len(bound) and all(_is_several(v, model) for v in values)
        case cst.Call(func=func, args=args):
            given = [(arg.keyword.value if arg.keyword is not None else None, arg.value) for arg in args]
            if any(name in (None, "dim", "axis") and integer(value) == -1 for name, value in given):
                return last_name(func) in library.reductions()
            given += [(made.keyword, made.node) for made in model.value(func).bound or ()]
            return any(map(_asks_for_each, given))
    return False


def _asks_for_each(argument: tuple[str | None, cst.BaseExpression]) -> bool:
    match argument:
        case "reduction", cst.SimpleString() as word:
            return word.raw_value == "none"
        case "reduce", cst.Name("False"):
            return True
    return False
