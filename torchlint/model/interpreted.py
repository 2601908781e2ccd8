"""What the interpretation of scopes has found: asked for here, done by the interpreter, kept as long as it holds."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.context import Context, at_home
from torchlint.model.interpret.environment import Env, Names
from torchlint.model.interpret.keys import BodyKey, ScopeKey
from torchlint.model.interpret.summary import NOTHING_SEEN, Summary, Trace
from torchlint.model.values import Value
from torchlint.system.stack import deeper

if TYPE_CHECKING:
    from torchlint.model.interpret.frame import Frame


def interpreted(
    context: Context, scope: cst.FunctionDef | cst.Module, cls: cst.ClassDef | None = None
) -> Summary | None:
    """What a scope leaves behind, interpreted once; None while that is going on further up, and if it is too much.

    A method that is inherited is interpreted once for each class (``cls``) whose objects it is called on.
    """
    key = ScopeKey(id(scope), None if cls is None else id(cls))
    queries, home = context.codebase.queries, context if cls is None else context.home(cls)
    known = queries.known(key, home)
    if known is not None:  # nearly always
        return known.value
    is_far = context.is_part and type(scope) is not cst.Module
    return queries.ask(
        key,
        lambda _: _interpret(context, scope, key, cls),
        None,
        home,
        before=_surroundings(context, scope),
        budget=None if context.is_part else context.budget,
        is_far=is_far,
        counts=is_far,
    )


def _surroundings(context: Context, scope: cst.FunctionDef | cst.Module) -> Callable[[], object] | None:
    """Interprets what surrounds a function as a whole, which is done before it is interpreted itself."""
    if type(scope) is cst.Module:
        return None
    outer = context.scopes.scope_of(scope)
    return None if context.is_part and type(outer) is cst.Module else partial(interpreted, context, outer)


def _interpret(
    context: Context, scope: cst.FunctionDef | cst.Module, key: ScopeKey, cls: cst.ClassDef | None
) -> Summary:
    frame = context.interpreter.begin(context, scope)
    with context.codebase.queries.running(key, frame):
        return deeper(lambda: context.interpreter.run(frame, cls))


def trace_of(context: Context, scope: cst.FunctionDef | cst.Module) -> Trace:
    """What was seen in a scope, so far if it is being interpreted."""
    result = interpreted(context, scope)
    if result is not None:
        return result.trace
    running = context.codebase.queries.frame(ScopeKey(id(scope)))
    return running.trace if running is not None else NOTHING_SEEN  # too far away


def seen(context: Context, node: cst.CSTNode) -> Value:
    """What an expression was where it was evaluated; for something imported from the project its name."""
    return trace_of(context, context.scopes.scope_of(node)).value(node)


def is_settled(context: Context, scope: cst.FunctionDef | cst.Module) -> bool:
    """Whether what a scope binds is known for good, however far away it is asked for."""
    known = context.answers.get(ScopeKey(id(scope)))
    return known is not None and not (context.is_part and (known.trail.height or known.trail.is_circular))


def bound_in(context: Context, scope: cst.FunctionDef | cst.Module) -> Env:
    """What the names of a scope are bound to, so far if it is being interpreted."""
    result = interpreted(context, scope)
    if result is not None:
        return result.bindings
    running = context.codebase.queries.frame(ScopeKey(id(scope)))
    return running.seen_by_functions() if running is not None else {}  # too far away


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
    return context.codebase.queries.ask(BodyKey(id(cls)), lambda _: _interpret_body(context, cls), Summary(), context)


def _interpret_body(context: Context, cls: cst.ClassDef) -> Summary:
    frame = outside(context)
    return Summary(context.interpreter.class_body(frame, cls), trace=frame.trace)
