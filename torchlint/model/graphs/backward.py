"""What sends gradients back: ``backward`` in the ways it is written, by functions of the project too."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from torchlint.model.aliasing.calls import bound_to
from torchlint.model.classes import class_of
from torchlint.model.context import Context, at_home
from torchlint.model.expressions import qualified, value_of
from torchlint.model.graphs.flow import Event, Scope, flow_of, nodes_of
from torchlint.model.graphs.mentions import owner
from torchlint.model.graphs.scaled import core
from torchlint.model.imports import imported_path
from torchlint.model.syntax import dotted, keyword, last_name, parameters

_BACKWARD = re.compile(r"(?!\w*forward)(?:\w+_|_*)backward(?:_pass|_step)?")
_TAKING_GRADIENTS = frozenset(("torch.autograd.grad", "torch.autograd.backward"))
_KEEPING = ("retain_graph", "create_graph", "retain_variables")
"""Arguments that ask for the graph to be kept."""
_LIBRARIES = ("torch.", "numpy.", "math.")
_FAR = 3
"""How many functions of the project to follow what they are given into."""
_NEAR = 12
"""How many places before and behind another one are looked at."""


@dataclass(frozen=True)
class Sending:
    """A place where gradients are sent back, or are by who calls the function."""

    node: cst.CSTNode
    """The call; the ``return`` of a function whose result is sent back by a trainer."""
    given: tuple[cst.BaseExpression, ...]
    """What is sent back: one of these, and what that is made of."""
    frees: bool
    """Whether the graph is gone afterwards."""
    results: tuple[cst.BaseExpression, ...] = ()
    """What is bound to what the call gives, or the call itself, if that has been sent back in the function."""
    is_whole: bool = False
    """Whether gradients go to all that it is made of, not only to what is asked for."""
    is_known: bool = True
    """Whether it is known what is called, on more than its name."""


def sendings(context: Context, scope: Scope) -> list[Sending]:
    """The places in a scope itself where gradients are sent back."""
    return context.remember(_sendings, scope, _FAR)


def _sendings(context: Context, scope: Scope, far: int) -> list[Sending]:
    called = (_sending(context, call, far) for call in nodes_of(context, scope, cst.Call))
    found = [*_returned(context, scope), *(each for each in called if each is not None)]
    return sorted(found, key=lambda each: context.tree.order(each.node))


def sendings_near(context: Context, node: cst.CSTNode) -> list[Sending]:
    """Those of the scope of a node that are written next to it, before and behind."""
    found = sendings(context, context.scopes.scope_of(node))
    at = bisect_left(found, context.tree.order(node), key=lambda each: context.tree.order(each.node))
    return found[max(0, at - _NEAR) : at + _NEAR]


def _returned(context: Context, scope: Scope) -> Iterator[Sending]:
    """What callers send back: results of Lightning's ``training_step`` and of the ``compute_loss`` of a trainer."""
    if not isinstance(scope, cst.FunctionDef) or scope.name.value not in ("training_step", "compute_loss"):
        return
    cls = class_of(context, scope)
    if cls is None or (
        scope.name.value == "compute_loss" and not any("Trainer" in last_name(b.value) for b in cls.bases)
    ):
        return
    for node in nodes_of(context, scope, cst.Return):
        if node.value is not None:
            yield Sending(node, (node.value,), frees=True, is_whole=True)


def _sending(context: Context, call: cst.Call, far: int) -> Sending | None:
    name, imported = last_name(call.func), imported_path(context, call.func) or ""
    is_named = _BACKWARD.fullmatch(name) is not None or name == "grad" or imported in _TAKING_GRADIENTS
    if not is_named and (not far or imported.startswith(_LIBRARIES)):
        return None  # nothing has to be interpreted to know that
    function = value_of(context, call.func).node
    if isinstance(function, cst.FunctionDef):
        if not far:
            return None
        results = _targets(context, call) if returns_sent(context, function, far - 1) else ()
        inside = sent_back(context, function, far - 1)
        home = context.home(function)
        given = [
            (arg.value, inside[param])
            for arg in (call.args if inside else ())
            for param in bound_to(function, arg, call, home, context)
            if param in inside
        ]
        is_sent = given or results
        frees = all(frees for _, frees in given)
        return Sending(call, tuple(each for each, _ in given), frees, results) if is_sent else None
    if _BACKWARD.fullmatch(name) is None and qualified(context, call.func) not in _TAKING_GRADIENTS:
        return None
    own = (call.func.value,) if isinstance(call.func, cst.Attribute) else ()
    given_here = tuple(arg.value for arg in call.args if arg.keyword is None or arg.keyword.value not in _KEEPING)
    is_whole = name != "grad" and imported != "torch.autograd.grad" and keyword(call.args, "inputs") is None
    is_known = bool(imported) or not (isinstance(call.func, cst.Name) or context.remember(_may_retain, name))
    return Sending(call, (*own, *given_here), _frees(call), is_whole=is_whole, is_known=is_known)


