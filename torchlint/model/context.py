"""What all questions about one file share: its tree, its scopes, the code base around it, and what was found out.

A question is a plain function with a context in front: ``class_kind(context, cls)``. The interpreter is given to a
context when it is made, so that what it asks for can stand below it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar, cast

import libcst as cst

from torchlint.file.tree.tree import Tree
from torchlint.model.budget import Budget
from torchlint.model.scopes import Scopes
from torchlint.system.limits import BUDGET

if TYPE_CHECKING:
    from torchlint.model.codebase.modules import Codebase
    from torchlint.model.interpret.environment import Env
    from torchlint.model.interpret.frame import Frame
    from torchlint.model.interpret.keys import Answers
    from torchlint.model.interpret.summary import Summary, Trace
    from torchlint.model.values import Value

Asker = TypeVar("Asker")
N = TypeVar("N", bound=cst.CSTNode)
P = ParamSpec("P")
T = TypeVar("T")


class Memo:
    """Answers that hold for good, by the function that was asked and by what it was asked about.

    The function itself is the key, so no two questions can share one: it is defined in a module, never on the spot.
    """

    __slots__ = ("_tables",)

    def __init__(self) -> None:
        self._tables: dict[object, dict[object, object]] = {}

    def table(self, question: Callable[P, T]) -> dict[object, T]:
        """The answers of one function, for it to keep those that hold."""
        found = self._tables.get(question)
        if found is None:
            found = self._tables[question] = {}
        return cast("dict[object, T]", found)

    def answer(
        self, question: Callable[Concatenate[Asker, P], T], asker: Asker, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """What a function says of who asks, who is always the same, and of the other arguments; computed once."""
        known = self.table(question)
        key = (args, *kwargs.items()) if kwargs else args
        if key not in known:
            known[key] = question(asker, *args, **kwargs)
        return known[key]


class Interpreter(Protocol):
    """What runs scopes forward, seen from the questions that it answers and asks."""

    def begin(self, context: Context, scope: cst.FunctionDef | cst.Module, trace: Trace | None = None) -> Frame:
        """An interpretation of a scope that has not begun yet; ``trace`` takes what it sees."""

    def attribute(self, frame: Frame, base: Value, name: str, node: cst.CSTNode) -> Value:
        """What an attribute of a value is."""

    def class_body(self, frame: Frame, cls: cst.ClassDef) -> Env:
        """What the statements in a class bind."""

    def run(self, frame: Frame, cls: cst.ClassDef | None) -> Summary:
        """Interpret a scope from its first statement; ``cls`` is the class that has inherited a method."""

    def of_callers(self, context: Context, node: cst.CSTNode, function: cst.FunctionDef) -> Value | None:
        """What an expression in a function is if its callers in the file are believed; None if they say nothing."""

    def called_with(
        self, context: Context, function: cst.FunctionDef, given: Env, attributes: Env, decided: Mapping[int, bool]
    ) -> Trace:
        """What is seen in a function that is given this, by a call where autograd records.

        ``decided``: what conditions in it are, by their nodes.
        """


@dataclass(eq=False)
class Context:
    """One file, or some statements of another file of the project (``is_part``)."""

    tree: Tree
    path: str | None
    """Where the file is; without that nothing that it imports is looked for."""
    codebase: Codebase
    interpreter: Interpreter
    scopes: Scopes
    is_part: bool = False
    """Whether what the tree does not define itself is taken from the file's other parts."""
    is_checked: bool = True
    """Whether it is the file that is being checked, and not one that is looked at for that."""
    budget: Budget = field(default_factory=lambda: Budget(BUDGET))
    """How much of the file is interpreted before the rest of it counts as not known."""
    stars: list[str] = field(default_factory=list)
    """Modules whose names are imported with a star."""
    answers: Answers = field(default_factory=dict)
    """What was found out about scopes and classes and holds for good."""
    kept: list[cst.CSTNode] = field(default_factory=list)
    """Nodes of no tree, kept because values are known by the identity of nodes."""
    memo: Memo = field(default_factory=Memo)

    def part(self, path: str, scopes: Scopes) -> Context:
        """The context of some statements of another file of the same project."""
        return type(self)(scopes.tree, path, self.codebase, self.interpreter, scopes, is_part=True, is_checked=False)

    def whole(self, path: str, scopes: Scopes) -> Context:
        """The context of all of another file of the same project, as it would be if that was checked."""
        return type(self)(scopes.tree, path, self.codebase, self.interpreter, scopes, is_checked=False)

    def close(self) -> None:
        """Forget everything: contexts are full of cycles, and without them nobody has to look for garbage."""
        self.__dict__.clear()

    def home(self, node: cst.CSTNode) -> Context:
        """The context of the file that a class or function is defined in."""
        return self.codebase.home(node, self)

    def remember(self, question: Callable[Concatenate[Context, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What a function says of this file and of its arguments, computed once."""
        return self.memo.answer(question, self, *args, **kwargs)

    def new_budget(self) -> Budget:
        """What an interpretation may use: what is left for the file; of another file each function has its own."""
        return Budget(BUDGET) if self.is_part else self.budget


def at_home(question: Callable[Concatenate[Context, N, P], T]) -> Callable[Concatenate[Context, N, P], T]:
    """Ask about a class or function in the context of the file that it is defined in."""

    @functools.wraps(question)
    def asked(context: Context, node: N, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return question(context.codebase.home(node, context), node, *args, **kwargs)

    return asked
