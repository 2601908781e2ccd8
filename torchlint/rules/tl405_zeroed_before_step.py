r"""`zero_grad()` between `backward()` and `step()` discards the gradients.

The step then has nothing to go along: weights stay as they are, or move only by momentum and weight decay. Nothing is
raised, and the loss does not fall.

```diff run-differs
 import torch
 from torch import nn

 torch.manual_seed(0)
 net = nn.Linear(2, 1)
 optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
 for epoch in range(3):
     loss = net(torch.ones(4, 2)).pow(2).mean()
     loss.backward()
~    optimizer.zero_grad()
~    optimizer.step()
+    optimizer.step()
+    optimizer.zero_grad()
 weight = net.weight.detach().clone()
```

Gradients that are computed again, another optimizer's, those of a batch that is left out, and those that are kept:

```diff
 import torch
 from torch import nn

 net, other = nn.Linear(2, 1), nn.Linear(2, 1)
 first = torch.optim.SGD(net.parameters(), lr=0.1)
 second = torch.optim.SGD(other.parameters(), lr=0.1)
 for x in torch.ones(3, 4, 2):
     net(x).sum().backward()
     first.step()
     first.zero_grad()
     net(x).sum().backward()
     second.zero_grad()
     first.step()
     loss = net(x).sum()
     loss.backward()
     if not torch.isfinite(loss):
         first.zero_grad()
     first.step()
     net(x).sum().backward()
     kept = [p.grad for p in net.parameters()]
     first.zero_grad()
     for p, g in zip(net.parameters(), kept):
         p.grad = g
     first.step()
```

Where the block is left between the two, moving the call would keep gradients for the next round:

```diff
 import torch
 from torch import nn

 net = nn.Linear(2, 1)
 optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
 for x in torch.ones(3, 4, 2):
     loss = net(x).sum()
     loss.backward()
!    optimizer.zero_grad()
     if loss > 100:
         continue
     optimizer.step()
```

## When the fix is unsafe

Always: training does something then. There is no fix where the two stand in different blocks, or the block may be left
between them.

`zero_grad`: <https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html>.
"""

from __future__ import annotations

from bisect import bisect, bisect_left

import libcst as cst

from torchlint import edit
from torchlint.model import Model
from torchlint.model.recording import callers_of
from torchlint.model.syntax import dotted
from torchlint.model.training import TrainingEvent, What
from torchlint.rule import Finding, Fix, Group, Severity, on, word
from torchlint.rules.shared import order
from torchlint.rules.shared.made_of import modules_of
from torchlint.rules.shared.paths import Facts, Paths

GROUP = Group.CORRECTNESS
SEVERITY = Severity.ERROR

_BEGUN = ""
"""The fact that gradients have been computed; that they are cleared again is the path of what has cleared them."""


@on(cst.Expr, trigger=word("zero_grad"))
def check(node: cst.Expr, model: Model) -> Finding | None:
    """Report gradients that are cleared before the step that was to use them."""
    match node.value:
        case cst.Call(func=cst.Attribute(attr=cst.Name("zero_grad"))):
            pass
        case _:
            return None
    scope = model.scopes.scope_of(node)
    step = model.remember(_lost, scope).get(id(node.value))
    if step is None and isinstance(scope, cst.FunctionDef) and model.remember(_is_called_with_gradients, scope):
        step = model.remember(_lost, scope, has_begun=True).get(id(node.value))
    if step is None:
        return None
    said = "the gradients are cleared before `step()` has used them; clear them after it"
    return Finding(node, said, _fix(node, step.node, model))


def _lost(model: Model, scope: cst.FunctionDef | cst.Module, has_begun: bool = False) -> dict[int, TrainingEvent]:
    """The calls of a scope that clear what has been computed for the step that comes next, with that step.

    ``has_begun``: gradients have been computed by whoever calls the scope.
    """
    found: dict[int, TrainingEvent] = {}
    events = model.training_events(scope)
    computed: list[cst.CSTNode] = [event.node for event in events if event.what is What.BACKWARD]
    computed += [node for node in model.remember(_gradients).get(id(scope), ()) if model.is_target(node)]
    given = sorted(map(model.tree.order, computed))

    def is_computed_between(cleared: TrainingEvent, step: TrainingEvent) -> bool:
        """Whether there are new gradients, also by hand, unless the loop that does so has no round."""
        start, end = model.tree.order(cleared.node), model.tree.order(step.node)
        return bisect(given, start) < bisect_left(given, end)

    def see(event: TrainingEvent, facts: Facts[TrainingEvent]) -> None:
        match event.what:
            case What.BACKWARD:
                facts.clear()
                facts[_BEGUN] = event
            case What.UNKNOWN:
                facts.clear()
            case What.CLEAR if not event.path:
                facts.clear()  # by hand, and so it may be put there
            case What.CLEAR if _BEGUN in facts and _is_own(event) and _is_of_round(facts[_BEGUN], event, model):
                facts.setdefault(event.path, event)
            case What.STEP:
                for path in (event.path, *modules_of(event.node, model)):
                    cleared = facts.get(path)
                    if path and cleared is not None and _runs_with(event, cleared, model):
                        if not is_computed_between(cleared, event):
                            found[id(cleared.node)] = event
                facts.clear()

    if any(event.what is What.CLEAR for event in events):
        marks = [(event.node, event) for event in events]
        marks += [
            (node, TrainingEvent(What.UNKNOWN, node, "")) for node in model.remember(_gradients).get(id(scope), ())
        ]
        marks.sort(key=lambda mark: model.tree.order(mark[0]))
        begun = {_BEGUN: TrainingEvent(What.BACKWARD, scope, "")} if has_begun else {}
        Paths(model, marks, see).follow(scope, begun)
    return found


