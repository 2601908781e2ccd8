"""Runs a scope until nothing is learnt any more.

A frame maps names (and ``self.x`` paths) to values. A branch binds in a layer of its own, layers are joined where
branches meet, and loops run until nothing changes (:mod:`~torchlint.model.interpret.control_flow`). What is learnt from
the use of an unknown value (``x.unsqueeze(0)``: a tensor) holds from where the value came from, so the scope is run
again when something was learnt.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.interpret import assignment, control_flow, learning
from torchlint.model.interpret.calls import dispatch
from torchlint.model.interpret.environment import Env, Names
from torchlint.model.interpret.expressions import EXPRESSIONS
from torchlint.model.interpret.frame import Frame, Handlers
from torchlint.model.interpret.statements import STATEMENTS
from torchlint.model.interpret.summary import Summary, Trace
from torchlint.model.interpret.turned_on import after_calls
from torchlint.model.possibilities import Tri
from torchlint.model.values import Value, join

if TYPE_CHECKING:
    from torchlint.model.context import Context

_MAX_RUNS = 3
"""How often a scope is run before what was learnt has to do."""

_HANDLERS = Handlers(EXPRESSIONS, STATEMENTS, assignment.assign, dispatch.call)


def new_frame(context: Context, scope: cst.FunctionDef | cst.Module, trace: Trace | None = None) -> Frame:
    """A frame for a scope in which nothing is bound yet; what is seen in it is added to ``trace``."""
    return Frame(context, scope, trace or Trace(), _HANDLERS)


def run(frame: Frame, start: Env, grad: Tri) -> Summary:
    """Interpret the scope of a frame, from what its parameters are and the grad mode that it begins in."""
    for _ in range(_MAX_RUNS):
        _begin(frame, start, grad)
        scope = frame.scope
        control_flow.run_block(frame, scope.body if isinstance(scope, cst.Module) else scope.body.body)
        if not learning.conclude(frame) or not frame.budget.allows():
            break
    returns: Value | None = None
    for value in frame.returns:
        returns = value if returns is None else join(returns, value)
    return Summary(frame.bindings, returns, frame.trace)


def _begin(frame: Frame, start: Env, grad: Tri) -> None:
    """Go back to where the scope begins; what was learnt stays."""
    frame.dead, frame.grad = False, after_calls(frame.context, frame.scope, grad)
    frame.returns, frame.paths, frame.solutions, frame.rounds = [], {}, {}, Counter()
    frame.learnt.clues, frame.learnt.supposed = {}, set()
    frame.bindings = {name: learning.resolve(frame, value) for name, value in start.items()}
    frame.env = Names(frame.bindings)
