"""Methods of what torch makes: tensors, distributions, modules, optimizers, packed sequences."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from torchlint.model.certainty import Certainty
from torchlint.model.interpret import iteration, learning, module_containers, operators, places
from torchlint.model.interpret.calls import container_methods, lambdas, module_calls
from torchlint.model.interpret.frame import Frame
from torchlint.model.names import INPLACE
from torchlint.model.possibilities import Dtype, Kind, Ndim, Tri
from torchlint.model.symbols import Origin, Symbol
from torchlint.model.syntax import dotted
from torchlint.model.torch import library, transfer
from torchlint.model.torch.arguments import literal_bool
from torchlint.model.torch.distributions import DISTRIBUTION_METHODS, SAMPLING, distribution_dtype, distribution_grad
from torchlint.model.torch.dtypes import dtype_named
from torchlint.model.torch.ndims import ndim_of_size
from torchlint.model.torch.schema import TensorResult
from torchlint.model.values import (
    NDARRAY,
    NONE,
    NUMBER,
    OBJECT,
    STRING,
    UNKNOWN,
    Argument,
    Evidence,
    Method,
    Owner,
    Strength,
    Value,
    container,
    tensor,
    truth,
)
from torchlint.system.records import replace

_PACKED_METHODS = frozenset(
    ("to", "cuda", "cpu", "pin_memory", "double", "float", "half", "long", "int", "short", "byte")
)
"""Methods of a packed sequence that return one (torch/nn/utils/rnn.py)."""
_NUMBERS = container(NUMBER)


def call(frame: Frame, func: Value, node: cst.Call, arguments: Sequence[Argument]) -> Value:
    """A call of a method of what torch or Python makes."""
    receiver, ref = func.receiver, func.ref or ""
    assert receiver is not None
    if isinstance(func.inner, Method):
        return _method(frame, func.inner, receiver, node, arguments)
    name = ref.rpartition(".")[2]
    if ref.startswith("torch.Tensor."):
        return _tensor_method(frame, receiver, name, node, arguments)
    if ref.startswith("torch.distributions."):
        return _distribution_method(frame, receiver, name, node, arguments)
    if ref.startswith("torch.nn.Module."):
        value = module_calls.method(frame.context, name, receiver, node)
        if name == "apply" and arguments:
            module_calls.apply_to_modules(frame, arguments[0])
        return value if value is not None else learning.unknown(frame, Symbol(Origin.CALL, id(node)))
    return _plain_method(frame, receiver, name, node, arguments)


def _method(frame: Frame, method: Method, receiver: Value, node: cst.Call, arguments: Sequence[Argument]) -> Value:
    """A call of a method that no qualified name leads to."""
    if method.owner is Owner.OPTIMIZER:
        return lambdas.call_argument(frame, arguments[0], (), node) if arguments else NONE
    if method.owner is Owner.MODULES and isinstance(node.func, cst.Attribute) and arguments:
        grown = module_containers.grown(receiver, method.name, arguments)
        places.store(frame, node.func.value, grown)
        return grown
    return _plain_method(frame, receiver, method.name, node, arguments)


def _distribution_method(
    frame: Frame, receiver: Value, name: str, node: cst.Call, arguments: Sequence[Argument]
) -> Value:
    evidence = Evidence(Strength.SIGNATURE, f"`{name}` of a distribution", node)
    dtype = distribution_dtype(receiver, name)
    ndim = Ndim.ANY
    if name in ("sample", "rsample") and arguments:
        ndim = Ndim.ANY if ndim_of_size(arguments[0].value) & Ndim.ZERO else Ndim.MORE
    if name in SAMPLING:
        return tensor(Tri.NO, ndim, dtype, evidence=evidence)
    if name in DISTRIBUTION_METHODS:
        inputs = [replace(OBJECT, grad=distribution_grad(receiver, name), certainty=receiver.certainty)]
        inputs += [a.value for a in arguments] if name != "rsample" else []
        result = TensorResult(dtype="float")
        return replace(transfer.apply(result, None, _as_arguments(inputs), frame.grad, evidence), ndim=ndim)
    return learning.unknown(frame, Symbol(Origin.CALL, id(node)))


def _tensor_method(frame: Frame, receiver: Value, name: str, node: cst.Call, arguments: Sequence[Argument]) -> Value:
    result = library.method(name)
    if name == "requires_grad_":
        literal = literal_bool(arguments[0].node) if arguments else True
        value = replace(receiver, grad=truth(literal), certainty=Certainty.PROVED)
        _rebind(frame, node, value)
        return value
    if name == "split" and (not arguments or arguments[0].value.kind == Kind.STRING):
        learning.reject(frame, receiver.symbols)
    if name in _LIKE_ANOTHER and receiver.kind == Kind.TENSOR and arguments:
        other = arguments[0]
        learning.learn(frame, other.value.symbols, f"`.{name}(...)` is called with it, which takes only tensors", node)
        learning.learn_owner(frame, other.node, f"its data is given to `.{name}`", node)
    if name == "tolist":
        return _listed(receiver.ndim if receiver.kind == Kind.TENSOR else Ndim.ANY)
    evidence = receiver.evidence or Evidence(Strength.USE, f"`.{name}` of a tensor", node)
    value = transfer.apply(result, receiver, arguments, frame.grad, evidence)
    if receiver.kind & Kind.UNKNOWN and value.kind & Kind.TENSOR:
        if library.is_tensor_or_module(name):
            return replace(value, kind=receiver.kind, symbols=receiver.symbols)
        if name not in library.tensor_only():
            return learning.likely(frame, value, Symbol(Origin.CALL, id(node)))
    if INPLACE.search(name) and value.kind == Kind.TENSOR and value != receiver:
        _rebind(frame, node, value)
        if value.grad & Tri.YES and isinstance(node.func, cst.Attribute):
            operators.write_through(frame, node.func.value, value.grad)
    return value


_LIKE_ANOTHER = frozenset(("type_as", "expand_as", "view_as", "reshape_as"))
"""Methods that take another tensor as the pattern."""


def _listed(ndim: Ndim) -> Value:
    """What ``tolist`` makes of a tensor: a number, a list of numbers, or lists of lists."""
    if ndim == Ndim.ZERO:
        return NUMBER
    inner = NUMBER if ndim == Ndim.ONE else replace(_NUMBERS, kind=Kind.NUMBER | Kind.CONTAINER)
    kind = Kind.CONTAINER if not ndim & Ndim.ZERO else Kind.NUMBER | Kind.CONTAINER
    return replace(container(inner), kind=kind)


def _rebind(frame: Frame, node: cst.Call, value: Value) -> None:
    """A method changed what its receiver is: ``x.requires_grad_()``, ``x.add_(y)``."""
    called = frame.values.get(id(node.func), UNKNOWN)
    if isinstance(node.func, cst.Attribute) and (called.receiver is not None or not called.kind & Kind.REFERENCE):
        path = dotted(node.func.value)
        # not the `functools` of `functools.reduce(torch.Tensor.add_, …)`
        if path is not None and (path in frame.env or called.receiver is not None):
            places.bind(frame, path, value)


def _plain_method(frame: Frame, receiver: Value, name: str, node: cst.Call, arguments: Sequence[Argument]) -> Value:
    if receiver.kind & Kind.CONTAINER:
        return container_methods.call(frame, receiver, name, node, arguments)
    if receiver.kind == Kind.LOADER and name == "__iter__":
        return container(iteration.iterate(frame, receiver, node))
    if receiver.kind & Kind.NDARRAY:
        return NUMBER if name in ("item", "tolist") else NDARRAY
    if receiver.kind & Kind.STRING:
        return container(STRING) if name in ("split", "splitlines", "rsplit") else STRING
    if receiver.kind & Kind.PACKED and name in _PACKED_METHODS:
        dtype = dtype_named(name)
        dtype = receiver.dtype if dtype == Dtype.ANY else dtype
        return replace(receiver, dtype=dtype, grad=receiver.grad if dtype & Dtype.FLOAT else Tri.NO)
    return OBJECT


def _as_arguments(values: Sequence[Value]) -> list[Argument]:
    """Values as positional arguments."""
    return [Argument(None, value, cst.Name("_")) for value in values]
