"""What is in containers: behind an index, behind a key, after something was put in or taken out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torchlint.model.possibilities import Kind, Ndim
from torchlint.model.values import (
    MAX_KEYS,
    NUMBER,
    STRING,
    UNKNOWN,
    Keys,
    Value,
    container,
    held,
    iterated,
    join,
    mapping,
)
from torchlint.system.records import replace

MAX_ITEMS = 8
"""Elements of a list that are known one by one."""

ElementKey = str | int | None
"""A literal key or index; None if it is not one."""


def holds(value: Value) -> bool:
    """Whether a value is a container, or a module that is one: what is in it can be told."""
    return value.kind in (Kind.CONTAINER, Kind.MODULE)


def holds_or_is_none(value: Value) -> bool:
    """Whether a value is a container, unless it is ``None``: what is put into it is put into that container."""
    return value.kind & ~Kind.NONE in (Kind.CONTAINER, Kind.MODULE)


def at(base: Value, key: ElementKey) -> Value | None:
    """What is behind a key or index; None if it is not known."""
    if key is not None and base.keys is not None and base.is_mapping and key in base.keys.known:
        return base.keys.known[key]
    if isinstance(key, int) and base.items is not None and -len(base.items) <= key < len(base.items):
        return base.items[key]
    return held(base)


def is_open(base: Value) -> bool:
    """Whether nothing is known of what is in a container that others have made: a parameter, ``**kwargs`` too."""
    is_told = base.items is not None or base.item is not None or (base.keys is not None and base.keys.known)
    return bool(base.symbols) and base.kind == Kind.CONTAINER and not is_told


def opened(base: Value) -> Value:
    """A container of which nothing is known, as one of what is not known."""
    return replace(base, item=UNKNOWN, keys=Keys(UNKNOWN) if base.is_mapping else None) if is_open(base) else base


def _content(base: Value) -> Value | None:
    return UNKNOWN if is_open(base) else held(base)


def concatenated(left: Value, right: Value) -> Value:
    """``left + right``: the elements of both."""
    joined = join(opened(left), opened(right))
    if left.items is None or right.items is None:
        return joined
    items = (*left.items, *right.items)
    if len(items) <= MAX_ITEMS:
        return replace(joined, item=None, items=items)
    return replace(joined, item=held(joined), items=None)


def part(base: Value) -> Value:
    """A slice or a multiple of a sequence; that of a size is one, of another length."""
    return replace(container(iterated(base)), ndim=Ndim.ANY if base.ndim else Ndim.NEITHER)


def is_known(base: Value, key: ElementKey) -> bool:
    """Whether what is behind a literal key is known by itself."""
    if base.keys is not None and key in base.keys.known:
        return True
    return isinstance(key, int) and base.items is not None and -len(base.items) <= key < len(base.items)


def put(base: Value, key: ElementKey, each: Value, value: Value) -> Value:
    """The container after ``base[key] = value``; ``each`` is what the key is."""
    if base.keys is not None or (isinstance(key, str) and base.item is None):
        return _put_in_mapping(base, key, each, value)
    if base.items is not None and isinstance(key, int) and -len(base.items) <= key < len(base.items):
        key %= len(base.items)
        return replace(base, items=(*base.items[:key], value, *base.items[key + 1 :]))
    return replace(base, item=_with(_content(base), value), items=None)


def _put_in_mapping(base: Value, key: ElementKey, each: Value, value: Value) -> Value:
    keys = base.keys or Keys(each)
    if key is not None:
        known = {**keys.known, key: value} if key in keys.known or len(keys.known) < MAX_KEYS else {}
    else:
        known = {name: join(v, value) for name, v in keys.known.items()}
    is_first = base.item is None or keys.each is None
    keys = Keys(each if is_first or keys.each is None else join(keys.each, each), known)
    return replace(base, item=_with(_content(base), value), items=None, keys=keys)


def added(base: Value, value: Value, *, at_end: bool = True) -> Value:
    """The container after ``base.append(value)``."""
    if base.items is not None and at_end and len(base.items) < MAX_ITEMS:
        return replace(base, items=(*base.items, value))
    return replace(base, item=_with(_content(base), value), items=None)


def extended(base: Value, more: Value | None) -> Value:
    """The container after ``base.extend(…)`` with elements of that kind."""
    return base if more is None else replace(base, item=_with(_content(base), more), items=None)


def updated(base: Value, more: Value) -> Value:
    """The mapping after ``base.update(more)``."""
    if more.keys is None and not is_open(more):
        return base if held(more) is None else replace(base, item=_with(base.item, held(more)), keys=None)
    return merged(base, more)


def merged(first: Value, then: Value) -> Value:
    """``{**first, **then}``."""
    first, then = opened(first), opened(then)
    each, item = _either(iterated(first) if first.is_mapping else None, iterated(then)), _either(first.item, then.item)
    known: dict[str | int, Value] = {}
    if first.keys is not None and then.keys is not None:
        if is_complete(then):
            known = {**first.keys.known, **then.keys.known}
        elif then.item is not None:
            known = {key: join(v, then.item) for key, v in first.keys.known.items()} | dict(then.keys.known)
    return mapping(each or STRING, item, known)


def is_complete(value: Value) -> bool:
    """Whether nothing is in a mapping but what is known by its key."""
    known = value.keys.known if value.keys is not None else {}
    return bool(known) and value.item is not None and value.item == _all(known)


def _all(known: Mapping[str | int, Value]) -> Value | None:
    result: Value | None = None
    for value in known.values():
        result = _with(result, value)
    return result


def literal(known: Mapping[str | int, Value]) -> Value:
    """``{"a": …, 1: …}``, ``dict(a=…)``."""
    each = _all({key: STRING if isinstance(key, str) else NUMBER for key in known})
    return mapping(each or UNKNOWN, _all(known), known)


def of_pairs(pairs: Value) -> Value:
    """``dict(pairs)``."""
    if pairs.is_mapping:
        return pairs
    if is_open(pairs) or pairs.kind == Kind.UNKNOWN:
        return mapping(UNKNOWN, UNKNOWN)
    pair = iterated(pairs)
    if pair is None or pair.items is None or len(pair.items) != 2:
        return container()
    return mapping(pair.items[0], pair.items[1])


def spread(items: tuple[Value, ...] | None, stars: Sequence[bool]) -> Sequence[Value] | None:
    """The elements of a tuple over targets, one of which may be starred; None if they do not fit."""
    if items is None or not any(stars):
        return items if items is not None and len(items) == len(stars) else None
    star = stars.index(True)
    after = len(stars) - star - 1
    if len(items) < star + after:
        return None
    end = len(items) - after
    return (*items[:star], container(items=items[star:end]), *items[end:])


def transposed(rows: Value | None) -> Value:
    """``zip(*rows)``."""
    if rows is None or not rows.kind & Kind.CONTAINER:
        return container()
    if rows.items is None:
        return container(container(held(rows)))
    return container(items=tuple(container(item) for item in rows.items))


def _with(known: Value | None, value: Value | None) -> Value:
    assert value is not None
    return value if known is None else join(known, value)


def _either(a: Value | None, b: Value | None) -> Value | None:
    return a or b if a is None or b is None else join(a, b)
