"""In which order statements of a scope run: branches that exclude each other, suites that are left, loops around."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.model import Model
from torchlint.model.syntax import LEAVING, LoopStatement

_LEAVING = (cst.Return, cst.Raise, cst.Break)


def loops_around(node: cst.CSTNode, model: Model) -> list[LoopStatement]:
    """The loops of the same scope in whose body a node is, the innermost first."""
    found: list[LoopStatement] = []
    child = node
    for up in model.tree.ancestors(node):
        if isinstance(up, (cst.FunctionDef, cst.ClassDef, cst.Lambda)):
            break
        if isinstance(up, (cst.For, cst.While)) and child is up.body:
            found.append(up)
        child = up
    return found


def loop_of(node: cst.CSTNode, model: Model) -> LoopStatement | None:
    """The innermost loop of the same scope in whose body a node is."""
    return next(iter(loops_around(node, model)), None)


def may_leave(statement: cst.CSTNode, model: Model) -> bool:
    """Whether a statement holds one that leaves what it is in, if only a loop of its own."""
    scope = model.scopes.scope_of(statement)
    return any(model.scopes.scope_of(node) is scope for kind in LEAVING for node in model.tree.within(statement, kind))


def is_left_between(first: cst.CSTNode, last: cst.CSTNode, model: Model) -> bool:
    """Whether a scope, or a loop around both, may be left from one statement on and before another node."""
    around, end = loops_around(first, model), model.tree.order(last)
    for statement in _from(first, last, model):
        for kind in LEAVING:
            for node in model.tree.within(statement, kind):
                if model.tree.order(node) < end and _leaves(node, first, around, model):
                    return True
    return False


def _from(first: cst.CSTNode, last: cst.CSTNode, model: Model) -> Iterator[cst.CSTNode]:
    """A statement and those behind it, in its suite and in those around, up to the one that another node is in."""
    for up in (first, *model.tree.ancestors(first)):
        body, index = model.tree.siblings(up)
        for each in body[index + (up is not first) :]:
            yield each
            if model.tree.is_inside(last, each):
                return


def _leaves(node: cst.CSTNode, first: cst.CSTNode, around: list[LoopStatement], model: Model) -> bool:
    """Whether `return`, `raise`, `break` or `continue` leaves the scope of a node or one of the loops around that."""
    if model.scopes.scope_of(node) is not model.scopes.scope_of(first):
        return False
    return isinstance(node, (cst.Return, cst.Raise)) or loop_of(node, model) in around


def is_bound_between(path: str, first: cst.CSTNode, last: cst.CSTNode, model: Model) -> bool:
    """Whether a name or attribute is bound or deleted, or its owner, behind a node and up to another."""
    name, _, rest = path.partition(".")
    start, end = model.tree.order(first), model.tree.order(last)
    bound: list[cst.CSTNode] = [*model.targets(name, model.scopes.scope_of(first))]
    bound += [node for part in rest.split(".") for node in model.tree.attributes(part) if model.is_target(node)]
    gone = model.tree.within(model.scopes.scope_of(first), cst.Del)
    bound += [node for node in gone if any(each.value == name for each in model.tree.within(node, cst.Name))]
    return any(start < model.tree.order(node) < end or model.tree.is_inside(node, last) for node in bound)


def are_exclusive(one: cst.CSTNode, other: cst.CSTNode, model: Model) -> bool:
    """Whether two nodes are in different branches of one statement or expression."""
    branches = {id(up): id(child) for up, child in _branches(one, model)}
    return any(branches.get(id(up), id(child)) != id(child) for up, child in _branches(other, model))


def _branches(node: cst.CSTNode, model: Model) -> list[tuple[cst.CSTNode, cst.CSTNode]]:
    found: list[tuple[cst.CSTNode, cst.CSTNode]] = []
    child = node
    for up in model.tree.ancestors(node):
        if isinstance(up, (cst.FunctionDef, cst.ClassDef)):
            break
        if isinstance(up, (cst.If, cst.IfExp, cst.Match)) and not _is_asked_first(child, up):
            found.append((up, child))
        child = up
    return found


def _is_asked_first(child: cst.CSTNode, up: cst.If | cst.IfExp | cst.Match) -> bool:
    """Whether a part of a branching is what decides, which runs before each of the branches."""
    return child is (up.subject if isinstance(up, cst.Match) else up.test)


def is_always_before(first: cst.CSTNode, node: cst.CSTNode, model: Model) -> bool:
    """Whether a node that stands behind another one of its scope is reached only by way of that."""
    if not is_in_same_suite(node, first, model):
        return False
    child = first
    for up in model.tree.ancestors(first):
        if isinstance(up, cst.BaseStatement):
            break
        if _runs_by_choice(child, up) and not model.tree.is_inside(node, child):
            return False
        child = up
    return True


def _runs_by_choice(child: cst.CSTNode, up: cst.CSTNode) -> bool:
    """Whether a part of an expression may be left out when the whole runs: an arm, what comes behind `and`."""
    match up:
        case cst.IfExp():
            return child is not up.test
        case cst.BooleanOperation():
            return child is up.right
    return isinstance(up, cst.Lambda)


def is_conditional(node: cst.CSTNode, loop: cst.CSTNode, model: Model) -> bool:
    """Whether a node does not run in every round of a loop around it."""
    child = node
    for up in model.tree.ancestors(node):
        if up is loop:
            return False
        if isinstance(up, (cst.If, cst.ExceptHandler, cst.Match, cst.For, cst.While)):
            if child is not getattr(up, "test", None) and child is not getattr(up, "iter", None):
                return True
        if _runs_by_choice(child, up):
            return True
        child = up
    return False


def leaves(node: cst.CSTNode, area: cst.CSTNode, model: Model) -> bool:
    """Whether a suite around a node, below that of ``area``, ends with leaving the loop or the function."""
    for up in model.tree.ancestors(node):
        if up is area or model.tree.parent(up) is area:
            return False
        if isinstance(up, cst.IndentedBlock):
            last = up.body[-1]
            small = last.body[-1] if isinstance(last, cst.SimpleStatementLine) else None
            if isinstance(small, _LEAVING):
                return True
    return False


def is_in_same_suite(node: cst.CSTNode, anchor: cst.CSTNode, model: Model) -> bool:
    """Whether a node is in the suite that a statement is in, or deeper inside."""
    suite = model.tree.parent(model.tree.statement(anchor))
    return suite is not None and model.tree.is_inside(node, suite)
