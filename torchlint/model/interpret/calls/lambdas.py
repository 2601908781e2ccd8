"""Lambdas, and functions that are given to others."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from torchlint.model.hooks import given_to_lambda
from torchlint.model.interpret import learning, waiting
from torchlint.model.interpret.frame import Frame
from torchlint.model.possibilities import Kind
from torchlint.model.symbols import Origin, Symbol
from torchlint.model.syntax import parameters
from torchlint.model.values import UNKNOWN, Argument, Value
from torchlint.system.stack import deeper


def expression(frame: Frame, node: cst.Lambda) -> Value:
    """``lambda x: …``: its body is evaluated for what is in it, even if nobody calls it."""
    parent = frame.tree.parent(node)
    if not isinstance(parent, cst.Call) or parent.func is not node:  # then its body is seen with what it is given
        with waiting.later(frame):
            call(frame, node, given_to_lambda(frame.context, node))
    return Value(Kind.FUNCTION, node=node)


def call(frame: Frame, node: cst.Lambda, given: Sequence[Value]) -> Value:
    """The value of a lambda's body for the given arguments; nothing is known of a lambda that calls itself."""
    if not frame.budget.allows():
        return UNKNOWN
    return frame.context.codebase.queries.once(node, lambda: _body(frame, node, given), UNKNOWN)


def _body(frame: Frame, node: cst.Lambda, given: Sequence[Value]) -> Value:
    with frame.inner_scope():
        for index, param in enumerate(parameters(node)):
            if param.default is not None:
                frame.value(param.default)
            symbol = Symbol(Origin.PARAMETER, id(node), param.name.value)
            frame.assign(param.name, given[index] if index < len(given) else learning.unknown(frame, symbol), None)
        return deeper(lambda: frame.value(node.body))


def call_argument(frame: Frame, function: Argument, given: Sequence[Value], node: cst.Call) -> Value:
    """What a function that is an argument of a call returns for these values."""
    if isinstance(function.node, cst.Lambda):
        return call(frame, function.node, given)
    places = [a.value for a in node.args[1:]]
    stand_ins = [*places, *[node] * (len(given) - len(places))]
    arguments = [Argument(None, value, place) for value, place in zip(given, stand_ins, strict=False)]
    return frame.call(function.value, node, arguments)
