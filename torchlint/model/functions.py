"""What calling a function of the project gives, from what its interpretation has left behind."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.annotations import annotation, annotation_text, comments_of, construct
from torchlint.model.certainty import Certainty
from torchlint.model.classes import class_of, find_method
from torchlint.model.context import Context, at_home
from torchlint.model.decorators import returns_as_it_is
from torchlint.model.doubts import CALLED, doubted
from torchlint.model.handed_on import chosen_and_handed_on, hands_on
from torchlint.model.interpret.learning import resolve
from torchlint.model.interpreted import interpreted, trace_of
from torchlint.model.lineage import lineages
from torchlint.model.made_of_given import is_made_of_given
from torchlint.model.overriding import is_replaced, overriding
from torchlint.model.possibilities import Dtype, Kind, Role, Tri
from torchlint.model.same_dimensions import keeps_dimensions
from torchlint.model.symbols import Origin, Symbol
from torchlint.model.syntax import decorator_names, is_stub, is_target, last_name, parameters
from torchlint.model.torch.distributions import is_distribution, without_graph
from torchlint.model.values import NONE, UNKNOWN, Argument, Value, changed, join, unknown
from torchlint.system.records import replace
from torchlint.system.stack import deeper

if TYPE_CHECKING:
    from torchlint.model.interpret.frame import Frame


@at_home
def assigns(context: Context, function: cst.FunctionDef, name: str) -> frozenset[str]:
    """The attributes of a parameter that a function assigns, by methods of the same class too."""
    answers, key = context.memo.table(assigns), (id(function), name)
    known = answers.get(key)
    if known is None:
        found: set[str] = set()
        _find_assigned(context, function, name, found, set())
        known = frozenset(found)
        cls = class_of(context, function)
        lineage = lineages(context).known(cls) if cls is not None else None
        if cls is None or (lineage is not None and lineage.is_final):
            answers[key] = known
    return known


@at_home
def _find_assigned(context: Context, function: cst.FunctionDef, name: str, found: set[str], seen: set[int]) -> None:
    seen.add(id(function))
    known = context.memo.table(assigns).get((id(function), name))
    if known is not None:  # of methods that all call each other only the first one is followed to the end
        found |= known
        return
    assigned, mentioned = context.remember(_attributes_of, function, name)
    found |= assigned
    cls = class_of(context, function)
    if cls is None:
        return
    for method in (find_method(context, cls, attribute) for attribute in mentioned):
        if method is not None and id(method) not in seen and (params := parameters(method)):
            deeper(partial(_find_assigned, context, method, params[0].name.value, found, seen))


def _attributes_of(context: Context, function: cst.FunctionDef, name: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """The attributes of a parameter that a function assigns itself, and the others it mentions."""
    nodes = context.tree.within(function.body, cst.Attribute)
    own = [node for node in nodes if isinstance(node.value, cst.Name) and node.value.value == name]
    assigned = frozenset(node.attr.value for node in own if is_target(context.tree, node))
    return assigned, tuple(dict.fromkeys(node.attr.value for node in own if not is_target(context.tree, node)))


@at_home
def call_function(  # noqa: PLR0917
    context: Context,
    function: cst.FunctionDef,
    receiver: Value | None,
    node: cst.CSTNode,
    arguments: Sequence[Argument],
    frame: Frame,
) -> Value:
    """The value of calling a function of the project, from its summary."""
    value = _given_back(context, function, receiver, node, arguments, frame)
    if value.kind & (Kind.TENSOR | Kind.CONTAINER | CALLED):
        if is_replaced(context, function) or not returns_as_it_is(context, function):
            value = doubted(value)
        elif receiver is not None and not receiver.is_exact and not _is_of_class_itself(receiver, node):
            value = _or_overridden(context, function, value, receiver, node, arguments, frame)
    if frame.grad != Tri.YES:
        without = _without_grad(value)
        value = without if frame.grad == Tri.NO else join(value, without)
    return resolve(frame, value)


def _is_of_class_itself(receiver: Value, node: cst.CSTNode) -> bool:
    """Whether a function is called of a class by its name, and not of one that may derive from it: ``cls.zeros(2)``."""
    if not receiver.kind & Kind.FUNCTION:
        return False
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
        return True
    return isinstance(receiver.node, cst.ClassDef) and last_name(node.func.value) == receiver.node.name.value


def _or_overridden(  # noqa: PLR0917
    context: Context,
    function: cst.FunctionDef,
    value: Value,
    receiver: Value,
    node: cst.CSTNode,
    arguments: Sequence[Argument],
    frame: Frame,
) -> Value:
    """What a method gives, or those that override it in the classes that an object may be of."""
    others = overriding(context, function)
    if others.has_more:
        return doubted(value)
    for home, cls, method in others.methods:
        owner = replace(receiver, node=cls, ref=None)
        other = _given_back(home, method, owner, node, arguments, frame)
        is_known = other.kind != Kind.UNKNOWN and returns_as_it_is(home, method)
        value = join(value, other if is_known else doubted(value))
    return value


@at_home
def _given_back(  # noqa: PLR0917
    context: Context,
    function: cst.FunctionDef,
    receiver: Value | None,
    node: cst.CSTNode,
    arguments: Sequence[Argument],
    frame: Frame,
) -> Value:
    """What a function returns, with nothing in its place."""
    result = interpreted(context, function, _inheriting(context, function, receiver))
    if result is None:
        return unknown(Symbol(Origin.CALL, id(node)))
    if result.returns is not None:
        given = bind(context, function, receiver, arguments)
        value = _substitute(result.returns, id(function), given, Symbol(Origin.CALL, id(node)))
        value = _with_dimensions_of(context, function, _with_graph_of(context, function, value, given), given)
        value = _without_graph_like(context, function, value, given)
    elif is_stub(function) and class_of(context, function) is not None:
        value = unknown(Symbol(Origin.CALL, id(node)))
    else:
        return NONE
    if function.returns is not None and value.kind & Kind.UNKNOWN:
        return _declared(context, function.returns.annotation, value, receiver, frame)
    if value.kind & Kind.UNKNOWN and (text := comments_of(context, function).get("return")) is not None:
        return annotation_text(context, text, frame) or value
    return value


@at_home
def may_give_without_graph(context: Context, function: cst.FunctionDef) -> bool:
    """Whether one of the results of a function is a tensor that has no graph, as what is made under ``no_grad`` has.

    So is what a result is made of where a condition chooses that: ``codes = soft(x) if self.training else hard(x)``.
    """
    trace = trace_of(context, function)
    returned = (each.value for each in context.tree.within(function.body, cst.Return) if each.value is not None)
    values = [trace.value(each) for each in returned if context.scopes.scope_of(each) is function]
    return any(map(_has_no_graph, values)) or any(
        _has_no_graph(trace.value(one)) != _has_no_graph(trace.value(other))
        for one, other in chosen_and_handed_on(context, function)
    )


def _has_no_graph(value: Value) -> bool:
    return value.kind == Kind.TENSOR and value.grad == Tri.NO and bool(value.dtype & Dtype.FLOAT)


def _inheriting(context: Context, function: cst.FunctionDef, receiver: Value | None) -> cst.ClassDef | None:
    """The class of an object whose method is inherited from another one."""
    decorators = decorator_names(function)
    if receiver is None or not isinstance(receiver.node, cst.ClassDef) or "staticmethod" in decorators:
        return None
    if receiver.kind & Kind.FUNCTION and "classmethod" not in decorators:
        return None
    return receiver.node if receiver.node is not class_of(context, function) else None


def _declared(context: Context, node: cst.BaseExpression, value: Value, receiver: Value | None, frame: Frame) -> Value:
    """What a function returns, where a part of that is not known and an annotation tells."""
    if receiver is not None and last_name(node) == "Self":
        return construct(context, receiver.node) if isinstance(receiver.node, cst.ClassDef) else receiver
    declared = annotation(context, node, frame)
    if declared is None:
        return value
    if value.kind & ~Kind.UNKNOWN & ~declared.kind:
        return value
    if value.kind & declared.kind & Kind.TENSOR:
        return replace(value, kind=declared.kind, symbols=())
    return declared


def bind(
    context: Context, function: cst.FunctionDef, receiver: Value | None, arguments: Sequence[Argument]
) -> dict[str, Value]:
    """The parameters of a function with what a call gives them."""
    names = [p.name.value for p in parameters(function) if p.star not in ("*", "**")]
    given: dict[str, Value] = {}
    decorators = decorator_names(function)
    is_bound = receiver is None or not receiver.kind & Kind.FUNCTION or "classmethod" in decorators
    if is_bound and class_of(context, function) is not None and "staticmethod" not in decorators and names:
        given[names[0]] = receiver or UNKNOWN
        names = names[1:]
    positional = [a for a in arguments if a.keyword is None]
    for name, argument in zip(names, positional, strict=False):
        if argument.star:
            break
        given[name] = argument.value
    given.update({a.keyword: a.value for a in arguments if a.keyword is not None})
    return given


def _substitute(value: Value, function: int, given: dict[str, Value], fresh: Symbol) -> Value:
    """A returned value as the caller sees it: parameters that are passed through are the caller's arguments."""
    number = itertools.count()
    value = changed(value, lambda part: _substitute(part, function, given, fresh.part(next(number))))
    if not value.symbols:
        return replace(value, symbols=(fresh,)) if value.kind == Kind.UNKNOWN else value
    passed = [s for s in value.symbols if s.origin is Origin.PARAMETER and s.node == function]
    if len(passed) == len(value.symbols) == 1:
        argument = given.get(str(passed[0].name))
        if argument is not None:
            if argument.kind == Kind.UNKNOWN and value.kind & Kind.TENSOR:
                return replace(value, symbols=argument.symbols)
            return argument
    return replace(value, symbols=(fresh,) if value.kind & Kind.UNKNOWN else ())


