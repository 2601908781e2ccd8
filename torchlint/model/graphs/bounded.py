"""Whether what keeps graphs is emptied again, or takes only so many, so that those of all rounds are never there."""

from __future__ import annotations

import libcst as cst

from torchlint.model.classes import class_of
from torchlint.model.context import Context
from torchlint.model.graphs.always import runs_with
from torchlint.model.graphs.flow import Scope, flow_of, nodes_of
from torchlint.model.graphs.mentions import mentions, owner
from torchlint.model.syntax import dotted, keyword, last_name

_TAKING = ("pop", "popleft")
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
    return bool(emptying) and (not is_sum or runs_with(context, emptying, node))


def _is_limited_or_taken(context: Context, path: str, scope: Scope, cls: cst.ClassDef | None) -> bool:
    if any(dotted(owner(node.value)) == path for name in _TAKING for node in context.tree.attributes(name)):
        return True
    if cls is not None:
        targets = context.scopes.attribute(cls, path.removeprefix("self.")).assigned
        made = [context.tree.parent(context.tree.parent(target) or target) for target in targets]
    else:
        made = [event.node for event in flow_of(context, scope).events() if event.path == path]
    values = (each.value for each in made if isinstance(each, (cst.Assign, cst.AnnAssign)) and each.value is not None)
    return any(_is_limited(call) for value in values for call in context.tree.within(value, cst.Call))


def _is_limited(call: cst.Call) -> bool:
    """Whether a call makes something that takes only so many, ``deque(maxlen=…)``, be it for each key of another."""
    is_second = last_name(call.func) == "deque" and len(call.args) > 1
    limit = keyword(call.args, "maxlen") or (call.args[1] if is_second else None)
    return limit is not None and not (isinstance(limit.value, cst.Name) and limit.value.value == "None")


# ---------------------------------------------------------------------- what takes graphs out again


def _emptying(
    context: Context, area: cst.CSTNode, scope: Scope, path: str, *, with_methods: bool = True
) -> list[cst.CSTNode]:
    """What empties a container in a part of a scope, or puts what has no graph in the place of what is in it."""
    here = [each for each in nodes_of(context, scope, cst.Del) if _is_deleted(each, path)]
    calls = [each for each in nodes_of(context, scope, cst.Call) if _is_cleared(each, path)]
    by_methods = nodes_of(context, scope, cst.Call) if with_methods and path.startswith("self.") else ()
    calls += [each for each in by_methods if _is_emptied_by_method(context, each, scope, path)]
    assigns = [each for each in nodes_of(context, scope, cst.Assign) if _is_replacing(context, each, path)]
    return [each for each in (*here, *calls, *assigns) if context.tree.is_inside(each, area)]


def _is_deleted(node: cst.Del, path: str) -> bool:
    """``del losses[:]``, ``del losses[0]``, ``del losses``."""
    targets = [each.value for each in node.target.elements] if isinstance(node.target, cst.Tuple) else [node.target]
    return any(dotted(owner(each)) == path for each in targets)


def _is_replacing(context: Context, assign: cst.Assign, path: str) -> bool:
    return any(_is_replaced(context, each.target, assign.value, path) for each in assign.targets)


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


def _is_cleared(call: cst.Call, path: str) -> bool:
    match call.func:
        case cst.Attribute(value=filled, attr=cst.Name(name)):
            return name in _EMPTYING and dotted(owner(filled)) == path
    return False


def _is_emptied_by_method(context: Context, call: cst.Call, caller: Scope, path: str) -> bool:
    """``self.flush()``, where that method empties it."""
    if not isinstance(call.func, cst.Attribute) or dotted(call.func) != f"self.{call.func.attr.value}":
        return False
    cls = class_of(context, caller) if isinstance(caller, cst.FunctionDef) else None
    method = context.scopes.info(cls).methods.get(call.func.attr.value) if cls is not None else None
    if method is None or method is caller:
        return False
    return bool(_emptying(context, method.body, method, path, with_methods=False))
