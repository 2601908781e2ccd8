"""The values of subscripts: elements, slices, what is behind a key."""

from __future__ import annotations

import libcst as cst

from torchlint.model import chosen
from torchlint.model.bindings import is_counter
from torchlint.model.certainty import Certainty
from torchlint.model.definitions import follow
from torchlint.model.doubts import perhaps
from torchlint.model.interpret import (
    attributes,
    containers,
    iteration,
    learning,
    loaders,
    module_containers,
    special_methods,
)
from torchlint.model.interpret.frame import Frame
from torchlint.model.possibilities import Kind, Ndim, Tri
from torchlint.model.symbols import Origin, Symbol
from torchlint.model.syntax import dotted, integer, literal_key
from torchlint.model.torch.ndims import without_one
from torchlint.model.values import (
    NDARRAY,
    NUMBER,
    UNKNOWN,
    Evidence,
    Strength,
    Value,
    held,
    is_opaque,
    tensor,
    unknown,
)
from torchlint.system.records import replace

_TABLE = ".__dict__"


def expression(frame: Frame, node: cst.Subscript) -> Value:
    """``x[…]``."""
    named = frame.value(node.value)
    base = _followed(frame, named)
    evaluate_index(frame, node)
    path = dotted(node.value)
    index = node.slice[0].slice if len(node.slice) == 1 else None
    literal = literal_key(index.value) if isinstance(index, cst.Index) else None
    if isinstance(index, cst.Index) and isinstance(index.value, cst.SimpleString) and base.items is None:
        if index.value.raw_value == "params" and (path or "").endswith("group"):
            return attributes.optimised(node)
    if isinstance(literal, str) and base.kind & Kind.UNKNOWN:
        if (item := _item_by_name(frame, base, literal)) is not None:
            return item
    if isinstance(literal, str) and base.kind & Kind.TENSOR:  # so it was none: `hub.state_dict()["losses"]["train"]`
        return unknown(Symbol(Origin.ITEM, id(node)))
    if base.kind & Kind.TENSOR:
        part = iteration.element(frame, base, _ndim(frame, base, node))
        return _or_out_of_list(part, containers.at(base, literal)) if base.kind & Kind.CONTAINER else part
    if base.kind & Kind.CONTAINER:
        if isinstance(index, cst.Slice):
            return containers.part(base)
        item = containers.at(base, literal)
        if item is not None and item != UNKNOWN:
            return learning.resolve(frame, perhaps(item) if base.kind & Kind.UNKNOWN else item)
        found = chosen.of_table(frame.context, named, node.value) if literal is None else None
        return found or learning.unknown(frame, Symbol(Origin.ITEM, id(node)))
    if base.kind == Kind.NDARRAY:
        return replace(NDARRAY, kind=Kind.NDARRAY | Kind.NUMBER)
    if base.kind == Kind.PACKED and literal in (0, 1):
        return attributes.plain_attribute(base, ("data", "batch_sizes")[literal], node)
    if is_opaque(base) or base.kind == Kind.STRING:
        return base
    if base.kind == Kind.OBJECT and (item := _item_of(frame, base, literal, node)) is not None:
        return item
    if base.kind & Kind.MODULE:
        if isinstance(index, cst.Slice):
            return replace(base, item=held(base), items=None, keys=None)
        return containers.at(base, literal) or module_containers.element(base) or iteration.likely_module(base, node)
    if base.kind == Kind.REFERENCE and (base.ref or "").endswith(_TABLE):
        if (found := chosen.of_module(frame.context, (base.ref or "").removesuffix(_TABLE), node)) is not None:
            return found
    if base.kind & Kind.REFERENCE:
        return replace(base, node=node) if base.kind == Kind.REFERENCE else base
    if loaders.is_batch(base):
        origin = base.symbols[0] if base.symbols else Symbol(Origin.ITEM, id(node))
        return learning.likely(
            frame, loaders.part_of_batch(node), Symbol(Origin.ATTRIBUTE, name=f"[{literal!r}]", of=origin)
        )
    if loaders.is_data_set(base, node.value) and not isinstance(literal, str):
        return learning.resolve(frame, loaders.of_data_set(node))
    if base.kind == Kind.UNKNOWN and isinstance(index, cst.Index) and _is_shape(node.value):
        return NUMBER
    if base.kind == Kind.UNKNOWN and base.symbols and _is_sliced_in_dimensions(node):
        return learning.resolve(frame, unknown(*base.symbols))
    if base.symbols:
        key = f"[{literal!r}]" if literal is not None else "[]"
        return learning.resolve(frame, unknown(*learning.symbols_of_attribute(base, key)))
    return learning.unknown(frame, Symbol(Origin.ITEM, id(node)))


