"""The questions that rules ask about a file; what answers them stands in the modules beside this one.

Asked, not computed ahead: a function is interpreted when something in it is first asked about, and every answer is
remembered. ``tests/model/*.md`` specify what comes out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

import libcst as cst

from torchlint.model import bindings, classes, expressions, modes, requires_grad, spelling, training
from torchlint.model.aliasing import origins, uses
from torchlint.model.certainty import Certainty
from torchlint.model.codebase import exports
from torchlint.model.codebase.modules import Codebase
from torchlint.model.context import Context
from torchlint.model.interpret.forward import ForwardInterpreter
from torchlint.model.possibilities import Tri
from torchlint.model.scopes import Scopes
from torchlint.model.syntax import is_target
from torchlint.model.values import Strength, Usage, Value
from torchlint.versions import ANY

if TYPE_CHECKING:
    from torchlint.file.tree.tree import Tree
    from torchlint.model.budget import Budget

P = ParamSpec("P")
T = TypeVar("T")


class Model:
    """Answers about the expressions of one file. They are None, or the cautious answer, where nothing is known."""

    def __init__(self, tree: Tree, path: str | None = None, codebase: Codebase | None = None) -> None:
        """``path`` says where the file is, without which nothing that it imports is looked for."""
        context = Context(tree, path, codebase or Codebase(), ForwardInterpreter(), Scopes(tree))
        self._see(context)
        self.target = ANY
        """The versions of torch that the file is written for."""
        self.original = ""
        """The text of the file before anything was fixed, where unsafe fixes are applied; empty else."""
        self.codebase.adopt(context)

    def _see(self, context: Context) -> None:
        self.context = context
        """What the questions of this package share; rules ask the model."""
        self.tree, self.scopes, self.codebase = context.tree, context.scopes, context.codebase

    def close(self) -> dict[str, str]:
        """Nothing more will be asked: the other files that were looked at, with their state."""
        rests_on = self.codebase.rests_on()
        self.codebase.release()
        self.context.close()
        self.__dict__.clear()
        return rests_on

    @property
    def budget(self) -> Budget:
        """How much of the file is interpreted before the rest of it counts as not known."""
        return self.context.budget

    @budget.setter
    def budget(self, budget: Budget) -> None:
        self.context.budget = budget

    # ------------------------------------------------------------------ what an expression is

    def value(self, node: cst.CSTNode) -> Value:
        """What an expression can be: its kind, grad, ndim, dtype, role, and the evidence for it."""
        return expressions.value_of(self.context, node)

    def qualified(self, node: cst.CSTNode) -> str | None:
        """The canonical qualified name of something imported (``torch.nn.functional.relu``); None for all else."""
        return expressions.qualified(self.context, node)

    def is_tensor(self, node: cst.CSTNode, at_least: Strength = Strength.USE) -> bool:
        """Whether an expression is a tensor wherever it has a tensor's methods, on evidence of that strength."""
        return expressions.is_tensor(self.context, node, at_least)

    def grad_enabled(self, node: cst.CSTNode) -> Tri:
        """Whether autograd records where ``node`` is evaluated (``Tri``)."""
        return modes.grad_enabled(self.context, node)

    def may_record(self, node: cst.CSTNode) -> bool:
        """Whether autograd may record where ``node`` is evaluated, as far as all of the project shows; asked last."""
        return modes.may_record(self.context, node)

    def requires_grad(self, node: cst.BaseExpression) -> Certainty | None:
        """How certain it is (``Certainty``) that an expression is a tensor that requires grad; None if it can't be."""
        return requires_grad.requires_grad(self.context, node)

    def has_no_graph(self, node: cst.BaseExpression, at: cst.CSTNode) -> bool:
        """Whether it is known that an expression is a tensor without a graph, or that nothing is recorded there."""
        return requires_grad.has_no_graph(self.context, node, at)

    # ------------------------------------------------------------------ classes and functions

    def class_of(self, function: cst.CSTNode) -> cst.ClassDef | None:
        """The class whose method a function is."""
        return classes.class_of(self.context, function)

    def class_kind(self, cls: cst.ClassDef) -> str:
        """``module``, ``optimizer``, ``function`` (of autograd), ``tensor``, …, ``unknown`` or ``other``."""
        return classes.class_kind(self.context, cls)

    def find_method(self, cls: cst.ClassDef, name: str) -> cst.FunctionDef | None:
        """A method of a class or of its bases in this project."""
        return classes.find_method(self.context, cls, name)

    def home(self, node: cst.CSTNode) -> Model:
        """The model of the file that a class or function is defined in: this one, or that of another file."""
        context = self.context.home(node)
        if context is self.context:
            return self
        other = object.__new__(Model)
        other._see(context)
        other.target, other.original = self.target, ""
        return other

    # ------------------------------------------------------------------ names

    def references(self, name: str, scope: cst.FunctionDef | cst.Module) -> list[cst.Name]:
        """All occurrences of a name in a scope and in the functions inside it, in document order."""
        return bindings.references(self.context, name, scope)

    def targets(self, name: str, scope: cst.FunctionDef | cst.Module) -> Sequence[cst.Name]:
        """Those of them that are assigned to, deleted or bound by a loop, in document order."""
        return bindings.targets(self.context, name, scope)

    def all_called(self, name: str) -> list[cst.BaseExpression]:
        """All names and attributes that are called ``name``, wherever in the file."""
        return bindings.all_called(self.context, name)

    def bindings_of(self, name: str, node: cst.CSTNode) -> list[cst.Name]:
        """Where a name is plainly assigned in the scope of ``node``: ``x = …``, not ``x += …``."""
        return bindings.bindings_of(self.context, name, node)

    def is_target(self, node: cst.CSTNode) -> bool:
        """Whether an expression is assigned to, deleted or bound by a loop."""
        return is_target(self.tree, node)

    def mentions(self, pattern: re.Pattern[str]) -> bool:
        """Whether anything in the text of this file matches, wherever it stands."""
        return self.remember(_mentions, pattern)

    def spelling(self, qualified: str, node: cst.CSTNode | None = None) -> tuple[str, bool]:
        """How to write a name of torch in this file, and whether ``import torch`` has to be added for it.

        Empty where it cannot be written: something else at ``node`` is called ``torch``, or the file can be imported
        without torch, which an import at its top would change.
        """
        return spelling.spelling(self.context, qualified, node)

    def taker(self, name: str) -> str | None:
        """Another file of the project that may have a name of this module from here; None if there is none.

        The path is relative to the project, empty if it is not known.
        """
        return exports.taker(self.context, name)

    # ------------------------------------------------------------------ training, memory and graphs

    def training_events(self, scope: cst.FunctionDef | cst.Module) -> tuple[training.TrainingEvent, ...]:
        """What a scope does that trains: ``backward``, ``step``, ``zero_grad``, by functions that it calls, too."""
        return training.training_events(self.context, scope)

    def usage(self, node: cst.CSTNode) -> Usage:
        """The worst that happens to the memory an expression evaluates to."""
        return uses.usage(self.context, node)

    def is_written(self, node: cst.CSTNode) -> bool:
        """Whether what an expression holds may be written in place where a version counter counts it."""
        return origins.is_written(self.context, node)

    def ask(self, question: Callable[Concatenate[Context, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What a function of this package says of this file: for questions that few rules have."""
        return question(self.context, *args, **kwargs)

    def remember(self, question: Callable[Concatenate[Model, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What a function says of this file and of its arguments, computed once.

        The function itself is the key, so no two questions can share one: it is defined in a module, never on the spot.
        """
        return self.context.memo.answer(question, self, *args, **kwargs)


def _mentions(model: Model, pattern: re.Pattern[str]) -> bool:
    return pattern.search(model.tree.source.text) is not None
