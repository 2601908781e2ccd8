"""Whether what keeps graphs is emptied again, or takes only so many, so that those of all rounds are never there."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from torchlint.model.classes import class_of
from torchlint.model.context import Context
from torchlint.model.graphs.always import runs_with
from torchlint.model.graphs.flow import Scope, flow_of, nodes_of
from torchlint.model.graphs.keeping import is_made_of_itself
from torchlint.model.graphs.mentions import mentions, owner
from torchlint.model.syntax import dotted, keyword, last_name

_TAKING = ("pop", "popleft", "popitem")
_EMPTYING = frozenset(("clear", "detach_"))
"""Methods behind which nothing has a graph any more."""


def is_bounded(context: Context, path: str, node: cst.CSTNode, *, is_sum: bool) -> bool:
    """Whether what a statement puts more into is a ``deque(maxlen=…)``, or is taken from again, as far as that is seen.

    A sum that only some rounds begin anew grows until then.
    """
    scope = context.scopes.scope_of(node)
    cls = context.tree.enclosing(node, cst.ClassDef) if path.startswith("self.") else None
    assert cls is None or isinstance(cls, cst.ClassDef)
    if context.remember(_is_limited_or_taken, path, scope, cls):
        return True
    loop = next(flow_of(context, scope).loops(node), None)
    area = loop.body if loop is not None else scope.body if isinstance(scope, cst.FunctionDef) else scope
    emptying = [each for each in _emptying(context, area, scope, path) if each is not node]
    if not is_sum:
        return bool(emptying)
    emptying += [each for each in context.remember(_begun_anew, area, scope, path) if each is not node]
    return bool(emptying) and runs_with(context, emptying, node)


def _begun_anew(context: Context, area: cst.CSTNode, scope: Scope, path: str) -> list[cst.CSTNode]:
    """What binds a path in a part of a scope to something that it is not a part of; a loop around that is run."""
    found = []
    for event in flow_of(context, scope).bindings(path):
        if context.tree.is_inside(event.node, area) and not is_made_of_itself(context, event):
            loops = [each for each in flow_of(context, scope).loops(event.node) if context.tree.is_inside(each, area)]
            found.append(loops[-1] if loops else event.node)
    return found


def _is_limited_or_taken(context: Context, path: str, scope: Scope, cls: cst.ClassDef | None) -> bool:
    if path in context.remember(_taken):
        return True
    if cls is not None:
        targets = context.scopes.attribute(cls, path.removeprefix("self.")).assigned
        made = [context.tree.parent(context.tree.parent(target) or target) for target in targets]
    else:
        made = [event.node for event in flow_of(context, scope).bindings(path)]
    values = (each.value for each in made if isinstance(each, (cst.Assign, cst.AnnAssign)) and each.value is not None)
    return any(_is_limited(call) for value in values for call in context.tree.within(value, cst.Call))


def is_taken_from(context: Context, path: str, scope: Scope) -> bool:
    """Whether graphs are taken out of what a path stands for, in a scope or by ``pop`` anywhere in the file."""
    return path in context.remember(_taken) or path in context.remember(_emptied_in_parts, scope)


def _taken(context: Context) -> frozenset[str]:
    taken = (dotted(owner(node.value)) for name in _TAKING for node in context.tree.attributes(name))
    return frozenset(path for path in taken if path is not None)


def _emptied_in_parts(context: Context, scope: Scope) -> frozenset[str]:
    """The paths that a scope empties in another way than by binding them to something else."""
    tables = (context.remember(_emptied, scope), context.remember(_emptied_by_methods, scope))
    return frozenset(path for each in tables for path, nodes in each.items() if not all(map(_binds(path), nodes)))


def _binds(path: str) -> Callable[[cst.CSTNode], bool]:
    def is_binding(node: cst.CSTNode) -> bool:
        return isinstance(node, cst.Assign) and any(dotted(each.target) == path for each in node.targets)

    return is_binding


def _is_limited(call: cst.Call) -> bool:
    """Whether a call makes something that takes only so many, ``deque(maxlen=…)``, be it for each key of another."""
    is_second = last_name(call.func) == "deque" and len(call.args) > 1
    limit = keyword(call.args, "maxlen") or (call.args[1] if is_second else None)
    return limit is not None and not (isinstance(limit.value, cst.Name) and limit.value.value == "None")


# ---------------------------------------------------------------------- what takes graphs out again


def _emptying(context: Context, area: cst.CSTNode, scope: Scope, path: str) -> list[cst.CSTNode]:
    """What empties a container in a part of a scope, or puts what has no graph in the place of what is in it."""
    tables = (context.remember(_emptied, scope), context.remember(_emptied_by_methods, scope))
    return [each for table in tables for each in table.get(path, ()) if context.tree.is_inside(each, area)]


def _emptied(context: Context, scope: Scope) -> dict[str, list[cst.CSTNode]]:
    """The paths that statements and calls of a scope empty, each with these: all at once, for there may be many."""
    found: dict[str, list[cst.CSTNode]] = {}
    for deleted in nodes_of(context, scope, cst.Del):
        for each in _deleted(deleted):
            found.setdefault(each, []).append(deleted)
    for call in nodes_of(context, scope, cst.Call):
        if (path := _cleared(call)) is not None:
            found.setdefault(path, []).append(call)
    for assign in nodes_of(context, scope, cst.Assign):
        for target in (each.target for each in assign.targets):
            path = dotted(owner(target))
            if path is not None and _is_replaced(context, target, assign.value, path):
                found.setdefault(path, []).append(assign)
    return found


def _emptied_by_methods(context: Context, scope: Scope) -> dict[str, list[cst.CSTNode]]:
    """The attributes that methods of the same object empty, each with the calls of these: ``self.flush()``."""
    cls = class_of(context, scope) if isinstance(scope, cst.FunctionDef) else None
    methods = context.scopes.info(cls).methods if cls is not None else {}
    found: dict[str, list[cst.CSTNode]] = {}
    for call in nodes_of(context, scope, cst.Call) if methods else ():
        method = methods.get(last_name(call.func))
        if method is None or method is scope or dotted(call.func) != f"self.{last_name(call.func)}":
            continue
        for path in context.remember(_emptied, method):
            if path.startswith("self."):
                found.setdefault(path, []).append(call)
    return found


def _deleted(node: cst.Del) -> set[str]:
    """``del losses[:]``, ``del losses[0]``, ``del losses``."""
    targets = [each.value for each in node.target.elements] if isinstance(node.target, cst.Tuple) else [node.target]
    return {path for each in targets if (path := dotted(owner(each))) is not None}


def _cleared(call: cst.Call) -> str | None:
    match call.func:
        case cst.Attribute(value=filled, attr=cst.Name(name)) if name in _EMPTYING:
            return dotted(owner(filled))
    return None


def _is_replaced(context: Context, target: cst.BaseExpression, value: cst.BaseExpression, path: str) -> bool:
    """``losses = []``, ``losses[:] = losses[-10:]``, ``losses[i] = losses[i].item()``."""
    if dotted(owner(target)) != path:
        return False
    if _is_cut_short(value, path):
        return True
    if any(mentions(context, value)):
        return False
    is_whole = not isinstance(target, cst.Subscript) or isinstance(target.slice[0].slice, cst.Slice)
    return is_whole or _is_empty(value) or _is_about(context, value, path)


def _is_cut_short(value: cst.BaseExpression, path: str) -> bool:
    match value:
        case cst.Subscript(value=inner, slice=[cst.SubscriptElement(slice=cst.Slice())]):
            return dotted(owner(inner)) == path
    return False


def _is_empty(value: cst.BaseExpression) -> bool:
    match value:
        case cst.List(elements=[]) | cst.Dict(elements=[]) | cst.Call(func=cst.Name("list" | "dict"), args=[]):
            return True
    return False


def _is_about(context: Context, value: cst.BaseExpression, path: str) -> bool:
    """Whether an element is made of what was there: ``losses[i].item()``."""
    return any(dotted(owner(each)) == path for each in context.tree.within(value, cst.Subscript))
