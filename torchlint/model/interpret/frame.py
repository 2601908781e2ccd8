"""The state of interpreting one scope."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

import libcst as cst

from torchlint.model.interpret.environment import Changes, Env, Names
from torchlint.model.interpret.summary import Trace
from torchlint.model.possibilities import Tri
from torchlint.model.symbols import Symbol
from torchlint.model.values import UNKNOWN, Argument, Evidence, Value

if TYPE_CHECKING:
    from torchlint.file.tree.tree import Tree
    from torchlint.model.budget import Budget
    from torchlint.model.context import Context

Evaluators = Mapping[type[cst.CSTNode], "Callable[[Frame, NoReturn], Value]"]
"""What evaluates each class of expressions (``NoReturn``: each function takes the nodes of its class alone)."""

Executors = Mapping[type[cst.CSTNode], "Callable[[Frame, NoReturn], None]"]
"""What runs each class of statements."""


@dataclass(frozen=True, slots=True)
class Handlers:
    """What modules call that lies above them."""

    expressions: Evaluators
    statements: Executors
    assign: Callable[[Frame, cst.CSTNode, Value, cst.BaseExpression | None], None]
    call: Callable[[Frame, Value, cst.Call, Sequence[Argument]], Value]


@dataclass(slots=True)
class Clues:
    """How an unknown value is used: as only a tensor can be, or as a tensor cannot."""

    tensor: tuple[str, cst.CSTNode] | None = None
    of_data: tuple[str, cst.CSTNode] | None = None
    """As only a tensor's can be, its `.data` is."""
    hint: tuple[str, cst.CSTNode] | None = None
    """As tensors are above all, but a few others can be, too."""
    other: bool = False


@dataclass(slots=True)
class Learnt:
    """What is known of unknown values from their use, by their symbols."""

    clues: dict[Symbol, Clues] = field(default_factory=dict)
    """What this run has come across."""
    supposed: set[Symbol] = field(default_factory=set)
    """What this run took for a tensor though it need not be one."""
    solved: dict[Symbol, Evidence] = field(default_factory=dict)
    """What the runs before have shown to be tensors."""
    hinted: dict[Symbol, Evidence] = field(default_factory=dict)
    """What the runs before suggest to be tensors."""
    rejected: set[Symbol] = field(default_factory=set)
    """What the runs before have shown to be no tensors."""


@dataclass(slots=True)
class Loop:
    """A loop that is being run."""

    entry: Names
    """The names before it."""
    body: cst.BaseSuite
    is_first: bool
    """Whether this is the first round of all."""
    exits: list[Changes] = field(default_factory=list)
    """With what changes it is left, or begun again."""


@dataclass(slots=True, eq=False)
class Frame:
    """What is known at the point of a scope that is being interpreted, and what was seen on the way there."""

    context: Context
    """That of the file the scope is in."""
    scope: cst.FunctionDef | cst.Module
    trace: Trace
    """What was seen, which outlives the frame."""
    handlers: Handlers

    tree: Tree = field(init=False)
    values: dict[int, Value] = field(init=False)
    """Those of the trace: what each expression is, by the identity of its node."""
    budget: Budget = field(init=False)
    locals: frozenset[str] | None = field(init=False)
    """The names that a function binds itself; None of a module."""

    env: Names = field(default_factory=Names)
    """What names and paths are bound to here."""
    dead: bool = False
    """Whether this point cannot be reached."""
    grad: Tri = Tri.YES
    """Whether autograd records here."""
    bindings: Env = field(default_factory=dict)
    """Every name of the scope with the join of all that was bound to it; of an inner one while that is run."""
    outer_bindings: list[Env] = field(default_factory=list)
    """Those of the scopes around an inner one, from the outermost."""
    returns: list[Value] = field(default_factory=list)
    """What the statements so far return or yield."""
    learnt: Learnt = field(default_factory=Learnt)
    believed: Env = field(default_factory=dict)
    """What those who call the constructor say of attributes (``self.x``) where nothing else is known of them."""

    decided: Mapping[int, bool] = field(default_factory=dict)
    """What conditions are, by their nodes, where a function is run for one call that says so."""

    globals: set[str] = field(default_factory=set)
    """Names that are declared ``global`` or ``nonlocal``."""
    declared: Env = field(default_factory=dict)
    """What annotations say of names of this scope."""
    paths: dict[str, set[str]] = field(default_factory=dict)
    """The paths that begin with a name or path."""
    aliases: dict[str, list[cst.BaseExpression]] = field(default_factory=dict)
    """Under the first name of a place what else may hold the same container."""
    tests: dict[str, cst.Call] = field(default_factory=dict)
    """Names that tests of other names are bound to."""
    tests_of_type: int = 0
    """How many ``try`` around catch what comes of a wrong type: that something is given proves nothing there."""

    loops: list[Loop] = field(default_factory=list)
    """The loops around, from the outermost."""
    solutions: dict[int, Changes] = field(default_factory=dict)
    """What each loop was found to bind, by the identity of its body."""
    rounds: Counter[int] = field(default_factory=Counter)
    """How often each loop went round."""

    def __post_init__(self) -> None:
        self.tree = self.context.tree
        self.values = self.trace.values
        self.budget = self.context.new_budget()
        self.locals = self.context.scopes.locals_of(self.scope) if isinstance(self.scope, cst.FunctionDef) else None

    def value(self, node: cst.CSTNode) -> Value:
        """Evaluate an expression here; what it is, which is remembered."""
        self.budget.used += 1
        evaluate = self.handlers.expressions.get(type(node))
        value = evaluate(self, node) if evaluate is not None else UNKNOWN  # type: ignore[arg-type]
        self.values[id(node)] = value
        return value

    def execute(self, node: cst.CSTNode) -> None:
        """Run one statement, or a line of small ones; the grad mode that it runs in is remembered."""
        self.trace.modes[id(node)] = self.grad
        if type(node) is cst.SimpleStatementLine:
            for small in node.body:
                self.execute(small)
            return
        run = self.handlers.statements.get(type(node))
        if run is not None:
            run(self, node)  # type: ignore[arg-type]

    def assign(self, target: cst.CSTNode, value: Value, source: cst.BaseExpression | None) -> None:
        """Bind a target of any form to a value; ``source`` is what is written there, None if nothing is."""
        self.handlers.assign(self, target, value, source)

    def call(self, function: Value, node: cst.Call, arguments: Sequence[Argument]) -> Value:
        """What calling a function (or class, module, …) gives; ``node`` is where it is called."""
        return self.handlers.call(self, function, node, arguments)

    @contextmanager
    def inner_scope(self) -> Iterator[Env]:
        """Bind names in a scope of their own (of a class, lambda or comprehension); yields what is bound there."""
        outer = self.env
        self.outer_bindings.append(self.bindings)
        self.env, self.bindings = outer.branch(), {}
        yield self.bindings
        self.env, self.bindings = outer, self.outer_bindings.pop()

    def seen_by_functions(self) -> Env:
        """What functions in the scope see of it: not what a class, lambda or comprehension in it binds."""
        return self.outer_bindings[0] if self.outer_bindings else self.bindings
