"""Methods of lists, tuples, dictionaries, sets and iterators."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from torchlint.model import chosen
from torchlint.model.interpret import containers, iteration, learning, places
from torchlint.model.interpret.frame import Frame
from torchlint.model.names import GROWING
from torchlint.model.possibilities import Kind
from torchlint.model.symbols import Origin, Symbol
from torchlint.model.syntax import literal_key
from torchlint.model.values import NONE, NUMBER, STRING, UNKNOWN, Argument, Value, container, held, iterated, join
from torchlint.system.records import replace


def call(frame: Frame, receiver: Value, name: str, node: cst.Call, arguments: Sequence[Argument]) -> Value:
    """``receiver.name(…)`` of a list, tuple, dict, set or iterator."""
    item = held(receiver)
    if name in GROWING and arguments:
        _grow(frame, node, _grown(frame, receiver, name, arguments))
        return NONE if name != "setdefault" else _popped(frame, receiver, arguments, node)
    match name:
        case "items":
            key = iterated(receiver) if receiver.is_mapping else None
            pair = (key or learning.unknown(frame, Symbol(Origin.KEY, id(node))), item) if item is not None else None
            return container(container(items=pair) if pair else None)
        case "values":
            return container(item)
        case "keys":
            return container(iterated(receiver) if receiver.is_mapping else STRING)
        case "pop" | "get":
            return _popped(frame, receiver, arguments, node)
        case "popitem" if item is not None:
            return container(items=(iterated(receiver) or UNKNOWN, item))
        case "popleft" | "popitem" | "__next__" | "next":  # the last is Python 2's
            return item if item is not None else learning.unknown(frame, Symbol(Origin.ITEM, id(node)))
        case "copy" | "__iter__":
            return receiver
        case "_replace":
            return _replaced(receiver, arguments)
        case "_asdict" if receiver.keys is not None:
            return containers.literal(receiver.keys.known)
        case "most_common":
            return container(container(items=(iterated(receiver) or UNKNOWN, NUMBER)))
        case "index" | "count" | "sort" | "clear" | "reverse" | "remove" | "move_to_end":
            return NUMBER if name in ("index", "count") else NONE
    return learning.unknown(frame, Symbol(Origin.CALL, id(node)))


def _grown(frame: Frame, receiver: Value, name: str, arguments: Sequence[Argument]) -> Value:
    last = arguments[-1]
    match name:
        case "extend" | "extendleft":
            return containers.extended(receiver, iteration.iterate(frame, last.value, last.node))
        case "update" if receiver.is_mapping or containers.is_open(receiver) or any(a.keyword for a in arguments):
            named: dict[str | int, Value] = {a.keyword: a.value for a in arguments if a.keyword is not None}
            for argument in arguments:
                if argument.keyword is None and argument.value.kind & (Kind.CONTAINER | Kind.UNKNOWN):
                    receiver = containers.updated(receiver, containers.of_pairs(argument.value))
            return containers.merged(receiver, containers.literal(named)) if named else receiver
        case "update":
            return containers.extended(receiver, iteration.iterate(frame, last.value, last.node))
        case "setdefault":
            key, value = arguments[0], last.value if len(arguments) > 1 else NONE
            literal = literal_key(key.node)
            known = UNKNOWN if containers.is_open(receiver) else containers.at(receiver, literal)
            return containers.put(receiver, literal, key.value, value if known is None else join(known, value))
    return containers.added(receiver, last.value, at_end=name == "append")


def _popped(frame: Frame, receiver: Value, arguments: Sequence[Argument], node: cst.Call) -> Value:
    key = literal_key(arguments[0].node) if arguments else None
    item = containers.at(receiver, key)
    if item is None or item == UNKNOWN:
        if key is None and (found := _collected(frame, node)) is not None:
            return found
        return learning.unknown(frame, Symbol(Origin.ITEM, id(node)))
    return join(item, arguments[1].value) if len(arguments) > 1 and not receiver.items else item


def _collected(frame: Frame, node: cst.Call) -> Value | None:
    """What decorators have put into a table: ``MODELS.get(name)``."""
    if not isinstance(node.func, cst.Attribute) or not node.args:
        return None
    table = node.func.value
    return chosen.of_table(frame.context, frame.values.get(id(table), UNKNOWN), table)


def _replaced(receiver: Value, arguments: Sequence[Argument]) -> Value:
    """``named_tuple._replace(x=…)``."""
    if receiver.keys is None or receiver.items is None:
        return receiver
    given = {a.keyword: a.value for a in arguments if a.keyword is not None}
    fields = {name: given.get(str(name), value) for name, value in receiver.keys.known.items()}
    items = tuple(fields.values()) if len(fields) == len(receiver.items) else receiver.items
    return replace(receiver, items=items, keys=replace(receiver.keys, known=fields))


def _grow(frame: Frame, node: cst.Call, value: Value) -> None:
    if isinstance(node.func, cst.Attribute):
        places.store(frame, node.func.value, value)
