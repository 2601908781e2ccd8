"""Which expressions share their memory with a tensor, which write to it, and which make one that nobody else has."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from torchlint.model import Kind, Model, Ndim, Strength, Value
from torchlint.model.aliasing.made import returns_new
from torchlint.model.bindings import declares
from torchlint.model.syntax import calls_method, chain, integer
from torchlint.model.torch import library
from torchlint.model.torch.schema import TensorResult, makes_new, may_alias
from torchlint.rules.shared import compared

TRANSFERS = frozenset(("cpu", "cuda", "to"))

METHODS_OF_OPERATORS = {
    cst.AddAssign: "add_",
    cst.SubtractAssign: "sub_",
    cst.MultiplyAssign: "mul_",
    cst.DivideAssign: "div_",
    cst.FloorDivideAssign: "floor_divide_",
    cst.ModuloAssign: "remainder_",
    cst.PowerAssign: "pow_",
    cst.BitAndAssign: "bitwise_and_",
    cst.BitOrAssign: "bitwise_or_",
    cst.BitXorAssign: "bitwise_xor_",
}
"""What ``+=`` of a tensor calls. There is none for ``@=``: the name would be bound to something new."""

_CASTS = frozenset(("contiguous", "double", "float", "half", "int", "long"))
"""What gives a tensor itself, or a copy."""


def is_detach(node: cst.CSTNode) -> bool:
    """Whether an expression is ``….detach()``."""
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name("detach")), args=[]):
            return True
    return False


def is_detached(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is ``x.detach()``, or what methods make of that alone: ``x.detach().clone()``."""
    while not is_detach(node):
        if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
            return False
        if not is_transfer(node) and not _hands_on_alone(node, node.func.attr.value, model):
            return False
        node = node.func.value
    return True


_COMPARISONS = ("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__")
"""What a class has that says what comparing gives."""


