"""Whether a call comes to a place in the function that it calls, by the conditions there on what it hands over."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from torchlint.model.bindings import targets
from torchlint.model.constants import literal, truth
from torchlint.model.expressions import qualified
from torchlint.model.possibilities import Kind
from torchlint.model.syntax import LEAVING, alternatives, dotted, is_none, last_statement, parameters
from torchlint.model.values import Value

if TYPE_CHECKING:
    from torchlint.model.context import Context

_TENSORS = frozenset(("torch.Tensor", "torch.FloatTensor", "torch.autograd.Variable"))
_NEVER = frozenset(("numpy.ndarray", "numpy.number", "builtins.str", "builtins.int", "builtins.float", "builtins.bool"))
"""What neither tensors nor containers are."""
_CONTAINERS = frozenset(("builtins.list", "builtins.tuple", "builtins.dict", "builtins.set"))


class Handed(NamedTuple):
    """What a call hands to a parameter."""

    value: Value
    node: cst.BaseExpression | None
    """What is written in the call, or as the default."""


def comes_to(context: Context, function: cst.FunctionDef, node: cst.CSTNode, handed: Mapping[str, Handed]) -> bool:
    """Whether nothing that a call hands over may keep it from a place: no condition on that is open."""
    given = {param.name.value for param in parameters(function)}
    for test, wanted in _conditions(context, function, node):
        if _is_about(context, test, given) and _truth(context, test, _still(context, test, handed)) is not wanted:
            return False
    return True


def decided(context: Context, function: cst.FunctionDef, handed: Mapping[str, Handed]) -> dict[int, bool]:
    """What the conditions in a function are that a call decides, by their nodes."""
    tree = context.tree
    tests = [*(each.test for each in tree.within(function.body, cst.If))]
    tests += (each.test for each in tree.within(function.body, cst.IfExp))
    found = {id(test): _truth(context, test, _still(context, test, handed)) for test in tests}
    return {key: truth for key, truth in found.items() if truth is not None}


def _still(context: Context, test: cst.BaseExpression, handed: Mapping[str, Handed]) -> Mapping[str, Handed]:
    """What parameters are still what the call has handed over, where a condition is asked."""
    scope = context.scopes.scope_of(test)
    loop = context.tree.enclosing(test, cst.For, cst.While, cst.FunctionDef)
    start = context.tree.order(test) if loop is scope else sys.maxsize
    return {
        name: each
        for name, each in handed.items()
        if all(context.tree.order(target) > start for target in targets(context, name, scope))
    }


def _conditions(
    context: Context, function: cst.FunctionDef, node: cst.CSTNode
) -> Iterator[tuple[cst.BaseExpression, bool]]:
    """What must hold on the way to a node, and what must not: the branches around it, and those that leave before."""
    child = node
    for up in context.tree.ancestors(node):
        if up is function:
            break
        if isinstance(up, (cst.If, cst.IfExp)) and child is not up.test:
            yield up.test, child is up.body
        if isinstance(up, cst.IndentedBlock):
            for statement in up.body:
                if statement is child:
                    break
                if isinstance(statement, cst.If) and isinstance(last_statement(statement.body), LEAVING):
                    yield statement.test, False
        child = up


def _is_about(context: Context, test: cst.BaseExpression, given: set[str]) -> bool:
    """Whether a condition is about what a function is given, the object of a method included."""
    return any(name.value in given for name in context.tree.within(test, cst.Name))


def _truth(context: Context, test: cst.BaseExpression, handed: Mapping[str, Handed]) -> bool | None:
    """What a condition is in a call; None if that is not known."""
    match test:
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            found = _truth(context, inner, handed)
            return None if found is None else not found
        case cst.BooleanOperation(left=left, operator=operator, right=right):
            both = (_truth(context, left, handed), _truth(context, right, handed))
            ending = isinstance(operator, cst.Or)
            return ending if ending in both else None if None in both else not ending
        case cst.Name(value=name) if name in handed:
            return _as_truth(handed[name])
        case cst.Call(func=func, args=[cst.Arg(value=cst.Name(value=name)), *more]) if name in handed:
            return _tested(context, func, [arg.value for arg in more], handed[name].value)
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=operator, comparator=right)]):
            found = _compared(context, left, right, handed)
            is_negated = isinstance(operator, (cst.IsNot, cst.NotEqual))
            if found is None or not (is_negated or isinstance(operator, (cst.Is, cst.Equal))):
                return None
            return found is not is_negated
    return truth(context, test)


def _as_truth(handed: Handed) -> bool | None:
    known, value = literal(handed.node)
    return bool(value) if known else None


def _tested(
    context: Context, function: cst.BaseExpression, rest: list[cst.BaseExpression], value: Value
) -> bool | None:
    """``isinstance(x, torch.Tensor)``, ``torch.is_tensor(x)``."""
    match qualified(context, function), rest:
        case "torch.is_tensor", []:
            return _is_one_of(value, _TENSORS)
        case "builtins.isinstance", [classes]:
            names = [qualified(context, each) for each in alternatives(classes)]
            answers = [None if name is None else _is_one_of(value, frozenset((name,))) for name in names]
            return True if True in answers else None if None in answers else False
    return None


def _is_one_of(value: Value, classes: frozenset[str]) -> bool | None:
    """Whether a value is an instance of one of some classes of one kind."""
    if value.kind not in (Kind.TENSOR, Kind.CONTAINER):
        return None
    if classes <= _TENSORS:
        return value.kind == Kind.TENSOR
    if classes <= _NEVER:
        return False
    if classes <= _CONTAINERS:
        return None if value.kind == Kind.CONTAINER else False
    return None


def _compared(
    context: Context, left: cst.BaseExpression, right: cst.BaseExpression, handed: Mapping[str, Handed]
) -> bool | None:
    """``x is None``, ``kind == "plot"``, ``type(x) == np.ndarray``."""
    match left:
        case cst.Attribute() if is_none(right) and dotted(left) is not None:
            return False  # what an object may do without is there where it matters
        case cst.Name(value=name) if name in handed:
            known, value = literal(handed[name].node)
            of, other = literal(right)
            if known and of:
                return value == other
            return False if is_none(right) and not handed[name].value.kind & (Kind.NONE | Kind.UNKNOWN) else None
        case cst.Call(func=cst.Name("type"), args=[cst.Arg(value=cst.Name(value=name))]) if name in handed:
            wanted, value_ = qualified(context, right), handed[name].value
            if wanted == "torch.autograd.Variable" and value_.kind == Kind.TENSOR:
                return False  # which no object is any more
            return None if wanted is None else _is_one_of(value_, frozenset((wanted,)))
    return None
