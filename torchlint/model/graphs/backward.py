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
from torchlint.model.graphs.flow import MANY, Event, Flow, Scope, flow_of, nodes_of, upstream
from torchlint.model.graphs.mentions import owner
from torchlint.model.graphs.parts import parts_of
from torchlint.model.graphs.relatives import relatives
from torchlint.model.graphs.scaled import core
from torchlint.model.imports import imported_path
from torchlint.model.syntax import dotted, keyword, last_name, parameters

_BACKWARD = re.compile(r"(?!\w*forward)(?:\w+_|_*)backward(?:_pass|_step)?")
_TRAINING = re.compile(r"_?(?:(?:train|optimi[sz]er?|update)_step|train|optimi[sz]e|update|backprop|step)")
_OPTIMIZER = re.compile(r"(?:\w+_)?opt(?:im(?:i[sz]er)?)?s?$")
"""What calls are called that train with a loss and an optimizer which they are given."""
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
    related: tuple[cst.BaseExpression, ...] = ()
    """The same of what the call gives that shares a graph with what has been sent back in the function."""
    holding: tuple[cst.BaseExpression, ...] = ()
    """Those of ``related`` that are dictionaries or lists with something that has been sent back itself."""
    places: frozenset[int] = frozenset()
    """Where in a tuple that the call gives, and that is bound as it is, there is what has been sent back itself."""
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
        returned = returned_by(context, function, far - 1)
        results, related = _bound_to_results(context, call, returned)
        holding = tuple(each for place, each in _results_of(context, call) if place in returned.holding)
        inside = sent_back(context, function, far - 1)
        home = context.home(function)
        given = [
            (arg.value, inside[param])
            for arg in (call.args if inside else ())
            for param in bound_to(function, arg, call, home, context)
            if param in inside
        ]
        is_sent = given or results or related
        frees = all(frees for _, frees in given)
        sent = tuple(each for each, _ in given)
        return Sending(call, sent, frees, results, related, holding, returned.places) if is_sent else None
    if _BACKWARD.fullmatch(name) is None and qualified(context, call.func) not in _TAKING_GRADIENTS:
        return _given_with_optimizer(call)
    own = (call.func.value,) if isinstance(call.func, cst.Attribute) else ()
    given_here = tuple(arg.value for arg in call.args if arg.keyword is None or arg.keyword.value not in _KEEPING)
    is_whole = name != "grad" and imported != "torch.autograd.grad" and keyword(call.args, "inputs") is None
    is_known = bool(imported) or not (isinstance(call.func, cst.Name) or context.remember(_may_retain, name))
    return Sending(call, (*own, *given_here), _frees(call), is_whole=is_whole, is_known=is_known)


def _given_with_optimizer(call: cst.Call) -> Sending | None:
    """``net.train_step(loss, optimizer)``: who trains and is given both sends the loss back, wherever that is."""
    names = [last_name(arg.value) for arg in call.args]
    if _TRAINING.fullmatch(last_name(call.func)) is None or not any(map(_OPTIMIZER.match, names)):
        return None
    is_loss = (name == "loss" or name.endswith("_loss") for name in names)
    given = tuple(arg.value for arg, is_given in zip(call.args, is_loss, strict=True) if is_given)
    return Sending(call, given, frees=True, is_known=False) if given else None


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


@dataclass(frozen=True)
class Returned:
    """Which results of a function have been sent back in it: by their index in a tuple, None for all that it gives."""

    sent: frozenset[int | None] = frozenset()
    related: frozenset[int | None] = frozenset()
    """Those that share a graph with what has been sent back."""
    holding: frozenset[int | None] = frozenset()
    """Those of them that are put together in the function, of what has been sent back itself."""
    places: frozenset[int] = frozenset()
    """Where in a tuple that it gives as it is there is what has been sent back: ``losses[1].backward()``."""


_Targets = tuple[cst.BaseExpression, ...]


