"""Which dimensions of a tensor are seen to have one element, so that where they stand changes nothing in memory."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from torchlint.model import Kind, Model
from torchlint.model.bindings import last_target, unpacked_from
from torchlint.model.syntax import assignment_of, integer, is_none, keyword, last_name, positional
from torchlint.model.torch.arguments import given_argument
from torchlint.model.values import Value
from torchlint.rules.shared import slices

NONE_SEEN: frozenset[int] = frozenset()
_FAR = 4
"""How many names are gone back."""
_SIZED = frozenset(("zeros", "ones", "empty", "rand", "randn", "full"))
_VIEWS = frozenset(("view", "reshape"))
_SAME = frozenset(
    """
    eq ne lt le gt ge float double half long int bool byte abs neg exp log sigmoid tanh relu detach clone cpu cuda to
    contiguous values indices sort softmax log_softmax leaky_relu elu gelu silu softplus clamp clip
    """.split()  # noqa: SIM905
)
"""Methods and parts of results with the sizes of what they are of."""
_MIXING = frozenset(("mm", "bmm", "matmul", "addmm", "outer", "einsum"))
"""What makes dimensions of those of several tensors."""
_REDUCING = frozenset("sum mean max min any all argmax argmin prod logsumexp median amax amin".split())  # noqa: SIM905
"""What takes `keepdim` behind the dimension."""
_TAKING = frozenset(("max", "min", "sort", "topk", "median", "mode", "kthvalue"))
"""What gives a pair of which both have the same sizes."""


def single(node: cst.BaseExpression, model: Model, far: int = _FAR) -> frozenset[int] | None:
    """The dimensions of an expression that are seen to have one element; None if there may be some, not known which.

    They are counted as they are written, from the end where that is so.
    """
    match node:
        case cst.Name() if far:
            target = model.ask(last_target, node)
            assign = assignment_of(target, model.tree) if target is not None else None
            if assign is None and target is not None:
                taken = unpacked_from(target, model.tree)
                return single(taken, model, far - 1) if taken is not None else NONE_SEEN
            return single(assign.value, model, far - 1) if assign is not None else NONE_SEEN
        case cst.UnaryOperation(expression=inner) | cst.Comparison(left=inner):
            return single(inner, model, far)
        case cst.BinaryOperation(left=left, right=right):
            return _of_both(single(left, model, far), single(right, model, far))
        case cst.Attribute(value=inner, attr=cst.Name("values" | "indices")):
            return single(inner, model, far)
        case cst.Subscript():
            return _of_part(node, model, far)
        case cst.Call():
            return _of_call(node, model, far)
    return NONE_SEEN


def _of_both(one: frozenset[int] | None, other: frozenset[int] | None) -> frozenset[int] | None:
    """Those of what two tensors are broadcast to: with one that has none it is not known whether they stay."""
    return NONE_SEEN if one == other == NONE_SEEN else None


def _of_part(node: cst.Subscript, model: Model, far: int) -> frozenset[int] | None:
    inner = single(node.value, model, far)
    if isinstance(node.value, cst.Call) and last_name(node.value.func) in _TAKING:
        return inner  # the values or the indices
    found, at = set[int](), 0
    for element in node.slice:
        index = element.slice
        if isinstance(index, cst.Slice):
            found.update((at,) if slices.only(index) is not None else ())
            at += 1
        elif isinstance(index, cst.Index) and is_none(index.value):
            found.add(at)
            at += 1
        elif not isinstance(index, cst.Index) or integer(index.value) is None:
            return None if found or inner != NONE_SEEN else NONE_SEEN
    return frozenset(found) if inner == NONE_SEEN else None


def _of_call(node: cst.Call, model: Model, far: int) -> frozenset[int] | None:
    name, args = last_name(node.func), node.args
    if (called := model.value(node.func)).kind == Kind.MODULE:
        return _of_layer(called)
    kept = keyword(args, "keepdim")
    is_method = isinstance(node.func, cst.Attribute) and not is_module(node.func.value)
    inner = single(node.func.value, model, far) if is_method and isinstance(node.func, cst.Attribute) else NONE_SEEN
    if kept is None and name in _REDUCING:
        kept = positional(args, 1 if is_method else 2)
    if kept is not None and last_name(kept.value) != "False":
        return _only(_dimension(args, 0 if is_method else 1, "dim"))
    if name == "topk":
        taken = keyword(args, "k") or positional(args, 0 if is_method else 1)
        where = _dimension(args, 1 if is_method else 2, "dim", -1)
        return _only(where) if taken is not None and integer(taken.value) == 1 else inner
    if name == "unsqueeze":
        where = _dimension(args, 0 if is_method else 1, "dim")
        return _only(where) if inner == NONE_SEEN else None
    if name == "narrow":
        length = keyword(args, "length") or positional(args, 2 if is_method else 3)
        is_one = length is not None and integer(length.value) == 1
        return _only(_dimension(args, 0 if is_method else 1, "dim")) if is_one else inner
    if not is_method and args and (name in _SAME or name == "squeeze"):
        inner = single(args[0].value, model, far)
    if name == "squeeze":
        is_all = len(args) == (not is_method)
        return NONE_SEEN if is_all else _without(inner, _dimension(args, 0 if is_method else 1, "dim"))
    if (name in _VIEWS and is_method) or (name in _SIZED and not is_method):
        return _ones(args)
    if name in _MIXING:
        operands = [inner, *(single(arg.value, model, far) for arg in args)]
        return NONE_SEEN if all(each == NONE_SEEN for each in operands) else None
    return inner if name in _SAME else NONE_SEEN


def _of_layer(layer: Value) -> frozenset[int]:
    """What a layer of torch gives that is made with one channel or feature."""
    made, name = layer.bound or (), layer.ref or ""
    if name == "torch.nn.Linear":
        out, where = given_argument(made, "out_features", 1), -1
    elif name.startswith("torch.nn.Conv"):
        out, where = given_argument(made, "out_channels", 1), 1
    else:
        return NONE_SEEN
    return frozenset((where,)) if out is not None and integer(out.node) == 1 else NONE_SEEN


def _without(ones: frozenset[int] | None, dropped: int | None) -> frozenset[int] | None:
    """The dimensions of one element that are left when one is squeezed out."""
    if not ones or dropped is None:
        return ones if ones == NONE_SEEN else None
    if (dropped < 0) != (min(ones) < 0):
        return None
    return frozenset(each - (each > dropped >= 0) + (each < dropped < 0) for each in ones if each != dropped)


def is_module(node: cst.BaseExpression) -> bool:
    """Whether it is written as a module of torch is, and not as a tensor."""
    return last_name(node) in ("torch", "F", "functional")


def _dimension(args: Sequence[cst.Arg], at: int, name: str, default: int | None = None) -> int | None:
    given = keyword(args, name) or positional(args, at)
    return integer(given.value) if given is not None else default


def _only(dimension: int | None) -> frozenset[int] | None:
    return frozenset((dimension,)) if dimension is not None else None


def _ones(args: Sequence[cst.Arg]) -> frozenset[int]:
    """The sizes that are written as one, of a shape in one argument or in several."""
    sizes = [arg.value for arg in args if arg.keyword is None]
    if sizes and isinstance(sizes[0], (cst.Tuple, cst.List)):
        sizes = [each.value for each in sizes[0].elements]
    return frozenset(at for at, size in enumerate(sizes) if integer(size) == 1)
