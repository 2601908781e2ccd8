"""Names, paths (``self.x``) and elements (``x["a"]``): what is bound to them, and what is known of it later."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from torchlint.model.definitions import rebound
from torchlint.model.functions import assigns
from torchlint.model.interpret import containers
from torchlint.model.interpret.frame import Frame
from torchlint.model.possibilities import Kind
from torchlint.model.syntax import dotted, literal_key, parameters, root
from torchlint.model.values import UNKNOWN, Value, join

_MAX_ALIASES = 8
"""How many other places are remembered to hold the same container as those that begin with one name."""

_NARROWED = ".?"
"""Ends the path that says that a name was narrowed since it was bound."""


def bind(frame: Frame, name: str, value: Value) -> None:
    """Bind a name or a path in the current environment."""
    for path in frame.paths.get(name, ()):
        frame.env.unbind(path)
    _set(frame, name, value)
    if name in frame.bindings:
        frame.bindings[name] = join(frame.bindings[name], value)
    else:
        frame.bindings[name] = value


def _set(frame: Frame, path: str, value: Value) -> None:
    prefix = path
    while "." in prefix:
        prefix = prefix.rpartition(".")[0]
        frame.paths.setdefault(prefix, set()).add(path)
    frame.env[path] = value


def store(frame: Frame, place: cst.BaseExpression, value: Value) -> None:
    """What an expression names has become another value, and so has what it is a part of."""
    before = peek(frame, place)
    _put(frame, place, value)
    if before is not None:
        for other in frame.aliases.get(root(place), ()):
            if peek(frame, other) is before:
                _put(frame, other, value)


def _put(frame: Frame, place: cst.BaseExpression, value: Value) -> None:
    path = dotted(place)
    if path is not None:
        bind(frame, path, value)
        frame.trace.grown[id(place)] = value
    elif isinstance(place, cst.Subscript):
        base = peek(frame, place.value) or frame.values.get(id(place.value))
        if base is not None and containers.holds(base):
            key, each = key_of(frame, place)
            _put(frame, place.value, containers.put(base, key, each, value))


def peek(frame: Frame, place: cst.BaseExpression) -> Value | None:
    """What a name, a path or an element of it is now; None if that is not known."""
    path = dotted(place)
    if path is not None:
        return frame.env.get(path)
    if not isinstance(place, cst.Subscript) or (base := peek(frame, place.value)) is None:
        return None
    return containers.at(base, key_of(frame, place)[0]) if containers.holds(base) else None


def key_of(frame: Frame, node: cst.Subscript) -> tuple[containers.ElementKey, Value]:
    """The literal key of a subscript if it has one, and what its key is."""
    match node.slice:
        case [cst.SubscriptElement(slice=cst.Index(value=value))]:
            return literal_key(value), frame.values.get(id(value), UNKNOWN)
    return None, UNKNOWN


def alias(frame: Frame, target: cst.BaseExpression, source: cst.BaseExpression) -> None:
    """Two places hold the same container from here on."""
    for one, other in ((target, source), (source, target)):
        places = frame.aliases.setdefault(root(one), [])
        if len(places) < _MAX_ALIASES and not any(place is other for place in places):
            places.append(other)


def refine(frame: Frame, place: cst.BaseExpression, value: Value) -> None:
    """What a name, a path or an element of it is now known to be."""
    path = dotted(place)
    if path is None:
        _refine_element(frame, place, value)
        return
    if is_shared(frame, path):
        _set(frame, f"{path}{_NARROWED}", value)
    _set(frame, path, value)


def _refine_element(frame: Frame, place: cst.BaseExpression, value: Value) -> None:
    if not isinstance(place, cst.Subscript) or (base := peek(frame, place.value)) is None:
        return
    key, each = key_of(frame, place)
    if base.kind == Kind.CONTAINER and key is not None and containers.is_known(base, key):
        refine(frame, place.value, containers.put(base, key, each, value))


def is_shared(frame: Frame, name: str) -> bool:
    """Whether functions in this scope rebind a name of it."""
    return "." not in name and bool(frame.context.scopes.rebinders(frame.scope, name))


def with_rebound(frame: Frame, name: str, value: Value) -> Value:
    """A name that functions of this scope rebind, too."""
    if f"{name}{_NARROWED}" in frame.env:
        return value
    other = rebound(frame.context, name, frame)
    return value if other is None else join(value, other)


def forget_assigned(frame: Frame, function: cst.FunctionDef, places: Sequence[str | None]) -> None:
    """Forget what was known of the attributes that a function that was called assigns."""
    for path, param in zip(places, parameters(function), strict=False):
        if path is None or path not in frame.paths:
            continue
        assigned, known = assigns(frame.context, function, param.name.value), frame.paths[path]
        if len(assigned) > len(known):  # of methods that all call each other each assigns what any of them does
            assigned = assigned.intersection(each.removeprefix(f"{path}.") for each in known)
        for attribute in assigned:
            frame.env.unbind(f"{path}.{attribute}")
