"""Whether code runs at all: what no branch leads to, by its constant condition, and what stands behind a way out."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.constants import truth
from torchlint.model.expressions import qualified
from torchlint.model.syntax import LEAVING, has_break, last_name

if TYPE_CHECKING:
    from torchlint.model.context import Context

_SETTING = re.compile(r"[A-Z][A-Z0-9_]*|(?:\w*_)?debug(?:_\w*)?|(?:\w*_)?verbose", re.ASCII)
"""What settings are called that a condition asks for by their name alone."""
_ENDING = frozenset(("sys.exit", "os._exit", "os.abort", "builtins.exit", "builtins.quit"))
"""What never returns."""
_ENDING_NAMES = frozenset(name.rpartition(".")[2] for name in _ENDING)


def may_run(context: Context, node: cst.CSTNode) -> bool:
    """Whether nothing that is written in the file keeps a node from ever being evaluated."""
    child = node
    for up in context.tree.ancestors(node):
        if _is_left_out(context, up, child) or _is_behind_a_way_out(context, up, child):
            return False
        child = up
    return True


def is_switched_off(context: Context, node: cst.CSTNode) -> bool:
    """Whether only a setting that may be off lets a node be evaluated: ``if config.DEBUG:``."""
    child = node
    for up in context.tree.ancestors(node):
        if isinstance(up, (cst.FunctionDef, cst.Lambda)):
            return False
        if isinstance(up, (cst.If, cst.IfExp)) and child is up.body:
            if any(_is_off(context, each) for each in _asked(up.test)):
                return True
        child = up
    return False


def _is_off(context: Context, test: cst.BaseExpression) -> bool:
    """Whether a condition is a setting that nothing in the file turns on."""
    if _SETTING.fullmatch(last_name(test)) is None or truth(context, test):
        return False
    names = context.tree.names(test.value) if isinstance(test, cst.Name) else ()
    targets = (up for name in names if isinstance(up := context.tree.parent(name), cst.AssignTarget))
    assigned = (context.tree.parent(target) for target in targets)
    return not any(isinstance(each, cst.Assign) and truth(context, each.value) for each in assigned)


def _asked(test: cst.BaseExpression) -> list[cst.BaseExpression]:
    """What all must hold for a condition to."""
    match test:
        case cst.BooleanOperation(left=left, operator=cst.And(), right=right):
            return [*_asked(left), *_asked(right)]
    return [test]


def _is_left_out(context: Context, up: cst.CSTNode, child: cst.CSTNode) -> bool:
    """Whether a part of a statement or expression is never chosen."""
    match up:
        case cst.If(test=test, body=body) | cst.IfExp(test=test, body=body) if child is not test:
            return truth(context, test) is (child is not body)
        case cst.While(test=test, body=body) if child is body:
            return truth(context, test) is False
        case cst.BooleanOperation(left=left, operator=operator, right=right) if child is right:
            return truth(context, left) is isinstance(operator, cst.Or)
    return False


def _is_behind_a_way_out(context: Context, up: cst.CSTNode, child: cst.CSTNode) -> bool:
    if not isinstance(up, (cst.IndentedBlock, cst.Module, cst.SimpleStatementLine)):
        return False
    return context.tree.order(child) > context.remember(_way_out, up)


def _way_out(context: Context, block: cst.IndentedBlock | cst.Module | cst.SimpleStatementLine) -> int:
    """The place of the first statement of a block behind which nothing of it runs."""
    leaving = (each for each in block.body if _leaves(context, each))
    return next(map(context.tree.order, leaving), sys.maxsize)


def _leaves(context: Context, statement: cst.CSTNode) -> bool:
    """Whether nothing runs behind a statement."""
    match statement:
        case cst.SimpleStatementLine(body=body):
            return any(_leaves(context, each) for each in body)
        case cst.Expr(value=cst.Call(func=func)):
            return last_name(func) in _ENDING_NAMES and qualified(context, func) in _ENDING
        case cst.If(test=test, body=body, orelse=orelse):
            known = truth(context, test)
            ways = [body] if known else [orelse] if known is False else [body, orelse]
            return all(each is not None and _leaves(context, each) for each in ways)
        case cst.Else(body=body):
            return _leaves(context, body)
        case cst.IndentedBlock(body=body) | cst.SimpleStatementSuite(body=body):
            return any(_leaves(context, each) for each in body)
        case cst.While(test=test, body=body):
            return truth(context, test) is True and not has_break(body)
    return isinstance(statement, LEAVING)
