"""Calls of builtins."""

from __future__ import annotations

import re
from collections.abc import Sequence

import libcst as cst

from torchlint.model import chosen
from torchlint.model.attributes import super_value
from torchlint.model.interpret import attributes, containers, iteration, learning, waiting
from torchlint.model.interpret.calls import lambdas
from torchlint.model.interpret.frame import Frame
from torchlint.model.interpreted import bound_in
from torchlint.model.names import NUMBERS, STRINGS
from torchlint.model.possibilities import Kind
from torchlint.model.symbols import Origin, Symbol
from torchlint.model.syntax import literal_key
from torchlint.model.torch import transfer
from torchlint.model.torch.schema import TensorResult
from torchlint.model.values import (
    NONE,
    NUMBER,
    OBJECT,
    STRING,
    UNKNOWN,
    Argument,
    Evidence,
    Strength,
    Value,
    container,
    join,
    mapping,
    reference,
)

_NO_EVIDENCE = Evidence(Strength.NAME, "")


def call(frame: Frame, name: str, node: cst.Call, arguments: Sequence[Argument]) -> Value:
    """A call of a builtin."""
    first = arguments[0].value if arguments else UNKNOWN
    if name in ("abs", "round", "pow") and first.kind & Kind.TENSOR:
        return transfer.apply(TensorResult(ndim="keep"), first, (), frame.grad, first.evidence or _NO_EVIDENCE)
    if name == "range":
        return container(NUMBER)
    if name in ("abs", "round", "pow") and first.kind & Kind.UNKNOWN:
        return learning.unknown(frame, Symbol(Origin.CALL, id(node)))
    if name in NUMBERS:
        return NUMBER
    if name in STRINGS:
        return STRING
    match name:
        case "dict":
            return dict_of(frame, arguments)
        case "super":
            return super_value(frame.context, node, frame)
        case "print":
            return NONE
        case "open":
            return OBJECT
        case "getattr" if len(arguments) >= 2 and isinstance(arguments[1].node, cst.SimpleString):
            return attributes.attribute(frame, first, str(arguments[1].node.raw_value), node)
        case "getattr" if first.kind == Kind.REFERENCE and len(arguments) == 2:
            if (found := chosen.of_module(frame.context, reference(first), node)) is not None:
                return found
        case "eval" if len(arguments) == 1 and isinstance(frame.tree.parent(node), (cst.Call, cst.Assign)):
            if (found := _evaluated(frame, arguments[0].node, node)) is not None:
                return found
        case "globals":
            return Value(Kind.REFERENCE, ref=f"{chosen.OWN}.__dict__")
        case "vars" if first.kind == Kind.REFERENCE and arguments:
            return attributes.attribute(frame, first, "__dict__", node)
    known = _call_iterating(frame, name, node, arguments)
    return known if known is not None else learning.unknown(frame, Symbol(Origin.CALL, id(node)))


_MODULE = re.compile(r"(?:([A-Za-z_]\w*)\.)?")


def _evaluated(frame: Frame, text: cst.BaseExpression, node: cst.Call) -> Value | None:
    """What a text means that only the running program knows: a name of this file or, behind that, of a module."""
    match text:
        case cst.Name() | cst.Attribute() | cst.Subscript():
            return chosen.of_module(frame.context, chosen.OWN, node)
        case cst.BinaryOperation(
            left=cst.SimpleString() as before, operator=cst.Add(), right=cst.Name() | cst.Attribute()
        ):
            begun = str(before.raw_value)
        case cst.FormattedString(parts=[cst.FormattedStringText(value=begun), cst.FormattedStringExpression()]):
            pass
        case _:
            return None
    module = _MODULE.fullmatch(begun)
    if module is None or module[1] is None:
        return None
    value = bound_in(frame.context, frame.context.tree.module).get(module[1])
    return None if value is None else chosen.of_module(frame.context, reference(value), node)


