"""What keeps graphs alive: sums, averages, lists and dictionaries, and how long these live."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeGuard

import libcst as cst

from torchlint.model.bindings import counter_of, references
from torchlint.model.context import Context
from torchlint.model.expressions import value_of
from torchlint.model.graphs.flow import Event, Scope, flow_of
from torchlint.model.graphs.mentions import owner
from torchlint.model.possibilities import Kind
from torchlint.model.syntax import LoopStatement, dotted, last_name, without_brackets

_ADDING = frozenset(("add", "sub", "lerp", "cat", "concat", "stack", "hstack", "vstack"))
_SCALING = frozenset(("mul", "div", "clone", "float", "double", "half", "to", "cuda", "cpu", "squeeze"))
_PUTTING_IN = {"append": 0, "appendleft": 0, "insert": 1, "add": 0, "extend": 0, "extendleft": 0, "add_": 0, "sub_": 0}
"""Methods of containers, and of tensors that are added to, and which of their arguments is put in."""


@dataclass(frozen=True)
class Keeping:
    """A place where something that outlives a round of a loop is given more to keep."""

    node: cst.CSTNode
    """The statement, named expression or call."""
    path: str
    """The name or path of what keeps it: ``total``, ``self.losses``; the object whose method keeps what it is given."""
    kept: tuple[cst.BaseExpression, ...]
    """The expressions whose graphs are kept, each on its own."""
    index: cst.BaseExpression | None = None
    """Where in a list or dictionary a single element is kept."""
    is_target: bool = False
    """Whether what is kept is told by what it is bound to, since it is taken out of something: ``a[i], b[i] = f()``."""
    keys: frozenset[str] | None = None
    """Of dictionaries only what is behind these keys; None where all of it is kept."""

    @property
    def is_sum(self) -> bool:
        """Whether it is added to a number, and not put beside others."""
        if isinstance(self.node, cst.Call):
            return last_name(self.node.func) in ("add_", "sub_")
        is_list = isinstance(self.node, cst.AugAssign) and isinstance(self.node.value, (cst.List, cst.Tuple))
        return self.index is None and not is_list


def keepings_at(context: Context, node: cst.CSTNode) -> list[Keeping]:
    """All that a statement, named expression or call puts into something."""
    match node:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Tuple(elements=targets))], value=value):
            return list(_taken_apart(context, node, [each.value for each in targets], value))
    keeping = keeping_at(context, node)
    return [] if keeping is None else [keeping]


def _taken_apart(
    context: Context, node: cst.Assign, targets: list[cst.BaseExpression], value: cst.BaseExpression
) -> Iterator[Keeping]:
    """``losses[i], hits[i] = step(x)``, and ``losses[i], hits[i] = loss, 1``."""
    values = [each.value for each in value.elements] if isinstance(value, cst.Tuple) else targets
    for target, kept in zip(targets, values, strict=False):
        path, index = dotted(owner(target)), _counted(context, target)
        if path is not None and index is not None:
            yield Keeping(node, path, tuple(parts_written(kept)), index, is_target=kept is target)


def keeping_at(context: Context, node: cst.CSTNode) -> Keeping | None:
    """What a statement, named expression or call puts into one thing; None if it doesn't."""
    match node:
        case cst.AugAssign(target=target, operator=cst.AddAssign() | cst.SubtractAssign(), value=value):
            path = dotted(owner(target))
            return (
                None
                if path is None or isinstance(value, cst.BaseNumber)
                else Keeping(node, path, tuple(parts_written(value)))
            )
        case cst.Assign(targets=[cst.AssignTarget(target=target)], value=value):
            return _reassigned(context, node, target, value)
        case cst.AnnAssign(target=target, value=value) if value is not None:
            return _reassigned(context, node, target, value)
        case cst.NamedExpr(target=target, value=value):
            return _reassigned(context, node, target, value)
        case cst.Call():
            return _put_in(node)
    return None


def is_statement(node: cst.CSTNode, context: Context) -> TypeGuard[cst.Call]:
    """Whether a call with arguments stands for itself, so that what it is given is gone unless it is kept."""
    return isinstance(node, cst.Call) and bool(node.args) and isinstance(context.tree.parent(node), cst.Expr)


def is_own_method(node: cst.CSTNode, context: Context) -> TypeGuard[cst.Call]:
    """Whether a function of the project is called."""
    return isinstance(node, cst.Call) and isinstance(value_of(context, node.func).node, cst.FunctionDef)