def is_compared(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression compares what it is made of: of tensors that makes new booleans, which have no graph.

    So what methods make of them has none either: ``(x != 0).sum(1)``.
    """
    while isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        name, given = node.func.attr.value, [model.value(arg.value) for arg in node.args]
        is_known = not is_inplace(name) and (name in TRANSFERS or library.method(name) is not None)
        if not is_known or any(value.may_be_tensor or value.kind & Kind.UNKNOWN for value in given):
            return False
        node = node.func.value
    if not isinstance(node, cst.Comparison):
        return False
    if any(isinstance(each.operator, (cst.Is, cst.IsNot, cst.In, cst.NotIn)) for each in node.comparisons):
        return False
    return not any(model.ask(declares, name) for name in _COMPARISONS)


def is_transfer(node: cst.BaseExpression) -> bool:
    """Whether an expression is a call that brings a tensor to another device: ``x.cpu()``."""
    return calls_method(node, TRANSFERS)


def before_copies(node: cst.BaseExpression) -> cst.BaseExpression:
    """``x`` of ``x.cuda().cpu()``: what has the same elements, wherever they are."""
    while isinstance(node, cst.Call) and calls_method(node, ("cpu", "cuda")) and isinstance(node.func, cst.Attribute):
        node = node.func.value
    return node


def before_views(node: cst.BaseExpression, model: Model) -> cst.BaseExpression:
    """``x`` of ``x.unsqueeze(0).cuda()``: what has the same elements, or shares them."""
    while isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        name = node.func.attr.value
        if not (name in ("cpu", "cuda") or library.is_always_view(name)):
            break
        if any(model.value(arg.value).kind & Kind.TENSOR for arg in node.args):
            break
        node = node.func.value
    return node


def before_transfers(node: cst.BaseExpression, model: Model) -> cst.BaseExpression:
    """``x`` of ``x.cuda().cpu().clamp(0, 1)``: what a detach can stand behind as well, without what follows recorded.

    The expression itself, where nothing is transferred in it, or something on the way there may bring another graph.
    """
    source = at = node
    while isinstance(at, cst.Call) and isinstance(at.func, cst.Attribute):
        if not is_transfer(at) and not _hands_on_alone(at, at.func.attr.value, model):
            break
        at, was_transfer = at.func.value, is_transfer(at)
        source = at if was_transfer else source
    return source


def _hands_on_alone(call: cst.Call, name: str, model: Model) -> bool:
    """Whether a method gives a tensor that has the graph of its receiver, and no other one."""
    result = library.method(name)
    if not isinstance(result, TensorResult) or result.grad not in ("follow", "first") or result.is_input:
        return False
    if may_alias(result) and name not in _CASTS:
        return False  # a view of what is detached is a view, what is detached of a view is none
    kinds = [model.value(arg.value).kind for arg in call.args]
    return not is_inplace(name) and not any(kind & ~(Kind.NUMBER | Kind.STRING | Kind.NONE) for kind in kinds)


def _changes_dtype(func: cst.Attribute, model: Model) -> bool:
    """Whether a cast gives another class of dtypes than its tensor has, so that it copies: ``ids.float()``."""
    call = model.tree.parent(func)
    if func.attr.value not in _CASTS or not isinstance(call, cst.Call):
        return False
    return not model.value(call).dtype & model.value(func.value).dtype


def is_inplace(name: str) -> bool:
    """Whether a method of that name writes to its tensor."""
    return name.endswith("_") and not name.endswith("__") and name not in ("requires_grad_", "share_memory_")


def write_through(node: cst.Attribute | cst.Call, model: Model) -> cst.CSTNode | None:
    """The node that first writes to what an expression gives, in the same one: an in-place call, a target; or None."""
    tree = model.tree
    at: cst.CSTNode = node
    for name, outer in chain(node, model.tree):
        if isinstance(outer, cst.Call) and is_inplace(name):
            return outer
        if name in PARTING and is_one_of_parts(outer, model):
            continue
        if name != "[]" and not shares(name, outer):
            return None
        at = outer
    parent = tree.parent(at)
    match parent:
        case cst.AssignTarget() | cst.Del() if at is not node:
            return parent
        case cst.AugAssign() if parent.target is at:
            return parent
        case cst.For() | cst.AnnAssign() if parent.target is at and at is not node:
            return parent
        case cst.Arg(keyword=cst.Name("out")):
            return parent
    return None


PARTING = frozenset(("chunk", "split", "split_with_sizes", "unbind"))
"""Methods that give several views."""


def is_one_of_parts(node: cst.CSTNode, model: Model) -> bool:
    """Whether of several views one is taken on the spot, and gone on with: ``bias.chunk(4)[1].fill_(1)``."""
    part = model.tree.parent(node)
    match part:
        case cst.Subscript(value=value, slice=[cst.SubscriptElement(slice=cst.Index(value=at))]) if value is node:
            return integer(at) is not None and isinstance(model.tree.parent(part), (cst.Attribute, cst.Subscript))
    return False


def shares(name: str, node: cst.CSTNode) -> bool:
    """Whether an attribute or call of that name gives a view of the same memory."""
    if isinstance(node, cst.Attribute):
        return name in ("data", "T", "mT", "real", "imag")
    result = library.method(name)
    return isinstance(result, TensorResult) and result.alias and name not in TRANSFERS


def is_new(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression makes a tensor whose memory nothing else refers to, once its graph is let go."""
    value = model.value(node)
    if not value.is_tensor:
        return False
    match node:
        case cst.BinaryOperation() | cst.Comparison() | cst.UnaryOperation(operator=cst.Minus()):
            return bool((value.strength or 0) > Strength.NAME)
        case cst.IfExp(body=one, orelse=other):
            return is_new(one, model) and is_new(other, model)
        case cst.Call(func=cst.Attribute(attr=cst.Name("new")), args=args):  # given a tensor, it is that one
            return are_sizes(args, model) or not any(arg.star or model.value(arg.value).may_be_tensor for arg in args)
        case cst.Call(func=func, args=args):
            if isinstance(func, cst.Name) and isinstance(function := model.value(func).node, cst.FunctionDef):
                return model.ask(returns_new, function)
            given = [arg for arg in args if arg.star != "*"] if _is_factory(func, model) else args
            return not _may_reuse(given) and (_makes_new(func, model) or _constructs(func, args, model))
        case cst.Subscript(value=base, slice=[cst.SubscriptElement(slice=cst.Index(value=index, star=None))]):
            return model.is_tensor(base) and _copies(model.value(index))
    return False


def is_used_up(node: cst.BaseExpression, model: Model) -> bool:
    """Whether a tensor is only given to a module, or to what makes a new one of it."""
    arg = model.tree.parent(node)
    taker = model.tree.parent(arg) if isinstance(arg, cst.Arg) else None
    return isinstance(taker, cst.Call) and (model.value(taker.func).kind == Kind.MODULE or is_new(taker, model))


def _is_factory(func: cst.BaseExpression, model: Model) -> bool:
    """Whether a function makes tensors of sizes and the like: what it could be asked to fill is given by name."""
    result = library.function(model.qualified(func) or "")
    return isinstance(result, TensorResult) and result.grad == "factory"


def _copies(index: Value) -> bool:
    """Whether what an index takes is a copy: a tensor that has a dimension does, a single number gives a view."""
    return index.is_tensor and not index.ndim & Ndim.ZERO


def _may_reuse(args: Sequence[cst.Arg]) -> bool:
    """Whether a call may be asked to write to what it is given: ``out=``, ``inplace=True``, ``relu(x, True)``."""
    return any(
        arg.star
        or (arg.keyword is not None and arg.keyword.value in ("out", "inplace"))
        or (arg.keyword is None and isinstance(arg.value, cst.Name) and arg.value.value == "True")
        for arg in args
    )


def _constructs(func: cst.BaseExpression, args: Sequence[cst.Arg], model: Model) -> bool:
    """Whether a class of tensors is called: ``torch.FloatTensor([1, 2])``. Given a tensor, it is that one."""
    if library.class_kind(model.qualified(func) or "") != "tensor":
        return False
    return are_sizes(args, model) or not any(
        arg.star or model.value(arg.value).kind & (Kind.TENSOR | Kind.UNKNOWN) for arg in args
    )


def are_sizes(args: Sequence[cst.Arg], model: Model) -> bool:
    """Whether what a class of tensors, or `new`, is given can only be sizes: ``n, m``, ``x.size()``, ``*x.shape``."""
    if any(arg.keyword is not None or arg.star == "**" for arg in args):
        return False
    if len(args) == 1 and _is_size(args[0].value):
        return True
    if any(arg.star and not _is_size(arg.value) and _length(arg.value, model) is None for arg in args):
        return False
    return sum((_length(arg.value, model) or 0) if arg.star else 1 for arg in args) > 1


def _is_size(node: cst.BaseExpression) -> bool:
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name("size"))) | cst.Attribute(attr=cst.Name("shape")):
            return True
    return False