def _or_out_of_list(part: Value, item: Value | None) -> Value:
    """A part of a tensor, if it isn't a list out of which something is taken: that must require grad as well."""
    is_certain = item is not None and bool(item.kind & Kind.TENSOR) and item.grad == Tri.YES
    return replace(part, certainty=min(part.certainty, item.certainty if item and is_certain else Certainty.SUPPOSED))


def _is_sliced_in_dimensions(node: cst.Subscript) -> bool:
    """``x[:, :n]``: what has dimensions has parts of its own class, so what the part is, the whole is."""
    return len(node.slice) > 1 and any(isinstance(each.slice, cst.Slice) for each in node.slice)


def _is_shape(node: cst.BaseExpression) -> bool:
    """Whether something is the shape of an array, of whatever library: what is in it is no tensor."""
    return isinstance(node, cst.Attribute) and node.attr.value == "shape"


def _followed(frame: Frame, base: Value) -> Value:
    """A list or dictionary of another file; anything else as it is."""
    found = follow(frame.context, base) if base.kind == Kind.REFERENCE else base
    return found if found.kind == Kind.CONTAINER else base


def _item_by_name(frame: Frame, base: Value, name: str) -> Value | None:
    """``x["boxes"]``: ``x`` is no tensor, but what is in an element of an argument of ``forward`` may be one."""
    learning.reject(frame, base.symbols)
    for symbol in base.symbols:
        if symbol.origin is Origin.LIKELY_ELEMENT:
            evidence = Evidence(Strength.CONVENTION, "it comes from an argument of `forward`")
            return learning.likely(frame, tensor(evidence=evidence), Symbol(Origin.ATTRIBUTE, name=name, of=symbol))
    return None


def _item_of(frame: Frame, base: Value, key: containers.ElementKey, node: cst.Subscript) -> Value | None:
    """What an object of a class of this project gives when it is indexed."""
    if base.items is not None or base.item is not None:  # a named tuple, a data set
        return containers.at(base, key)
    index = [frame.values.get(id(e.slice.value), UNKNOWN) for e in node.slice if isinstance(e.slice, cst.Index)]
    own = special_methods.by_method(frame, base, "getitem", node, index[:1] if len(node.slice) == 1 else ())
    return own if own is not None or base.node is None else learning.unknown(frame, Symbol(Origin.ITEM, id(node)))


def evaluate_index(frame: Frame, node: cst.Subscript) -> None:
    """Evaluate what stands in the brackets."""
    for element in node.slice:
        match element.slice:
            case cst.Index(value=value):
                frame.value(value)
            case cst.Slice(lower=lower, upper=upper, step=step):
                for part in (lower, upper, step):
                    if part is not None:
                        frame.value(part)


def _ndim(frame: Frame, base: Value, node: cst.Subscript) -> Ndim:
    """How many dimensions an element or slice of a tensor has. Another number may be a bool: a mask."""
    indices = [each.slice for each in node.slice]
    if any(isinstance(i, cst.Index) and isinstance(i.value, cst.Name) and i.value.value == "None" for i in indices):
        return Ndim.MORE
    match indices:
        case [cst.Slice()] if base.kind == Kind.TENSOR:
            return base.ndim
        case [cst.Index(value=index)] if base.kind == Kind.TENSOR:
            return without_one(base.ndim) if _is_integer(frame, index) else Ndim.ANY
    return Ndim.ANY


def _is_integer(frame: Frame, index: cst.BaseExpression) -> bool:
    """Whether an index is an integer for certain, which a bool is not here."""
    if isinstance(index, cst.Name):
        value = frame.values.get(id(index))
        return value is not None and value.kind == Kind.NUMBER and is_counter(frame.context, index)
    return integer(index) is not None
