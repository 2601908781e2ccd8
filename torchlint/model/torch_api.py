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
    Strength,
    Tri,
    Value,
    container,
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
    text = resources.files("torchlint.model").joinpath("data/torch.json").read_text(encoding="utf-8")
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
    return isinstance(result, dict) and result.get("k") == "tensor" and result.get("grad", "follow") == "follow"


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
            if element.kind & Kind.TENSOR:
                if element.grad == Tri.YES:
                    return Tri.YES
                grad |= element.grad
            elif element.kind & Kind.UNKNOWN:
                grad |= Tri.MAYBE
    return grad


def _dtype(rule: str, receiver: Value | None, arguments: Sequence[Argument]) -> int:
    if rule == "any":
        return Dtype.ANY
    if rule in ("int", "bool", "float"):
        return {"int": Dtype.INT, "bool": Dtype.BOOL, "float": Dtype.FLOAT}[rule]
    if rule in ("arg", "float_factory"):
        for argument in arguments:
            if argument.keyword not in (None, "dtype", "type"):
                continue
            if argument.value.ref and (named := dtype_named(argument.value.ref)) != Dtype.ANY:
                return named
            if isinstance(argument.node, cst.SimpleString) and "Tensor" in argument.node.value:
                return dtype_named(argument.node.value.strip("'\""))
        if keyword(arguments, "dtype"):
            return Dtype.ANY
        if rule == "float_factory":
            return Dtype.FLOAT
        return receiver.dtype if receiver is not None and receiver.kind == Kind.TENSOR else Dtype.ANY
    dtype = Dtype.NEITHER
    inputs = [receiver] if receiver is not None else []
    inputs += [a.value for a in arguments if a.keyword is None]
    for value in inputs:
        element = value.item if value.kind == Kind.CONTAINER and value.item is not None else value
        if element.kind & Kind.TENSOR:
            dtype |= element.dtype
        elif element.kind & Kind.UNKNOWN:
            dtype |= Dtype.ANY
        elif element.kind & Kind.NUMBER and not dtype:
            dtype |= Dtype.NEITHER
    if dtype & Dtype.FLOAT and dtype != Dtype.ANY:
        return Dtype.FLOAT
    return dtype or Dtype.ANY


def _ndim(result: Mapping[str, Any], receiver: Value | None, arguments: Sequence[Argument]) -> int:
    rule = result.get("ndim", "unknown")
    if rule in ("zero", "loss"):
        return loss_ndim(arguments)
    if rule == "more":
        return Ndim.MORE
    if rule == "reduce":
        return _reduced(result.get("dim_at", 0 if receiver is not None else 1), arguments)
    tensors = [v for v in (receiver, *(a.value for a in arguments)) if v is not None and v.kind & Kind.TENSOR]
    if rule == "keep" and tensors:
        return tensors[0].ndim
    if rule == "broadcast":
        return broadcast([v for v in (receiver, *(a.value for a in arguments)) if v is not None])
    return Ndim.ANY


def broadcast(values: Sequence[Value]) -> int:
    """Dimensions of an elementwise result: 0-dim only if all tensors are."""
    ndim = Ndim.NEITHER
    for value in values:
        if value.kind & (Kind.UNKNOWN | Kind.NDARRAY):
            ndim |= Ndim.ANY
        elif value.kind & Kind.TENSOR:
            if value.ndim == Ndim.MORE:
                return Ndim.MORE
            ndim |= value.ndim
    return ndim or Ndim.ANY


def _reduced(dim_at: int, arguments: Sequence[Argument]) -> int:
    """A full reduction is 0-dim, one along a dimension (the positional argument ``dim_at``, or ``dim=``) may not be."""
    if any(a.star or a.keyword in ("dim", "axis", "keepdim") for a in arguments):
        return Ndim.ANY
    positional = sum(a.keyword is None for a in arguments)
    return Ndim.ANY if positional > dim_at else Ndim.ZERO


def loss_ndim(arguments: Sequence[Argument]) -> int:
    """Dimensions of a loss: 0 unless ``reduction='none'`` or ``reduce=False``."""
    given = keyword(arguments, "reduction")
    if given is not None:
        if isinstance(given.node, cst.SimpleString):
            return Ndim.MORE if given.node.value.strip("'\"") == "none" else Ndim.ZERO
        return Ndim.ANY
    given = keyword(arguments, "reduce")
    if given is not None and literal_bool(given.node) is not True:
        return Ndim.ANY
    return Ndim.ANY if any(a.star == "**" for a in arguments) else Ndim.ZERO


