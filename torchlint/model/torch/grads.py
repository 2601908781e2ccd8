"""Whether what comes out of a call requires grad, and whether it is a leaf."""

from __future__ import annotations

from collections.abc import Sequence

from torchlint.model.certainty import Certainty
from torchlint.model.names import is_foreign
from torchlint.model.possibilities import Kind, Tri
from torchlint.model.torch.arguments import given_bool
from torchlint.model.torch.schema import ModuleInfo, TensorResult
from torchlint.model.values import Argument, Value

_GRAPH = Kind.TENSOR | Kind.PACKED | Kind.OBJECT
"""Kinds whose values say whether they carry a graph."""


def grad_of_inputs(inputs: Sequence[Value]) -> Tri:
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
            elif element.kind == Kind.UNKNOWN and element.grad == Tri.NO:
                continue  # part of a batch
            elif element.kind & (Kind.UNKNOWN | Kind.PACKED) or _may_be_tensor(element):
                grad |= Tri.MAYBE
    return grad


def _may_be_tensor(value: Value) -> bool:
    """Whether an object may stand for a tensor, or what is imported be one, which nothing but its name is known of."""
    if not value.kind & Kind.REFERENCE:
        return bool(value.kind & Kind.OBJECT) and value.node is not None
    root = (value.ref or "").partition(".")[0]
    return root not in ("torch", "builtins") and not is_foreign(root)


def certainty_of_inputs(inputs: Sequence[Value]) -> Certainty:
    """How certain it is that one of the inputs requires grad."""
    found = Certainty.SUPPOSED
    for value in inputs:
        own = _certainty(value)
        if value.kind & Kind.CONTAINER:
            elements = (each for each in (value.item, *(value.items or ())) if each is not None)
            within = max(map(_certainty, elements), default=Certainty.SUPPOSED)
            own = min(own, within) if value.kind & _GRAPH else within
        found = max(found, own)
    return found


def _certainty(value: Value) -> Certainty:
    return value.certainty if value.kind & _GRAPH and value.grad == Tri.YES else Certainty.SUPPOSED


def deciding(result: TensorResult, receiver: Value | None, arguments: Sequence[Argument]) -> Sequence[Value]:
    """The inputs that decide whether a result requires grad."""
    if receiver is not None and (result.grad == "first" or result.same):  # what can be the receiver has its graph
        return [receiver]
    if result.grad == "first":
        if arguments and arguments[0].keyword is None and not arguments[0].star:
            return [arguments[0].value]
    values = [a.value for a in arguments if a.keyword != "out"]
    return values if receiver is None else [receiver, *values]


def grad_of(result: TensorResult, inputs: Sequence[Value], arguments: Sequence[Argument], grad_mode: Tri) -> Tri:
    """Whether a result requires grad; ``grad_mode`` says whether autograd records here."""
    rule, is_view = result.grad, result.alias
    if rule == "factory":
        return _factory_grad(arguments)
    if result.asked and (asked := _factory_grad(arguments)) != Tri.NO:
        return asked
    if rule == "always":
        return Tri.YES
    if rule == "never" or (grad_mode == Tri.NO and not is_view):
        return Tri.NO
    grad = grad_of_inputs(inputs)
    may_be_new = not is_view or (result.same and result.copy)
    if grad == Tri.YES and grad_mode != Tri.YES and may_be_new:
        return Tri.MAYBE
    if grad_mode == Tri.YES and grad == Tri.MAYBE and result.ndim == "loss":
        return Tri.YES  # what a loss is made for
    return grad


def certainty_of(result: TensorResult, inputs: Sequence[Value], arguments: Sequence[Argument]) -> Certainty:
    """How certain it is that a result requires grad, of which :func:`grad_of` says so."""
    return Certainty.PROVED if is_made_leaf(result, arguments) else certainty_of_inputs(inputs)


def is_made_leaf(result: TensorResult, arguments: Sequence[Argument]) -> bool:
    """Whether a result that requires grad does so because it was made for that."""
    return result.grad in ("factory", "always") or (result.asked and _factory_grad(arguments) == Tri.YES)


def leaf_of(result: TensorResult, inputs: Sequence[Value], grad: Tri, grad_mode: Tri) -> Tri:
    """What was recorded is no leaf; what can be the argument itself is one if that is."""
    if grad != Tri.YES or grad_mode != Tri.YES:
        return Tri.MAYBE
    return Tri.MAYBE if result.same and inputs[0].leaf != Tri.NO else Tri.NO


def _factory_grad(arguments: Sequence[Argument]) -> Tri:
    by_name = [a for a in arguments if a.star != "*"]  # nothing else can say it
    literal = given_bool(by_name, "requires_grad", None, False)
    return Tri.MAYBE if literal is None else Tri.YES if literal else Tri.NO


def has_parameters(info: ModuleInfo | None, made: Sequence[Argument]) -> Tri:
    """Whether a module that was made with these arguments has parameters that its output depends on."""
    flag = info.trainable if info is not None else False
    if isinstance(flag, bool):
        return Tri.YES if flag else Tri.NO
    literal = given_bool(made, flag.name, flag.position, flag.default)
    return Tri.MAYBE if literal is None else Tri.YES if literal else Tri.NO