def _may_be_object(context: Context, target: cst.BaseExpression) -> bool:
    """Whether a target may be an object, or all else that has its name: ``c += x`` does not say what ``c`` was."""
    if isinstance(target, cst.Name):
        return context.remember(_names_object, target.value, context.scopes.scope_of(target))
    return bool(value_of(context, target).kind & Kind.OBJECT)


def _names_object(context: Context, name: str, scope: Scope) -> bool:
    return any(bool(value_of(context, each).kind & Kind.OBJECT) for each in references(context, name, scope))


def is_unknown_holder(context: Context, node: cst.CSTNode) -> bool:
    """Whether something is put into an object of a class that is not seen."""
    match node:
        case cst.Call(func=cst.Attribute(value=holder)):
            return bool(value_of(context, holder).kind & (Kind.UNKNOWN | Kind.OBJECT))
        case cst.AugAssign(target=target) | cst.Assign(targets=[cst.AssignTarget(target=target)]):
            return _may_be_object(context, owner(target))
    return False


def parts_written(value: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """The expressions that a written list, tuple or dictionary holds; any other one itself."""
    match value:
        case cst.List(elements=elements) | cst.Tuple(elements=elements) | cst.Set(elements=elements):
            for element in elements:
                yield from parts_written(element.value)
        case cst.Dict(elements=entries):
            for entry in entries:
                yield from parts_written(entry.value)
        case _:
            yield value


def _reassigned(
    context: Context, node: cst.CSTNode, target: cst.BaseExpression, value: cst.BaseExpression
) -> Keeping | None:
    """``total = total + loss``, and ``curve[i] = loss``."""
    path = dotted(owner(target))
    if path is None:
        return None
    own = context.tree.code(target)
    added = list(_added(context, value, own, path))
    if len(added) > 0 and added[0] is not value:
        return Keeping(node, path, tuple(added))
    index = _counted(context, target)
    return None if index is None else Keeping(node, path, tuple(parts_written(value)), index)


def _counted(context: Context, target: cst.BaseExpression) -> cst.BaseExpression | None:
    """The index of an element that is another one in each round."""
    match target:
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=index))]) if _counts(context, index):
            return index
    return None


def _counts(context: Context, index: cst.BaseExpression) -> bool:
    """Whether an index is another one in each round: what a loop around it counts, or what is counted up in it."""
    if not isinstance(index, cst.Name):
        return False
    loop = context.tree.enclosing(index, cst.For, cst.While)
    while isinstance(loop, (cst.For, cst.While)):
        if _is_counted_in(context, index, loop):
            return True
        counter = counter_of(loop) if isinstance(loop, cst.For) else None
        if counter is not None and counter.value == index.value:
            return True
        loop = context.tree.enclosing(loop, cst.For, cst.While)
    return False


def _is_counted_in(context: Context, index: cst.Name, loop: cst.For | cst.While) -> bool:
    """Whether a loop has ``i += 1``."""
    flow = flow_of(context, context.scopes.scope_of(index))
    counting = (each.node for each in flow.bindings(index.value) if isinstance(each.node, cst.AugAssign))
    return any(isinstance(each.operator, cst.AddAssign) and context.tree.is_inside(each, loop) for each in counting)


def _added(context: Context, value: cst.BaseExpression, own: str, path: str) -> Iterator[cst.BaseExpression]:
    """What is added to the value of ``own`` in an expression; that itself if it is none in which that is done."""
    found, has_own = [], False
    waiting = [(value, False)]
    while waiting:
        node, is_summed = waiting.pop()
        if _is_own(context, node, own):
            has_own = has_own or is_summed  # `criterion or default` chooses, and adds nothing
            continue
        if not _contains(context, node, path):
            found.append(node)
            continue
        operands = _operands(context, node, path)
        if operands is None:
            yield value
            return
        is_choice = isinstance(node, (cst.IfExp, cst.BooleanOperation))
        waiting += [(each, is_summed or not is_choice) for each in reversed(operands)]
    if has_own:
        for each in found:
            yield from parts_written(each)
    else:
        yield value


def _is_own(context: Context, node: cst.BaseExpression, own: str) -> bool:
    """Whether an expression is the old value: ``total``, ``sums["loss"]``, ``sums.get("loss", 0)``."""
    match node:
        case cst.Name() | cst.Attribute() | cst.Subscript():
            return _bare(context, node) == own
        case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name("get")), args=[cst.Arg(value=key), *_]):
            return f"{context.tree.code(inner)}[{context.tree.code(key)}]" == own
    return False