def _bound_to_results(context: Context, call: cst.Call, returned: Returned) -> tuple[_Targets, _Targets]:
    """What is bound to the results of a call that have been sent back, and to those that share a graph with them."""
    bound = _results_of(context, call)
    if all(place is None for place, _ in bound):
        whole = tuple(each for _, each in bound)
        is_related = bool(returned.related or returned.sent)
        return (whole, ()) if None in returned.sent else ((), whole) if is_related else ((), ())
    has_all = None in returned.related | returned.sent and isinstance(context.tree.parent(call), cst.Assign)
    sent = tuple(each for place, each in bound if place in returned.sent | returned.places)
    return sent, tuple(each for place, each in bound if has_all or place in returned.related)


def _results_of(context: Context, call: cst.Call) -> list[tuple[int | None, cst.BaseExpression]]:
    """What is bound to the results of a call, or the call itself; with its index where these are taken apart."""
    up = context.tree.parent(call)
    match up:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Tuple(elements=elements) | cst.List(elements=elements))]):
            is_starred = any(isinstance(each, cst.StarredElement) for each in elements)
            return [] if is_starred else [(index, each.value) for index, each in enumerate(elements)]
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Integer(value=written)))]):
            return [(int(written, 0), up)]
        case cst.Assign(targets=targets):
            return [(None, each.target) for each in targets]
    return [(None, call)]


@at_home
def returned_by(context: Context, function: cst.FunctionDef, far: int) -> Returned:
    """Which results of a function it has sent back: ``loss.backward(); return loss``, or share a graph with that."""
    return context.remember(_returned_by, function, far)


def _returned_by(context: Context, function: cst.FunctionDef, far: int) -> Returned:
    sendings_ = context.remember(_sendings, function, far)
    calls = [each for each in sendings_ if each.frees and isinstance(each.node, cst.Call)]
    if not calls:
        return Returned()
    flow = flow_of(context, function)
    own, shared = set[int](), set[int]()
    for each in calls:
        given = [event for event in reached(context, each) if not isinstance(event.node, cst.Param)]
        own.update(map(id, given))
        shared.update(relatives(context, flow, upstream(given, MANY), each.node, related_results(context, each)))
    sent, related, holding = set[int | None](), set[int | None](), set[int | None]()
    for node in nodes_of(context, function, cst.Return):
        for place, value in _results(node):
            inner = core(context, value)
            if dotted(inner) is not None and not own.isdisjoint(map(id, flow.reaching(inner))):
                sent.add(place)
            elif any(not (own | shared).isdisjoint(map(id, flow.reaching(each))) for each in _held(context, value)):
                related.add(place)
                if any(not own.isdisjoint(map(id, flow.reaching(each))) for each in _put_into(context, flow, value)):
                    holding.add(place)
    return Returned(frozenset(sent), frozenset(related), frozenset(holding), _places_sent(context, function, calls))


def _places_sent(context: Context, function: cst.FunctionDef, calls: list[Sending]) -> frozenset[int]:
    """Where in the tuple that a function gives, whichever way it ends, there is what it has sent back."""
    flow = flow_of(context, function)
    taken = [found for each in calls for given in each.given if (found := taken_out(context, core(context, given)))]
    if not taken:
        return frozenset()
    given = [core(context, node.value) for node in nodes_of(context, function, cst.Return) if node.value is not None]
    places = [
        frozenset(place for whole, place in taken if is_same_thing(flow, whole, each))
        for each in given
        if dotted(each) is not None
    ]
    return frozenset.intersection(*places) if places and len(places) == len(given) else frozenset()


def taken_out(context: Context, node: cst.BaseExpression) -> tuple[cst.BaseExpression, int] | None:
    """What an element is taken out of and at which index, by that or by the name that a named tuple has for it."""
    match node:
        case cst.Subscript(
            value=whole, slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Integer(value=written)))]
        ):
            return whole, int(written, 0)
        case cst.Attribute(value=whole, attr=cst.Name(name)):
            keys = value_of(context, whole).keys
            if keys is not None and keys.each is None and name in keys.known:
                return whole, list(keys.known).index(name)
    return None


def is_same_thing(flow: Flow, first: cst.BaseExpression, second: cst.BaseExpression) -> bool:
    """Whether two names or paths are written alike and may only be bound to the same."""
    path = dotted(first)
    return path is not None and path == dotted(second) and _bound_here(flow, first) == _bound_here(flow, second)


