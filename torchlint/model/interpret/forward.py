"""The interpreter as questions see it: it begins with names of the module, with parameters, with what callers give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.interpret import attributes, interpreter, statements
from torchlint.model.interpret.callers import Callers
from torchlint.model.interpret.environment import Env
from torchlint.model.interpret.frame import Frame
from torchlint.model.interpret.summary import Summary, Trace
from torchlint.model.modes import start_grad
from torchlint.model.parameters import start_of
from torchlint.model.possibilities import Tri
from torchlint.model.values import Value

if TYPE_CHECKING:
    from torchlint.model.context import Context


class ForwardInterpreter:
    """Interprets scopes forward, statement by statement (:class:`torchlint.model.context.Interpreter`)."""

    def begin(self, context: Context, scope: cst.FunctionDef | cst.Module, trace: Trace | None = None) -> Frame:
        """An interpretation of a scope that has not begun yet; ``trace`` takes what it sees."""
        return interpreter.new_frame(context, scope, trace)

    def run(self, frame: Frame, cls: cst.ClassDef | None) -> Summary:
        """Interpret a scope from its first statement; ``cls`` is the class that has inherited a method."""
        context, scope = frame.context, frame.scope
        if isinstance(scope, cst.Module):
            return interpreter.run(frame, {}, Tri.YES)
        return interpreter.run(frame, start_of(context, scope, frame, cls), start_grad(context, scope))

    def attribute(self, frame: Frame, base: Value, name: str, node: cst.CSTNode) -> Value:
        """What an attribute of a value is."""
        return attributes.attribute(frame, base, name, node)

    def class_body(self, frame: Frame, cls: cst.ClassDef) -> Env:
        """What the statements in a class bind."""
        return statements.class_body(frame, cls)

    def of_callers(self, context: Context, node: cst.CSTNode, function: cst.FunctionDef) -> Value | None:
        """What an expression in a function is if its callers in the file are believed; None if they say nothing."""
        return context.remember(Callers).value(node, function)

    def called_with(
        self, context: Context, function: cst.FunctionDef, given: Env, attributes: Env, decided: Mapping[int, bool]
    ) -> Trace:
        """What is seen in a function that is given this, by a call where autograd records."""
        frame = interpreter.new_frame(context, function)
        frame.believed, frame.decided = attributes, decided
        own = start_grad(context, function) if function.decorators else Tri.YES
        interpreter.run(frame, start_of(context, function, frame) | given, own)
        return frame.trace
