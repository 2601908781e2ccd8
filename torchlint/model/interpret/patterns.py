"""What the patterns of ``match`` say of their subject, and bind."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from torchlint.model.interpret import containers
from torchlint.model.interpret.calls import Calls
from torchlint.model.syntax import literal_key
from torchlint.model.values import NONE, UNKNOWN, Kind, Value, container, iterated, join, mapping


class Patterns(Calls):
    """Matches values against patterns, as far as that can be done without running anything."""

    def match(self, pattern: cst.MatchPattern, value: Value) -> Value:
        """Bind the names of a pattern to what they capture of a value; what the value is if it matches."""
        match pattern:
            case cst.MatchAs(pattern=inner, name=name):
                matched = self.match(inner, value) if inner is not None else value
                if name is not None:
                    self.assign(name, matched, None)
                return matched
            case cst.MatchOr(patterns=alternatives):
                return self._match_any(alternatives, value)
            case cst.MatchSingleton(value=cst.Name("None")):
                return NONE
            case cst.MatchValue(value=literal):
                self.eval(literal)
            case cst.MatchClass():
                return self._match_class(pattern, value)
            case cst.MatchList(patterns=patterns) | cst.MatchTuple(patterns=patterns):
                return self._match_sequence(patterns, value)
            case cst.MatchMapping():
                return self._match_mapping(pattern, value)
        return value

    def _match_any(self, alternatives: Sequence[cst.MatchOrElement], value: Value) -> Value:
        result: Value | None = None
        for alternative in alternatives:
            matched = self.match(alternative.pattern, value)
            result = matched if result is None else join(result, matched)
        return result or value

    def _match_class(self, pattern: cst.MatchClass, value: Value) -> Value:
        cls = self.eval(pattern.cls)
        made = self.model.instance_of(cls, pattern.cls)
        matched = self.narrowed(value, made, pattern.cls) if made is not None else self.unknown(("match", id(pattern)))
        for index, element in enumerate(pattern.patterns):
            part = self._positional(matched, cls, index, pattern)
            self.match(element.value, part)
        for keyword in pattern.kwds:
            self.match(keyword.pattern, self.attribute(matched, keyword.key.value, keyword.key))
        return matched

    def _positional(self, matched: Value, cls: Value, index: int, pattern: cst.MatchClass) -> Value:
        """What a positional pattern of a class is matched against: the object itself, or one of its fields."""
        if (self.model.reference(cls) or "").startswith("builtins."):
            return matched
        if isinstance(matched.node, cst.ClassDef):
            fields = list(self.model.home(matched.node).scopes.info(matched.node).declared)
            if index < len(fields):
                return self.attribute(matched, fields[index], pattern)
        return self.unknown(("match", id(pattern), index))

    def _match_sequence(self, patterns: Sequence[cst.MatchSequenceElement | cst.MatchStar], value: Value) -> Value:
        matched = value if value.kind & (Kind.CONTAINER | Kind.OBJECT) and not value.is_mapping else container()
        stars = [isinstance(element, cst.MatchStar) for element in patterns]
        items = containers.spread(matched.items, stars)
        for index, element in enumerate(patterns):
            part = items[index] if items is not None else iterated(matched)
            if isinstance(element, cst.MatchStar):
                rest = part if items is not None and part is not None else container(part)
                if element.name is not None:
                    self.assign(element.name, rest, None)
            else:
                self.match(element.value, part if part is not None else self.unknown(("match", id(element))))
        return matched

    def _match_mapping(self, pattern: cst.MatchMapping, value: Value) -> Value:
        matched = value if value.kind & Kind.CONTAINER and value.is_mapping else mapping(UNKNOWN)
        for element in pattern.elements:
            self.eval(element.key)
            part = containers.at(matched, literal_key(element.key))
            self.match(element.pattern, part if part is not None else self.unknown(("match", id(element))))
        if pattern.rest is not None:
            self.assign(pattern.rest, matched, None)
        return matched


def is_irrefutable(case: cst.MatchCase) -> bool:
    """Whether a case matches everything: ``case _``."""
    return isinstance(case.pattern, cst.MatchAs) and case.pattern.pattern is None and case.guard is None