def _with_graph_of(context: Context, function: cst.FunctionDef, value: Value, given: dict[str, Value]) -> Value:
    """A returned tensor as one that requires grad where an argument does that it is made of."""
    if value.kind != Kind.TENSOR or value.grad != Tri.MAYBE or not value.dtype & Dtype.FLOAT:
        return value
    known = [(name, each.certainty) for name, each in given.items() if each.kind & Kind.TENSOR and each.grad == Tri.YES]
    if not any(certainty and hands_on(context, function, name) for name, certainty in known):
        return value
    return replace(value, grad=Tri.YES, certainty=Certainty.EXPECTED, leaf=Tri.NO)


def _without_graph_like(context: Context, function: cst.FunctionDef, value: Value, given: dict[str, Value]) -> Value:
    """A returned tensor without a graph where no argument has one, and it is made of nothing else."""
    if value.kind != Kind.TENSOR or value.grad != Tri.MAYBE or value.role != Role.PLAIN:
        return value
    tensors = [each for each in given.values() if each.kind & (Kind.TENSOR | Kind.UNKNOWN)]
    if not tensors or any(each.kind & ~_SIMPLE for each in given.values()):
        return value
    if any(each.grad != Tri.NO or each.is_parameter for each in tensors) or not is_made_of_given(context, function):
        return value
    return replace(value, grad=Tri.NO, evidence=tensors[0].evidence or value.evidence)


