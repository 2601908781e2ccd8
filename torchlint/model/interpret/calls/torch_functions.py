"""Calls of functions and classes of torch."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from torchlint.model.certainty import Certainty
from torchlint.model.interpret import contexts, learning, loaders, module_containers, places
from torchlint.model.interpret.calls import data_sets, methods
from torchlint.model.interpret.frame import Frame
from torchlint.model.names import GRAD_CONTEXTS, SET_GRAD
from torchlint.model.possibilities import Dtype, Kind, Ndim, Tri
from torchlint.model.symbols import Origin, Symbol
from torchlint.model.torch import library, transfer
from torchlint.model.torch.arguments import given_argument, given_bool
from torchlint.model.torch.dtypes import dtype_named
from torchlint.model.torch.grads import certainty_of_inputs, grad_of_inputs
from torchlint.model.torch.ndims import ndim_of_legacy
from torchlint.model.torch.schema import TensorResult, TupleResult
from torchlint.model.values import (
    NUMBER,
    UNKNOWN,
    Argument,
    Evidence,
    Strength,
    Value,
    container,
    parameter,
    tensor,
    truth,
)
from torchlint.system.records import replace

_PACKED_SEQUENCE = "torch.nn.utils.rnn.PackedSequence"


def call(frame: Frame, ref: str, node: cst.Call, arguments: Sequence[Argument]) -> Value:
    """A call of something of torch by its qualified name."""
    if ref in ("torch.compile", "torch.jit.script", "torch.jit.trace") and arguments and not arguments[0].keyword:
        return arguments[0].value
    if ref in ("torch.vmap", "torch.func.vmap") and arguments:
        return Value(Kind.FUNCTION, node=node)
    if ref == "torch.utils.data.random_split" and arguments:
        sample = data_sets.sample_of(frame, arguments[0].value, arguments[0].node)
        return container(loaders.subset(Value(Kind.OBJECT, item=sample)))
    evidence = Evidence(Strength.SIGNATURE, f"`{ref}` returns it", node)
    if library.gives_module(ref) and arguments:
        return module_containers.reworked(ref, arguments[0].value, evidence)
    if arguments and not arguments[0].star and arguments[0].keyword is None:
        learn_from_argument(frame, ref, arguments[0], node)
    if ref in _SIZED:
        _learn_sizes(frame, arguments)
    result = library.function(ref)
    if isinstance(result, TupleResult) and result.names[:2] == ("data", "batch_sizes"):
        packed = transfer.apply(result.items[0], None, arguments, frame.grad, evidence)
        return Value(Kind.PACKED, packed.grad, dtype=packed.dtype, ref=_PACKED_SEQUENCE, evidence=evidence)
    if ref in GRAD_CONTEXTS or ref in SET_GRAD:
        return Value(Kind.OBJECT, contexts.grad_mode(ref, arguments), ref=ref, evidence=evidence)
    if ref == "torch.autograd.Function.apply":
        return transfer.apply(TensorResult(), None, arguments, frame.grad, evidence)
    if ref == "torch.autograd.grad":
        graph = given_bool(arguments, "create_graph", library.position(ref, "create_graph"), False)
        return container(tensor(truth(graph), certainty=Certainty.EXPECTED, evidence=evidence))
    if result is not None:
        value = transfer.apply(result, None, arguments, frame.grad, evidence)
        return value if value.kind != Kind.UNKNOWN else learning.unknown(frame, Symbol(Origin.CALL, id(node)))
    kind = library.class_kind(ref)
    if kind is None and ref.startswith("torch.Tensor."):
        return _unbound_method(frame, ref, node, arguments)
    if kind is not None:
        return _construct(frame, ref, kind, node, arguments)
    if ref.endswith("Tensor"):
        return _construct(frame, ref, "tensor", node, arguments)
    return learning.unknown(frame, Symbol(Origin.CALL, id(node)))


_SIZED = frozenset(f"torch.{name}" for name in ("zeros", "ones", "empty", "rand", "randn"))
"""Functions of which all arguments without a keyword are sizes, if there are several."""


def _learn_sizes(frame: Frame, arguments: Sequence[Argument]) -> None:
    """Of what is not known and has been given as one of several sizes, ``torch.zeros(n, d)``, it is a number."""
    sizes = [each for each in arguments if each.keyword is None]
    if len(sizes) < _SEVERAL or any(each.star for each in arguments):
        return
    for each in sizes:
        if each.value.kind == Kind.UNKNOWN and isinstance(each.node, cst.Name):
            places.refine(frame, each.node, NUMBER)


_SEVERAL = 2


def learn_from_argument(frame: Frame, ref: str, argument: Argument, node: cst.Call) -> None:
    """Learn from being the input, or having the data, of a function that takes tensors only."""
    if not library.takes_tensor(ref):
        return
    if ref.startswith("torch.nn.functional."):
        learning.learn(frame, argument.value.symbols, f"it is given to `{ref}`", node)
    learning.learn_owner(frame, argument.node, f"its data is given to `{ref}`", node)


def _unbound_method(frame: Frame, ref: str, node: cst.Call, arguments: Sequence[Argument]) -> Value:
    if not arguments:
        return UNKNOWN
    method = Value(Kind.REFERENCE, ref=ref, receiver=arguments[0].value)
    return methods.call(frame, method, node, arguments[1:])


def _construct(frame: Frame, ref: str, kind: str, node: cst.Call, arguments: Sequence[Argument]) -> Value:
    evidence = Evidence(Strength.SIGNATURE, f"`{ref}` returns it", node)
    match kind:
        case "module":
            module = Value(Kind.MODULE, ref=ref, bound=tuple(arguments), evidence=evidence)
            return module_containers.built(module, arguments)
        case "parameter":
            return _parameter(arguments, evidence)
        case "tensor":
            dtype = dtype_named(ref) if ref != "torch.Tensor" else Dtype.FLOAT
            first = arguments[0].value if len(arguments) == 1 else NUMBER
            if first.kind & Kind.TENSOR:
                return tensor(first.grad, first.ndim, dtype, certainty=first.certainty, evidence=evidence)
            ndim = Ndim.ANY if first.kind & Kind.UNKNOWN else ndim_of_legacy(arguments)
            return tensor(Tri.NO, ndim, dtype, evidence=evidence)
        case "optimizer":
            return Value(Kind.OPTIMIZER, ref=ref, evidence=evidence)
        case "dataloader":
            return Value(Kind.LOADER, ref=ref, item=data_sets.batch_of(frame, node, arguments), evidence=evidence)
        case "dataset":
            return Value(Kind.OBJECT, ref=ref, item=data_sets.sample_of_torch(frame, ref, arguments), evidence=evidence)
        case "sampler":
            index = container(NUMBER) if ref.endswith("BatchSampler") else NUMBER
            return Value(Kind.OBJECT, ref=ref, item=index, evidence=evidence)
        case "packed":
            data = given_argument(arguments, "data", 0)
            value = data.value if data is not None else UNKNOWN
            return Value(Kind.PACKED, value.grad, dtype=value.dtype, ref=ref, evidence=evidence)
        case "distribution":
            inputs = [a.value for a in arguments]
            grad, certainty = grad_of_inputs(inputs), certainty_of_inputs(inputs)
            return Value(Kind.OBJECT, grad, certainty, ref=ref, bound=tuple(arguments), evidence=evidence)
    if ref.startswith("torch.distributions."):  # a transform
        grad = grad_of_inputs([a.value for a in arguments])
        return Value(Kind.OBJECT, grad, ref=ref, evidence=evidence)
    return Value(Kind.OBJECT, ref=ref, evidence=evidence)


def call_variable(frame: Frame, node: cst.Call, arguments: Sequence[Argument]) -> Value:
    """``Variable(data, requires_grad)``, which has been a plain tensor since PyTorch 0.4."""
    literal = given_bool(arguments, "requires_grad", 1, False)
    data = given_argument(arguments, "data", 0)
    wrapped = data.value if data is not None else UNKNOWN
    if data is not None:
        _wrapped(frame, data, node)
    known = wrapped.kind & Kind.TENSOR
    returned = loaders.FROM_LOADER if loaders.is_from_loader(wrapped) else "`Variable(...)` returns a tensor"
    evidence = Evidence(Strength.SIGNATURE, returned, node)
    return tensor(
        truth(literal),
        wrapped.ndim if known else Ndim.ANY,
        wrapped.dtype if known else Dtype.ANY,
        leaf=Tri.YES,
        certainty=Certainty.PROVED,
        evidence=evidence,
    )


def _wrapped(frame: Frame, data: Argument, node: cst.Call) -> None:
    """Learn from ``Variable(x)``, which raises where ``x`` is no tensor."""
    if frame.tests_of_type:
        return
    learning.learn(frame, data.value.symbols, "`Variable(...)` is called with it, which takes only tensors", node)
    learning.learn_owner(frame, data.node, "`Variable(...)` is called with its data", node)


def _parameter(arguments: Sequence[Argument], evidence: Evidence) -> Value:
    """``nn.Parameter(data, requires_grad)``."""
    grad = truth(given_bool(arguments, "requires_grad", 1, True))
    data = given_argument(arguments, "data", 0)
    value = replace(parameter(evidence, Certainty.PROVED), grad=grad)
    if data is None or not data.value.kind & Kind.TENSOR:
        return value if grad == Tri.YES else replace(value, dtype=Dtype.ANY)
    return replace(value, ndim=data.value.ndim, dtype=Dtype.FLOAT if grad == Tri.YES else data.value.dtype)
