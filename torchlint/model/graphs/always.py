"""Whether one of some calls runs in each pass in which a statement does."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator

import libcst as cst

from torchlint.model.branches import excludes
from torchlint.model.context import Context
from torchlint.model.graphs.flow import Scope, nodes_of
from torchlint.model.syntax import LEAVING, last_statement


def runs_with(context: Context, calls: Collection[cst.CSTNode], node: cst.CSTNode) -> bool:
    """Whether one of the calls runs whenever the node does, before it or behind it, unless something raises.

    ``if amp: scaler.scale(loss).backward()`` does not always; with ``else: loss.backward()`` one of the two does.
    """
    tree = context.tree
    waiting, covered = list(calls), set[int]()
    while waiting:
        part = waiting.pop()
        block = _block_around(context, part)
        if block is None or id(block) in covered:
            continue
        if not tree.is_inside(node, block):
            covered.add(id(block))
            waiting += _running(context, block, covered, node)
        elif not any(_leaves(context, node, [call for call in calls if call is part or tree.is_inside(call, part)])):
            return True
    return False


def _block_around(context: Context, part: cst.CSTNode) -> cst.CSTNode | None:
    """The block that runs something whenever it runs to its end."""
    for up in context.tree.ancestors(part):
        if isinstance(up, (cst.BaseSuite, cst.Module)):
            return up
        if isinstance(up, (cst.IfExp, cst.BooleanOperation, cst.CompFor, cst.Lambda, cst.For, cst.If)):
            return None
    return None


def _running(
    context: Context, block: cst.CSTNode, covered: Collection[int], node: cst.CSTNode
) -> Iterator[cst.CSTNode]:
    """The statement around a block if it runs that or another one of the covered blocks whenever it runs."""
    match context.tree.parent(block):
        case cst.With() as statement:
            yield statement
        case cst.Try(body=body, handlers=handlers, orelse=orelse) as statement if body is block:
            is_behind = orelse is not None and context.tree.is_inside(node, orelse)
            if is_behind or all(isinstance(last_statement(each.body), LEAVING) for each in handlers):
                yield statement
        case cst.If() | cst.Else() as part:
            whole = _whole(context, part)
            if whole is not None and all(id(each) in covered for each in _branches(whole)):
                yield whole


def _whole(context: Context, part: cst.If | cst.Else) -> cst.If | None:
    """The ``if`` that an ``elif`` or ``else`` belongs to."""
    at: cst.CSTNode | None = part
    while isinstance(up := context.tree.parent(at) if at is not None else None, cst.If) and up.orelse is at:
        at = up
    return at if isinstance(at, cst.If) else None


def _branches(statement: cst.If) -> Iterator[cst.CSTNode | None]:
    """The blocks of an ``if``; None where there is no ``else``."""
    at: cst.If | cst.Else | None = statement
    while isinstance(at, cst.If):
        yield at.body
        at = at.orelse
    yield None if at is None else at.body


def _leaves(context: Context, node: cst.CSTNode, calls: Collection[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    """What leaves the round or the function on the way from a node to calls that are written behind it."""
    tree = context.tree
    last = max(calls, key=tree.order)
    jumps = context.remember(_jumps, context.scopes.scope_of(last))
    for jump in jumps[bisect_right(jumps, tree.order(node), key=tree.order) :]:
        if tree.order(jump) > tree.order(last) or tree.is_inside(last, jump):
            return
        loop = tree.enclosing(jump, cst.For, cst.While)
        is_out = isinstance(jump, cst.Return) or loop is None or tree.is_inside(last, loop)
        if is_out and not excludes(context, jump, node):
            yield jump


def _jumps(context: Context, scope: Scope) -> list[cst.CSTNode]:
    """What leaves a round or the function, in its order."""
    every = (node for cls in (cst.Return, cst.Break, cst.Continue) for node in nodes_of(context, scope, cls))
    return sorted(every, key=context.tree.order)