def _is_called_with_gradients(model: Model, function: cst.FunctionDef) -> bool:
    """Whether gradients have been computed and not used in the same round wherever a function is seen to be called."""
    calls = model.ask(callers_of, function)
    return bool(calls) and all(
        id(call) in model.remember(_begun, model.scopes.scope_of(call)) for call in calls[:_MANY]
    )


_MANY = 16
"""How many calls of a function are looked at."""


def _begun(model: Model, scope: cst.FunctionDef | cst.Module) -> frozenset[int]:
    """The calls of a scope before which gradients have been computed in the same round, and not been used."""
    found: set[int] = set()

    def see(event: TrainingEvent, facts: Facts[TrainingEvent]) -> None:
        begun = facts.get(_BEGUN)
        if begun is not None and begun.node is not event.node and _is_of_round(begun, event, model):
            found.add(id(event.node))
        if event.what is What.BACKWARD:
            facts[_BEGUN] = event
        elif event.what in (What.STEP, What.UNKNOWN):
            facts.clear()

    Paths(model, [(event.node, event) for event in model.training_events(scope)], see).follow(scope)
    return frozenset(found)


def _gradients(model: Model) -> dict[int, list[cst.Attribute]]:
    """Where gradients are named, so that they may be kept or put back, by the scope."""
    found: dict[int, list[cst.Attribute]] = {}
    for node in model.tree.attributes("grad"):
        found.setdefault(id(model.scopes.scope_of(node)), []).append(node)
    return found


def _is_own(event: TrainingEvent) -> bool:
    """Whether it is this scope that clears, and not a function that it calls."""
    match event.node:
        case cst.Call(func=cst.Attribute(attr=cst.Name("zero_grad"))):
            return True
    return False


def _is_of_round(begun: TrainingEvent, cleared: TrainingEvent, model: Model) -> bool:
    """Whether gradients were computed in the round in which they are cleared."""
    loop = order.loop_of(cleared.node, model)
    return loop is None or begun.node is model.scopes.scope_of(loop) or model.tree.is_inside(begun.node, loop)


def _runs_with(step: TrainingEvent, cleared: TrainingEvent, model: Model) -> bool:
    """Whether a step runs where gradients were cleared, and in the same round: else that leaves out a batch."""
    if isinstance(step.node, cst.Call) and not _may_be_plain(step.node):
        return False
    is_same_round = order.loop_of(cleared.node, model) is order.loop_of(step.node, model)
    return is_same_round and order.is_in_same_suite(step.node, cleared.node, model)


def _may_be_plain(step: cst.Call) -> bool:
    """Whether a step is not told how to compute the loss: a scaler's is given the optimizer."""
    match step.func:
        case cst.Attribute(value=owner, attr=cst.Name("step")) if step.args:
            return "scaler" in (dotted(owner) or "").lower()
    return True


def _fix(node: cst.Expr, step: cst.CSTNode, model: Model) -> Fix | None:
    """Move the statement behind the step."""
    line, last = model.tree.parent(node), model.tree.statement(step)
    if not isinstance(line, cst.SimpleStatementLine) or line is last:
        return None
    if model.tree.parent(last) is not model.tree.parent(line) or _is_left_between(line, last, model):
        return None
    if isinstance(last, cst.SimpleStatementLine) and not model.tree.is_inside(step, last.body[-1]):
        return None  # what stands behind the step on its line may compute gradients
    moved = edit.move_line(model.tree, node, below=last)
    risk = "the step has gradients now, and parameters change that did not"
    return Fix("Clear them after the step", moved).doubted(risk) if moved is not None else None


def _is_left_between(first: cst.CSTNode, last: cst.CSTNode, model: Model) -> bool:
    """Whether the suite of two statements may be left between them: then nothing behind clears any more."""
    body, index = model.tree.siblings(first)
    between = body[index + 1 : next(i for i, each in enumerate(body) if each is last)]
    return any(order.may_leave(each, model) for each in between)
