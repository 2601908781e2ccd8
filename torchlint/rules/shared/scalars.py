"""Which ``x.data[0]`` asks a 0-dim tensor for its number, as it was done before PyTorch 0.4."""

from __future__ import annotations

import re

import libcst as cst

from torchlint.model import Dtype, Kind, Model, Ndim, Value, bindings
from torchlint.model.syntax import assigned_value, calls_method, chain, ending_name, integer, last_name
from torchlint.model.torch import library
from torchlint.rules.shared.as_number import is_made_number, is_with_number

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
    """Whether the first element of ``err.data`` is used as a number, of something with the name of a loss."""
    if not isinstance(node.value, (cst.Name, cst.Attribute)) or not _SCALAR_NAME.search(ending_name(node.value)):
        return False
    index = scalar_index(node, model)
    if index is None or _has_elements(node.value, model):
        return False
    return is_made_number(index, model) or is_with_number(index, model)


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


def _is_place(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is a place in a matrix, or in a list of vectors: ``x[i, j]``, ``xs[t][i]``."""
    if not isinstance(node, cst.Subscript):
        return False
    keys = [each.slice.value for each in node.slice if isinstance(each.slice, cst.Index)]
    is_deep = len(keys) > 1 or isinstance(node.value, cst.Subscript)
    return is_deep and len(keys) == len(node.slice) and all(model.value(key).kind == Kind.NUMBER for key in keys)


def _has_name_of_number(index: cst.Subscript, model: Model) -> bool:
    """Whether a name is assigned an element that is used as a number by that name: ``k = k.data[0]``, ``min(k, 1)``."""
    match model.tree.parent(index):
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name) as target)]):
            order = model.tree.order
            uses = (use for use in model.references(name, model.scopes.scope_of(target)) if order(use) > order(index))
            return any(is_made_number(use, model) or is_with_number(use, model) for use in uses)
    return False


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
        isinstance(model.tree.parent(target), cst.Element) and bindings.bound_value(target, model.tree) is None
        for target in model.bindings_of(node.value, node)
    )


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