def _may_retain(context: Context, name: str) -> bool:
    """Whether a function of the file that is called so asks for the graph to be kept."""
    asked = [node for each in _KEEPING for node in context.tree.names(each)]
    return any(
        function.name.value == name and any(context.tree.is_inside(node, function) for node in asked)
        for function in (context.tree.all(cst.FunctionDef) if asked else ())
    )


def _frees(call: cst.Call) -> bool:
    asked = [arg.value for name in _KEEPING if (arg := keyword(call.args, name)) is not None]
    is_positional = isinstance(call.func, cst.Attribute) and sum(arg.keyword is None for arg in call.args) > 1
    return not is_positional and all(isinstance(value, cst.Name) and value.value == "False" for value in asked)


def _targets(context: Context, call: cst.Call) -> tuple[cst.BaseExpression, ...]:
    """What the result of a call is bound to; that itself where it is bound to nothing."""
    assign = context.tree.parent(call)
    return tuple(each.target for each in assign.targets) if isinstance(assign, cst.Assign) else (call,)


@at_home
def returns_sent(context: Context, function: cst.FunctionDef, far: int) -> bool:
    """Whether a function returns what it has sent back: ``loss.backward(); return loss``."""
    return context.remember(_returns_sent, function, far)


def _returns_sent(context: Context, function: cst.FunctionDef, far: int) -> bool:
    sendings_ = context.remember(_sendings, function, far)
    sent = [each for each in sendings_ if each.frees and isinstance(each.node, cst.Call)]
    if not sent:
        return False
    flow = flow_of(context, function)
    own = {id(event) for each in sent for event in reached(context, each) if not isinstance(event.node, cst.Param)}
    for node in nodes_of(context, function, cst.Return):
        if node.value is not None:
            value = core(context, node.value)
            if dotted(value) is not None and any(id(event) in own for event in flow.reaching(value)):
                return True
    return False


@at_home
def sent_back(context: Context, function: cst.FunctionDef, far: int = _FAR) -> dict[str, bool]:
    """The parameters that a function sends back, or what is made of them; each with whether its graph is freed."""
    return context.remember(_sent_back, function, far)


def _sent_back(context: Context, function: cst.FunctionDef, far: int) -> dict[str, bool]:
    sent = context.remember(_sendings, function, far)
    if not sent:
        return {}
    found: dict[str, bool] = {}
    for each in sent:
        for event in _passed_on(context, each):
            if isinstance(event.node, cst.Param):
                found[event.path] = found.get(event.path, False) or each.frees
    own = [param.name.value for param in parameters(function)][:1] if class_of(context, function) is not None else []
    return {name: frees for name, frees in found.items() if name not in own}


def statements_sent_back(context: Context, scope: Scope) -> frozenset[int]:
    """The statements of a scope, by identity, whose results are sent back there, or that are summed to what is."""
    return context.remember(_statements_sent_back, scope)


def _statements_sent_back(context: Context, scope: Scope) -> frozenset[int]:
    sent = sendings(context, scope)
    nodes = (event.node for each in sent for event in _passed_on(context, each))
    return frozenset(id(context.tree.statement(node)) for node in (*nodes, *(each.node for each in sent)))


def _passed_on(context: Context, sending: Sending) -> Iterator[Event]:
    """What is sent back as it is, or scaled: not what only goes into it, as a batch goes into a loss."""
    flow = flow_of(context, context.scopes.scope_of(sending.node))
    waiting, asked = [core(context, each) for each in sending.given], set[int]()
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, cst.BinaryOperation):
            waiting += [core(context, side) for side in (inner.left, inner.right)]
        elif dotted(owner(inner)) is not None:
            for event in flow.reaching(inner):
                if id(event) not in asked:
                    asked.add(id(event))
                    yield event
                    waiting += [core(context, event.node.value)] if isinstance(event.node, cst.Assign) else []


def reached(context: Context, sending: Sending) -> list[Event]:
    """What the names in that which is sent back are bound to."""
    flow = flow_of(context, context.scopes.scope_of(sending.node))
    assign = context.tree.parent(sending.node) if sending.results else None
    bound = flow.events_at(assign) if isinstance(assign, cst.Assign) else []
    return [*bound, *(event for each in sending.given for event in flow.reaching(each))]
