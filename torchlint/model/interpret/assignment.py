"""Binding targets of any form: names, attributes, elements, several at once."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from torchlint.model.certainty import Certainty
from torchlint.model.interpret import containers, iteration, learning, loaders, operators, places, subscripts
from torchlint.model.interpret.frame import Frame
from torchlint.model.possibilities import Kind, Tri
from torchlint.model.symbols import Origin, Symbol
from torchlint.model.syntax import dotted
from torchlint.model.torch import library
from torchlint.model.torch.arguments import literal_bool
from torchlint.model.torch.grads import grad_of_inputs
from torchlint.model.values import NDARRAY, OBJECT, Value, container, held, is_opaque, iterated, truth
from torchlint.system.records import replace


def assign(frame: Frame, target: cst.CSTNode, value: Value, source: cst.BaseExpression | None) -> None:
    """Bind a target of any form."""
    match target:
        case cst.Name(value=name):
            if name in frame.declared:
                value = as_declared(frame.declared[name], value)
            frame.values[id(target)] = value
            places.bind(frame, name, value)
            _bind_fields(frame, name, source)
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            frame.values[id(target)] = value
            _unpack(frame, elements, value)
        case cst.Attribute():
            base = frame.value(target.value)
            learning.learn_from_attribute(frame, base, target.attr.value, target)
            value = _in_place_of_parameter(base, target.attr.value, value)
            frame.values[id(target)] = value
            if target.attr.value == "requires_grad" and base.kind & Kind.TENSOR:
                literal = literal_bool(source) if source is not None else None
                places.refine(frame, target.value, replace(base, grad=truth(literal), certainty=Certainty.PROVED))
            path = dotted(target)
            if path is not None:
                places.bind(frame, path, value)
                _bind_fields(frame, path, source)
        case cst.Subscript():
            base = frame.value(target.value)
            subscripts.evaluate_index(frame, target)
            frame.values[id(target)] = value
            if base.is_tensor and source is not None:
                learning.learn_owner(frame, source, "its data is assigned to elements of a tensor", target)
            if base.kind & Kind.TENSOR and frame.grad != Tri.NO:
                operators.write_through(frame, target, grad_of_inputs([value]))
            if containers.holds(base):
                key, each = places.key_of(frame, target)
                is_slice = any(isinstance(element.slice, cst.Slice) for element in target.slice)
                after = containers.put(base, key, each, value)
                if is_slice and value.kind & Kind.CONTAINER:  # the elements are put there: `parts[:0] = others`
                    after = containers.extended(base, iterated(containers.opened(value)))
                places.store(frame, target.value, after)
        case cst.StarredElement():
            assign(frame, target.value, container(iterated(value)), None)


def _in_place_of_parameter(base: Value, name: str, value: Value) -> Value:
    """What is assigned to an attribute of a module of torch that is a parameter of it.

    The module refuses a tensor there, unless something else has been put in the place of the parameter, that computes
    it of the tensor perhaps.
    """
    if not base.kind & Kind.MODULE or base.ref is None or not value.kind & Kind.TENSOR or value.grad != Tri.NO:
        return value
    info = library.module_info(base.ref)
    if not library.gives_module(base.ref) and (info is None or name not in info.params):
        return value
    return replace(value, grad=Tri.MAYBE, leaf=Tri.MAYBE, certainty=Certainty.SUPPOSED)


_NAMESPACES = frozenset(("types.SimpleNamespace", "argparse.Namespace"))


def _bind_fields(frame: Frame, path: str, source: cst.BaseExpression | None) -> None:
    """Bind the attributes of a namespace that is made with them: ``state = SimpleNamespace(weight=w)``."""
    made = frame.values.get(id(source.func)) if isinstance(source, cst.Call) else None
    if not isinstance(source, cst.Call) or made is None or made.ref not in _NAMESPACES:
        return
    for arg in source.args:
        if arg.keyword is not None and id(arg.value) in frame.values:
            places.bind(frame, f"{path}.{arg.keyword.value}", frame.values[id(arg.value)])


def _unpack(frame: Frame, elements: Sequence[cst.BaseElement], value: Value) -> None:
    items = containers.spread(value.items, [isinstance(e, cst.StarredElement) for e in elements])
    for index, element in enumerate(elements):
        if items is not None:
            part = learning.resolve(frame, items[index])
        elif (item := iterated(value)) is not None and value.kind == Kind.CONTAINER:
            part = learning.resolve(frame, item)
        elif loaders.is_batch(value):
            part = learning.likely(frame, loaders.part_of_batch(element), Symbol(Origin.PART, id(element)))
        elif value.kind == Kind.OBJECT and isinstance(value.node, cst.ClassDef):
            part = _part_of_object(frame, value, element)
        elif value.kind == Kind.TENSOR:
            part = iteration.element(frame, value)
        elif value.kind == Kind.TENSOR | Kind.UNKNOWN:
            certain = replace(iteration.element(frame, value), kind=Kind.TENSOR)
            part = learning.likely(frame, certain, Symbol(Origin.PART, id(element)))
        elif value.kind == Kind.NDARRAY:
            part = replace(NDARRAY, kind=Kind.NDARRAY | Kind.NUMBER)
        elif is_opaque(value) or value.kind == Kind.STRING:
            part = OBJECT
        else:
            part = learning.unknown(frame, Symbol(Origin.PART, id(element)))
        if isinstance(element, cst.StarredElement) and items is None:
            part = container(part)
        assign(frame, element.value, part, None)


def _part_of_object(frame: Frame, value: Value, element: cst.BaseElement) -> Value:
    """What an object of the file gives where it is taken apart."""
    part = iteration.iterate(frame, value, element.value)
    return learning.unknown(frame, Symbol(Origin.PART, id(element))) if part.kind == Kind.UNKNOWN else part


def as_declared(declared: Value | None, value: Value) -> Value:
    """A value that was declared, as far as it is not known better."""
    if declared is None or not says_nothing(value):
        return value
    if value.kind & Kind.CONTAINER and not declared.kind & Kind.CONTAINER:
        return value
    if value.kind & declared.kind & Kind.TENSOR:
        return replace(value, kind=declared.kind, evidence=declared.evidence, symbols=())
    return declared


def says_nothing(value: Value) -> bool:
    """Whether a declaration says more than a value: that is not known, or is an empty container."""
    return bool(value.kind & Kind.UNKNOWN) or (value.kind == Kind.CONTAINER and held(value) is None)