def _factory_grad(arguments: Sequence[Argument]) -> int:
    given = keyword(arguments, "requires_grad")
    if given is None:
        return Tri.NO
    literal = literal_bool(given.node)
    return Tri.MAYBE if literal is None else Tri.YES if literal else Tri.NO


def _case(cases: Mapping[str, Result], receiver: Value | None, arguments: Sequence[Argument]) -> Result:
    """Which of the results of an overloaded function a call gives (the names are those of the data's script)."""
    flags = [name for name in cases if name.startswith("flag:")]
    for name in sorted(flags, key=len, reverse=True):
        given = [keyword(arguments, flag) for flag in name.removeprefix("flag:").split(",")]
        if all(argument is not None and literal_bool(argument.node) is True for argument in given):
            return cases[name]
    rest = [a for a in arguments if not a.star and a.keyword != "out"]
    if receiver is None:
        rest = rest[1:] if rest and rest[0].keyword in (None, "input") else rest
    rest = [a for a in rest if a.keyword not in {flag for name in flags for flag in name[5:].split(",")}]
    if not rest:
        return cases.get("no_args", cases.get("one_arg"))
    first = rest[0]
    has_dim = any(a.keyword in ("dim", "axis") for a in rest)
    if first.keyword is None and first.value.kind & (Kind.TENSOR | Kind.NDARRAY):
        return cases.get("tensor", cases.get("one_arg", {"k": "tensor"}))
    if "dim" in cases and (has_dim or not first.value.kind & Kind.CONTAINER):
        return cases["dim"]
    if "sequence" in cases and first.value.kind & Kind.CONTAINER:
        return cases["sequence"]
    return next((cases[name] for name in ("one_arg", "tensor", "dim", "no_args") if name in cases), None)


def apply(
    result: Result,
    receiver: Value | None,
    arguments: Sequence[Argument],
    grad_mode: int,
    evidence: Evidence,
) -> Value:
    """The value of a call with this result.

    ``grad_mode`` says whether autograd records here; without it every new tensor comes out without grad. A view is not
    new: of a tensor that requires grad it does too (seen in torch 2.13).
    """
    if isinstance(result, str):
        return _PLAIN.get(result, OBJECT)
    if result is None:
        return UNKNOWN
    match result["k"]:
        case "tuple":
            return container(items=tuple(apply(r, receiver, arguments, grad_mode, evidence) for r in result["items"]))
        case "tuple_of" | "list_of":
            return container(item=apply(result["item"], receiver, arguments, grad_mode, evidence))
        case "overload":
            return apply(_case(result["cases"], receiver, arguments), receiver, arguments, grad_mode, evidence)
    inputs = ([receiver] if receiver is not None else []) + [a.value for a in arguments if a.keyword != "out"]
    if result.get("self") and inputs and inputs[0].kind & Kind.TENSOR:
        grown = inputs[0].grad
        if grad_mode != Tri.NO and grad_of_inputs(inputs) == Tri.YES:
            grown = Tri.YES
        if result.get("grad") == "never":
            grown = Tri.NO
        return replace(inputs[0], kind=Kind.TENSOR, grad=grown)
    rule = result.get("grad", "follow")
    if rule == "factory":
        grad = _factory_grad(arguments)
    elif rule == "always" or (result.get("trainable") and grad_mode == Tri.YES):
        grad = Tri.YES
    elif rule == "never" or (grad_mode == Tri.NO and not result.get("alias")):
        grad = Tri.NO
    else:
        grad = grad_of_inputs(inputs)
        if grad_mode == Tri.MAYBE and grad == Tri.YES:
            grad = Tri.MAYBE
        if grad_mode == Tri.YES and grad == Tri.MAYBE and result.get("ndim") == "loss":
            grad = Tri.YES  # what a loss is made for
    return tensor(
        grad,
        ndim=_ndim(result, receiver, arguments),
        dtype=_dtype(result.get("dtype", "follow"), receiver, arguments),
        leaf=Tri.YES if rule in ("factory", "always") else Tri.NO if grad == Tri.YES else Tri.MAYBE,
        evidence=evidence,
    )


def member(info: Mapping[str, Any], name: str, evidence: Evidence) -> Value | None:
    """The value of ``module.name`` for a module of torch: a parameter or a buffer; None if it is neither."""
    if name in info.get("params", ()):
        return parameter(evidence)
    if name in info.get("buffers", ()):
        return tensor(Tri.NO, role=Role.BUFFER, evidence=evidence)
    return None


def signature(text: str, node: cst.CSTNode | None) -> Evidence:
    """Evidence that torch's own stubs give."""
    return Evidence(Strength.SIGNATURE, text, node)
