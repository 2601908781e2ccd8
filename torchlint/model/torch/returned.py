"""What torch's functions, methods, modules and classes give, from data generated from torch itself.

``data/torch.json`` is written by ``scripts/generate_torch_data.py``; its docstring documents the format.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any

import libcst as cst

from torchlint.model.syntax import integer
from torchlint.model.values import (
    NDARRAY,
    NONE,
    NUMBER,
    OBJECT,
    STRING,
    UNKNOWN,
    Dtype,
    Evidence,
    Kind,
    Ndim,
    Role,
    Tri,
    Value,
    container,
    join,
    parameter,
    tensor,
)

Result = Any
"""A result as the data describes it: a word for non-tensors, or a mapping."""

_PLAIN = {
    "bool": NUMBER,
    "int": NUMBER,
    "float": NUMBER,
    "number": NUMBER,
    "str": STRING,
    "none": NONE,
    "ndarray": NDARRAY,
    "list": container(),
    "size": container(NUMBER),
    "any": UNKNOWN,
}


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a call: its keyword if it has one, its value, and its expression."""

    keyword: str | None
    value: Value
    node: cst.BaseExpression
    star: str = ""


@functools.cache
def data() -> Mapping[str, Any]:
    """The generated data, loaded once."""
    text = resources.files("torchlint.model.torch").joinpath("data/torch.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


@functools.cache
def tensor_only() -> frozenset[str]:
    """Names of tensor methods and attributes that no other common object has.

    Beyond the data: ``detach``, which of others only raw I/O streams have, and all in-place methods, which of others
    only torch's own storages have.
    """
    inplace = {name for name in data()["methods"] if name.endswith("_") and not name.startswith("_")}
    return frozenset(data()["tensor_only"]) | {"detach"} | inplace - set(data()["tensor_or_module"])


@functools.cache
def tensor_names() -> frozenset[str]:
    """Names of all methods and attributes of a tensor."""
    return frozenset(data()["methods"]) | frozenset(data()["attributes"])


def canonical(name: str) -> str:
    """The shortest public name of what ``name`` names in torch; other names unchanged."""
    alias = data()["aliases"].get(name)
    return alias if isinstance(alias, str) else name


def is_function(name: str) -> bool:
    """Whether ``name`` is a function of torch."""
    return name in data()["functions"]


def field_named(value: Value, name: str) -> Value | None:
    """The field of a named tuple of torch."""
    if value.items is None or not (value.ref or "").startswith(NAMED_TUPLE + "."):
        return None
    names = (value.ref or "").split(".")[1:]
    return value.items[names.index(name)] if name in names and len(names) == len(value.items) else None


def is_view(name: str) -> bool:
    """Whether a method of tensors can return a view."""
    result = data()["methods"].get(name)
    return isinstance(result, dict) and bool(result.get("alias") or result.get("self")) and name != "detach"


def may_alias(result: Result) -> bool:
    """Whether a function of torch can return memory of its input."""
    match result:
        case {"alias": True} | {"self": True}:
            return True
        case {"k": "tuple_of" | "list_of", "item": item}:
            return may_alias(item)
        case {"k": "tuple", "items": items}:
            return any(map(may_alias, items))
        case {"k": "overload", "cases": cases}:
            return any(map(may_alias, cases.values()))
    return False


@functools.cache
def reductions() -> frozenset[str]:
    """Last names of what can reduce a tensor to one number: ``sum``, ``dist``, ``mse_loss``."""
    results = {**data()["functions"], **data()["methods"]}
    return frozenset(name.rpartition(".")[2] for name, result in results.items() if _may_reduce(result))


def _may_reduce(result: Result) -> bool:
    if not isinstance(result, dict):
        return False
    return result.get("ndim") in ("reduce", "zero", "loss") or any(map(_may_reduce, result.get("cases", {}).values()))


def takes_tensor(name: str) -> bool:
    """Whether the first argument of a function of torch must be a tensor."""
    result = data()["functions"].get(name)
    if name.startswith(("torch.nn.functional.", "torch.nn.init.")):
        return result is not None
    if name in ("torch.as_tensor", "torch.asarray", "torch.complex", "torch.polar"):
        return False
    if name in ("torch.equal", "torch.allclose", "torch.norm", "torch.nn.Parameter", "torch.autograd.Variable"):
        return True
    if name in ("torchvision.utils.save_image", "torchvision.utils.make_grid"):
        return True
    if name.endswith("_like") or name in ("torch.max", "torch.min", "torch.sort", "torch.topk"):
        return result is not None
    is_tensor = isinstance(result, dict) and result.get("k") == "tensor"
    return is_tensor and result.get("grad", "first") == "first" and result.get("ndim") != "size"


def class_kind(name: str) -> str | None:
    """``module``, ``optimizer``, ``dataloader`` … if ``name`` is a class of torch."""
    if name in data()["modules"] or name == "torch.nn.Module":
        return "module"
    kind = data()["classes"].get(name)
    return kind if isinstance(kind, str) else None


def module_info(name: str) -> Mapping[str, Any]:
    """Parameters, buffers and output of a class of ``torch.nn``; empty if it is none."""
    info: Mapping[str, Any] = data()["modules"].get(name, {})
    return info


def dtype_named(name: str) -> int:
    """Class of the dtype of that name (``float16``, ``torch.long``, ``IntTensor``)."""
    short = name.rpartition(".")[2].lower().removesuffix("tensor")
    if short.startswith(("float", "double", "half", "bfloat", "complex", "cfloat", "cdouble", "chalf")):
        return Dtype.FLOAT
    if short.startswith(("int", "long", "short", "uint", "byte", "char")):
        return Dtype.INT
    return Dtype.BOOL if short.startswith("bool") else Dtype.ANY


def literal_bool(node: cst.BaseExpression) -> bool | None:
    """The value of ``True`` and ``False``, None for all else."""
    match node:
        case cst.Name("True"):
            return True
        case cst.Name("False"):
            return False
    return None


def keyword(arguments: Sequence[Argument], name: str) -> Argument | None:
    """The argument given by that keyword."""
    return next((a for a in arguments if a.keyword == name), None)


def given(arguments: Sequence[Argument], name: str, at: object) -> Argument | None:
    """The argument of that name, or at that position."""
    found = keyword(arguments, name)
    if found is not None or not isinstance(at, int):
        return found
    positional = [a for a in arguments if a.keyword is None][: at + 1]
    return positional[at] if len(positional) > at and not any(a.star for a in positional) else None


def given_bool(arguments: Sequence[Argument], name: str, at: object, default: bool) -> bool | None:
    """A literal that is given, or the default; None if it is not known."""
    argument = given(arguments, name, at)
    if argument is not None:
        return literal_bool(argument.node)
    return None if any(a.star for a in arguments) else default


NAMED_TUPLE = "<named tuple>"
"""What named tuples of torch refer to, with the names of their fields after it."""

DISTRIBUTION_METHODS = frozenset(("rsample", "log_prob", "entropy", "cdf", "icdf", "perplexity"))
"""Methods of distributions that are differentiable, in the parameters or in their argument."""
SAMPLING = frozenset(("sample", "sample_n", "enumerate_support"))

UNSEEN = (Argument(None, UNKNOWN, cst.Name("_"), "*"), Argument(None, UNKNOWN, cst.Name("_"), "**"))
"""Arguments of which nothing is known."""

_GRAPH = Kind.TENSOR | Kind.PACKED | Kind.OBJECT
"""Kinds whose values say whether they carry a graph."""


def grad_of_inputs(inputs: Sequence[Value]) -> int:
    """Whether a differentiable function of these inputs requires grad."""
    grad = Tri.NO
    for value in inputs:
        elements = [value]
        if value.kind & Kind.CONTAINER:
            elements += [v for v in (value.item, *(value.items or ())) if v is not None]
            if value.item is None and not value.items:
                grad |= Tri.MAYBE
        for element in elements:
            if element.kind & _GRAPH and element.grad:
                if element.grad == Tri.YES:
                    return Tri.YES
                grad |= element.grad
            elif element.kind & (Kind.UNKNOWN | Kind.PACKED) or (element.kind & Kind.OBJECT and element.node):
                grad |= Tri.MAYBE
    return grad


def _deciding(result: Mapping[str, Any], receiver: Value | None, arguments: Sequence[Argument]) -> Sequence[Value]:
    """The inputs that decide whether a result requires grad."""
    if result.get("grad") == "first":
        if receiver is not None:
            return [receiver]
        if arguments and arguments[0].keyword is None and not arguments[0].star:
            return [arguments[0].value]
    values = [a.value for a in arguments if a.keyword != "out"]
    return values if receiver is None else [receiver, *values]


def promote(a: int, b: int) -> int:
    """What the dtypes of two operands promote to."""
    dtype = (a | b) & Dtype.FLOAT | a & b & Dtype.BOOL
    is_int = (a & Dtype.INT and b & ~Dtype.FLOAT) or (b & Dtype.INT and a & ~Dtype.FLOAT)
    return dtype | Dtype.INT if is_int else dtype


def number_dtype(node: cst.CSTNode) -> int:
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


def _asked_dtype(arguments: Sequence[Argument]) -> int | None:
    """The dtype that an argument asks for; None if none does."""
    for argument in arguments:
        ref = argument.value.ref or ""
        if argument.keyword == "dtype" and argument.value.kind != Kind.NONE:
            named = dtype_named(ref) if argument.value.kind & Kind.REFERENCE else Dtype.ANY
            return named if named != Dtype.ANY else argument.value.dtype or Dtype.ANY
        if argument.keyword in (None, "type") and argument.value.kind == Kind.REFERENCE:
            if ref in data()["dtypes"] or ref.endswith("Tensor"):
                return dtype_named(ref)
    return None


def _dtype(result: Mapping[str, Any], receiver: Value | None, arguments: Sequence[Argument]) -> int:
    asked = _asked_dtype(arguments)
    if asked is not None:
        return asked
    rule = result.get("dtype", "first")
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
            return _dtype_of_data(arguments[1:] if result.get("ndim") == "size" else arguments)
        case "first" | "count":
            dtype = _dtype_of_first(receiver, arguments)
            return dtype & ~Dtype.BOOL | Dtype.INT if rule == "count" and dtype & Dtype.BOOL else dtype
    dtype = _promoted(receiver, arguments, rule != "tensors")
    return dtype if rule != "mixed" or dtype == Dtype.FLOAT else Dtype.ANY


def _dtype_asked_of(receiver: Value, arguments: Sequence[Argument]) -> int:
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


def _dtype_of_data(arguments: Sequence[Argument]) -> int:
    """``torch.tensor(x)``, ``torch.arange(a, b)``, ``F.embedding(x, weight)``."""
    positional = [a for a in arguments if a.keyword is None]
    named = [a for a in arguments if a.keyword is not None and a.value.kind & (Kind.TENSOR | Kind.UNKNOWN)]
    if not positional or named or any(a.star for a in arguments):
        return Dtype.ANY
    tensors = [a.value for a in positional[:2] if a.value.kind == Kind.TENSOR]
    if tensors:
        return tensors[-1].dtype
    dtype = number_dtype(positional[0].node)
    for argument in positional[1:]:
        dtype = promote(dtype, number_dtype(argument.node))
    return dtype


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


def _dtype_of_first(receiver: Value | None, arguments: Sequence[Argument]) -> int:
    for value, _ in _elements(receiver, arguments):
        if value.kind & Kind.UNKNOWN:
            return Dtype.ANY
        if value.kind & (Kind.TENSOR | Kind.PACKED):
            return value.dtype or Dtype.ANY
    return Dtype.ANY


def _promoted(receiver: Value | None, arguments: Sequence[Argument], with_numbers: bool) -> int:
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


def _ndim(
    result: Mapping[str, Any], receiver: Value | None, arguments: Sequence[Argument], made: Sequence[Argument]
) -> int:
    values = [v for v in (receiver, *(a.value for a in arguments)) if v is not None]
    tensors = [v for v in values if v.kind & Kind.TENSOR]
    if "keepdim" in result:
        if (keeps := given_bool(arguments, "keepdim", result["keepdim"], False)) is not False:
            return tensors[0].ndim if keeps and tensors else Ndim.ANY
        dim_at = result.get("dim_at", result["keepdim"] - 1)
        if _is_of_several(keyword(arguments, "axis") or given(arguments, "dim", dim_at)):
            return Ndim.MORE
    match result.get("ndim"):
        case "zero":
            return Ndim.ZERO
        case "more":
            return Ndim.MORE
        case "loss":
            reduces = _reduces(result.get("at", {}), made)
            elementwise = broadcast(values) if result.get("elementwise") else Ndim.ANY
            return Ndim.ZERO if reduces else Ndim.ANY if reduces is None else elementwise
        case "reduce":
            return _reduced(result.get("dim_at", 0 if receiver is not None else 1), arguments)
        case "keep" if tensors:
            return tensors[0].ndim
        case "broadcast":
            return broadcast(values)
        case "size":
            return _sized(result.get("size_at", 0), "sizes" in result, arguments)
        case "data" if arguments:
            return _nested(arguments[0].value)
    return Ndim.ANY


def broadcast(values: Sequence[Value]) -> int:
    """Dimensions of an elementwise result: 0-dim only if all tensors are."""
    ndim = Ndim.NEITHER
    for value in values:
        if value.kind & (Kind.UNKNOWN | Kind.NDARRAY):
            ndim |= Ndim.ANY
        elif value.kind & Kind.TENSOR:
            if value.ndim == Ndim.MORE and not value.kind & Kind.NUMBER:
                return Ndim.MORE
            ndim |= value.ndim
    return ndim or Ndim.ANY


def _is_of_several(dim: Argument | None) -> bool:
    """Whether a tensor that is reduced along a dimension has another one: there is none but one in ``0`` and ``-1``."""
    number = integer(dim.node) if dim is not None else None
    return number is not None and number not in (0, -1)


def _reduced(dim_at: int, arguments: Sequence[Argument]) -> int:
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
    older = {name: given(arguments, name, at.get(name)) for name in ("reduce", "size_average")}
    set_ = {name: a for name, a in older.items() if a is not None and a.value.kind != Kind.NONE}
    if "reduce" in set_:
        return literal_bool(set_["reduce"].node)
    if set_:
        return True
    reduction = given(arguments, "reduction", at.get("reduction"))
    if reduction is None:
        return True
    if isinstance(reduction.node, cst.SimpleString):
        return reduction.node.raw_value != "none"
    return None


def _sized(size_at: int, takes_sizes: bool, arguments: Sequence[Argument]) -> int:
    """As many dimensions as a size has: ``zeros(())``, ``zeros(2, 3)``, ``zeros(size=x.shape)``."""
    size = keyword(arguments, "size") or keyword(arguments, "shape")
    positional = [a for a in arguments if a.keyword is None][size_at:]
    if size is None:
        size = next((a for a in positional if a.value.kind & Kind.CONTAINER), None)
    if size is not None:
        return Ndim.ZERO if isinstance(size.node, cst.List) and not size.node.elements else length(size.value)
    if not takes_sizes or not positional or any(a.star for a in positional):
        return Ndim.ANY
    return Ndim.MORE if len(positional) > 1 or positional[0].value.kind == Kind.NUMBER else Ndim.ANY


def length(size: Value) -> int:
    """The number of dimensions of a size: of a tuple, or of the ``shape`` of a tensor."""
    if size.kind != Kind.CONTAINER:
        return Ndim.ANY
    if size.items is not None:
        return Ndim.MORE if size.items else Ndim.ZERO
    return size.ndim or Ndim.ANY


def _nested(value: Value) -> int:
    """The number of dimensions of a tensor made of a number, a list or a tensor."""
    match value.kind:
        case Kind.NUMBER:
            return Ndim.ZERO
        case Kind.CONTAINER:
            return Ndim.MORE
        case Kind.TENSOR:
            return value.ndim
    return Ndim.ANY


def _factory_grad(arguments: Sequence[Argument]) -> int:
    literal = given_bool(arguments, "requires_grad", None, False)
    return Tri.MAYBE if literal is None else Tri.YES if literal else Tri.NO


def _cases(
    result: Mapping[str, Any], receiver: Value | None, arguments: Sequence[Argument], made: Sequence[Argument]
) -> list[Result]:
    """Which of the results of an overloaded function a call can give (the names are those of the data's script)."""
    cases, at = result["cases"], result.get("at", {})
    flags = {name: name.removeprefix("flag:").split(",") for name in cases if name.startswith("flag:")}
    possible: list[Result] = []
    for name in sorted(flags, key=len, reverse=True):
        values = [given_bool(made, flag, at.get(flag), False) for flag in flags[name]]
        if all(values):
            return [*possible, cases[name]]
        if False not in values:
            possible.append(cases[name])
    rest = [a for a in arguments if not a.star and a.keyword != "out"]
    if receiver is None:
        rest = rest[1:] if rest and rest[0].keyword in (None, "input") else rest
    known = {flag for names in flags.values() for flag in names}
    rest = [a for a in rest if a.keyword not in known and literal_bool(a.node) is None]
    return [*possible, _case(cases, rest)]


def _case(cases: Mapping[str, Result], rest: Sequence[Argument]) -> Result:
    """The case that the arguments after the first tensor select."""
    name = "no_args"
    if rest:
        first = rest[0]
        has_dim = any(a.keyword in ("dim", "axis") for a in rest)
        if first.keyword in (None, "other") and first.value.kind & (Kind.TENSOR | Kind.NDARRAY):
            name = "tensor" if "tensor" in cases else "one_arg"
        elif "dim" in cases and (has_dim or not first.value.kind & Kind.CONTAINER):
            name = "dim"
        elif "sequence" in cases and first.value.kind & Kind.CONTAINER:
            name = "sequence"
        else:
            name = "one_arg"
    return cases.get(name, cases["no_args"])


def apply(
    result: Result,
    receiver: Value | None,
    arguments: Sequence[Argument],
    grad_mode: int,
    evidence: Evidence,
    *,
    made: Sequence[Argument] | None = None,
) -> Value:
    """The value of a call with this result.

    ``grad_mode`` says whether autograd records here; without it every new tensor comes out without grad. A view is not
    new: of a tensor that requires grad it does too (seen in torch 2.13). ``made`` are the arguments of the constructor
    if it is a module that is called.
    """
    if isinstance(result, str):
        return _plain(result, receiver)
    if result is None:
        return UNKNOWN
    made = arguments if made is None else made
    match result:
        case {"k": "tuple", "items": items}:
            value = container(items=tuple(apply(r, receiver, arguments, grad_mode, evidence, made=made) for r in items))
            return replace(value, ref=".".join((NAMED_TUPLE, *result["names"]))) if "names" in result else value
        case {"k": "tuple_of" | "list_of", "item": item, "each": True}:
            return _each(item, arguments, grad_mode, evidence)
        case {"k": "tuple_of" | "list_of", "item": item}:
            return container(item=apply(item, receiver, arguments, grad_mode, evidence, made=made))
        case {"k": "overload"}:
            chosen = _cases(result, receiver, arguments, made)
            values = [apply(case, receiver, arguments, grad_mode, evidence, made=made) for case in chosen]
            return functools.reduce(join, values)
    inputs = _deciding(result, receiver, arguments)
    ndim = _ndim(result, receiver, arguments, made)
    if result.get("self") and inputs and inputs[0].kind & Kind.TENSOR:
        return written(inputs[0], result, grad_of_inputs(inputs), ndim, grad_mode)
    rule = result.get("grad", "follow")
    grad = _grad(result, inputs, arguments, grad_mode)
    return tensor(
        grad,
        ndim=ndim,
        dtype=_dtype(result, receiver, arguments),
        leaf=Tri.YES if rule in ("factory", "always") else _leaf(result, inputs, grad, grad_mode),
        evidence=evidence,
    )


def _plain(result: str, receiver: Value | None) -> Value:
    """What is no tensor; a dtype and a size remember what they are."""
    value = _PLAIN.get(result, OBJECT)
    if receiver is not None and result == "dtype":
        return replace(value, dtype=receiver.dtype)
    return replace(value, ndim=receiver.ndim) if receiver is not None and result == "size" else value


def _each(item: Result, arguments: Sequence[Argument], grad_mode: int, evidence: Evidence) -> Value:
    """One result for each of several tensors, given one by one or in a list."""
    positional = [a for a in arguments if a.keyword is None]
    if len(positional) == 1 and (values := positional[0].value.items) is not None:
        positional = [Argument(None, value, positional[0].node) for value in values]
    if not positional or any(a.star or a.value.kind & Kind.CONTAINER for a in positional):
        return container(item=apply(item, None, arguments, grad_mode, evidence))
    each = [apply(item, None, [argument], grad_mode, evidence) for argument in positional]
    if item.get("ndim") != "broadcast":
        return container(items=tuple(each))
    ndim = broadcast([argument.value for argument in positional])
    return container(items=tuple(replace(value, ndim=ndim) for value in each))


def written(base: Value, result: Mapping[str, Any], flows: int, ndim: int, grad_mode: int) -> Value:
    """A tensor after it was written to in place: what flows in makes it part of the graph."""
    if result.get("grad") == "never" and base.dtype & Dtype.FLOAT:  # detach_
        return replace(base, kind=Kind.TENSOR, grad=Tri.NO, ndim=ndim, leaf=Tri.YES)
    grad, leaf = base.grad, base.leaf
    if grad_mode != Tri.NO and flows & Tri.YES and base.dtype & Dtype.FLOAT and grad != Tri.YES:
        grad = Tri.YES if flows == grad_mode == Tri.YES else Tri.MAYBE
        leaf = Tri.NO if grad == Tri.YES else Tri.MAYBE
    return replace(base, kind=Kind.TENSOR, grad=grad, ndim=ndim, leaf=leaf)


def _grad(result: Mapping[str, Any], inputs: Sequence[Value], arguments: Sequence[Argument], grad_mode: int) -> int:
    rule, is_view = result.get("grad", "follow"), result.get("alias")
    if rule == "factory":
        return _factory_grad(arguments)
    if rule == "always":
        return Tri.YES
    if rule == "never" or (grad_mode == Tri.NO and not is_view):
        return Tri.NO
    grad = grad_of_inputs(inputs)
    may_be_new = not is_view or (result.get("same") and result.get("copy"))
    if grad == Tri.YES and grad_mode != Tri.YES and may_be_new:
        return Tri.MAYBE
    if grad_mode == Tri.YES and grad == Tri.MAYBE and result.get("ndim") == "loss":
        return Tri.YES  # what a loss is made for
    return grad


def _leaf(result: Mapping[str, Any], inputs: Sequence[Value], grad: int, grad_mode: int) -> int:
    """What was recorded is no leaf; what can be the argument itself is one if that is."""
    if grad != Tri.YES or grad_mode != Tri.YES:
        return Tri.MAYBE
    return Tri.MAYBE if result.get("same") and inputs[0].leaf != Tri.NO else Tri.NO


def trainable(info: Mapping[str, Any], made: Sequence[Argument]) -> int:
    """Whether a module that was made with these arguments has parameters that its output depends on."""
    match info.get("trainable"):
        case True:
            return Tri.YES
        case [name, at, default]:
            literal = given_bool(made, name, at, default)
            return Tri.MAYBE if literal is None else Tri.YES if literal else Tri.NO
    return Tri.NO


def distribution_grad(distribution: Value, name: str) -> int:
    """Whether a method or attribute of a distribution is a function of something that requires grad."""
    about = data()["distributions"].get(distribution.ref)
    made, whole = distribution.bound, distribution.grad or Tri.MAYBE
    if about is None or made is None or any(a.star for a in made):
        return Tri.MAYBE if whole == Tri.YES and name not in ("rsample", "log_prob", "cdf", "icdf") else whole
    free = about.get("free", {}).get(name, ())
    names = [a.keyword or about["parameters"][at] for at, a in enumerate(made) if at < len(about["parameters"])]
    return grad_of_inputs([a.value for parameter_, a in zip(names, made, strict=False) if parameter_ not in free])


def is_distribution_attribute(name: str) -> bool:
    """Whether distributions have a tensor of that name; a few of the names are those of methods."""
    result = data()["distribution"].get(name)
    return isinstance(result, dict) and result["k"] == "tensor" and name not in DISTRIBUTION_METHODS | SAMPLING


def distribution_dtype(distribution: Value, name: str) -> int:
    """The dtype of what a method of a distribution gives."""
    about = data()["distributions"].get(distribution.ref)
    if about is None:
        return Dtype.ANY
    return Dtype.INT if name in about.get("integers", ()) else Dtype.FLOAT


def member(info: Mapping[str, Any], name: str, evidence: Evidence) -> Value | None:
    """The value of ``module.name`` for a module of torch: a parameter or a buffer; None if it is neither."""
    if name in info.get("params", ()):
        return parameter(evidence)
    if name in info.get("buffers", ()):
        return tensor(Tri.NO, role=Role.BUFFER, evidence=evidence)
    return None
