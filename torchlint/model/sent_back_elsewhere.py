"""Whether callers send gradients back from what a function returns: ``loss = step(x)``, then ``loss.backward()``.

That proves it of the function's own values: of what is returned, and of all that is computed of the same on the way.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from torchlint.model.autograd import backpropagated, backward_calls
from torchlint.model.calls_elsewhere import CallSite, asking, call_sites
from torchlint.model.chosen_by_call import comes_to
from torchlint.model.expressions import value_of
from torchlint.model.keyed import LiteralKey
from torchlint.model.modes import grad_enabled
from torchlint.model.possibilities import Dtype, Kind, Tri
from torchlint.model.proofs import brought_by, is_sent_back, path_of
from torchlint.model.recording import goes_with
from torchlint.model.recording_elsewhere import handed_by
from torchlint.model.running import is_switched_off
from torchlint.model.syntax import decorator_names, dotted, literal_key

if TYPE_CHECKING:
    from torchlint.model.context import Context

_PLAIN = frozenset(("staticmethod", "classmethod"))
"""Decorators that give a function what its caller gives, and its caller what it returns."""
_MOST = 8
"""How many calls of a function are looked at."""


class _Returned(NamedTuple):
    """A name that is returned, and where among the results."""

    statement: cst.Return
    name: cst.Name
    place: LiteralKey | None


def sent_back_by_caller(context: Context, node: cst.BaseExpression, at: cst.CSTNode) -> CallSite | None:
    """A call whose result is sent back, so that an expression in the function requires grad, where ``at`` is run."""
    function, value = context.scopes.scope_of(at), value_of(context, node)
    if not isinstance(function, cst.FunctionDef) or context.scopes.scope_of(node) is not function:
        return None
    is_open = value.kind & (Kind.TENSOR | Kind.UNKNOWN) and not value.kind & ~(Kind.TENSOR | Kind.UNKNOWN)
    if value.grad == Tri.NO or not is_open or not value.dtype & Dtype.FLOAT or grad_enabled(context, at) != Tri.YES:
        return None
    if context.tree.enclosing(at, cst.Try, cst.FunctionDef) is not function:
        return None
    returned = [each for each in context.remember(_returned, function) if goes_with(context, each.statement, at)]
    brought = brought_by(context, node, {each.name.value for each in returned}) if returned else frozenset()
    for each in returned:
        if brought_by(context, each.name, {each.name.value}) <= brought:
            for site in context.remember(_sent_back, function, each.place):
                handed = handed_by(context, function, site)
                if handed is not None and comes_to(context, function, at, handed):
                    return site
    return None


def _returned(context: Context, function: cst.FunctionDef) -> list[_Returned]:
    """The names that a function returns by its only ``return``, each by its place."""
    if function.asynchronous is not None or not set(decorator_names(function)) <= _PLAIN:
        return []
    own = [each for each in context.tree.within(function.body, cst.Return) if context.scopes.scope_of(each) is function]
    given = [each for each in own if each.value is not None]
    if len(given) != 1 or any(True for _ in context.tree.within(function.body, cst.Yield)):
        return []
    [statement] = given
    return [
        _Returned(statement, value, place) for place, value in _places(statement.value) if isinstance(value, cst.Name)
    ]


def _places(value: cst.BaseExpression | None) -> Iterator[tuple[LiteralKey | None, cst.BaseExpression]]:
    match value:
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            if not any(isinstance(each, cst.StarredElement) for each in elements):
                yield from ((place, each.value) for place, each in enumerate(elements))
        case cst.Dict(elements=entries):
            for entry in entries:
                if isinstance(entry, cst.DictElement) and (key := literal_key(entry.key)) is not None:
                    yield key, entry.value
        case cst.BaseExpression():
            yield None, value


def _sent_back(context: Context, function: cst.FunctionDef, place: LiteralKey | None) -> list[CallSite]:
    """The calls of a function from whose result, or one of them, gradients are sent back."""
    found = []
    for site in call_sites(context, function, needs_arguments=False)[:_MOST]:
        with asking(site.context):
            if not is_switched_off(site.context, site.call) and _is_sent_back(site.context, site.call, place):
                found.append(site)
    return found


def _is_sent_back(caller: Context, call: cst.Call, place: LiteralKey | None) -> bool:
    """Whether gradients are sent back from what a call gives, under the name that it is given."""
    scope = caller.scopes.scope_of(call)
    if not backward_calls(caller, scope) or grad_enabled(caller, call) != Tri.YES:
        return False
    up = caller.tree.parent(call)
    if place is None and any(backpropagated(each) is call for each in backward_calls(caller, scope)):
        return True
    if not isinstance(up, cst.Assign) or len(up.targets) != 1:
        return False
    match up.targets[0].target:
        case cst.Tuple(elements=elements) | cst.List(elements=elements) if isinstance(place, int):
            target = elements[place].value if place < len(elements) else None
        case cst.Name() | cst.Attribute() as target if place is None:
            pass
        case _:
            return False
    path = path_of(target) if isinstance(target, (cst.Name, cst.Attribute)) else None
    return path is not None and dotted(up.value) is None and is_sent_back(caller, path, up)
