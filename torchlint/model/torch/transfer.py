"""What calls of torch give: the value of a result for values that are given."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

from torchlint.model.certainty import Certainty
from torchlint.model.possibilities import Dtype, Kind, Ndim, Role, Tri
from torchlint.model.torch.arguments import given_bool, literal_bool
from torchlint.model.torch.dtypes import dtype_of
from torchlint.model.torch.grads import (
    certainty_of,
    certainty_of_inputs,
    deciding,
    grad_of,
    grad_of_inputs,
    is_made_leaf,
    leaf_of,
)
from torchlint.model.torch.ndims import broadcast, ndim_of
from torchlint.model.torch.schema import (
    ModuleInfo,
    OverloadResult,
    PlainResult,
    SeveralResults,
    TensorResult,
    TorchResult,
    TupleResult,
)
from torchlint.model.values import (
    NDARRAY,
    NONE,
    NUMBER,
    OBJECT,
    STRING,
    UNKNOWN,
    Argument,
    Evidence,
    Fields,
    Value,
    container,
    iterated,
    join,
    parameter,
    tensor,
)
from torchlint.system.records import replace

_PLAIN = {
    "bool": NUMBER,
    "int": NUMBER,
    "float": NUMBER,
    "number": NUMBER,
    "str": STRING,
    "none": NONE,
    "ndarray": NDARRAY,
    "list": container(),
    "size": replace(container(NUMBER), ndim=Ndim.ANY),
    "device": replace(OBJECT, ref="torch.device"),
    "any": UNKNOWN,
}


def apply(
    result: TorchResult | None,
    receiver: Value | None,
    arguments: Sequence[Argument],
    grad_mode: Tri,
    evidence: Evidence,
    *,
    made: Sequence[Argument] | None = None,
) -> Value:
    """The value of a call with this result.

    ``grad_mode`` says whether autograd records here; without it every new tensor comes out without grad. A view is not
    new: of a tensor that requires grad it does too (seen in torch 2.13). ``made`` are the arguments of the constructor
    if it is a module that is called.
    """
    made = arguments if made is None else made
    match result:
        case None:
            return UNKNOWN
        case PlainResult(word=word):
            return _plain(word, receiver)
        case TensorResult():
            return _tensor(result, receiver, arguments, grad_mode, evidence, made)
        case TupleResult(items=items, names=names):
            value = container(items=tuple(apply(r, receiver, arguments, grad_mode, evidence, made=made) for r in items))
            return replace(value, inner=Fields(names)) if names else value
        case SeveralResults(item=item, each=True):
            return _each(item, arguments, grad_mode, evidence)
        case SeveralResults(item=item):
            return container(item=apply(item, receiver, arguments, grad_mode, evidence, made=made))
        case OverloadResult():
            chosen = _cases(result, receiver, arguments, made)
            values = [apply(case, receiver, arguments, grad_mode, evidence, made=made) for case in chosen]
            return functools.reduce(join, values)


def _tensor(  # noqa: PLR0917
    result: TensorResult,
    receiver: Value | None,
    arguments: Sequence[Argument],
    grad_mode: Tri,
    evidence: Evidence,
    made: Sequence[Argument],
) -> Value:
    inputs = deciding(result, receiver, arguments)
    ndim = ndim_of(result, receiver, arguments, made)
    if result.is_input and inputs and inputs[0].kind & Kind.TENSOR:
        return written(
            inputs[0], result, grad_of_inputs(inputs), ndim, grad_mode, certainty=certainty_of_inputs(inputs)
        )
    grad = grad_of(result, inputs, arguments, grad_mode)
    return tensor(
        grad,
        ndim=ndim,
        dtype=dtype_of(result, receiver, arguments),
        leaf=Tri.YES if is_made_leaf(result, arguments) else leaf_of(result, inputs, grad, grad_mode),
        certainty=certainty_of(result, inputs, arguments),
        evidence=evidence,
    )


def _plain(word: str, receiver: Value | None) -> Value:
    """What is no tensor; a dtype and a size remember what they are, a device whether it is that of a tensor."""
    value = _PLAIN.get(word, OBJECT)
    if word == "device":
        return replace(value, evidence=receiver.evidence if receiver is not None and receiver.is_tensor else None)
    if receiver is not None and word == "dtype":
        return replace(value, dtype=receiver.dtype)
    return replace(value, ndim=receiver.ndim) if receiver is not None and word == "size" else value


def _each(item: TorchResult, arguments: Sequence[Argument], grad_mode: Tri, evidence: Evidence) -> Value:
    """One result for each of several tensors, given one by one or in a list."""
    positional = [a for a in arguments if a.keyword is None]
    if len(positional) == 1 and (values := positional[0].value.items) is not None:
        positional = [Argument(None, value, positional[0].node) for value in values]
    if not positional or any(a.star or a.value.kind & Kind.CONTAINER for a in positional):
        return container(item=apply(item, None, arguments, grad_mode, evidence))
    each = [apply(item, None, [argument], grad_mode, evidence) for argument in positional]
    if not isinstance(item, TensorResult) or item.ndim != "broadcast":
        return container(items=tuple(each))
    ndim = broadcast([argument.value for argument in positional])
    return container(items=tuple(replace(value, ndim=ndim) for value in each))


def written(
    base: Value,
    result: TensorResult,
    flows: Tri,
    ndim: Ndim,
    grad_mode: Tri,
    *,
    certainty: Certainty = Certainty.SUPPOSED,
) -> Value:
    """A tensor after it was written to in place: what flows in makes it part of the graph."""
    if result.grad == "never" and base.dtype & Dtype.FLOAT:  # detach_
        return replace(base, kind=Kind.TENSOR, grad=Tri.NO, ndim=ndim, leaf=Tri.YES)
    grad, leaf = base.grad, base.leaf
    if grad_mode != Tri.NO and flows & Tri.YES and base.dtype & Dtype.FLOAT and grad != Tri.YES:
        grad = Tri.YES if flows == grad_mode == Tri.YES else Tri.MAYBE
        leaf = Tri.NO if grad == Tri.YES else Tri.MAYBE
        return replace(base, kind=Kind.TENSOR, grad=grad, certainty=certainty, ndim=ndim, leaf=leaf)
    return replace(base, kind=Kind.TENSOR, grad=grad, ndim=ndim, leaf=leaf)


def _cases(
    result: OverloadResult, receiver: Value | None, arguments: Sequence[Argument], made: Sequence[Argument]
) -> list[TorchResult]:
    """Which of the results of an overloaded function a call can give (the names are those of the data's script)."""
    cases, at = result.cases, result.at
    flags = {name: name.removeprefix("flag:").split(",") for name in cases if name.startswith("flag:")}
    possible: list[TorchResult] = []
    for name in sorted(flags, key=len, reverse=True):
        values = [given_bool(made, flag, at.get(flag), False) for flag in flags[name]]
        if all(values):
            return [*possible, cases[name]]
        if False not in values:
            possible.append(cases[name])
    rest = [a for a in arguments if not a.star and a.keyword != "out"]
    if receiver is None:
        rest = rest[1:] if rest and rest[0].keyword in (None, "input") else rest
    if "tensor" in cases and any(a.star and _hands_on_tensors(a.value) for a in arguments):
        possible.append(cases["tensor"])
    known = {flag for names in flags.values() for flag in names}
    rest = [a for a in rest if a.keyword not in known and literal_bool(a.node) is None]
    return [*possible, _case(cases, rest)]


def _hands_on_tensors(starred: Value) -> bool:
    """Whether there are tensors among the arguments that a starred one stands for."""
    item = iterated(starred)
    return bool((starred if item is None else item).kind & Kind.TENSOR)


def _case(cases: Mapping[str, TorchResult], rest: Sequence[Argument]) -> TorchResult:
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


def member(info: ModuleInfo | None, name: str, evidence: Evidence, certainty: Certainty) -> Value | None:
    """The value of ``module.name`` for a module of torch: a parameter or a buffer; None if it is neither.

    ``certainty`` says how certain it is that nobody has frozen its parameters. All of them have a dimension.
    """
    if info is None:
        return None
    if name in info.params:
        return replace(parameter(evidence, certainty), ndim=Ndim.MORE)
    if name in info.buffers:
        ndim = Ndim.MORE if name in _STATISTICS else Ndim.ANY
        return tensor(Tri.NO, ndim, role=Role.BUFFER, evidence=evidence)
    return None


_STATISTICS = ("running_mean", "running_var")
"""Buffers of torch's modules that have a dimension, as `num_batches_tracked` and the `weight` of a loss may not."""
