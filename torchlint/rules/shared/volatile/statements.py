"""How `volatile=True` spread through a scope: what is computed with volatile values, and what without.

Whatever a volatile tensor took part in had no graph and was volatile itself, until `.data` was read. All else kept its
graph. So of each statement two things are asked: does it compute with a volatile value anything that would be recorded
today, and does it compute anything else of which the graph may be wanted?
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import libcst as cst

from torchlint.model import Model, Tri
from torchlint.model.syntax import dotted, parameters
from torchlint.model.torch.arguments import literal_bool
from torchlint.rules.shared.volatile.expressions import (
    assign,
    evaluate,
    evaluate_children,
    is_sent_back,
    operate,
)
from torchlint.rules.shared.volatile.frame import VolatileEnv, VolatileFrame, joined
from torchlint.rules.shared.volatile.values import EMPTY, FREE, UNKNOWN, VOLATILE, Called, Deed, Held

_ENABLING = frozenset(("torch.enable_grad", "torch.set_grad_enabled", "torch.autograd.enable_grad"))
_MAX_ROUNDS = 12
"""How often a loop is gone through at most, until nothing new can be held."""


def run_through(
    model: Model, scope: cst.FunctionDef | cst.Module, given: Mapping[str, Held] | None = None, depth: int = 0
) -> VolatileFrame:
    """Go through a scope in which some names hold what is given."""
    listed = [item for each in model.tree.within(scope, cst.Global) for item in each.names]
    listed += [item for each in model.tree.within(scope, cst.Nonlocal) for item in each.names]
    outer_names = frozenset(item.name.value for item in listed)
    unbound = dict.fromkeys(_assigned(model, scope) - outer_names, EMPTY)
    frame = VolatileFrame(model, scope, depth, _called, outer_names, {**unbound, **(given or {})})
    body = scope.body
    _suite(frame, body if isinstance(body, Sequence) else body.body)
    _follow_captured(frame)
    return frame


def _assigned(model: Model, scope: cst.FunctionDef | cst.Module) -> set[str]:
    """The names of a function that are assigned and bound in no other way: until then they stand for nothing."""
    if not isinstance(scope, cst.FunctionDef):
        return set()
    given = {each.name.value for each in model.tree.within(scope, cst.Param)}
    kinds = (cst.FunctionDef, cst.ClassDef, cst.ImportAlias, cst.AsName, cst.MatchAs, cst.MatchStar)
    others = [getattr(each, "name", None) for kind in kinds for each in model.tree.within(scope.body, kind)]
    deleted = [name for each in model.tree.within(scope.body, cst.Del) for name in model.tree.within(each, cst.Name)]
    targets = [name for each in model.tree.within(scope.body, cst.AssignTarget) for name in _names(each.target)]
    bound = {name.value for name in targets if model.scopes.scope_of(name) is scope}
    return bound - given - {name.value for name in (*others, *deleted) if isinstance(name, cst.Name)}


def _names(target: cst.BaseExpression) -> list[cst.Name]:
    match target:
        case cst.Name():
            return [target]
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            return [name for each in elements for name in _names(each.value)]
    return []


def _called(model: Model, function: cst.FunctionDef, depth: int, with_graphs: frozenset[str]) -> Called:
    names = [param.name.value for param in parameters(function)]
    given = {name: UNKNOWN if name in with_graphs else Held(VOLATILE) for name in names if name not in ("self", "cls")}
    frame = run_through(model, function, given, depth)
    return Called(frame.returned, frame.keeps_graph)


def _suite(frame: VolatileFrame, lines: Iterable[cst.CSTNode]) -> bool:
    """Go through some statements; whether their end is reached."""
    goes_on = True
    for line in lines:
        goes_on = _line(frame, line) and goes_on
    return goes_on


def _line(frame: VolatileFrame, line: cst.CSTNode) -> bool:
    outer, frame.deed = frame.deed, Deed()
    was_off = frame.is_off
    if not isinstance(line, cst.If) or not isinstance(frame.model.tree.parent(line), cst.If):  # no `elif`
        frame.is_off = frame.model.grad_enabled(line) == Tri.NO
    goes_on = True
    match line:
        case cst.SimpleStatementLine(body=parts):
            for part in parts:
                goes_on = _small(frame, part) and goes_on
        case cst.BaseSmallStatement():
            goes_on = _small(frame, line)
        case _:
            goes_on = _compound(frame, line)
    frame.deeds[id(line)] = frame.deed
    frame.deed, frame.is_off = outer, was_off
    return goes_on


def _compound(frame: VolatileFrame, line: cst.CSTNode) -> bool:
    match line:
        case cst.If(test=test, body=body, orelse=orelse):
            _header(frame, line, [test])
            return _branches(frame, [body, orelse])
        case cst.For(target=target, iter=iterated, body=body, orelse=orelse):
            _header(frame, line, [iterated])
            _loop(frame, body, lambda: assign(frame, target, evaluate(frame, iterated)))
            return _branches(frame, [orelse]) if orelse is not None else True
        case cst.While(test=test, body=body, orelse=orelse):
            _header(frame, line, [])
            _loop(frame, body, lambda: _header(frame, line, [test]))
            return _branches(frame, [orelse]) if orelse is not None else True
        case cst.With(items=items, body=body):
            _header(frame, line, [item.item for item in items])
            was_decided = frame.is_decided
            for item in items:
                if item.asname is not None:
                    assign(frame, item.asname.name, UNKNOWN)
                if isinstance(item.item, cst.Call) and frame.model.qualified(item.item.func) in _ENABLING:
                    frame.deed.wants_graph = True
                    frame.is_decided |= any(literal_bool(arg.value) is None for arg in item.item.args)
            goes_on = _body(frame, body)
            frame.is_decided = was_decided
            return goes_on
        case cst.Try() | cst.TryStar():
            _header(frame, line, [])
            return _try(frame, line)
        case cst.Match(subject=subject, cases=cases):
            _header(frame, line, [subject])
            return _branches(frame, [*(case.body for case in cases), None])
        case cst.FunctionDef(name=name) | cst.ClassDef(name=name):
            frame.env.pop(name.value, None)
            frame.deed.wants_graph = True  # it stays where it is
    return True


def _header(frame: VolatileFrame, line: cst.CSTNode, expressions: Iterable[cst.BaseExpression]) -> None:
    outer, frame.deed = frame.deed, Deed()
    for expression in expressions:
        evaluate(frame, expression)
    frame.headers[id(line)] = frame.deed
    outer.absorb(frame.deed)
    frame.deed = outer


def _body(frame: VolatileFrame, body: cst.BaseSuite) -> bool:
    goes_on = _suite(frame, body.body)
    for each in body.body:
        frame.deed.absorb(frame.deeds[id(each)])
    return goes_on


def _try(frame: VolatileFrame, line: cst.Try | cst.TryStar) -> bool:
    before = dict(frame.env)
    goes_on = _body(frame, line.body) and (line.orelse is None or _body(frame, line.orelse.body))
    after = frame.env
    ends = [after] if goes_on else []
    for handler in line.handlers:
        frame.env = joined(before, after)
        if _body(frame, handler.body):
            ends.append(frame.env)
    frame.env = joined(*ends) if ends else after
    return (line.finalbody is None or _body(frame, line.finalbody.body)) and bool(ends)


def _branches(frame: VolatileFrame, branches: Sequence[cst.CSTNode | None]) -> bool:
    """Go through bodies of which one runs; whether what follows is reached."""
    before, after = dict(frame.env), list[VolatileEnv]()
    for branch in branches:
        frame.env = dict(before)
        match branch:
            case cst.BaseSuite():
                goes_on = _body(frame, branch)
            case cst.If():
                goes_on = _line(frame, branch)
                frame.deed.absorb(frame.deeds[id(branch)])
            case cst.Else(body=body):
                goes_on = _body(frame, body)
            case _:
                goes_on = True
        if goes_on:
            after.append(frame.env)
    frame.env = joined(*after) if after else before
    return bool(after)


def _loop(frame: VolatileFrame, body: cst.BaseSuite, begin: Callable[[], None]) -> None:
    outer, frame.jumps = frame.jumps, []
    entered, ends = dict(frame.env), list[VolatileEnv]()
    for _ in range(_MAX_ROUNDS):
        before = dict(frame.env)
        begin()
        goes_on = _suite(frame, body.body)
        ends = [*frame.jumps, *([frame.env] if goes_on else ())]
        frame.env = joined(before, *ends)
        if frame.env == before:
            break
    for each in body.body:
        frame.deed.absorb(frame.deeds[id(each)])
    frame.jumps = outer
    frame.env |= _added_up(entered, ends)


def _added_up(entered: VolatileEnv, ends: Sequence[VolatileEnv]) -> VolatileEnv:
    """What a loop that runs makes of names without a graph, such as `loss = 0`, where it always is volatile."""
    free = (name for name, held in entered.items() if held.bits == FREE)
    found = {name: [end.get(name, UNKNOWN) for end in ends] for name in free}
    return {
        name: Held(VOLATILE, frozenset[int]().union(*(held.sources for held in helds)))
        for name, helds in found.items()
        if helds and all(held.is_volatile for held in helds)
    }


def _small(frame: VolatileFrame, part: cst.CSTNode) -> bool:
    """Go through a simple statement; whether what follows it is reached."""
    match part:
        case cst.Assign(targets=targets, value=value):
            held = evaluate(frame, value)
            if held.is_volatile and is_sent_back(frame, part):
                frame.send_back(held, value)
            for target in targets:
                assign(frame, target.target, held, value)
        case cst.AnnAssign(target=target, value=value) if value is not None:
            assign(frame, target, evaluate(frame, value), value)
        case cst.AugAssign(target=target, value=value):
            operands = [evaluate(frame, target), evaluate(frame, value)]
            assign(frame, target, operate(frame, part, operands, knows=True))
        case cst.Return(value=value):
            if value is not None:
                held = evaluate(frame, value)
                frame.returned |= held if _is_computed(frame, value) else EMPTY
                frame.leaves |= held.sources
            return False
        case cst.Raise():
            evaluate_children(frame, part)
            return False
        case cst.Break() | cst.Continue():
            frame.jumps.append(dict(frame.env))
            return False
        case cst.Del(target=target):
            for name in [dotted(target)] if dotted(target) else []:
                frame.env.pop(name or "", None)
        case cst.Import() | cst.ImportFrom() | cst.Global() | cst.Nonlocal():
            frame.deed.wants_graph = True  # it stays where it is
        case _:
            evaluate_children(frame, part)
    return True


def _is_computed(frame: VolatileFrame, node: cst.BaseExpression) -> bool:
    """Whether a function gives back more than what it was given: that has its graph from elsewhere."""
    scope = frame.scope
    if not isinstance(node, cst.Name) or not isinstance(scope, cst.FunctionDef):
        return True
    is_given = node.value in {each.name.value for each in parameters(scope)}
    return not is_given or bool(frame.model.targets(node.value, scope))


def _follow_captured(frame: VolatileFrame) -> None:
    """What functions and the like take from here, they compute with elsewhere."""
    tree = frame.model.tree
    volatile = {path for path, held in frame.ever.items() if held.may_be_volatile and "." not in path}
    functions = [*tree.within(frame.scope, cst.FunctionDef), *tree.within(frame.scope, cst.Lambda)] if volatile else []
    for function in functions:
        if function is not frame.scope:
            for use in tree.within(function, cst.Name):
                if use.value in volatile and use.value not in _own_names(function, frame.model):
                    sources = frame.ever[use.value].sources
                    frame.leaves |= sources
                    frame.captured.update((source, tree.statement(use)) for source in sources)


def _own_names(function: cst.CSTNode, model: Model) -> frozenset[str]:
    """The names that a function or a lambda binds itself."""
    if isinstance(function, cst.FunctionDef):
        return model.scopes.locals_of(function)
    return frozenset(param.name.value for param in model.tree.within(function, cst.Param))
