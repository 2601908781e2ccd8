"""Which call of a class an object comes from that something is asked of: by the names that it has on the way.

Only syntax is looked at here.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.bindings import last_assigned, targets
from torchlint.model.calls_elsewhere import CallSite
from torchlint.model.classes import class_of
from torchlint.model.freezing import FREEZING
from torchlint.model.modes import may_record
from torchlint.model.recording_elsewhere import records
from torchlint.model.syntax import dotted, last_name

if TYPE_CHECKING:
    from torchlint.model.context import Context


def is_named(context: Context, cls: cst.ClassDef) -> bool:
    """Whether a file names a class, without which it makes no objects of it."""
    name = cls.name.value
    return bool(context.tree.names(name) or context.tree.attributes(name))


def is_of(made: CallSite, site: CallSite, kept: Collection[str]) -> bool:
    """Whether a method is called on what a call of the constructor has made, where autograd records."""
    if site.context is not made.context or not isinstance(site.call.func, cst.Attribute):
        return False
    context, receiver = site.context, site.call.func.value
    is_bound = receiver is made.call or is_bound_to(context, receiver, made.call)
    if not is_bound or is_put_in(context, receiver, kept):
        return False
    return may_record(context, site.call) and records(context, site.call)


def is_bound_to(context: Context, node: cst.BaseExpression, made: cst.Call) -> bool:
    """Whether a name or path is bound to what a call gives: in its scope, by the module, or by a method of `self`."""
    assign, path, scopes = context.tree.parent(made), dotted(node), context.scopes
    if path is None or not isinstance(assign, cst.Assign) or path not in [dotted(t.target) for t in assign.targets]:
        return False
    scope, other = scopes.scope_of(node), scopes.scope_of(made)
    if scope is other:
        return _is_bound_last(context, node, made)
    owner, _, name = path.rpartition(".")
    if not owner:
        is_global = isinstance(other, cst.Module) and scopes.owner(name, node) is other
        return is_global and len(targets(context, name, other)) == 1
    cls = class_of(context, scope) if isinstance(scope, cst.FunctionDef) else None
    if owner != "self" or cls is None or not isinstance(other, cst.FunctionDef) or class_of(context, other) is not cls:
        return False
    return len(scopes.attribute(cls, name).assigned) == 1 and not scopes.is_set_outside(cls, name)


def _is_bound_last(context: Context, node: cst.BaseExpression, made: cst.Call) -> bool:
    """Whether nothing else that a scope binds to a name or path can be meant."""
    scope, path = context.scopes.scope_of(node), dotted(node)
    if isinstance(node, cst.Name):
        return len(targets(context, node.value, scope)) == 1 or last_assigned(context, node) is made
    same = [each for each in context.tree.attributes(last_name(node)) if dotted(each) == path]
    bound = [each for each in same if isinstance(context.tree.parent(each), cst.AssignTarget)]
    return sum(context.scopes.scope_of(each) is scope for each in bound) == 1


def is_put_in(context: Context, node: cst.BaseExpression, names: Collection[str]) -> bool:
    """Whether a caller puts something else into an object that it uses, or freezes that: ``trainer.net = other``."""
    tree, path = context.tree, dotted(node)
    wanted = {f"{path}.{name}" for name in names}
    last = dict.fromkeys(name.rpartition(".")[2] for name in names)
    uses = [each for name in last for each in tree.attributes(name) if dotted(each) in wanted]
    if uses and FREEZING.search(tree.source.text):
        return True
    return any(isinstance(tree.parent(each), cst.AssignTarget) for each in uses)
