"""Whether autograd recorded when an object last computed what it keeps: ``net.h`` is as old as the last ``net(x)``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.expressions import value_of
from torchlint.model.lineage import lineage_of
from torchlint.model.modes import grad_enabled
from torchlint.model.possibilities import Kind, Tri
from torchlint.model.proofs import binding_before, binds_only, operands, parts
from torchlint.model.syntax import dotted, root

if TYPE_CHECKING:
    from torchlint.model.context import Context

_CONSTRUCTORS = ("__init__", "__new__", "__post_init__")
_CALLED = ("forward", "__call__")
"""What is run by calling an object."""
_FAR = 4
"""How many assignments to go back, and how many methods that call each other to follow."""


def is_unrecorded(context: Context, node: cst.BaseExpression) -> bool:
    """Whether an expression can carry a graph only by what objects keep, which last computed that without one."""
    waiting, far, found = [node], 0, False
    for at, path in parts(waiting):
        value = value_of(context, at)
        if value.grad == Tri.NO or not value.kind & (Kind.TENSOR | Kind.UNKNOWN):
            continue
        binding = binding_before(context, path, at) if path is not None else None
        if isinstance(at, cst.Attribute) and path is not None and binding is None:
            if not _is_of_unrecorded_run(context, at):
                return False
            found = True
        elif path is None:
            more = list(operands(context, at))
            if not more:
                return False
            waiting += more
        elif far < _FAR and isinstance(binding, cst.Assign) and binds_only(binding, path):
            far += 1
            waiting.append(binding.value)
        else:
            return False
    return found


def _is_of_unrecorded_run(context: Context, attribute: cst.Attribute) -> bool:
    """Whether an attribute is computed by methods of its object, the last of which ran where nothing is recorded."""
    kept = value_of(context, attribute.value)
    if root(attribute.value) in ("self", "cls") and isinstance(attribute.value, cst.Name):
        return False
    if not isinstance(kept.node, cst.ClassDef) or not kept.kind & (Kind.MODULE | Kind.OBJECT):
        return False
    makers = _makers(context, kept.node, attribute.attr.value)
    calls = [each for each in _runs(context, attribute.value) if _runs_one(context, each, kept.node, makers)]
    scope, order = context.scopes.scope_of(attribute), context.tree.order(attribute)
    before = [each for each in calls if context.scopes.scope_of(each) is scope and context.tree.order(each) < order]
    if before:
        return grad_enabled(context, before[-1]) == Tri.NO
    return bool(calls) and all(grad_enabled(context, each) == Tri.NO for each in calls)


def _makers(context: Context, cls: cst.ClassDef, name: str) -> frozenset[str]:
    """The methods that assign an attribute, or call one that does; none where it is there once the object is made."""
    classes = list(lineage_of(context, cls).classes())
    found = {
        scope.name.value if isinstance(scope := home.scopes.scope_of(target), cst.FunctionDef) else "__init__"
        for home, each in classes
        for target in home.scopes.attribute(each, name).assigned
    }
    for _ in range(_FAR):
        found |= {
            method
            for home, each in classes
            for method, function in home.scopes.info(each).methods.items()
            if any(_calls_own(call, found) for call in home.tree.within(function, cst.Call))
        }
    return frozenset() if not found.isdisjoint(_CONSTRUCTORS) else frozenset(found)


def _calls_own(call: cst.Call, methods: set[str]) -> bool:
    match call.func:
        case cst.Attribute(value=cst.Name("self"), attr=cst.Name(value=name)):
            return name in methods
        case cst.Name("self"):
            return not methods.isdisjoint(_CALLED)
    return False


def _runs(context: Context, owner: cst.BaseExpression) -> list[cst.Call]:
    """The calls of an object by its name or path, and of what it has, in the order of the file."""
    return context.remember(_runs_by_path).get(dotted(owner) or "", [])


def _runs_by_path(context: Context) -> dict[str, list[cst.Call]]:
    found: dict[str, list[cst.Call]] = {}
    for call in context.tree.all(cst.Call):
        path = dotted(call.func)
        if path is not None:
            found.setdefault(path, []).append(call)
            if isinstance(call.func, cst.Attribute):
                found.setdefault(path.rpartition(".")[0], []).append(call)
    for calls in found.values():
        calls.sort(key=context.tree.order)
    return found


def _runs_one(context: Context, call: cst.Call, cls: cst.ClassDef, methods: frozenset[str]) -> bool:
    """Whether a call runs one of an object's methods: `forward` and `__call__` are run by calling the object itself."""
    if value_of(context, call.func).node is cls:
        return not methods.isdisjoint(_CALLED)
    return isinstance(call.func, cst.Attribute) and call.func.attr.value in methods
