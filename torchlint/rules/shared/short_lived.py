"""What becomes of a module in the function that makes it: is it called and forgotten, or may somebody keep it."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Model
from torchlint.model.names import MODULE_METHODS
from torchlint.model.syntax import assignment_of, call_of, last_name

_HOLDERS = frozenset(("Sequential", "ModuleList"))
"""Modules that are made of others."""
_FILLING = frozenset(("append", "insert", "extend"))
_COUNTING = frozenset(("enumerate", "reversed", "list", "tuple"))
"""Functions that give what they are given, with numbers or in another order."""
_FARTHEST = 100
"""Names and containers that anybody follows a module through."""


def is_only_called(made: cst.CSTNode, model: Model) -> bool:
    """Whether a new module is called, by names and out of local lists too, and nothing else becomes of it."""
    waiting, seen, is_called = [made], set[int](), False
    while waiting:
        node = moved(waiting.pop(), model)
        if id(node) in seen:
            continue
        seen.add(id(node))
        if len(seen) > _FARTHEST:
            return False
        if call_of(node, model.tree) is not None:
            is_called = True
            continue
        further = _further(node, model)
        if further is None:
            return False
        waiting += further
    return is_called


def moved(node: cst.CSTNode, model: Model) -> cst.CSTNode:
    """What methods that give the same module, or a copy on another device, make of an expression."""
    while True:
        parent = model.tree.parent(node)
        call = call_of(parent, model.tree) if isinstance(parent, cst.Attribute) and parent.value is node else None
        if call is None or not isinstance(parent, cst.Attribute) or MODULE_METHODS.get(parent.attr.value) != "self":
            return node
        node = call


def _further(node: cst.CSTNode, model: Model) -> list[cst.CSTNode] | None:
    """Where a module, or a container of some, is found next; None if it may get anywhere."""
    parent = model.tree.parent(node)
    match parent:
        case cst.Expr():
            return []
        case cst.Assign(targets=[cst.AssignTarget(target=target)]):
            return _uses(target, model)
        case cst.Attribute(attr=cst.Name(value=name)) if name in _FILLING and call_of(parent, model.tree) is not None:
            return []
        case cst.Element() | cst.StarredElement():
            holder = model.tree.parent(parent)
            return [holder] if isinstance(holder, (cst.List, cst.Tuple)) else None
        case cst.ListComp(elt=element) | cst.GeneratorExp(elt=element) if element is node:
            return [parent]
        case cst.Subscript(value=value) if value is node:
            return [parent]
        case cst.For(target=target, iter=iterated) | cst.CompFor(target=target, iter=iterated) if iterated is node:
            return _of_elements(target, parent, model)
        case cst.Arg():
            return _of_argument(parent, model)
    return None


def _of_argument(arg: cst.Arg, model: Model) -> list[cst.CSTNode] | None:
    """Where a module is that a call is given: in a container of torch's, or in a local list."""
    call = model.tree.parent(arg)
    if not isinstance(call, cst.Call):
        return None
    match call.func:
        case cst.Attribute(value=cst.Name() as holder, attr=cst.Name(value=name)) if name in _FILLING:
            bound = [use for use in _named(holder, model) if model.is_target(use)]
            assign = assignment_of(bound[0], model.tree) if bound else None
            return _uses(holder, model) if assign is not None and isinstance(assign.value, cst.List) else None
        case cst.Name("len"):
            return []
        case cst.Name(value=name) if name in _COUNTING:
            return [call]
    return [call] if last_name(call.func) in _HOLDERS else None


def _of_elements(target: cst.BaseExpression, loop: cst.For | cst.CompFor, model: Model) -> list[cst.CSTNode] | None:
    """Where the elements of a container are that a loop goes through."""
    if isinstance(target, cst.Tuple) and len(target.elements) == 2:  # `for i, layer in enumerate(layers)`
        target = target.elements[1].value
    if not isinstance(target, cst.Name):
        return None
    if isinstance(loop, cst.For):
        return [use for use in _named(target, model) if model.tree.is_inside(use, loop) and use is not target]
    around = model.tree.parent(loop) or loop
    return [each for each in model.tree.within(around, cst.Name) if each.value == target.value and each is not target]


def _uses(target: cst.BaseExpression, model: Model) -> list[cst.CSTNode] | None:
    """Where a local name is read that is bound to a module and to what becomes of it when it is moved."""
    if not isinstance(target, cst.Name) or target.value not in _locals(target, model):
        return None
    uses = _named(target, model)
    bound = [use for use in uses if model.is_target(use)]
    if any(_is_other(each, target.value, model) for each in bound[1:]):
        return None
    if not bound or model.tree.order(bound[0]) > min(map(model.tree.order, uses)):
        return None
    return [use for use in uses if not model.is_target(use)]


def _is_other(target: cst.Name, name: str, model: Model) -> bool:
    """Whether a name is bound to anything but what it was, moved: `layer = layer.cuda()`."""
    assign = assignment_of(target, model.tree)
    if assign is None or len(assign.targets) != 1:
        return True
    value: cst.BaseExpression = assign.value
    while isinstance(value, cst.Call) and isinstance(value.func, cst.Attribute):
        if MODULE_METHODS.get(value.func.attr.value) != "self":
            return True
        value = value.func.value
    return value is assign.value or not isinstance(value, cst.Name) or value.value != name


def _locals(name: cst.Name, model: Model) -> frozenset[str]:
    scope = model.scopes.scope_of(name)
    return frozenset(model.scopes.locals_of(scope)) if isinstance(scope, cst.FunctionDef) else frozenset()


def _named(name: cst.Name, model: Model) -> list[cst.Name]:
    return model.references(name.value, model.scopes.scope_of(name))
