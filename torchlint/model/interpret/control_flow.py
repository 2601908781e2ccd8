"""Where control flow parts and meets: branches, loops until nothing changes, what is left early."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import reduce

import libcst as cst

from torchlint.model.annotations import annotation_text
from torchlint.model.certainty import Certainty
from torchlint.model.doubts import perhaps
from torchlint.model.interpret import assignment, contexts, iteration, match_patterns, narrowing, places
from torchlint.model.interpret.environment import Changes, Names, Watch
from torchlint.model.interpret.frame import Frame, Loop
from torchlint.model.interpret.turned_on import after_calls
from torchlint.model.possibilities import Dtype, Kind, Ndim, Tri
from torchlint.model.syntax import has_break, last_name
from torchlint.model.type_comments import type_comment
from torchlint.model.values import OBJECT, UNKNOWN, Value, changed, join
from torchlint.system.records import replace

_MAX_LOOPS = 3
"""Rounds of a loop before what it binds has to do."""
_MAX_NESTED_LOOPS = _MAX_LOOPS**2
"""Rounds of a loop in all rounds of those around it; from then on each of these means one round of it."""


def run_block(frame: Frame, statements: Sequence[cst.CSTNode]) -> None:
    """Run statements one after the other; those that are not reached too, so that they have values."""
    for statement in statements:
        frame.execute(statement)


def run_suite(frame: Frame, suite: cst.BaseSuite) -> None:
    """The statements of an indented block or of a one-line suite."""
    if isinstance(suite, cst.SimpleStatementSuite):
        frame.trace.modes[id(suite)] = frame.grad
    run_block(frame, suite.body)


def if_statement(frame: Frame, node: cst.If) -> None:
    """All branches of ``if``, ``elif`` and ``else`` side by side: each in the one before would cost far more."""
    before, grad, after = frame.env, frame.grad, Tri.NEITHER
    ends: list[Changes] = []
    frame.value(node.test)
    otherwise = before.branch()
    while True:
        known = frame.decided.get(id(node.test))
        if known is not False:
            frame.env, frame.dead, frame.grad = otherwise.branch(), False, grad
            narrowing.narrow(frame, node.test, True)
            run_suite(frame, node.body)
            after |= _end(frame, before, ends)
        frame.env, frame.dead, frame.grad = otherwise, bool(known), grad
        narrowing.narrow(frame, node.test, False)
        if known or not isinstance(node.orelse, cst.If):
            break
        node = node.orelse
        frame.trace.modes[id(node)] = grad
        frame.value(node.test)
    if node.orelse is not None and not known:
        run_suite(frame, node.orelse.body)
    after |= _end(frame, before, ends)
    frame.env, frame.grad, frame.dead = before, after or grad, not ends
    before.meet_from_last(ends)


def _branch(frame: Frame, run: Callable[[], None]) -> Changes | None:
    """Run on a layer of names of its own; the changes at its end, None if it does not get there."""
    before = frame.env
    frame.env, frame.dead = before.branch(), False
    run()
    changes = None if frame.dead else frame.env.changes(before)
    frame.env = before
    return changes


def _merge(frame: Frame, ends: Sequence[Changes]) -> None:
    """Continue where several paths meet; none of them: nothing below is reached."""
    frame.dead = not ends
    frame.env.meet(ends)


def _end(frame: Frame, before: Names, ends: list[Changes]) -> Tri:
    """Take down what a way has changed; the grad mode at its end, none if it does not get there."""
    if frame.dead:
        return Tri.NEITHER
    ends.append(frame.env.changes(before))
    return frame.grad


def _branches(frame: Frame, runs: Sequence[Callable[[], None]]) -> None:
    grad, after = frame.grad, Tri.NEITHER
    ends = []
    for run in runs:
        frame.grad = grad
        end = _branch(frame, run)
        if end is not None:
            ends.append(end)
            after |= frame.grad
    frame.grad = after or grad
    _merge(frame, ends)


def _loop(frame: Frame, head: Callable[[], None], body: cst.BaseSuite, orelse: cst.Else | None) -> Sequence[Changes]:
    """Run a loop until nothing changes; what is bound at the ends of its last round."""
    entry, grad = frame.env, frame.grad
    entry.meet([{}, frame.solutions.get(id(body), {})])  # where an outer loop has come round
    for _ in range(_MAX_LOOPS):
        watch = Watch()
        ends = _round(frame, head, body, entry.branch(watch), grad)
        frame.env = entry
        if not watch.is_concerned(entry.meet([{}, *ends])) and frame.grad | grad == grad:
            break
        grad |= frame.grad
        if frame.rounds[id(body)] >= _MAX_NESTED_LOOPS or not frame.budget.allows():
            break
    else:
        if not frame.loops:  # else those around it come round again
            _leave_open(entry, ends)
            ends = _round(frame, head, body, entry.branch(), grad)
            frame.env = entry
            entry.meet([{}, *ends])
            grad |= frame.grad
    frame.solutions[id(body)] = {name: entry.get(name) for end in ends for name in end}
    frame.dead, frame.grad = False, grad
    if orelse is not None:
        run_suite(frame, orelse.body)
    return ends


def _round(frame: Frame, head: Callable[[], None], body: cst.BaseSuite, env: Names, grad: Tri) -> list[Changes]:
    """Go through a loop once, with what is bound before; what is bound at the ends."""
    entry = frame.env
    frame.rounds[id(body)] += 1
    frame.env, frame.dead, frame.grad = env, False, grad
    frame.loops.append(Loop(entry, body, is_first=frame.rounds[id(body)] == 1))
    head()
    run_suite(frame, body)
    ends = frame.loops.pop().exits
    if not frame.dead:
        ends.append(frame.env.changes(entry))
    return ends


def _leave_open(entry: Names, ends: Sequence[Changes]) -> None:
    """Say of what a loop binds that more rounds may do more to it: names that each take over what another one held."""
    for name in {name for end in ends for name in end}:
        if (value := entry.get(name)) is not None:
            entry[name] = _with_more_rounds(value)


def _with_more_rounds(value: Value) -> Value:
    value = perhaps(changed(value, _with_more_rounds))
    if value.kind == Kind.NONE:
        return join(value, UNKNOWN)
    if not value.kind & Kind.TENSOR or not value.dtype & Dtype.FLOAT:
        return value
    return replace(value, grad=Tri.MAYBE, ndim=Ndim.ANY, certainty=Certainty.SUPPOSED)


def for_statement(frame: Frame, node: cst.For) -> None:
    """A loop over what an expression gives."""
    iterable = frame.value(node.iter)
    comment = type_comment(node)
    declared = annotation_text(frame.context, comment, frame) if comment is not None else None

    element = iterable

    def head() -> None:
        nonlocal element, iterable
        now = places.peek(frame, node.iter)
        if now is not None and now.kind == iterable.kind == Kind.CONTAINER:  # the loop may add to what it goes through
            iterable = join(iterable, now)
        element = iteration.iterate(frame, iterable, node.iter)
        frame.assign(node.target, assignment.as_declared(declared, element), None)

    ends = _loop(frame, head, node.body, node.orelse)
    names = sorted(set.intersection(*map(set, ends))) if ends else []
    if names and _goes_through_layers(frame, node, element):
        _as_run(frame, ends, names)


def _goes_through_layers(frame: Frame, node: cst.For, element: Value) -> bool:
    """Whether a loop is one over modules, by themselves or by their numbers: nobody makes a network of none."""
    match node:
        case cst.For(target=cst.Name(value=name), iter=cst.Call(func=cst.Name("range"))):
            return any(_is_layer(frame, each, name) for each in frame.context.tree.within(node.body, cst.Subscript))
    return any(each.kind == Kind.MODULE for each in element.items or (element,))


def _is_layer(frame: Frame, node: cst.Subscript, number: str) -> bool:
    """Whether a subscript takes one of several modules by its number: ``self.layers[i]``."""
    match node.slice:
        case [cst.SubscriptElement(slice=cst.Index(value=cst.Name(value=name)))] if name == number:
            found = frame.values.get(id(node))
            return found is not None and found.kind == Kind.MODULE
    return False


def _as_run(frame: Frame, ends: Sequence[Changes], names: Collection[str]) -> None:
    """The tensors that each round of a loop binds to names, as one that is run at least once leaves them."""
    for name in names:
        values = [value for end in ends if (value := end[name]) is not None]
        if len(values) == len(ends) and all(each.kind | Kind.UNKNOWN == Kind.TENSOR | Kind.UNKNOWN for each in values):
            value = reduce(join, values)
            frame.env[name] = replace(value, certainty=min(value.certainty, Certainty.EXPECTED))


def while_statement(frame: Frame, node: cst.While) -> None:
    """A loop with a condition, which does not hold below it unless it is left early."""

    def head() -> None:
        frame.value(node.test)
        narrowing.narrow(frame, node.test, True)

    _loop(frame, head, node.body, node.orelse)
    if has_break(node.body):
        return
    frame.dead = isinstance(node.test, cst.Name) and node.test.value == "True"
    narrowing.narrow(frame, node.test, False)


def jump(frame: Frame, node: cst.CSTNode) -> None:
    """``break`` and ``continue``: the names as they are here go where the loop is left or begun again."""
    if frame.loops and not frame.dead:
        loop = frame.loops[-1]
        loop.exits.append(frame.env.changes(loop.entry))
    frame.dead = True


def with_statement(frame: Frame, node: cst.With) -> None:
    """A block that runs in what context managers make of the grad mode."""
    outer = frame.grad
    for item in node.items:
        value = frame.value(item.item)
        mode = contexts.grad_context(frame, item.item)
        if mode is not None:
            frame.grad = after_calls(frame.context, frame.scope, mode)
        if item.asname is not None:
            frame.assign(item.asname.name, contexts.entered(frame, value, item), None)
    run_suite(frame, node.body)
    frame.grad = outer


def try_statement(frame: Frame, node: cst.Try | cst.TryStar) -> None:
    """A block that may be broken off anywhere: handlers begin with what it binds or does not."""
    before, ends = frame.env, []
    frame.env, frame.dead = before.branch(), False
    is_test = any(_catches_wrong_type(handler) for handler in node.handlers)
    frame.tests_of_type += is_test
    run_suite(frame, node.body)
    frame.tests_of_type -= is_test
    broken_off = before.branch()
    broken_off.meet([{}, dict(frame.env.changes(before))])
    if not frame.dead and node.orelse is not None:
        run_suite(frame, node.orelse.body)
    if not frame.dead:
        ends.append(frame.env.changes(before))
    for handler in node.handlers:
        frame.env, frame.dead = broken_off.branch(), False
        if handler.type is not None:
            frame.value(handler.type)
        if handler.name is not None:
            frame.assign(handler.name.name, OBJECT, None)
        run_suite(frame, handler.body)
        if not frame.dead:
            ends.append(frame.env.changes(before))
    frame.env = before
    _merge(frame, ends)
    dead = frame.dead
    if node.finalbody is not None:
        if dead:
            frame.env = broken_off
        frame.dead = False
        run_suite(frame, node.finalbody.body)
        frame.dead = frame.dead or dead


def match_statement(frame: Frame, node: cst.Match) -> None:
    """The cases of a ``match`` side by side."""
    subject = frame.value(node.subject)
    is_total = any(match_patterns.is_irrefutable(case) for case in node.cases)
    runs: list[Callable[[], None]] = [] if is_total else [lambda: None]
    for case in node.cases:

        def run(case: cst.MatchCase = case) -> None:
            matched = match_patterns.match(frame, case.pattern, subject)
            if matched is not subject:
                places.refine(frame, node.subject, matched)
            if case.guard is not None:
                frame.value(case.guard)
                narrowing.narrow(frame, case.guard, True)
            run_suite(frame, case.body)

        runs.append(run)
    _branches(frame, runs)


def _catches_wrong_type(handler: cst.ExceptHandler | cst.ExceptStarHandler) -> bool:
    """``except TypeError``"""
    match handler.type:
        case cst.Tuple(elements=elements):
            names = [last_name(element.value) for element in elements]
        case cst.Name() | cst.Attribute() as type_:
            names = [last_name(type_)]
        case _:
            return False
    return "TypeError" in names
