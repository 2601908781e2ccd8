"""What dictionaries, lists and records hold that a scope puts together, part by part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import libcst as cst

from torchlint.model.aliasing.calls import bound_to
from torchlint.model.context import Context, at_home
from torchlint.model.expressions import value_of
from torchlint.model.graphs.bounded import is_taken_from
from torchlint.model.graphs.flow import Event, Flow, Scope, flow_of, nodes_of
from torchlint.model.graphs.mentions import mentions, owner
from torchlint.model.graphs.reading import is_unknown
from torchlint.model.possibilities import Kind
from torchlint.model.syntax import dotted, last_name

_FAR = 2
"""How many names to follow that stand for the same."""
_MANY = 32
"""How many parts of one thing are looked at."""
_TAKING_OUT = ("pop", "popitem", "clear", "update")
_PUTTING_IN = frozenset(("append", "appendleft", "add", "extend", "insert"))


class HeldPart(NamedTuple):
    """Something that is put into a container."""

    key: str | None
    """The text that it is behind in a dictionary; None if that is not known, or it is in a list."""
    value: cst.BaseExpression


def parts_of(context: Context, flow: Flow, node: cst.BaseExpression) -> list[HeldPart]:
    """The parts of what is put together anew in each round; none of what comes from elsewhere or is emptied again."""
    return _parts(context, flow, node, _FAR)


def _parts(context: Context, flow: Flow, node: cst.BaseExpression, far: int) -> list[HeldPart]:
    shown = _shown(context, node)
    if shown is not None:
        return _all_in(context, flow, shown, far)
    if is_changed_again(context, flow, node):
        return []
    path = dotted(node)
    events = [event for event in flow.reaching(node) if event.path == path] if path is not None else []
    begun = [event for event in events if event.replaces]
    if not begun or not all(_is_begun_with(context, event, flow, node) for event in begun):
        return []
    order = context.tree.order
    filled = [event for event in events if not event.replaces and order(event.node) < order(node)][-_MANY:]
    found: list[HeldPart] = []
    for event in sorted((*begun, *filled), key=lambda each: order(each.node))[:_MANY]:
        put_in = _put_in_by(context, event)
        if put_in is None:
            return []
        found += _all_in(context, flow, put_in, far)
    return _last_ones(found)


def is_changed_again(context: Context, flow: Flow, node: cst.BaseExpression) -> bool:
    """Whether graphs are taken out of something again, or may be where nobody has looked: ``detach_all(outputs)``."""
    path = dotted(node)
    if path is None:
        return False
    if is_taken_from(context, path, flow.scope) or path in context.remember(_with_bound_attributes, flow.scope):
        return True
    alone = context.remember(_handed_over, flow.scope).get(path, ())
    return any(not context.tree.is_inside(node, each) for each in alone)


def _with_bound_attributes(context: Context, scope: Scope) -> frozenset[str]:
    """What attributes are bound of in a scope: ``out`` of ``out.loss = …``."""
    bound = (event.path for event in flow_of(context, scope).events() if event.replaces)
    return frozenset(path.rpartition(".")[0] for path in bound if "." in path)


def _handed_over(context: Context, scope: Scope) -> dict[str, list[cst.Call]]:
    """What is given to calls whose results nobody wants, so that these may change it, each with the calls."""
    found: dict[str, list[cst.Call]] = {}
    for call in nodes_of(context, scope, cst.Call):
        if isinstance(context.tree.parent(call), cst.Expr) and is_unknown(context, call):
            for arg in call.args:
                if (path := dotted(arg.value)) is not None and _may_change(context, call, arg):
                    found.setdefault(path, []).append(call)
    return found


def _may_change(context: Context, call: cst.Call, arg: cst.Arg) -> bool:
    """Whether a call may change what it is given: a function of the project that is seen not to does not."""
    function = value_of(context, call.func).node
    if not isinstance(function, cst.FunctionDef):
        return True
    home = context.home(function)
    bound = bound_to(function, arg, call, home, context)
    return not bound or not _changed_by(home, function).isdisjoint(bound)


@at_home
def _changed_by(context: Context, function: cst.FunctionDef) -> frozenset[str]:
    """The names of a function that it binds, fills or empties, or hands on to others that may do so."""
    return context.remember(_changed_parameters, function)


def _changed_parameters(context: Context, function: cst.FunctionDef) -> frozenset[str]:
    filled = {event.path for event in flow_of(context, function).events() if not isinstance(event.node, cst.Param)}
    calls = list(nodes_of(context, function, cst.Call))
    emptied = {path for each in calls if (path := _emptied(each)) is not None}
    handed = {dotted(arg.value) or "" for each in calls if is_unknown(context, each) for arg in each.args}
    deleted = {
        name.value for each in nodes_of(context, function, cst.Del) for name in context.tree.within(each, cst.Name)
    }
    return frozenset(path.partition(".")[0] for path in (*filled, *emptied, *handed, *deleted))


def _emptied(call: cst.Call) -> str | None:
    """What a method is called on that takes something out of it, or changes it in place."""
    match call.func:
        case cst.Attribute(value=inner, attr=cst.Name(name)) if name in _TAKING_OUT or name.endswith("_"):
            return dotted(owner(inner))
    return None


def _all_in(context: Context, flow: Flow, parts: Iterable[HeldPart], far: int) -> list[HeldPart]:
    """The parts, and in place of each ``**others`` those of it."""
    found: list[HeldPart] = []
    for part in list(parts)[:_MANY]:
        if part.key is None and far and value_of(context, part.value).kind == Kind.CONTAINER:
            found += _parts(context, flow, part.value, far - 1)
        else:
            found.append(part)
    return _last_ones(found)


def _last_ones(parts: Iterable[HeldPart]) -> list[HeldPart]:
    """Of what is put behind the same key the last one."""
    named = {part.key: part for part in parts if part.key is not None}
    return [part for part in parts if part.key is None or named[part.key] is part]


def _is_begun_with(context: Context, event: Event, flow: Flow, node: cst.BaseExpression) -> bool:
    """Whether something that is put together begins with a statement in the same round."""
    if not isinstance(event.node, (cst.Assign, cst.AnnAssign)):
        return False
    loop = next(flow.loops(node), None)
    return loop is None or context.tree.is_inside(event.node, loop)


def _put_in_by(context: Context, event: Event) -> list[HeldPart] | None:
    """What a statement puts into what it binds or fills; None if it takes graphs out, or nobody knows."""
    match event.node:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Subscript() as target)], value=value):
            key = _key(target)
            return None if key is None and not any(mentions(context, value)) else [HeldPart(key, value)]
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name() | cst.Attribute())], value=value):
            return [HeldPart(None, value)] if (shown := _shown(context, value)) is None else shown
        case cst.AnnAssign(target=cst.Name() | cst.Attribute(), value=value) if value is not None:
            return [HeldPart(None, value)] if (shown := _shown(context, value)) is None else shown
        case cst.AugAssign(value=value):
            return [HeldPart(None, value)]
        case cst.Call(func=cst.Attribute(attr=cst.Name("update")), args=args):
            return [part for arg in args for part in _given(context, arg)]
        case cst.Call(func=cst.Attribute(attr=cst.Name(name)), args=[*_, cst.Arg(value=value)]) if name in _PUTTING_IN:
            return [HeldPart(None, value)]
    return None


def _key(target: cst.Subscript) -> str | None:
    match target:
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as key))]):
            return str(key.evaluated_value)
    return None


def _shown(context: Context, node: cst.BaseExpression) -> list[HeldPart] | None:
    """The parts of something that is written out; None if nothing is."""
    match node:
        case cst.Dict(elements=entries):
            return [HeldPart(_text(entry), entry.value) for entry in entries]
        case cst.List(elements=elements) | cst.Tuple(elements=elements) | cst.Set(elements=elements):
            return [HeldPart(None, element.value) for element in elements]
        case cst.DictComp(value=value) | cst.ListComp(elt=value):
            return [HeldPart(None, value)]
        case cst.Call(func=cst.Name("dict"), args=args):
            return [part for arg in args for part in _given(context, arg)]
        case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name("copy" | "values" | "items")), args=[]):
            return [HeldPart(None, inner)]
        case cst.Call(func=func, args=args) if _is_record(context, func):
            return [HeldPart(arg.keyword.value if arg.keyword is not None else None, arg.value) for arg in args]
    return None


def _text(entry: cst.BaseDictElement) -> str | None:
    match entry:
        case cst.DictElement(key=cst.SimpleString() as key):
            return str(key.evaluated_value)
    return None


def _given(context: Context, arg: cst.Arg) -> Iterator[HeldPart]:
    """What is put into a dictionary by an argument of ``dict`` or ``update``."""
    if arg.keyword is not None:
        yield HeldPart(arg.keyword.value, arg.value)
    else:
        yield from _shown(context, arg.value) or [HeldPart(None, arg.value)]


def _is_record(context: Context, function: cst.BaseExpression) -> bool:
    """Whether a call makes a record of what it is given: a dataclass or named tuple of the project."""
    made = value_of(context, function)
    if not isinstance(made.node, cst.ClassDef) or not made.kind & Kind.FUNCTION or made.choices:
        return False
    decorators = (each.decorator for each in made.node.decorators)
    names = [last_name(each.func if isinstance(each, cst.Call) else each) for each in decorators]
    return "dataclass" in names or any(last_name(base.value) == "NamedTuple" for base in made.node.bases)
