"""What the patterns of ``match`` say of their subject, and bind."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from torchlint.model.annotations import instance_of
from torchlint.model.interpret import attributes, containers, learning, narrowing
from torchlint.model.interpret.frame import Frame
from torchlint.model.possibilities import Kind
from torchlint.model.symbols import Origin, Symbol
from torchlint.model.syntax import literal_key
from torchlint.model.values import NONE, UNKNOWN, Value, container, iterated, join, mapping, reference


def match(frame: Frame, pattern: cst.MatchPattern, value: Value) -> Value:
    """Bind the names of a pattern to what they capture of a value; what the value is if it matches."""
    match pattern:
        case cst.MatchAs(pattern=inner, name=name):
            matched = match(frame, inner, value) if inner is not None else value
            if name is not None:
                frame.assign(name, matched, None)
            return matched
        case cst.MatchOr(patterns=alternatives):
            return _match_any(frame, alternatives, value)
        case cst.MatchSingleton(value=cst.Name("None")):
            return NONE
        case cst.MatchValue(value=literal):
            frame.value(literal)
        case cst.MatchClass():
            return _match_class(frame, pattern, value)
        case cst.MatchList(patterns=patterns) | cst.MatchTuple(patterns=patterns):
            return _match_sequence(frame, patterns, value)
        case cst.MatchMapping():
            return _match_mapping(frame, pattern, value)
    return value


def _match_any(frame: Frame, alternatives: Sequence[cst.MatchOrElement], value: Value) -> Value:
    result: Value | None = None
    for alternative in alternatives:
        matched = match(frame, alternative.pattern, value)
        result = matched if result is None else join(result, matched)
    return result or value


def _match_class(frame: Frame, pattern: cst.MatchClass, value: Value) -> Value:
    cls = frame.value(pattern.cls)
    made = instance_of(frame.context, cls, pattern.cls)
    if made is not None:
        matched = narrowing.as_instance(value, made, pattern.cls)
    else:
        matched = learning.unknown(frame, Symbol(Origin.MATCH, id(pattern)))
    for index, element in enumerate(pattern.patterns):
        part = _positional(frame, matched, cls, index, pattern)
        match(frame, element.value, part)
    for keyword in pattern.kwds:
        match(frame, keyword.pattern, attributes.attribute(frame, matched, keyword.key.value, keyword.key))
    return matched


def _positional(frame: Frame, matched: Value, cls: Value, index: int, pattern: cst.MatchClass) -> Value:
    """What a positional pattern of a class is matched against: the object itself, or one of its fields."""
    if (reference(cls) or "").startswith("builtins."):
        return matched
    if isinstance(matched.node, cst.ClassDef):
        fields = list(frame.context.home(matched.node).scopes.info(matched.node).declared)
        if index < len(fields):
            return attributes.attribute(frame, matched, fields[index], pattern)
    return learning.unknown(frame, Symbol(Origin.MATCH, id(pattern), index))


def _match_sequence(frame: Frame, patterns: Sequence[cst.MatchSequenceElement | cst.MatchStar], value: Value) -> Value:
    matched = value if value.kind & (Kind.CONTAINER | Kind.OBJECT) and not value.is_mapping else container()
    stars = [isinstance(element, cst.MatchStar) for element in patterns]
    items = containers.spread(matched.items, stars)
    for index, element in enumerate(patterns):
        part = items[index] if items is not None else iterated(matched)
        if isinstance(element, cst.MatchStar):
            rest = part if items is not None and part is not None else container(part)
            if element.name is not None:
                frame.assign(element.name, rest, None)
        else:
            match(frame, element.value, part or learning.unknown(frame, Symbol(Origin.MATCH, id(element))))
    return matched


def _match_mapping(frame: Frame, pattern: cst.MatchMapping, value: Value) -> Value:
    matched = value if value.kind & Kind.CONTAINER and value.is_mapping else mapping(UNKNOWN)
    for element in pattern.elements:
        frame.value(element.key)
        part = containers.at(matched, literal_key(element.key))
        match(frame, element.pattern, part or learning.unknown(frame, Symbol(Origin.MATCH, id(element))))
    if pattern.rest is not None:
        frame.assign(pattern.rest, matched, None)
    return matched


def is_irrefutable(case: cst.MatchCase) -> bool:
    """Whether a case matches everything: ``case _``."""
    return isinstance(case.pattern, cst.MatchAs) and case.pattern.pattern is None and case.guard is None