def _bare(context: Context, node: cst.BaseExpression) -> str:
    return context.tree.code(without_brackets(node))


def _contains(context: Context, node: cst.BaseExpression, path: str) -> bool:
    name = cst.Name if "." not in path else cst.Attribute
    return any(dotted(each) == path for each in context.tree.within(node, name))


def _operands(context: Context, node: cst.BaseExpression, path: str) -> list[cst.BaseExpression] | None:
    """What an operation adds or scales; None if it is another one."""
    match node:
        case cst.BinaryOperation(left=left, operator=cst.Add() | cst.Subtract(), right=right):
            return [left, right]
        case cst.BinaryOperation(left=left, operator=cst.Multiply() | cst.Divide(), right=right):
            return [left if _contains(context, left, path) else right]
        case cst.UnaryOperation(operator=cst.Minus(), expression=inner):
            return [inner]
        case cst.IfExp(body=body, orelse=orelse):
            return [body, orelse]
        case cst.BooleanOperation(left=left, right=right):
            return [left, right]
        case cst.List(elements=elements) | cst.Tuple(elements=elements):
            return [element.value for element in elements]
        case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(name)), args=args):
            is_torch = dotted(inner) == "torch"
            if name in _ADDING:
                given = [arg.value for arg in args if arg.keyword is None]
                return given if is_torch else [inner, *given]
            if name in _SCALING:
                return [arg.value for arg in args[:1]] if is_torch else [inner]
    return None


def _holder(filled: cst.BaseExpression) -> str | None:
    """The path of the tensor that is added to, or of what hands it out: ``meters.tensor("loss").add_(loss)``."""
    match filled:
        case cst.Call(func=cst.Attribute(value=inner)):
            return dotted(owner(inner))
    return dotted(owner(filled))


def _put_in(call: cst.Call) -> Keeping | None:
    """``losses.append(loss)``."""
    match call:
        case cst.Call(func=cst.Attribute(value=filled, attr=cst.Name(name)), args=args) if name in _PUTTING_IN:
            at, path = _PUTTING_IN[name], _holder(filled) if name.endswith("_") else dotted(owner(filled))
            if len(args) != at + 1 or path is None or any(arg.star or arg.keyword is not None for arg in args):
                return None
            if "extend" in name and not isinstance(args[at].value, (cst.List, cst.Tuple)):
                return None
            return Keeping(call, path, tuple(parts_written(args[at].value)))
    return None


# ---------------------------------------------------------------------- how long it lives


def outlives_a_round(context: Context, keeping: Keeping) -> bool:
    """Whether what keeps it is there before a round of the innermost loop, or before the call of the function.

    A loop over a few things that are written out keeps no more than these, so it does not count.
    """
    scope = context.scopes.scope_of(keeping.node)
    loop = next((each for each in flow_of(context, scope).loops(keeping.node) if not _is_written_out(each)), None)
    return context.remember(_outlives, keeping.path, scope, loop)


def _is_written_out(loop: LoopStatement) -> bool:
    """Whether the rounds of a loop stand in the text: ``for net in (a, b)``, also with ``enumerate`` and ``zip``."""
    match loop:
        case cst.For(iter=cst.Tuple() | cst.List() as display):
            displays: list[cst.BaseExpression] = [display]
        case cst.For(iter=cst.Call(func=cst.Name("enumerate" | "zip" | "reversed"), args=args)):
            displays = [arg.value for arg in args]
        case _:
            return False
    return any(
        isinstance(each, (cst.Tuple, cst.List)) and not any(isinstance(e, cst.StarredElement) for e in each.elements)
        for each in displays
    )


def _outlives(context: Context, path: str, scope: Scope, loop: LoopStatement | None) -> bool:
    flow = flow_of(context, scope)
    while path:
        events = flow.bindings(path)
        if any(_is_before(context, event, loop) and not is_made_of_itself(context, event) for event in events):
            return True
        if not all(is_made_of_itself(context, event) for event in events):
            return False
        path = path.rpartition(".")[0]
    return True


def is_made_of_itself(context: Context, event: Event) -> bool:
    """Whether a name is bound to something that is made of what it was bound to."""
    if isinstance(event.node, cst.AugAssign):
        return True
    mentioned = context.tree.names(event.path.partition(".")[0], event.node)
    return len(mentioned) > 1 and any(each.path == event.path for each in event.sources)


def _is_before(context: Context, event: Event, loop: LoopStatement | None) -> bool:
    if isinstance(event.node, cst.Param):
        return True
    return loop is not None and not context.tree.is_inside(event.node, loop)
