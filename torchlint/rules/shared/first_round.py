"""What a loop does in one of its rounds only: `if batch is None: batch = …`, `if step == 0:`."""

from __future__ import annotations

import re

import libcst as cst

from torchlint.model import Model
from torchlint.model.syntax import dotted, integer, last_name

Repeating = cst.For | cst.While | cst.BaseComp

_COUNTER = re.compile(r"step|iter|epoch|count|round", re.IGNORECASE)
"""What attributes are called that count rounds elsewhere."""
_ORDERS = (cst.LessThan, cst.GreaterThan, cst.LessThanEqual, cst.GreaterThanEqual)


def is_taken_once(node: cst.CSTNode, loop: Repeating, model: Model) -> bool:
    """Whether a condition around a node lets it run once in a loop: it asks for what the node is kept in, or counts."""
    bound = _kept(model.tree.statement(node), loop, model)
    child = node
    for up in model.tree.ancestors(node):
        if up is loop:
            break
        match up:
            case cst.If(test=test) if child is not test:
                if _asks(test, _kept(child, loop, model), model) or _is_one(test, loop, model) is (child is up.body):
                    return True
            case cst.IfExp(test=test, body=body, orelse=orelse) if child is not test:
                other = orelse if child is body else body
                if any(_asks(each, bound, model) for each in (test, other)):
                    return True
                if _is_one(test, loop, model) is (child is body):
                    return True
            case cst.BooleanOperation(left=left, operator=operator) if child is not left:
                is_and = isinstance(operator, cst.And)
                if _asks(left, bound, model) or _is_one(left, loop, model) is is_and:
                    return True
        child = up
    return False


def _kept(area: cst.CSTNode, loop: Repeating, model: Model) -> frozenset[str]:
    """What is bound somewhere in a loop, and neither bound nor emptied anywhere else in it."""
    attributes = model.tree.within(loop, cst.Attribute)
    emptied = {dotted(each.value) for each in attributes if each.attr.value in _EMPTYING}
    targets = (*model.tree.within(loop, cst.Name), *attributes)
    again = {dotted(each) for each in targets if model.is_target(each) and not model.tree.is_inside(each, area)}
    return _bound(area, model) - again - emptied


_EMPTYING = frozenset(("pop", "popleft", "popitem", "clear", "remove"))


def _bound(area: cst.CSTNode, model: Model) -> frozenset[str]:
    """The names and paths that are bound somewhere; of one in which an item is set, the name."""
    nodes = (*model.tree.within(area, cst.Name), *model.tree.within(area, cst.Attribute))
    found = (dotted(each) for each in nodes if model.is_target(each))
    return frozenset(each for each in found if each is not None)


def _asks(test: cst.BaseExpression, bound: frozenset[str], model: Model) -> bool:
    """Whether a condition reads something that is bound when it holds, and does not only compare its size."""
    for node in (test, *model.tree.walk(test)):
        if not isinstance(node, (cst.Name, cst.Attribute)) or dotted(node) not in bound:
            continue
        compared = model.tree.enclosing(node, cst.Comparison)
        if not isinstance(compared, cst.Comparison) or not any(
            isinstance(each.operator, _ORDERS) for each in compared.comparisons
        ):
            return True
    return False


def _is_one(test: cst.BaseExpression, loop: Repeating, model: Model) -> bool | None:
    """Whether a condition holds in one round of a loop (True), in all but one (False), or in others (None)."""
    match test:
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            if _counts(inner, loop, model):
                return True
            found = _is_one(inner, loop, model)
            return None if found is None else not found
        case cst.BooleanOperation(left=left, operator=cst.And(), right=right):
            return True if True in (_is_one(left, loop, model), _is_one(right, loop, model)) else None
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=operator, comparator=right)]):
            if integer(right) is None or not _counts(left, loop, model):
                return None
            return _is_first(operator, right)
    return None


def _is_first(operator: cst.BaseCompOp, number: cst.BaseExpression) -> bool | None:
    match operator, integer(number):
        case (cst.Equal(), _) | (cst.LessThan(), 1) | (cst.LessThanEqual(), 0):
            return True
        case (cst.NotEqual(), _) | (cst.GreaterThan(), 0) | (cst.GreaterThanEqual(), 1):
            return False
    return None


def _counts(node: cst.BaseExpression, loop: Repeating, model: Model) -> bool:
    """Whether an expression is what a loop counts with, or an attribute that is called like that."""
    if isinstance(node, cst.Attribute):
        return _COUNTER.search(last_name(node)) is not None
    if not isinstance(node, cst.Name):
        return False
    if isinstance(loop, cst.For) and node.value in _bound(loop.target, model) | {dotted(loop.target)}:
        return True
    return any(dotted(each.target) == node.value for each in model.tree.within(loop, cst.AugAssign))
