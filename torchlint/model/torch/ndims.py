"""How many dimensions come out of a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import libcst as cst

from torchlint.model.possibilities import Kind, Ndim
from torchlint.model.syntax import integer
from torchlint.model.torch.arguments import by_keyword, given_argument, given_bool, literal_bool
from torchlint.model.torch.schema import TensorResult
from torchlint.model.values import Argument, Value


def ndim_of(
    result: TensorResult, receiver: Value | None, arguments: Sequence[Argument], made: Sequence[Argument]
) -> Ndim:
    """The number of dimensions of a result; ``made`` are the arguments of the constructor of a module."""
    values = [v for v in (receiver, *(a.value for a in arguments)) if v is not None]
    tensors = [v for v in values if v.kind & Kind.TENSOR]
    if result.keepdim is not None:
        if (keeps := given_bool(arguments, "keepdim", result.keepdim, False)) is not False:
            return tensors[0].ndim if keeps and tensors else Ndim.ANY
        dim_at = result.keepdim - 1 if result.dim_at is None else result.dim_at
        dim = by_keyword(arguments, "axis") or given_argument(arguments, "dim", dim_at)
        if _is_of_several(dim):
            return Ndim.MORE
        if tensors and not tensors[0].kind & Kind.UNKNOWN and dim is not None and _is_one_dimension(dim):
            return without_one(tensors[0].ndim)
    match result.ndim:
        case "zero":
            return Ndim.ZERO
        case "more":
            is_told = result.as_first and bool(values) and values[0].kind == Kind.TENSOR
            return (values[0].ndim & Ndim.MORE if is_told else Ndim.NEITHER) or Ndim.MORE
        case "loss":
            reduces = _reduces(result.at, made)
            elementwise = broadcast(values) if result.elementwise else Ndim.ANY
            return Ndim.ZERO if reduces else Ndim.ANY if reduces is None else elementwise
        case "reduce":
            first = 0 if receiver is not None else 1
            return _reduced(first if result.dim_at is None else result.dim_at, arguments)
        case "keep" if tensors:
            return tensors[0].ndim
        case "broadcast":
            return broadcast(values)
        case "size":
            return _sized(result.size_at, result.sizes, arguments)
        case "data" if arguments:
            return _nested(arguments[0].value)
    return Ndim.ANY


def broadcast(values: Sequence[Value]) -> Ndim:
    """Dimensions of an elementwise result: as many as the tensor with most of them has."""
    found = Ndim.NEITHER
    for value in values:
        if value.kind & (Kind.UNKNOWN | Kind.NDARRAY):
            ndim = Ndim.ANY
        elif value.kind & Kind.TENSOR:
            ndim = value.ndim | Ndim.ZERO if value.kind & Kind.NUMBER else value.ndim
        else:
            continue
        found = _most(found, ndim) if found else ndim
    return found or Ndim.ANY


def ndim_by(number: int) -> Ndim:
    """So many dimensions."""
    return _NUMBERS[min(number, len(_NUMBERS) - 1)]


_NUMBERS = (Ndim.ZERO, Ndim.ONE, Ndim.TWO, Ndim.MANY)


def _most(a: Ndim, b: Ndim) -> Ndim:
    """The greater one of two numbers of dimensions, for all that each of them can be."""
    found = below = Ndim.NEITHER
    for each in _NUMBERS:
        below |= each
        if (a & each and b & below) or (b & each and a & below):
            found |= each
    return found


def without_one(ndim: Ndim) -> Ndim:
    """What is left where one dimension is reduced or indexed; 0-dim tensors stay what they are."""
    left = Ndim.NEITHER
    for before, after in _LESS:
        if ndim & before:
            left |= after
    return left


_LESS = (
    (Ndim.ZERO | Ndim.ONE, Ndim.ZERO),
    (Ndim.TWO, Ndim.ONE),
    (Ndim.MANY, Ndim.SEVERAL),
)


def _is_of_several(dim: Argument | None) -> bool:
    """Whether a tensor that is reduced along a dimension has another one: there is none but one in ``0`` and ``-1``."""
    number = integer(dim.node) if dim is not None else None
    return number is not None and number not in (0, -1)


def _is_one_dimension(dim: Argument) -> bool:
    """Whether an argument is a dimension, and a single one. The ``False`` of ``x.std(False)`` is something else."""
    is_named = dim.keyword is not None and dim.value.kind == Kind.NUMBER
    return is_named or integer(dim.node) is not None


def _reduced(dim_at: int, arguments: Sequence[Argument]) -> Ndim:
    """A full reduction is 0-dim, one along a dimension (the positional argument ``dim_at``, or ``dim=``) may not be."""
    if any(a.star or a.keyword in ("dim", "axis") for a in arguments):
        return Ndim.ANY
    positional = sum(a.keyword is None for a in arguments)
    return Ndim.ANY if positional > dim_at else Ndim.ZERO


def _reduces(at: Mapping[str, int], arguments: Sequence[Argument]) -> bool | None:
    """Whether a loss reduces; None if that is not known.

    The older ``reduce`` and ``size_average`` override ``reduction`` if one of them is given
    (``legacy_get_string`` in torch/nn/_reduction.py).
    """
    if any(a.star for a in arguments):
        return None
    older = {name: given_argument(arguments, name, at.get(name)) for name in ("reduce", "size_average")}
    set_ = {name: a for name, a in older.items() if a is not None and a.value.kind != Kind.NONE}
    if "reduce" in set_:
        return literal_bool(set_["reduce"].node)
    if set_:
        return True
    reduction = given_argument(arguments, "reduction", at.get("reduction"))
    if reduction is None:
        return True
    if isinstance(reduction.node, cst.SimpleString):
        return reduction.node.raw_value != "none"
    return None


def _sized(size_at: int, takes_sizes: bool, arguments: Sequence[Argument]) -> Ndim:
    """As many dimensions as a size has: ``zeros(())``, ``zeros(2, 3)``, ``zeros(size=x.shape)``."""
    size = by_keyword(arguments, "size") or by_keyword(arguments, "shape")
    positional = [a for a in arguments if a.keyword is None][size_at:]
    if size is None:
        size = next((a for a in positional if a.value.kind & Kind.CONTAINER), None)
    if size is not None:
        return Ndim.ZERO if isinstance(size.node, cst.List) and not size.node.elements else ndim_of_size(size.value)
    if not takes_sizes or not positional or any(a.star for a in positional):
        return Ndim.ANY
    if len(positional) > 1:
        return ndim_by(len(positional))
    return Ndim.ONE if positional[0].value.kind == Kind.NUMBER else Ndim.ANY


def ndim_of_size(size: Value) -> Ndim:
    """The number of dimensions of a size: of a tuple, or of the ``shape`` of a tensor."""
    if size.kind != Kind.CONTAINER:
        return Ndim.ANY
    if size.items is not None:
        return ndim_by(len(size.items))
    return size.ndim or Ndim.ANY


def ndim_of_legacy(arguments: Sequence[Argument]) -> Ndim:
    """What ``torch.FloatTensor`` and the like make of sizes, or of nested lists; at least one dimension."""
    if not arguments or any(a.star or a.keyword is not None for a in arguments):
        return Ndim.MORE
    if all(a.value.kind == Kind.NUMBER for a in arguments):
        return ndim_by(len(arguments))
    first = arguments[0].value
    return Ndim.MORE if first.ndim else _nested(first) & Ndim.MORE  # a size may be given as well, a ``torch.Size``


def _nested(value: Value) -> Ndim:
    """The number of dimensions of a tensor made of a number, a list or a tensor."""
    match value.kind:
        case Kind.NUMBER:
            return Ndim.ZERO
        case Kind.CONTAINER if value.items and all(item.kind == Kind.NUMBER for item in value.items):
            return Ndim.ONE
        case Kind.CONTAINER if value.items is None and value.item is not None and value.item.kind == Kind.NUMBER:
            return Ndim.ONE
        case Kind.CONTAINER if value.items and all(item.kind == Kind.CONTAINER for item in value.items):
            return Ndim.SEVERAL
        case Kind.CONTAINER:
            return Ndim.MORE
        case Kind.TENSOR:
            return value.ndim
    return Ndim.ANY
