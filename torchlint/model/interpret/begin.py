"""How interpretations begin: with the names of the module, with parameters, with what callers give."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import libcst as cst

from torchlint.model.interpret.callers import Callers
from torchlint.model.interpret.flow import Flow
from torchlint.model.interpret.state import Result, Trace
from torchlint.model.modes import start_grad
from torchlint.model.parameters import start_of
from torchlint.model.values import Tri, Value

if TYPE_CHECKING:
    from torchlint.model.bridge import Model
    from torchlint.model.context import Context


class ForwardInterpreter:
    """Interprets scopes forward, statement by statement (:class:`torchlint.model.context.Interpreter`)."""

    def begin(self, context: Context, scope: cst.FunctionDef | cst.Module, trace: Trace | None = None) -> Flow:
        """An interpretation of a scope that has not begun yet; ``trace`` takes what it sees."""
        return Flow(cast("Model", context), scope, trace)

    def run(self, flow: Flow, cls: cst.ClassDef | None) -> Result:
        """Interpret a scope from its first statement; ``cls`` is the class that has inherited a method."""
        scope = flow.scope
        if isinstance(scope, cst.Module):
            return flow.run({}, Tri.YES)
        return flow.run(start_of(flow.model, scope, flow, cls), start_grad(flow.model, scope))

    def of_callers(self, context: Context, node: cst.CSTNode, function: cst.FunctionDef) -> Value | None:
        """What an expression in a function is if its callers in the file are believed; None if they say nothing."""
        return context.remember(_callers).value(node, function)


def _callers(context: Context) -> Callers:
    return Callers(cast("Model", context))