_SIMPLE = Kind.TENSOR | Kind.UNKNOWN | Kind.NUMBER | Kind.STRING | Kind.NONE
"""What holds no other tensors."""


def _with_dimensions_of(context: Context, function: cst.FunctionDef, value: Value, given: dict[str, Value]) -> Value:
    """A returned tensor with the dimensions of an argument, where the function leaves them as they are."""
    if value.kind != Kind.TENSOR or not any(each.kind & Kind.TENSOR for each in given.values()):
        return value
    name = keeps_dimensions(context, function)
    argument = given.get(name) if name is not None else None
    if argument is None or argument.kind & ~_PERHAPS or not argument.kind & Kind.TENSOR:
        return value
    return replace(value, ndim=value.ndim & argument.ndim or value.ndim)


_PERHAPS = Kind.TENSOR | Kind.UNKNOWN
"""A tensor, or what is none and comes out of no method that leaves dimensions as they are."""


def _without_grad(value: Value) -> Value:
    value = changed(value, _without_grad)
    if value.grad == Tri.YES and value.leaf == Tri.YES:  # what was one before stays one
        return value
    if value.kind & Kind.TENSOR and value.role == Role.PLAIN:
        return replace(value, grad=Tri.NO)
    if is_distribution(value):
        return without_graph(value, _without_grad)
    return value
