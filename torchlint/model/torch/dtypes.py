"""Which dtype comes out of a call."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from torchlint.model.possibilities import Dtype, Kind
from torchlint.model.torch.library import is_dtype
from torchlint.model.torch.schema import TensorResult
from torchlint.model.values import Argument, Value


def dtype_named(name: str) -> Dtype:
    """Class of the dtype of that name (``float16``, ``torch.long``, ``IntTensor``)."""
    short = name.rpartition(".")[2].lower().removesuffix("tensor")
    if short.startswith(("float", "double", "half", "bfloat", "complex", "cfloat", "cdouble", "chalf")):
        return Dtype.FLOAT
    if short.startswith(("int", "long", "short", "uint", "byte", "char")):
        return Dtype.INT
    return Dtype.BOOL if short.startswith("bool") else Dtype.ANY


def promote(a: Dtype, b: Dtype) -> Dtype:
    """What the dtypes of two operands promote to."""
    dtype = (a | b) & Dtype.FLOAT | a & b & Dtype.BOOL
    is_int = (a & Dtype.INT and b & ~Dtype.FLOAT) or (b & Dtype.INT and a & ~Dtype.FLOAT)
    return dtype | Dtype.INT if is_int else dtype


def number_dtype(node: cst.CSTNode) -> Dtype:
    """What dtype a tensor gets of numbers, as far as they are literals."""
    match node:
        case cst.Float() | cst.Imaginary() | cst.Call(func=cst.Name("float")):
            return Dtype.FLOAT
        case cst.Integer() | cst.Call(func=cst.Name("int" | "len")):
            return Dtype.INT
        case cst.Name("True" | "False"):
            return Dtype.BOOL
        case cst.UnaryOperation(operator=cst.Minus(), expression=inner):
            return number_dtype(inner)
        case cst.List(elements=[first, *rest]) | cst.Tuple(elements=[first, *rest]):
            dtype = number_dtype(first.value)
            for element in rest:
                dtype = promote(dtype, number_dtype(element.value))
            return dtype
    return Dtype.ANY


def _asked_dtype(arguments: Sequence[Argument]) -> Dtype | None:
    """The dtype that an argument asks for; None if none does."""
    for argument in arguments:
        ref = argument.value.ref or ""
        if argument.keyword == "dtype" and argument.value.kind != Kind.NONE:
            named = dtype_named(ref) if argument.value.kind & Kind.REFERENCE else Dtype.ANY
            return named if named != Dtype.ANY else argument.value.dtype or Dtype.ANY
        if argument.keyword in (None, "type") and argument.value.kind == Kind.REFERENCE:
            if is_dtype(ref) or ref.endswith("Tensor"):
                return dtype_named(ref)
    return None


def dtype_of(result: TensorResult, receiver: Value | None, arguments: Sequence[Argument]) -> Dtype:
    """The dtype of a result: what an argument asks for, or what follows from the inputs."""
    asked = _asked_dtype(arguments)
    if asked is not None:
        return asked
    rule = result.dtype
    match rule:
        case "any":
            return Dtype.ANY
        case "int":
            return Dtype.INT
        case "bool":
            return Dtype.BOOL
        case "float" | "float_factory":
            return Dtype.FLOAT
        case "arg" if receiver is not None:
            return _dtype_asked_of(receiver, arguments)
        case "arg":
            return _dtype_of_data(arguments[1:] if result.ndim == "size" else arguments)
        case "first" | "count":
            dtype = _dtype_of_first(receiver, arguments)
            return dtype & ~Dtype.BOOL | Dtype.INT if rule == "count" and dtype & Dtype.BOOL else dtype
    dtype = _promoted(receiver, arguments, rule != "tensors")
    return dtype if rule != "mixed" or dtype == Dtype.FLOAT else Dtype.ANY


def _dtype_asked_of(receiver: Value, arguments: Sequence[Argument]) -> Dtype:
    """``x.to(other)``, ``x.type("torch.LongTensor")``, ``x.to(other.dtype)``; of a device the tensor's own."""
    for argument in arguments:
        value = argument.value
        if isinstance(argument.node, cst.SimpleString) and "Tensor" in argument.node.value:
            return dtype_named(argument.node.value.strip("'\""))
        if value.kind & (Kind.TENSOR | Kind.OBJECT) and value.dtype:
            return value.dtype if value.kind in (Kind.TENSOR, Kind.OBJECT) else value.dtype | receiver.dtype
        if value.kind & Kind.UNKNOWN and isinstance(argument.node, (cst.Name, cst.Attribute)):
            name = argument.node.value if isinstance(argument.node, cst.Name) else argument.node.attr.value
            if name.endswith("type"):
                return Dtype.ANY
    return receiver.dtype if receiver.kind == Kind.TENSOR else Dtype.ANY


def _dtype_of_data(arguments: Sequence[Argument]) -> Dtype:
    """``torch.tensor(x)``, ``torch.arange(a, b)``, ``F.embedding(x, weight)``."""
    positional = [a for a in arguments if a.keyword is None]
    named = [a for a in arguments if a.keyword is not None and a.value.kind & (Kind.TENSOR | Kind.UNKNOWN)]
    if not positional or named or any(a.star for a in arguments):
        return Dtype.ANY
    tensors = [a.value for a in positional[:3] if a.value.kind == Kind.TENSOR]
    if len(tensors) > 2 and not any(each.dtype & Dtype.FLOAT for each in tensors[:2]):
        return tensors[2].dtype  # the values of a sparse tensor, behind two tensors of indices
    if tensors[:2]:
        return tensors[:2][-1].dtype
    dtype = number_dtype(positional[0].node)
    for argument in positional[1:]:
        dtype = promote(dtype, number_dtype(argument.node))
    return dtype


def _dtype_of_first(receiver: Value | None, arguments: Sequence[Argument]) -> Dtype:
    for value, _ in _elements(receiver, arguments):
        if value.kind & Kind.UNKNOWN:
            return Dtype.ANY
        if value.kind & (Kind.TENSOR | Kind.PACKED):
            return value.dtype or Dtype.ANY
    return Dtype.ANY


def _promoted(receiver: Value | None, arguments: Sequence[Argument], with_numbers: bool) -> Dtype:
    dtype = Dtype.NEITHER
    for value, node in _elements(receiver, arguments):
        one = Dtype.NEITHER
        if value.kind & (Kind.UNKNOWN | Kind.NDARRAY):
            one = Dtype.ANY
        elif value.kind & Kind.TENSOR:
            one = value.dtype
        elif value.kind & Kind.NUMBER and with_numbers:
            one = number_dtype(node) if node is not None else Dtype.ANY
        if one:
            dtype = promote(dtype, one) if dtype else one
    return dtype or Dtype.ANY


def _elements(receiver: Value | None, arguments: Sequence[Argument]) -> list[tuple[Value, cst.CSTNode | None]]:
    """The inputs, and of lists their elements, with the expressions of those that are positional arguments."""
    found: list[tuple[Value, cst.CSTNode | None]] = [(receiver, None)] if receiver is not None else []
    for argument in arguments:
        value = argument.value
        if argument.keyword not in (None, "input", "other", "tensors"):
            continue
        if value.kind == Kind.CONTAINER:
            found += [(v, None) for v in value.items or (value.item,) if v is not None]
        else:
            found.append((value, argument.node))
    return found
