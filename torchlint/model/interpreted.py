"""What the interpretation of scopes has found: asked for here, done by the interpreter, kept as long as it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.context import Context, at_home
from torchlint.model.interpret.environment import Env, Names
from torchlint.model.interpret.interpretation import Key
from torchlint.model.interpret.summary import NOTHING_SEEN, Summary, Trace
from torchlint.model.values import Value
from torchlint.system.stack import deeper

if TYPE_CHECKING:
    from torchlint.model.interpret.frame import Frame
    from torchlint.model.interpret.interpretation import Open

_BODY = 0
"""With a class, the key of what its statements bind; the class alone is that of what its methods assign."""


def interpreted(
    context: Context, scope: cst.FunctionDef | cst.Module, cls: cst.ClassDef | None = None
) -> Summary | None:
    """What a scope leaves behind, interpreted once; None while that is going on further up, and if it is too much.

    A method that is inherited is interpreted once for each class (``cls``) whose objects it is called on.
    """
    key: Key = id(scope) if cls is None else (id(scope), id(cls))
    now = context.codebase.interpretation
    owner = context if cls is None else context.home(cls)
    known = now.known(key, owner.results, owner.is_part)
    if known is not None or now.is_open(key):
        return known
    if owner.is_part and not now.is_elsewhere:
        return context.codebase.ask(lambda: interpreted(context, scope, cls))
    if not context.is_part and not context.budget.allows(len(now.frames)):
        return None
    if isinstance(scope, cst.Module):
        result, ended = _interpret(context, scope, key)
    elif context.is_part and now.is_too_far(key):
        return None
    else:
        result, ended = _interpret_inside(context, scope, key, cls)
    now.keep(ended, result, owner.results)
    return result


def _interpret_inside(
    context: Context, function: cst.FunctionDef, key: Key, cls: cst.ClassDef | None
) -> tuple[Summary, Open]:
    """What a function leaves behind; what surrounds it is interpreted as a whole before."""
    outer, now = context.scopes.scope_of(function), context.codebase.interpretation
    if not context.is_part:
        interpreted(context, outer)
    if not context.is_part or isinstance(outer, cst.Module):
        return _interpret(context, function, key, cls)
    now.surround(key)  # what the outer function rests on, the inner one rests on
    try:
        interpreted(context, outer)
        result, _ = _interpret(context, function, key, cls)
    finally:
        ended = now.leave()
    return result, ended


def _interpret(
    context: Context, scope: cst.FunctionDef | cst.Module, key: Key, cls: cst.ClassDef | None = None
) -> tuple[Summary, Open]:
    now = context.codebase.interpretation
    frame = context.interpreter.begin(context, scope, Trace(now.traces.get(key)))
    now.enter(key, context.is_part and not isinstance(scope, cst.Module))
    now.running[key] = frame
    try:
        result = deeper(lambda: context.interpreter.run(frame, cls))
    finally:
        del now.running[key]
        ended = now.leave()
    frame.trace.before = None
    if ended.trail.is_circular:
        now.traces[key] = frame.trace
    return result, ended


def trace_of(context: Context, scope: cst.FunctionDef | cst.Module) -> Trace:
    """What was seen in a scope, so far if it is being interpreted."""
    result = interpreted(context, scope)
    if result is not None:
        return result.trace
    running = context.codebase.interpretation.running.get(id(scope))
    return running.trace if running is not None else NOTHING_SEEN  # too far away


def seen(context: Context, node: cst.CSTNode) -> Value:
    """What an expression was where it was evaluated; for something imported from the project its name."""
    return trace_of(context, context.scopes.scope_of(node)).value(node)


def is_settled(context: Context, scope: cst.FunctionDef | cst.Module) -> bool:
    """Whether what a scope binds is known for good, however far away it is asked for."""
    known = context.results.get(id(scope))
    return known is not None and not (context.is_part and (known.trail.height or known.trail.is_circular))


def bound_in(context: Context, scope: cst.FunctionDef | cst.Module) -> Env:
    """What the names of a scope are bound to, so far if it is being interpreted."""
    result = interpreted(context, scope)
    if result is not None:
        return result.bindings
    running = context.codebase.interpretation.running.get(id(scope))
    return running.bindings if running is not None else {}  # too far away


def outside(context: Context) -> Frame:
    """An interpretation that sees what the module has bound."""
    frame = context.interpreter.begin(context, context.tree.module)
    frame.env = Names(bound_in(context, context.tree.module))
    return frame


@at_home
def class_body(context: Context, cls: cst.ClassDef) -> Summary:
    """What the statements in a class leave behind."""
    if not context.is_part:
        trace = trace_of(context, context.scopes.scope_of(cls))
        return Summary(trace.body(cls), trace=trace)
    key, now = (id(cls), _BODY), context.codebase.interpretation
    known = now.known(key, context.class_results, context.is_part)
    if known is not None or now.is_open(key):
        return known if known is not None else Summary()
    if not now.is_elsewhere:
        return context.codebase.ask(lambda: class_body(context, cls))
    now.enter(key, False)
    try:
        frame = outside(context)
        result = Summary(context.interpreter.class_body(frame, cls), trace=frame.trace)
    finally:
        ended = now.leave()
    now.keep(ended, result, context.class_results)
    return result