def _bound_here(flow: Flow, node: cst.BaseExpression) -> set[int]:
    return {id(event) for event in flow.reaching(node)}


def _put_into(context: Context, flow: Flow, value: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """The names and paths of which something is put together."""
    parts = (core(context, part.value) for part in parts_of(context, flow, value))
    return (each for each in parts if dotted(each) is not None)


def _results(node: cst.Return) -> Iterator[tuple[int | None, cst.BaseExpression]]:
    """What is returned, each with its index in a tuple."""
    if isinstance(node.value, cst.Tuple):
        yield from ((index, each.value) for index, each in enumerate(node.value.elements))
    elif node.value is not None:
        yield None, node.value


def _held(context: Context, value: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """The names, paths and elements that something returned is, or holds where it is written out."""
    waiting = [value]
    while waiting:
        inner = core(context, waiting.pop())
        match inner:
            case cst.Dict(elements=entries):
                waiting += [entry.value for entry in entries]
            case cst.Tuple(elements=elements) | cst.List(elements=elements):
                waiting += [element.value for element in elements]
            case _ if dotted(owner(inner)) is not None:
                yield inner


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
        for event in passed_on(context, each):
            if isinstance(event.node, cst.Param):
                found[event.path] = found.get(event.path, False) or each.frees
    own = [param.name.value for param in parameters(function)][:1] if class_of(context, function) is not None else []
    return {name: frees for name, frees in found.items() if name not in own}


def statements_sent_back(context: Context, scope: Scope) -> frozenset[int]:
    """The statements of a scope, by identity, whose results are sent back there, or that are summed to what is."""
    return context.remember(_statements_sent_back, scope)


def _statements_sent_back(context: Context, scope: Scope) -> frozenset[int]:
    sent = sendings(context, scope)
    nodes = (event.node for each in sent for event in passed_on(context, each))
    return frozenset(id(context.tree.statement(node)) for node in (*nodes, *(each.node for each in sent)))


def passed_on(context: Context, sending: Sending) -> Iterator[Event]:
    """What is sent back as it is, or scaled: not what only goes into it, as a batch goes into a loss."""
    flow = flow_of(context, context.scopes.scope_of(sending.node))
    waiting, asked = [core(context, each) for each in sending.given], set[int]()
    while waiting:
        inner = waiting.pop()
        match inner:
            case cst.BinaryOperation(left=left, right=right):
                waiting += [core(context, left), core(context, right)]
            case cst.Call(func=cst.Attribute(attr=cst.Name("scale")), args=[cst.Arg(value=scaled, star="")]):
                waiting.append(core(context, scaled))  # a scaler's
            case _ if dotted(owner(inner)) is not None:
                for event in flow.reaching(inner):
                    if id(event) not in asked:
                        asked.add(id(event))
                        yield event
                        waiting += [core(context, event.node.value)] if isinstance(event.node, cst.Assign) else []


def reached(context: Context, sending: Sending) -> list[Event]:
    """What the names in that which is sent back are bound to."""
    flow = flow_of(context, context.scopes.scope_of(sending.node))
    return [
        *_bound(context, sending, sending.results),
        *(event for each in sending.given for event in flow.reaching(each)),
    ]


def related_results(context: Context, sending: Sending) -> list[Event]:
    """What is bound to results of a call that share a graph with what has been sent back in the function."""
    return _bound(context, sending, sending.related)


def _bound(context: Context, sending: Sending, targets: _Targets) -> list[Event]:
    if not targets:
        return []
    flow = flow_of(context, context.scopes.scope_of(sending.node))
    up = context.tree.parent(sending.node)
    if isinstance(up, cst.Assign):
        paths = {dotted(owner(each)) for each in targets}
        return [event for event in flow.events_at(up) if event.path in paths]
    loop = context.tree.enclosing(sending.node, cst.For)
    is_iterated = isinstance(loop, cst.For) and context.tree.is_inside(sending.node, loop.iter)
    return flow.events_at(loop) if is_iterated and loop is not None else []
