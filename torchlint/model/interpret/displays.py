"""The values of displays and comprehensions: lists, tuples, sets and dictionaries that are written out."""

from __future__ import annotations

import libcst as cst

from torchlint.model.interpret import containers, iteration, narrowing, waiting
from torchlint.model.interpret.frame import Frame
from torchlint.model.possibilities import Kind
from torchlint.model.syntax import literal_key
from torchlint.model.values import UNKNOWN, Value, container, join, mapping


def sequence(frame: Frame, node: cst.Tuple | cst.List | cst.Set) -> Value:
    """A list, tuple or set."""
    values, starred = [], False
    for element in node.elements:
        value = frame.value(element.value)
        if not isinstance(element, cst.StarredElement):
            values.append(value)
        elif value.items is not None:
            values += value.items
        else:
            starred = True
            values.append(iteration.iterate(frame, value, element.value))
    if isinstance(node, cst.Tuple) and not starred:
        return container(items=tuple(values))
    if not values:
        return container(items=()) if isinstance(node, cst.List) else container()
    item = values[0]
    for value in values[1:]:
        item = join(item, value)
    if len(values) <= containers.MAX_ITEMS and not starred and isinstance(node, cst.List):
        return container(items=tuple(values))
    return container(item)


def dictionary(frame: Frame, node: cst.Dict) -> Value:
    """A dictionary."""
    result = containers.literal({})
    for element in node.elements:
        if isinstance(element, cst.DictElement):
            each, value = frame.value(element.key), frame.value(element.value)
            result = containers.put(result, literal_key(element.key), each, value)
        else:
            more = frame.value(element.value)
            result = containers.merged(result, more if more.kind & Kind.CONTAINER else mapping(UNKNOWN, UNKNOWN))
    return result


def comprehension(frame: Frame, node: cst.ListComp | cst.SetComp | cst.GeneratorExp) -> Value:
    """A comprehension of a list or set, or a generator."""
    waits = isinstance(node, cst.GeneratorExp) and not waiting.is_drawn_at_once(frame, node)
    with frame.inner_scope(), waiting.later(frame, is_at_once=not waits):
        _comp_for(frame, node.for_in)
        result = container(frame.value(node.elt))
    _bind_outside(frame, node)
    return result


def dict_comprehension(frame: Frame, node: cst.DictComp) -> Value:
    """A comprehension of a dictionary."""
    with frame.inner_scope():
        _comp_for(frame, node.for_in)
        key = frame.value(node.key)
        result = mapping(key, frame.value(node.value))
    _bind_outside(frame, node)
    return result


def _bind_outside(frame: Frame, node: cst.BaseComp) -> None:
    """Bind what ``:=`` in a comprehension does around it, if the comprehension goes through anything at all."""
    for each in frame.context.tree.within(node, cst.NamedExpr):
        value = frame.values.get(id(each.target))
        if isinstance(each.target, cst.Name) and value is not None:
            before = frame.env.get(each.target.value)
            frame.assign(each.target, value if before is None else join(before, value), None)


def _comp_for(frame: Frame, node: cst.CompFor) -> None:
    iterable = frame.value(node.iter)
    frame.assign(node.target, iteration.iterate(frame, iterable, node.iter), None)
    for condition in node.ifs:
        frame.value(condition.test)
        narrowing.narrow(frame, condition.test, True)
    if node.inner_for_in is not None:
        _comp_for(frame, node.inner_for_in)
