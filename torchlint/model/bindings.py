"""Where names occur in a file, and where they are bound."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.file.tree.tree import Tree
from torchlint.model.syntax import assigned_value, assignment_of, is_label, is_target, parameters

if TYPE_CHECKING:
    from torchlint.model.context import Context


def references(context: Context, name: str, scope: cst.FunctionDef | cst.Module) -> list[cst.Name]:
    """All occurrences of a name in a scope and in the functions inside it, in document order."""
    if isinstance(scope, cst.Module):
        return context.remember(_named, name)
    return context.remember(_named_in, scope).get(name, [])


def targets(context: Context, name: str, scope: cst.FunctionDef | cst.Module) -> Sequence[cst.Name]:
    """Those of them that are assigned to, deleted or bound by a loop, in document order."""
    return context.remember(_targets, name, scope)


def own_references(context: Context, name: str, scope: cst.FunctionDef | cst.Module) -> list[cst.Name]:
    """The occurrences that may mean the name of a scope: a function inside it may have such a one itself."""
    return context.remember(_own_references, name, scope)


def all_called(context: Context, name: str) -> list[cst.BaseExpression]:
    """All names and attributes that are called ``name``, wherever in the file."""
    return context.remember(_called, name)


def bindings_of(context: Context, name: str, node: cst.CSTNode) -> list[cst.Name]:
    """Where a name is plainly assigned in the scope of ``node``: ``x = …``, not ``x += …``."""
    return context.remember(_bindings_of, name, context.scopes.scope_of(node))


def made(context: Context, owner: cst.BaseExpression) -> cst.BaseExpression | None:
    """What a name of this scope or of the module, or an attribute of this class, was assigned, if that is so once."""
    match owner:
        case cst.Name(value=name):
            bound: Sequence[cst.CSTNode] = bindings_of(context, name, owner) or _of_module(context, owner)
        case cst.Attribute(value=cst.Name("self"), attr=cst.Name(value=name)):
            cls = context.tree.enclosing(owner, cst.ClassDef)
            bound = context.scopes.attribute(cls, name).assigned if isinstance(cls, cst.ClassDef) else ()
        case _:
            return None
    return assigned_value(bound[0], context.tree) if len(bound) == 1 else None


def _of_module(context: Context, name: cst.Name) -> Sequence[cst.Name]:
    """Where the module binds a name that nothing else around its use does."""
    if name.value in context.scopes.hidden_at(name):
        return ()
    module = context.tree.module
    return [each for each in targets(context, name.value, module) if context.scopes.scope_of(each) is module]


def last_assigned(context: Context, name: cst.Name) -> cst.BaseExpression | None:
    """What a name was assigned last before its statement, if that is so on every path there."""
    target = last_target(context, name)
    return bound_value(target, context.tree) if target is not None else None


def last_target(context: Context, name: cst.Name) -> cst.Name | None:
    """Where a name was bound last before its statement, if that is so on every path there."""
    tree, target = context.tree, target_before(context, name)
    suite = tree.parent(tree.statement(target)) if target is not None else None
    return target if suite is not None and tree.is_inside(name, suite) else None


def target_before(context: Context, name: cst.Name) -> cst.Name | None:
    """Where a name was bound last before its statement, on some path there."""
    tree, scope = context.tree, context.scopes.scope_of(name)
    bound = targets(context, name.value, scope)
    before = bisect_left(bound, tree.order(tree.statement(name)), key=tree.order)
    if not before or context.scopes.scope_of(bound[before - 1]) is not scope or context.scopes.is_of_expression(name):
        return None
    return bound[before - 1]


def unpacked_from(target: cst.Name, tree: Tree) -> cst.BaseExpression | None:
    """What is taken apart into a tuple that a name is one of: the call of ``x, order = lengths.sort()`` for ``x``."""
    element = tree.parent(target)
    several = tree.parent(element) if isinstance(element, cst.Element) else None
    assign = assignment_of(several, tree) if isinstance(several, cst.Tuple) else None
    return assign.value if assign is not None else None


def owner(context: Context, name: cst.Name) -> cst.FunctionDef | cst.Module | None:
    """The scope that a name is of; None where that is neither the function around it nor the module."""
    scopes, scope = context.scopes, context.scopes.scope_of(name)
    if name.value not in scopes.hidden_at(name):
        return context.tree.module
    return scope if isinstance(scope, cst.FunctionDef) and name.value in scopes.locals_of(scope) else None


def all_assigned(
    context: Context, name: str, scope: cst.FunctionDef | cst.Module
) -> Sequence[cst.BaseExpression | None]:
    """All that a name of a scope is ever bound to; None for what is no plain assignment."""
    return context.remember(_all_assigned, name, scope)


def begins_as_number(context: Context, target: cst.BaseExpression) -> bool:
    """Whether a name of this scope is a number wherever it is plainly bound: what is added to it first makes a new one.

    So ``total = 0`` and ``total += x`` write to nothing that ``x`` is: not to ``x``, of which they make a sum.
    """
    scope = owner(context, target) if isinstance(target, cst.Name) else None
    if scope is None or not isinstance(target, cst.Name):
        return False
    return context.remember(_begins_as_number, target.value, scope)


def _begins_as_number(context: Context, name: str, scope: cst.FunctionDef | cst.Module) -> bool:
    if context.scopes.rebinders(scope, name):
        return False
    if isinstance(scope, cst.FunctionDef) and any(each.name.value == name for each in parameters(scope)):
        return False
    bound = [each for each in own_references(context, name, scope) if is_target(context.tree, each)]
    plain = [each for each in bound if not _is_added_to(each, context.tree)]
    values = [bound_value(each, context.tree) for each in plain]
    return bool(values) and all(isinstance(value, (cst.Integer, cst.Float)) for value in values)


def _is_added_to(target: cst.Name, tree: Tree) -> bool:
    parent = tree.parent(target)
    return isinstance(parent, cst.AugAssign) and parent.target is target


def is_counter(context: Context, name: cst.Name) -> bool:
    """Whether a name is an integer that a loop counts with: ``for i in range(n)``, ``for i, x in enumerate(xs)``."""
    return context.remember(_is_counter, name.value, context.scopes.scope_of(name))


def _is_counter(context: Context, name: str, scope: cst.FunctionDef | cst.Module) -> bool:
    if isinstance(scope, cst.FunctionDef) and any(each.name.value == name for each in parameters(scope)):
        return False
    bound = targets(context, name, scope)
    return bool(bound) and all(_is_counted(target, context.tree) for target in bound)


def _is_counted(target: cst.Name, tree: Tree) -> bool:
    at = tree.parent(target)
    if isinstance(at, cst.Element):
        several = tree.parent(at)
        at = tree.parent(several) if several is not None else None
    return isinstance(at, (cst.For, cst.CompFor)) and counter_of(at) is target


def counter_of(loop: cst.For | cst.CompFor) -> cst.Name | None:
    """What a loop counts with, if it does: ``i`` of ``for i in range(n)`` and of ``for i, x in enumerate(xs)``."""
    match loop.iter, loop.target:
        case cst.Call(func=cst.Name("range")), cst.Name() as name:
            return name
        case cst.Call(func=cst.Name("enumerate")), cst.Tuple(elements=[cst.Element(cst.Name() as name), *_]):
            return name
    return None


def bound_value(target: cst.Name, tree: Tree) -> cst.BaseExpression | None:
    """What an assignment binds a name to, alone or as one of several: ``b`` of ``x, y = a, b`` for ``y``."""
    value = assigned_value(target, tree)
    if value is not None:
        return value
    element = tree.parent(target)
    several = tree.parent(element) if isinstance(element, cst.Element) else None
    match several, unpacked_from(target, tree):
        case cst.Tuple(elements=places), cst.Tuple(elements=values) if len(places) == len(values):
            return next((each.value for place, each in zip(places, values, strict=True) if place is element), None)
    return None


def pairs(node: cst.Assign) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression]]:
    """What an assignment with one target binds, each with its value: two pairs for ``a, b = x, y``."""
    match node.targets, node.value:
        case [cst.AssignTarget(target=cst.Tuple(elements=places))], cst.Tuple(elements=values) if len(places) == len(
            values
        ):
            yield from ((place.value, each.value) for place, each in zip(places, values, strict=True))
        case [cst.AssignTarget(target=target)], value:
            yield target, value


def _all_assigned(
    context: Context, name: str, scope: cst.FunctionDef | cst.Module
) -> tuple[cst.BaseExpression | None, ...]:
    scopes = context.scopes
    is_given = isinstance(scope, cst.FunctionDef) and any(each.name.value == name for each in parameters(scope))
    bound = [target for target in targets(context, name, scope) if scopes.scope_of(target) is scope]
    elsewhere = (None,) if is_given or scopes.rebinders(scope, name) else ()
    return (*elsewhere, *(bound_value(target, context.tree) for target in bound))


def _named(context: Context, name: str) -> list[cst.Name]:
    return [node for node in context.tree.names(name) if not _is_label(context.tree, node)]


def _targets(context: Context, name: str, scope: cst.FunctionDef | cst.Module) -> tuple[cst.Name, ...]:
    return tuple(node for node in references(context, name, scope) if is_target(context.tree, node))


def _own_references(context: Context, name: str, scope: cst.FunctionDef | cst.Module) -> list[cst.Name]:
    found = references(context, name, scope)
    if context.scopes.rebinders(scope, name):
        return found
    return [each for each in found if owner(context, each) in (scope, None)]


def _named_in(context: Context, function: cst.FunctionDef) -> dict[str, list[cst.Name]]:
    found: dict[str, list[cst.Name]] = {}
    for node in context.tree.within(function.body, cst.Name):
        if not _is_label(context.tree, node):
            found.setdefault(node.value, []).append(node)
    return found


def _called(context: Context, name: str) -> list[cst.BaseExpression]:
    return [*context.tree.attributes(name), *context.remember(_named, name)]


def _bindings_of(context: Context, name: str, scope: cst.FunctionDef | cst.Module) -> list[cst.Name]:
    found = []
    for use in references(context, name, scope):
        parent = context.tree.parent(use)
        if is_target(context.tree, use) and not isinstance(parent, (cst.AugAssign, cst.Subscript)):
            assign = context.tree.parent(parent) if isinstance(parent, cst.AssignTarget) else parent
            if isinstance(assign, cst.Assign) and any(
                isinstance(n, cst.Name) and n.value == name for n in context.tree.walk(assign.value)
            ):
                continue
            found.append(use)
    return found


_LISTING = frozenset((cst.ImportAlias, cst.NameItem))


def _is_label(tree: Tree, node: cst.Name) -> bool:
    """Whether a name is no variable: a label, or what an import, ``global`` or ``nonlocal`` lists."""
    parent = tree.parent(node)
    if type(parent) is cst.AsName:
        return isinstance(tree.parent(parent), cst.ImportAlias)
    return type(parent) in _LISTING or is_label(tree, node)


def declares(context: Context, attribute: str) -> bool:
    """Whether a class or named tuple of the file has an attribute of that name."""
    return context.remember(_declares, attribute)


def _declares(context: Context, attribute: str) -> bool:
    return context.scopes.declares(attribute)
