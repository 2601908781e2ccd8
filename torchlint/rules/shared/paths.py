"""The events of a scope on each path through it: what has happened when another thing happens.

A path is followed from the first statement to the last one, through either branch of a condition, with each loop
running once, for rules speak of one round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

import libcst as cst

from torchlint.model import Model
from torchlint.model.syntax import LEAVING

E = TypeVar("E")
F = TypeVar("F")

Facts = dict[str, F]
"""What may have happened on some path to a place, by the name that a rule gives it."""


class Paths(Generic[E, F]):
    """Follows events through the statements of a scope."""

    def __init__(
        self,
        model: Model,
        events: Iterable[tuple[cst.CSTNode, E]],
        see: Callable[[E, Facts[F]], None],
    ) -> None:
        """``see`` is told of each event with its node, in the order in which they run, and changes the facts."""
        self._see = see
        self._left: list[Facts[F] | None] = []
        """For each loop around, the innermost last, what is so where a round is left by ``continue`` or ``break``."""
        self._events: dict[int, list[E]] = {}
        for node, event in events:
            self._events.setdefault(id(model.tree.statement(node)), []).append(event)

    def follow(self, scope: cst.FunctionDef | cst.Module, at_first: Facts[F] | None = None) -> None:
        """Follow all paths through a scope, with what has happened before it begins."""
        self._suite(scope.body if isinstance(scope, cst.FunctionDef) else scope, dict(at_first or {}))

    def _suite(self, suite: cst.BaseSuite | cst.Module, facts: Facts[F] | None) -> Facts[F] | None:
        """The facts at the end of a suite; None if no path leads there."""
        for statement in (suite,) if isinstance(suite, cst.SimpleStatementSuite) else suite.body:
            if facts is None:
                break
            facts = self._statement(statement, facts)
        return facts

    def _statement(self, node: cst.CSTNode, facts: Facts[F]) -> Facts[F] | None:
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
            return facts
        for event in self._events.get(id(node), ()):
            self._see(event, facts)
        match node:
            case cst.SimpleStatementLine(body=body) | cst.SimpleStatementSuite(body=body):
                if isinstance(body[-1], (cst.Continue, cst.Break)) and self._left:
                    self._left[-1] = _either(facts, self._left[-1])
                return None if isinstance(body[-1], LEAVING) else facts
            case cst.If():
                return self._branches(node, facts)
            case cst.For(body=body, orelse=orelse) | cst.While(body=body, orelse=orelse):
                self._left.append(None)
                once = _either(self._suite(body, dict(facts)), self._left[-1])
                self._left.pop()
                return self._otherwise(orelse, _either(once, facts) or facts)
            case cst.With(body=body):
                return self._suite(body, facts)
            case cst.Match(cases=cases):
                found: Facts[F] | None = facts
                for case in cases:
                    found = _either(self._suite(case.body, dict(facts)), found)
                return found
            case cst.Try() | cst.TryStar():
                return self._try(node, facts)
        return facts

    def _branches(self, node: cst.If, facts: Facts[F]) -> Facts[F] | None:
        found = self._suite(node.body, dict(facts))
        orelse = node.orelse
        while isinstance(orelse, cst.If):
            for event in self._events.get(id(orelse), ()):
                self._see(event, facts)
            found = _either(self._suite(orelse.body, dict(facts)), found)
            orelse = orelse.orelse
        return _either(found, self._otherwise(orelse, facts))

    def _otherwise(self, orelse: cst.Else | None, facts: Facts[F]) -> Facts[F] | None:
        return facts if orelse is None else self._suite(orelse.body, facts)

    def _try(self, node: cst.Try | cst.TryStar, facts: Facts[F]) -> Facts[F] | None:
        done = self._suite(node.body, dict(facts))
        if done is not None:
            done = self._otherwise(node.orelse, done)
        for handler in node.handlers:
            done = _either(self._suite(handler.body, dict(facts)), done)
        return done if node.finalbody is None or done is None else self._suite(node.finalbody.body, done)


def _either(one: Facts[F] | None, other: Facts[F] | None) -> Facts[F] | None:
    """What is so on one path or the other."""
    if one is None or other is None:
        return other if one is None else one
    return {**other, **one}
