"""Whether a program can tell what is kept with its graph from what is kept without: it asks for it, or changes it."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.model.context import Context
from torchlint.model.graphs.flow import MANY, Event, Flow, Scope, flow_of, nodes_of, upstream
from torchlint.model.graphs.keeping import Keeping, keeping_at
from torchlint.model.graphs.mentions import mentions
from torchlint.model.syntax import dotted, last_name

_OF_THE_GRAPH = frozenset(
    (
        *("grad_fn", "requires_grad", "requires_grad_", "is_leaf", "retains_grad", "retain_grad", "output_nr"),
        *("register_hook", "register_post_accumulate_grad_hook"),
    )
)
"""Attributes and methods of tensors that say something of their graph, or need it."""
_OF_TENSORS = ("grad", "data", "requires_grad", "names")
"""Attributes of tensors that may be assigned."""
_COMPREHENSIONS = (cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)
_SINGLETONS = ("None", "True", "False")


def is_told_apart(context: Context, flow: Flow, keeping: Keeping) -> bool:
    """Whether what is kept is asked for its graph, or which object it is, or is changed in place where it is kept.

    So it is where it was given an attribute, which only that object has.
    """
    if _is_put_in_set(context, keeping.node):
        return True
    kept = {id(event) for event in flow.events_at(keeping.node)}
    is_itself = not isinstance(keeping.node, cst.AugAssign)
    if is_itself and not context.remember(_given_attributes, flow.scope).isdisjoint(map(dotted, keeping.kept)):
        return True
    asked = context.remember(_asked_in, flow.scope)
    changed = context.remember(_changed_in, flow.scope) if is_itself else ()
    if any(not kept.isdisjoint(upstream(flow.reaching(each), MANY)) for each in (*asked, *changed)):
        return True
    return "." in keeping.path and keeping.path.rpartition(".")[2] in context.remember(_asked_anywhere)


def _is_put_in_set(context: Context, node: cst.CSTNode) -> bool:
    """Whether a statement is a call of `add`: a set is asked for the very objects that it was given."""
    is_add = isinstance(node, cst.Call) and last_name(node.func) == "add"
    return is_add and isinstance(context.tree.parent(node), cst.Expr)


def _given_attributes(context: Context, scope: Scope) -> frozenset[str | None]:
    """The names and paths of what is given attributes of its own in a scope, or is a key: ``loss.step = step``."""
    targets = [node.target for node in nodes_of(context, scope, cst.AssignTarget)]
    given = [each.value for each in targets if isinstance(each, cst.Attribute) and each.attr.value not in _OF_TENSORS]
    for target in targets:
        match target:
            case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=key))]):
                given.append(key)
    calls = nodes_of(context, scope, cst.Call)
    given += [each.args[0].value for each in calls if last_name(each.func) == "setattr" and each.args]
    return frozenset(map(dotted, given)) - {None}


def are_elements_told_apart(context: Context, element: cst.BaseExpression) -> bool:
    """Whether that is so where an element is put into a list: `losses.append(loss)`."""
    call = context.tree.enclosing(element, cst.Call)
    keeping = keeping_at(context, call) if call is not None else None
    return keeping is not None and is_told_apart(context, flow_of(context, context.scopes.scope_of(element)), keeping)


def _asked_in(context: Context, scope: Scope) -> list[cst.BaseExpression]:
    """What a scope asks for its graph, or which object it is."""
    area = scope.body if isinstance(scope, cst.FunctionDef) else scope
    found = [*_asked_for_graph(context), *_asked_for_identity(context, area)]
    return [each for each in found if context.scopes.scope_of(each) is scope]


def _asked_for_graph(context: Context) -> Iterator[cst.BaseExpression]:
    return (each.value for name in _OF_THE_GRAPH for each in context.tree.attributes(name))


def _asked_for_identity(context: Context, area: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    for node in context.tree.within(area, cst.Comparison):
        if any(isinstance(each.operator, (cst.Is, cst.IsNot)) for each in node.comparisons):
            sides = [node.left, *(each.comparator for each in node.comparisons)]
            if not any(isinstance(each, cst.Name) and each.value in _SINGLETONS for each in sides):
                yield from sides


def _changed_in(context: Context, scope: Scope) -> list[cst.BaseExpression]:
    """What a scope changes in place as an element of something: `losses[-1] /= 2`, `losses[-1].mul_(2)`."""
    found: list[cst.BaseExpression] = [
        node.target
        for node in nodes_of(context, scope, cst.AugAssign)
        if isinstance(node.target, cst.Subscript)
        and not any(True for _ in context.tree.within(node.target, cst.SimpleString))
    ]
    for node in nodes_of(context, scope, cst.Attribute):
        name = node.attr.value
        if name.endswith("_") and not name.startswith("_"):
            found.append(node.value)
    return found


def _asked_anywhere(context: Context) -> frozenset[str]:
    """The names of attributes of objects that a file asks for the graphs of what they hold."""
    found = set[str]()
    for asked in _asked_for_graph(context):
        events = upstream(flow_of(context, context.scopes.scope_of(asked)).reaching(asked), MANY).values()
        around = context.tree.enclosing(asked, *_COMPREHENSIONS)
        iterated = [around.for_in.iter] if isinstance(around, cst.BaseComp) else []
        for value in (asked, *iterated, *filter(None, map(_bound_to, events))):
            found.update(path.rpartition(".")[2] for path, _ in mentions(context, value) if "." in path)
    return frozenset(found)


def _bound_to(event: Event) -> cst.BaseExpression | None:
    match event.node:
        case cst.Assign(value=value) | cst.For(iter=value):
            return value
    return None