def _call_iterating(frame: Frame, name: str, node: cst.Call, arguments: Sequence[Argument]) -> Value | None:
    """Builtins that go through what they are given."""
    if not arguments:
        return container() if name in ("list", "tuple", "set", "frozenset") else None
    first = arguments[0].value
    match name:
        case "list" | "tuple" if first.items is not None:
            return container(items=first.items)
        case "list" | "tuple" | "set" | "sorted" | "iter" | "frozenset" | "reversed":
            return container(iteration.iterate(frame, first, arguments[0].node))
        case "enumerate":
            return container(container(items=(NUMBER, iteration.iterate(frame, first, arguments[0].node))))
        case "zip" if len(arguments) == 1 and arguments[0].star:
            return containers.transposed(iteration.iterate(frame, first, arguments[0].node))
        case "zip" if not any(a.star for a in arguments):
            return container(_zipped(frame, arguments))
        case "next":
            return _next(frame, arguments)
        case "sum":
            return _sum(frame, first, arguments, node)
        case "max" | "min":
            return _extreme(frame, arguments)
        case "map" | "filter" if len(arguments) > 1:
            return _map(frame, name, arguments, node)
    return None


def _zipped(frame: Frame, arguments: Sequence[Argument]) -> Value:
    return container(items=tuple(iteration.iterate(frame, a.value, a.node) for a in arguments if a.keyword is None))


def _next(frame: Frame, arguments: Sequence[Argument]) -> Value:
    value = iteration.iterate(frame, arguments[0].value, arguments[0].node)
    return join(value, arguments[1].value) if len(arguments) > 1 else value


def _extreme(frame: Frame, arguments: Sequence[Argument]) -> Value:
    """``max(xs)``, ``max(x, y)``."""
    first = arguments[0]
    several = sum(a.keyword is None for a in arguments) > 1
    value = first.value if several else iteration.iterate(frame, first.value, first.node)
    for argument in arguments[1:]:
        if argument.keyword is None:
            value = join(value, argument.value)
        elif argument.keyword == "key" and isinstance(argument.node, cst.Lambda):
            lambdas.call(frame, argument.node, (value,))
    return value


def _sum(frame: Frame, first: Value, arguments: Sequence[Argument], node: cst.Call) -> Value:
    item = iteration.iterate(frame, first, arguments[0].node)
    if item.kind & Kind.TENSOR:
        result = TensorResult(ndim="keep", dtype="count")
        return transfer.apply(result, item, (), frame.grad, item.evidence or _NO_EVIDENCE)
    return item if item.kind != Kind.UNKNOWN else learning.unknown(frame, Symbol(Origin.CALL, id(node)))


def _map(frame: Frame, name: str, arguments: Sequence[Argument], node: cst.Call) -> Value:
    items = [iteration.iterate(frame, a.value, a.node) for a in arguments[1:]]
    if name == "filter":
        return container(items[0])
    with waiting.later(frame, is_at_once=waiting.is_drawn_at_once(frame, node)):
        return container(lambdas.call_argument(frame, arguments[0], items, node))


def dict_of(frame: Frame, arguments: Sequence[Argument]) -> Value:
    """``dict(…)``, ``OrderedDict(…)``."""
    result = _dict_of(frame, [each for each in arguments if each.star != "**"])
    for given in (each.value for each in arguments if each.star == "**"):
        result = containers.merged(result, given if given.is_mapping else containers.of_pairs(UNKNOWN))
    return result


def _dict_of(frame: Frame, arguments: Sequence[Argument]) -> Value:
    named = containers.literal({a.keyword: a.value for a in arguments if a.keyword is not None})
    if not arguments or arguments[0].keyword is not None or arguments[0].star:
        return named
    first = arguments[0].value
    if (pairs := _literal_pairs(arguments[0].node, first)) is not None:
        given = containers.literal(pairs)
    elif first.kind & Kind.CONTAINER:
        given = containers.of_pairs(first)
    else:
        given = containers.of_pairs(container(iteration.iterate(frame, first, arguments[0].node)))
    if given.keys is None:
        return mapping(UNKNOWN)
    return containers.merged(given, named) if named.item is not None else given


def _literal_pairs(node: cst.BaseExpression, value: Value) -> dict[str | int, Value] | None:
    """The entries of ``[("a", x), ("b", y)]``; None if that is not what is written."""
    if not isinstance(node, cst.List) or not value.items or len(value.items) != len(node.elements):
        return None
    found: dict[str | int, Value] = {}
    for element, pair in zip(node.elements, value.items, strict=True):
        match element.value:
            case cst.Tuple(elements=[cst.Element(value=key), _]) if pair.items is not None and len(pair.items) == 2:
                literal = literal_key(key)
                if literal is None:
                    return None
                found[literal] = pair.items[1]
            case _:
                return None
    return found
