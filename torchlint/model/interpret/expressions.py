"""The values of expressions: what is evaluated here or, by its class, in the modules below."""

from __future__ import annotations

import functools

import libcst as cst

from torchlint.model import bindings
from torchlint.model.definitions import free, is_only_bound_here
from torchlint.model.interpret import attributes, displays, learning, narrowing, operators, places, subscripts
from torchlint.model.interpret.calls import dispatch, lambdas
from torchlint.model.interpret.frame import Evaluators, Frame
from torchlint.model.possibilities import Kind
from torchlint.model.symbols import Origin, Symbol
from torchlint.model.values import NOTHING, NUMBER, STRING, UNKNOWN, Value, container, iterated, join


def _name(frame: Frame, node: cst.Name) -> Value:
    name = node.value
    value = frame.env.get(name)
    if value is not None:
        return places.with_rebound(frame, name, value) if places.is_shared(frame, name) else value
    if frame.locals is not None and name in frame.locals and name not in frame.globals:
        if _is_bound_in_next_round(frame, name):
            return NOTHING
        return learning.unknown(frame, Symbol(Origin.UNBOUND, id(frame.scope), name))
    value = free(frame.context, name, frame)
    if frame.locals is None and _is_global_unknown(value) and is_only_bound_here(frame.context, name):
        return NOTHING if _is_bound_in_next_round(frame, name) else value
    return value


def _is_global_unknown(value: Value) -> bool:
    return value.kind == Kind.UNKNOWN and any(symbol.origin is Origin.GLOBAL for symbol in value.symbols)


def _is_bound_in_next_round(frame: Frame, name: str) -> bool:
    """Whether a name that is not bound in the first round of a loop is so in the next: to read it before that raises.

    So what comes of it before adds nothing to what the loop binds: ``if i == 0: xs = x``, ``else: xs = cat((xs, x))``.
    """
    loop = frame.loops[-1] if frame.loops else None
    if loop is None or not loop.is_first or places.is_shared(frame, name):
        return False
    targets = bindings.targets(frame.context, name, frame.scope)
    return any(frame.tree.is_inside(each, loop.body) for each in targets)


def _if_exp(frame: Frame, node: cst.IfExp) -> Value:
    frame.value(node.test)
    before = frame.env
    values, ends = [], []
    for part, holds in ((node.body, True), (node.orelse, False)):
        if frame.decided.get(id(node.test), holds) is not holds:
            continue
        frame.env = before.branch()
        narrowing.narrow(frame, node.test, holds)
        narrowed = frame.env
        frame.env = narrowed.branch()
        values.append(frame.value(part))
        ends.append(frame.env.changes(narrowed))  # `x.requires_grad_() if x.is_leaf else x`
    frame.env = before
    if any(ends):
        before.meet(ends)
    return functools.reduce(join, values)


def _named_expr(frame: Frame, node: cst.NamedExpr) -> Value:
    value = frame.value(node.value)
    frame.assign(node.target, value, node.value)
    return value


def _await(frame: Frame, node: cst.Await) -> Value:
    return frame.value(node.expression)


def _yield(frame: Frame, node: cst.Yield) -> Value:
    if isinstance(node.value, cst.From):
        value = frame.value(node.value.item)
        frame.returns.append(container(iterated(value)))
    elif node.value is not None:
        frame.returns.append(container(frame.value(node.value)))
    return UNKNOWN


def _formatted(frame: Frame, node: cst.FormattedString) -> Value:
    for part in node.parts:
        if isinstance(part, cst.FormattedStringExpression):
            frame.value(part.expression)
            for inner in part.format_spec or ():
                if isinstance(inner, cst.FormattedStringExpression):
                    frame.value(inner.expression)
    return STRING


def _concatenated(frame: Frame, node: cst.ConcatenatedString) -> Value:
    frame.value(node.left)
    frame.value(node.right)
    return STRING


EXPRESSIONS: Evaluators = {
    cst.Name: _name,
    cst.Attribute: attributes.expression,
    cst.Subscript: subscripts.expression,
    cst.Call: dispatch.expression,
    cst.BinaryOperation: operators.binary,
    cst.UnaryOperation: operators.unary,
    cst.BooleanOperation: operators.boolean,
    cst.Comparison: operators.comparison,
    cst.IfExp: _if_exp,
    cst.Tuple: displays.sequence,
    cst.List: displays.sequence,
    cst.Set: displays.sequence,
    cst.Dict: displays.dictionary,
    cst.NamedExpr: _named_expr,
    cst.ListComp: displays.comprehension,
    cst.SetComp: displays.comprehension,
    cst.GeneratorExp: displays.comprehension,
    cst.DictComp: displays.dict_comprehension,
    cst.Lambda: lambdas.expression,
    cst.Await: _await,
    cst.Yield: _yield,
    cst.FormattedString: _formatted,
    cst.ConcatenatedString: _concatenated,
    cst.Integer: lambda frame, node: NUMBER,
    cst.Float: lambda frame, node: NUMBER,
    cst.Imaginary: lambda frame, node: NUMBER,
    cst.SimpleString: lambda frame, node: STRING,
}
