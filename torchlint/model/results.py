"""Whether what a function of the project gives requires grad, by what one call hands it.

``y = predict(net, x)``: nothing is known of what ``predict`` gives, but what it gives for this network can be seen.
That is asked where a result is converted, and never becomes part of what the function is said to return.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from torchlint.model.aliasing.calls import bound_to
from torchlint.model.calls_elsewhere import asking
from torchlint.model.certainty import Certainty
from torchlint.model.chosen_by_call import Handed, decided
from torchlint.model.classes import class_of
from torchlint.model.expressions import value_of
from torchlint.model.freezing import is_frozen
from torchlint.model.graphs.flow import flow_of
from torchlint.model.interpret.summary import Trace
from torchlint.model.keyed import LiteralKey, behind, is_used_whole
from torchlint.model.modes import grad_enabled
from torchlint.model.overriding import Overriding, is_replaced, overriding
from torchlint.model.possibilities import Dtype, Kind, Tri
from torchlint.model.proofs import by_backward
from torchlint.model.syntax import decorator_names, parameters
from torchlint.model.values import UNKNOWN, Value, join, tensor
from torchlint.system.records import replace

if TYPE_CHECKING:
    from torchlint.model.context import Context

_PLAIN = frozenset(("staticmethod",))
"""Decorators that give a function what its caller gives."""
_NOTHING: Mapping[str, Value] = {}
_SENT_BACK = tensor(Tri.YES, dtype=Dtype.FLOAT, certainty=Certainty.EXPECTED)
"""What a function calls ``backward()`` on."""


class CallResult(NamedTuple):
    """A call, and which of its results is meant where they are taken apart, or taken out by a literal key."""

    call: cst.Call
    place: LiteralKey | None


def result_requires_grad(context: Context, result: CallResult, attributes: Mapping[str, Value] = _NOTHING) -> Certainty:
    """How certain it is that a result of a call requires grad, by what is seen in the function then.

    ``attributes``: what the object keeps, if it is a method's call and that is known.
    """
    if attributes:
        value = _result(context, result.call, result.place, attributes)
    else:
        value = context.remember(_result, result.call, result.place)
    is_tensor = value is not None and value.kind == Kind.TENSOR and value.grad == Tri.YES
    if value is None or not is_tensor or not value.dtype & Dtype.FLOAT:
        return Certainty.SUPPOSED
    return min(value.certainty, Certainty.EXPECTED)  # a subclass, or whoever patches it, may give something else


def _result(
    context: Context, call: cst.Call, index: LiteralKey | None, attributes: Mapping[str, Value] = _NOTHING
) -> Value | None:
    given = value_of(context, call.func)
    function = given.node
    if not isinstance(function, cst.FunctionDef) or given.choices or grad_enabled(context, call) != Tri.YES:
        return None
    home = context.home(function)
    if not _is_plain(home, function) or any(arg.star for arg in call.args):
        return None
    handed: dict[str, Handed] = {}
    for arg in call.args:
        names = bound_to(function, arg, call, home, context)
        if len(names) != 1:
            return None
        value = _handed(context, arg.value)
        if value.kind & Kind.MODULE and is_frozen(context, arg.value):
            return None
        handed[names[0]] = Handed(value, arg.value)
    owner = function.params.params[0].name.value if attributes and function.params.params else ""
    paths = {f"{owner}.{name}": each for name, each in attributes.items()}
    with asking(home):
        return _seen_in(home, function, handed, paths, index)


def _handed(context: Context, node: cst.BaseExpression) -> Value:
    """What an argument is; where nothing is known of it, what the callers in the file say."""
    value, scope = value_of(context, node), context.scopes.scope_of(node)
    if value.kind != Kind.UNKNOWN or not isinstance(scope, cst.FunctionDef):
        return value
    return context.interpreter.of_callers(context, node, scope) or value


def _is_plain(home: Context, function: cst.FunctionDef) -> bool:
    """Whether what is returned in a function is what a call of it gives."""
    if function.asynchronous is not None or not set(decorator_names(function)) <= _PLAIN:
        return False
    if any(home.scopes.scope_of(each) is function for each in home.tree.within(function.body, cst.Yield)):
        return False
    return not is_replaced(home, function) and (
        class_of(home, function) is None or overriding(home, function) == Overriding()
    )


def _seen_in(
    home: Context,
    function: cst.FunctionDef,
    handed: dict[str, Handed],
    paths: dict[str, Value],
    index: LiteralKey | None,
) -> Value | None:
    """What a function returns that is given this, on all ways."""
    for param in parameters(function):
        if param.name.value not in handed and param.default is not None:
            handed[param.name.value] = Handed(value_of(home, param.default), param.default)
    if not home.budget.allows():
        return None
    starred = {each.name.value for each in parameters(function) if each.star}
    given = {name: each.value for name, each in handed.items() if name not in starred}
    trace = home.interpreter.called_with(home, function, given, paths, decided(home, function, handed))
    returned = list(_returned(home, function, trace, index))
    return reduce(join, returned) if returned else None


def _returned(home: Context, function: cst.FunctionDef, trace: Trace, index: LiteralKey | None) -> Iterator[Value]:
    """What the ``return`` statements give that a call comes to, or what is at one place of the tuples there."""
    for node in home.tree.within(function.body, cst.Return):
        if home.scopes.scope_of(node) is function and id(home.tree.statement(node)) in trace.modes:
            written = node.value
            value = trace.value(written) if written is not None else UNKNOWN
            if isinstance(index, str) and isinstance(written, cst.Name) and is_used_whole(home, written):
                yield UNKNOWN
                continue
            if index is not None:
                value = _behind(value, index)
                written = behind(written, index)
            if isinstance(written, cst.Name) and _may_be_sent_back(value) and by_backward(home, written):
                value = _SENT_BACK
            if value.kind == Kind.TENSOR | Kind.NUMBER and _is_sum(home, function, written):
                value = replace(value, kind=Kind.TENSOR)
            yield value


def _may_be_sent_back(value: Value) -> bool:
    """Whether nothing but a call of ``backward()`` tells that something requires grad."""
    return value.grad == Tri.MAYBE and not value.kind & ~(Kind.TENSOR | Kind.UNKNOWN)


def _behind(value: Value, key: LiteralKey) -> Value:
    """What is behind a key of what is returned, or at one place of it."""
    if isinstance(key, str):
        return value.keys.known.get(key, UNKNOWN) if value.keys is not None and value.is_mapping else UNKNOWN
    return value.items[key] if value.items is not None and 0 <= key < len(value.items) else UNKNOWN


def _is_sum(home: Context, function: cst.FunctionDef, node: cst.BaseExpression | None) -> bool:
    """Whether a name is a number only before something is added to it: ``loss = 0`` in front of a loop."""
    match node:
        case cst.BinaryOperation(left=left, operator=cst.Divide()):
            return _is_sum(home, function, left)
        case cst.Name(value=name):
            bound = [event.node for event in flow_of(home, function).bindings(name)]
            begun = [each for each in bound if not isinstance(each, cst.AugAssign)]
            return len(begun) < len(bound) and all(map(_is_number, begun))
    return False


def _is_number(node: cst.CSTNode) -> bool:
    value = node.value if isinstance(node, cst.Assign) else None
    written = [each.value for each in value.elements] if isinstance(value, cst.Tuple) else [value]
    return all(isinstance(each, (cst.Integer, cst.Float)) for each in written)
