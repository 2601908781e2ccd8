"""Where the `torch.no_grad()` blocks belong that `volatile=True` stood for.

A block takes in statements that compute with volatile values, and what stands between them without needing a graph;
nothing else. What has to be cut in two for that is left to the author, and so is a tensor that leaves its function
before anything is computed from it. As long as a block is missing, the keyword stays: it alone says so.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, replace

import libcst as cst

from torchlint.model import Dtype, Model
from torchlint.model.syntax import last_name
from torchlint.model.torch.arguments import literal_bool
from torchlint.rule import Applicability, Block, Fix
from torchlint.rules.shared.unrecorded_inputs import volatile_argument
from torchlint.rules.shared.variables import VARIABLE
from torchlint.rules.shared.volatile.statements import run_through
from torchlint.rules.shared.volatile.values import Deed, is_input

RISK = "it belongs to a `torch.no_grad()` block that is made with it"
"""What speaks against the fixes of statements that such a block is still to take in, by themselves."""


class Need(enum.Enum):
    """What has to happen before `volatile` can go."""

    NOTHING = enum.auto()
    """No graph is built from the tensor, or none any more."""
    BLOCK = enum.auto()
    """Some statements go into a block."""
    DECISION = enum.auto()
    """A flag decides, so the block has to be written by hand: autograd is on or off in it as the flag says."""
    HANDWORK = enum.auto()
    """The block has to be written by hand."""


@dataclass(frozen=True)
class Wanted:
    """What a volatile tensor needs."""

    need: Need
    lines: Sequence[cst.BaseStatement] = ()
    """The statements for the block."""
    place: cst.CSTNode | None = None
    """What is computed from it where there can be no block; None if that is elsewhere. If there need be none: through
    what gradients are sent back to it."""


def wanted(call: cst.Call, model: Model) -> Wanted:
    """What has to happen before `volatile` can go from a call of `Variable`."""
    arg = volatile_argument(call)
    if arg is None or not is_input(call, model):
        return Wanted(Need.NOTHING)
    scope = model.scopes.scope_of(call)
    is_trained = _is_run_by_forward(scope, model)
    if is_trained and _is_index(call, model):
        return Wanted(Need.NOTHING)
    plan = model.remember(_Plan, scope)
    found = plan.of(call)
    if found.need is Need.BLOCK:  # what is made by one statement is done with by one hand
        beside = (plan.of(each) for each in _in_statement(call, model) if each is not call)
        found = next((each for each in beside if each.need is Need.HANDWORK), found)
    if is_trained and found.need is Need.BLOCK and plan.is_beside_graphs():  # what they go into is trained today
        found = Wanted(Need.HANDWORK)
    is_decided = literal_bool(arg.value) is True
    return found if is_decided or found.need is Need.NOTHING else Wanted(Need.DECISION)


def _is_index(call: cst.Call, model: Model) -> bool:
    """Whether integers or booleans are made volatile.

    In what the `forward` of a module runs, parameters are trained through what is looked up by an index or masked.
    """
    dtype = model.value(call).dtype
    is_comparison = bool(call.args) and isinstance(call.args[0].value, cst.Comparison)
    return is_comparison or (bool(dtype) and not dtype & Dtype.FLOAT)


def _is_run_by_forward(scope: cst.FunctionDef | cst.Module, model: Model) -> bool:
    """Whether a function is the `forward` of a class of the file, or one that this may call, by its name."""
    return isinstance(scope, cst.FunctionDef) and scope.name.value in model.remember(_run_by_forward)


def _run_by_forward(model: Model) -> frozenset[str]:
    functions = model.tree.all(cst.FunctionDef)
    found = {each.name.value for each in functions} & {"forward"}
    for _ in range(_FAR):
        bodies = [each.body for each in functions if each.name.value in found]
        found |= {last_name(call.func) for body in bodies for call in model.tree.within(body, cst.Call)}
    return frozenset(found - {""})


_FAR = 3
"""How many calls away from a `forward` something is seen."""


def _in_statement(call: cst.Call, model: Model) -> list[cst.Call]:
    """The calls that make volatile tensors in the simple statement of a call."""
    small = model.tree.enclosing(call, cst.Assign, cst.AnnAssign, cst.AugAssign, cst.Expr, cst.Return)
    return [each for each in model.tree.within(small, cst.Call) if is_input(each, model)] if small is not None else []


def is_half(call: cst.Call, model: Model) -> bool:
    """Whether another volatile tensor of the same function needs a block: this one is done with it, or neither."""
    return model.remember(_needs_blocks, model.scopes.scope_of(call))


def _needs_blocks(model: Model, scope: cst.FunctionDef | cst.Module) -> bool:
    calls = (call for call in model.tree.within(scope, cst.Call) if volatile_argument(call) is not None)
    return any(wanted(call, model).need is Need.BLOCK for call in calls if model.scopes.scope_of(call) is scope)


@dataclass(frozen=True)
class _Waiting:
    """The statements of a scope in which fixes wait for blocks, by ``id``."""

    inside: frozenset[int]
    """Blocks are to take them in."""
    cutting: frozenset[int]
    """They use outside of a block what is volatile or is computed in it: the block may end there, as it does for
    ``Variable(x.data)``, and what is computed in it has no graph to be cut from."""


def waiting(fix: Fix, node: cst.CSTNode, model: Model) -> Fix:
    """A fix, unsafe where a block is still to take in its statement: when that is there, less may be needed.

    What cuts a volatile tensor waits until the block is there: without the cut it would be another block.
    """
    found = model.remember(_waiting, model.scopes.scope_of(node))
    if not found.inside:
        return fix
    around = {id(up) for up in model.tree.ancestors(node)}
    if around & found.inside:
        return replace(fix, applicability=Applicability.UNSAFE, risk=RISK)
    if around & found.cutting:
        return replace(fix, applicability=Applicability.UNSAFE, risk=RISK, deferred=True)
    return fix


def _waiting(model: Model, scope: cst.FunctionDef | cst.Module) -> _Waiting:
    calls = [call for call in model.tree.within(scope, cst.Call) if volatile_argument(call) is not None]
    calls = [call for call in calls if model.qualified(call.func) == VARIABLE]
    found = [(call, wanted(call, model).lines) for call in calls if model.scopes.scope_of(call) is scope]
    inside = frozenset(id(line) for _, lines in found for line in lines)
    names = {name for call, lines in found if lines for name in _bound(call, model)}
    blocks = {id(lines): lines for _, lines in found if lines}.values()  # those of one block have the same list
    names |= {
        name.value
        for lines in blocks
        for line in lines
        for name in model.tree.within(line, cst.Name)
        if model.is_target(name)
    }
    begun = [call for call, lines in found if lines]
    uses = (use for name in names for use in model.references(name, scope))
    cutting = {id(model.tree.statement(use)) for use in uses if _may_follow(use, begun, model)}
    makers = {id(model.tree.statement(call)) for call, _ in found}
    return _Waiting(inside, frozenset(cutting - makers))


def _may_follow(use: cst.CSTNode, calls: Sequence[cst.Call], model: Model) -> bool:
    """Whether something may run after one of the calls: it stands behind it, or in a loop around it."""
    order = model.tree.order
    loops = [up for up in model.tree.ancestors(use) if isinstance(up, (cst.For, cst.While))]
    return any(order(use) > order(call) or any(model.tree.is_inside(call, loop) for loop in loops) for call in calls)


def _bound(call: cst.Call, model: Model) -> list[str]:
    """The names that the statement of a call binds."""
    assign = model.tree.enclosing(call, cst.Assign, cst.AnnAssign, cst.FunctionDef)
    match assign:
        case cst.Assign(targets=targets):
            found = [name for each in targets for name in model.tree.within(each, cst.Name)]
        case cst.AnnAssign(target=cst.Name() as name):
            found = [name]
        case _:
            found = []
    return [name.value for name in found]


def block(call: cst.Call, model: Model) -> Fix | None:
    """The fix that puts what is computed from a volatile tensor under ``torch.no_grad()``; None where there is none.

    The keyword stays: it goes in the next round, when the block is there.
    """
    lines = wanted(call, model).lines
    if not lines:
        return None
    name, missing = model.spelling("torch.no_grad", lines[0])
    if not name:
        return None
    return Fix(
        "Put the evaluation into a `torch.no_grad()` block",
        (),
        Applicability.UNSAFE,
        imports=("torch",) if missing else (),
        risk="what is computed in the block carries no graph any more",
        block=Block(f"with {name}():", lines[0], lines[-1]),
    )


_NOTHING = Deed()


_LONG = 10
"""Statements from which on a block is in pieces: each volatile tensor in it has a fix, which says all of its piece."""


class _Plan:
    """The blocks of one scope."""

    def __init__(self, model: Model, scope: cst.FunctionDef | cst.Module) -> None:
        self._model = model
        self._flow = run_through(model, scope)
        self._blocks: dict[int, list[cst.BaseStatement]] = {}
        """The first statements for a block in which something is computed with a volatile input."""
        self._stuck: dict[int, cst.CSTNode] = dict(self._flow.captured)
        body = scope.body
        self._suite(body if isinstance(body, Sequence) else body.body)

    def of(self, call: cst.Call) -> Wanted:
        """What a volatile tensor needs."""
        source, flow = id(call), self._flow
        if source in flow.sent:
            return Wanted(Need.HANDWORK if source in flow.flagged else Need.NOTHING, place=flow.sent[source])
        if source in self._stuck:  # a block elsewhere would be half of what it needs
            return Wanted(Need.HANDWORK, place=self._stuck[source])
        if source in self._blocks:
            return Wanted(Need.BLOCK, self._blocks[source])
        if source in flow.done:
            return Wanted(Need.NOTHING)
        is_lost = source in flow.leaves or source not in flow.inputs
        return Wanted(Need.HANDWORK if is_lost else Need.NOTHING)

    def is_beside_graphs(self) -> bool:
        """Whether the scope computes something that may need its graph."""
        return any(deed.wants_graph for deed in self._flow.deeds.values())

    def _suite(self, lines: Sequence[cst.CSTNode]) -> None:
        row: list[cst.BaseStatement] = []
        between: list[cst.BaseStatement] = []
        for line in lines:
            deed = self._deed(line)
            if isinstance(line, cst.BaseStatement) and self._can_move(line, deed, bool(row)):
                if deed.computes:
                    row += [*between, line]
                    between = []
                elif row:
                    between.append(line)
                continue
            self._add(row)
            row, between = [], []
            self._enter(line, deed)
        self._add(row)

    def _can_move(self, line: cst.BaseStatement, deed: Deed, is_joining: bool) -> bool:
        """Whether a statement can go into a block; with the volatile tensors it makes only if one is begun already."""
        if deed.wants_graph or deed.suspends or deed.sources & self._flow.sent.keys():
            return False
        if isinstance(line, cst.SimpleStatementLine) and len(line.body) > 1:
            return False
        return is_joining or not any(_is_in_block(each, line, self._model) for each in self._inputs(line))

    def _inputs(self, line: cst.CSTNode) -> list[cst.Call]:
        return [call for call in self._model.tree.within(line, cst.Call) if id(call) in self._flow.inputs]

    def _enter(self, line: cst.CSTNode, deed: Deed) -> None:
        """Look for blocks inside a statement that cannot go into one."""
        if not _suites(line):
            self._stick(deed)
        part: cst.CSTNode | None = line
        while part is not None:
            self._stick(self._flow.headers.get(id(part), _NOTHING))
            part = part.orelse if isinstance(part, cst.If) else None
        for suite in _suites(line):
            if isinstance(suite, cst.IndentedBlock):
                self._suite(suite.body)
            else:
                for small in suite.body:
                    self._stick(self._deed(small))

    def _deed(self, line: cst.CSTNode) -> Deed:
        """What a statement does; nothing if it never runs."""
        return self._flow.deeds.get(id(line), _NOTHING)

    def _stick(self, deed: Deed) -> None:
        self._stuck = {**deed.recording, **self._stuck}

    def _add(self, row: Sequence[cst.BaseStatement]) -> None:
        """Take statements as a block, from the first that would be recorded; a long one in pieces, which join again."""
        block: list[cst.BaseStatement] = []
        for line in row:
            recording = self._deed(line).recording
            new = recording.keys() - self._blocks.keys()
            if new and len(block) >= _LONG:
                block = []
            if recording or block:
                block.append(line)
            self._blocks.update((source, block) for source in new)


def _suites(line: cst.CSTNode) -> list[cst.BaseSuite]:
    """The bodies of a compound statement."""
    match line:
        case cst.If(body=body, orelse=orelse):
            return [body, *(_suites(orelse) if orelse is not None else ())]
        case cst.For(body=body, orelse=orelse) | cst.While(body=body, orelse=orelse):
            return [body, *(_suites(orelse) if orelse is not None else ())]
        case (
            cst.Try(body=body, handlers=handlers, orelse=orelse, finalbody=last)
            | cst.TryStar(body=body, handlers=handlers, orelse=orelse, finalbody=last)
        ):
            others = [each.body for each in (orelse, last) if each is not None]
            return [body, *(handler.body for handler in handlers), *others]
        case cst.Match(cases=cases):
            return [case.body for case in cases]
        case cst.With(body=body) | cst.Else(body=body):
            return [body]
    return []


def _is_in_block(call: cst.Call, line: cst.CSTNode, model: Model) -> bool:
    """Whether a call stands in an indented body of a statement."""
    for up in model.tree.ancestors(call):
        if up is line:
            return False
        if isinstance(up, cst.IndentedBlock):
            return True
    return False