def _length(node: cst.BaseExpression, model: Model) -> int | None:
    """How many things a tuple or list holds, if that is known."""
    value = model.value(node)
    return len(value.items) if value.kind == Kind.CONTAINER and value.items is not None else None


def _makes_new(func: cst.BaseExpression, model: Model) -> bool:
    """Whether what a function or method of torch returns shares no memory with what it is given."""
    ref = model.qualified(func)
    if ref is not None:
        result = library.function(ref)
    elif isinstance(func, cst.Attribute) and model.is_tensor(func.value):
        if func.attr.value == "set_":  # it has the memory that it is given
            return False
        result = library.method(func.attr.value)
        if isinstance(result, TensorResult) and may_alias(result):
            return is_new(func.value, model) or _changes_dtype(func, model)
    else:
        return False
    return makes_new(result)


_GIVING_TWO = frozenset(("max", "min", "topk", "sort", "kthvalue", "median", "mode"))
"""What gives values and their indices, both in new memory."""


def takes_extremes(call: cst.Call, model: Model) -> bool:
    """Whether a function of torch is called that gives the largest values of what it is given, or sorts them."""
    ref = model.qualified(call.func) or ""
    return ref.startswith("torch.") and ref.removeprefix("torch.") in _GIVING_TWO


def gives_two(call: cst.Call, model: Model) -> bool:
    """Whether a call gives values and their indices, as ``x.max(1)`` does where that is taken apart."""
    match call.func:
        case cst.Attribute(value=owner, attr=cst.Name(value=name)) if compared.can_be_tensor(owner, model):
            return name in _GIVING_TWO
    return (model.qualified(call.func) or "").removeprefix("torch.") in _GIVING_TWO


def is_made_a_parameter(node: cst.Attribute, model: Model) -> bool:
    """Whether `nn.Parameter` is given it, or a part of it: that detaches what it gets."""
    whole = [node, *(outer for name, outer in chain(node, model.tree) if name == "[]" or library.is_always_view(name))][
        -1
    ]
    arg = model.tree.parent(whole)
    call = model.tree.parent(arg) if isinstance(arg, cst.Arg) else None
    return isinstance(call, cst.Call) and model.qualified(call.func) in (
        "torch.nn.Parameter",
        "torch.nn.parameter.Parameter",
    )
