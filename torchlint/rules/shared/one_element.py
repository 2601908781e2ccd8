"""Tensors that have one element for certain: ``backward()`` without a gradient went through them, which takes that."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping

import libcst as cst

from torchlint.model import Model
from torchlint.model.syntax import is_none

_GRAPH_KEPT = frozenset(("retain_graph", "create_graph", "retain_variables"))


def is_sent_back(node: cst.BaseExpression, model: Model) -> bool:
    """Whether on each way to where a name is read `backward()` has been called on what it is bound to."""
    if not isinstance(node, cst.Name):
        return False
    sent = model.remember(_sent)
    end = model.tree.order(node)
    for statement in model.tree.ancestors(node):
        if isinstance(statement, (cst.FunctionDef, cst.ClassDef, cst.Lambda)):
            return False
        if isinstance(statement, (cst.For, cst.While)):  # what its body binds is read in the next round
            end = model.tree.last_below(statement)
        before = sent.get((id(model.tree.parent(statement)), node.value))
        if before:
            number = bisect_left(before, model.tree.order(statement))
            if number:
                return not _is_bound_between(before[number - 1], end, node, model)
    return False


def _sent(model: Model) -> Mapping[tuple[int, str], list[int]]:
    """Where statements are `loss.backward()`, in document order: by the suite that they stand in, and the name."""
    found = defaultdict[tuple[int, str], list[int]](list)
    for attribute in model.tree.attributes("backward"):
        call = model.tree.parent(attribute)
        statement = model.tree.parent(call) if call is not None else None
        match attribute.value, call, statement:
            case cst.Name(value=name), cst.Call(func=func, args=args), cst.Expr() if func is attribute:
                if all(_keeps_gradient(arg) for arg in args):
                    line = model.tree.statement(attribute)
                    found[id(model.tree.parent(line)), name].append(model.tree.order(line))
    return found


def _keeps_gradient(arg: cst.Arg) -> bool:
    """Whether an argument of `backward` leaves the gradient to it, which is one then."""
    name = arg.keyword.value if arg.keyword is not None else ""
    return name in _GRAPH_KEPT or (not arg.star and name in ("", "gradient") and is_none(arg.value))


def _is_bound_between(start: int, end: int, node: cst.Name, model: Model) -> bool:
    """Whether a name is bound again between two places of the document order."""
    bound = model.remember(_bound, node.value, model.scopes.scope_of(node))
    return bisect_right(bound, start) != bisect_right(bound, end)


def _bound(model: Model, name: str, scope: cst.FunctionDef | cst.Module) -> list[int]:
    return [model.tree.order(target) for target in model.targets(name, scope)]
