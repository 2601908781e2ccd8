r"""Clipping after `step()`, or before `backward()`, clips nothing that is used.

The step has gone along the whole gradients when they are clipped, and the next round clears them. Behind `zero_grad()`
there are no gradients yet. Nothing is raised; what clipping is for (a step that is not too large) is not there.

```diff run
 import torch
 from torch import nn
 from torch.nn.utils import clip_grad_norm_

 net = nn.Linear(2, 1)
 nn.init.ones_(net.weight)
 optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
 steps = []
 for x in 100 * torch.ones(2, 1, 2):
     before = net.weight.detach().clone()
     optimizer.zero_grad()
     net(x).sum().backward()
     optimizer.step()
!    clip_grad_norm_(net.parameters(), 1.0)
     steps.append((net.weight.detach() - before).norm().item())
 for x in 100 * torch.ones(2, 1, 2):
     optimizer.zero_grad()
!    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
     net(x).sum().backward()
     optimizer.step()
```

Between `backward()` and `step()` it is right, with several backward passes or optimizers it may be, and with `inf` it
only measures:

```diff
 import torch
 from torch import nn
 from torch.nn.utils import clip_grad_norm_

 net, other = nn.Linear(2, 1), nn.Linear(2, 1)
 optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
 second = torch.optim.SGD(other.parameters(), lr=1.0)
 for i, x in enumerate(torch.ones(4, 1, 2)):
     optimizer.zero_grad()
     net(x).sum().backward()
     clip_grad_norm_(net.parameters(), 1.0)
     optimizer.step()
     norm = clip_grad_norm_(net.parameters(), float("inf"))
     other(x).sum().backward()
     clip_grad_norm_(other.parameters(), 1.0)
     second.step()
 for i, x in enumerate(torch.ones(4, 1, 2)):
     net(x).sum().backward()
     if i % 2:
         optimizer.step()
         optimizer.zero_grad()
     clip_grad_norm_(net.parameters(), 1.0)
```

## When the fix is unsafe

There is none: where the call belongs depends on what else happens between `backward()` and `step()`.

`clip_grad_norm_`: <https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html>.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

import libcst as cst

from torchlint.model import Model
from torchlint.model.training import TrainingEvent, What
from torchlint.rule import Finding, Group, Severity, on, part
from torchlint.rules.shared import clipping, order
from torchlint.rules.shared.paths import Facts, Paths

GROUP = Group.CORRECTNESS
SEVERITY = Severity.ERROR

_BEHIND = "`step()` has used these gradients before they are clipped; clip them before it"
_BEFORE = "there are no gradients yet: they are clipped before `backward()`; clip them after it"


@on(cst.Call, trigger=part("clip_grad"))
def check(node: cst.Call, model: Model) -> Finding | None:
    """Report clipping at the wrong place of a round."""
    said = model.remember(_misplaced, model.scopes.scope_of(node)).get(id(node))
    if said is None or clipping.only_measures(node, model):
        return None
    statement = model.tree.statement(node)
    return Finding(statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else node, said)


def _misplaced(model: Model, scope: cst.FunctionDef | cst.Module) -> dict[int, str]:
    """What is wrong with the calls of a scope that clip gradients."""
    events = model.training_events(scope)
    clips = [event for event in events if _is_own(event)]
    if not clips:
        return {}
    behind: dict[int, TrainingEvent] = {}
    before: set[int] = set()

    def see(event: TrainingEvent, facts: Facts[TrainingEvent]) -> None:
        match event.what:
            case What.UNKNOWN:
                facts.clear()
                facts["begun"] = event
            case What.BACKWARD:
                facts.pop("stepped", None)
                facts["begun"] = facts["had"] = event
            case What.STEP if "had" in facts:
                facts["stepped"] = event
            case What.CLEAR:
                facts["cleared"] = event
                facts.pop("begun", None)
            case What.CLIP:
                if "stepped" in facts and _is_same_round(facts["stepped"], event, model):
                    behind[id(event.node)] = facts["stepped"]
                elif "cleared" in facts and "begun" not in facts and _is_same_round(facts["cleared"], event, model):
                    before.add(id(event.node))

    Paths(model, [(event.node, event) for event in events], see).follow(scope)
    uses, passes = _rounds(events, _USING, model), _rounds(events, (What.BACKWARD,), model)
    found: dict[int, str] = {}
    for clip in clips:
        at, loop = model.tree.order(clip.node), id(order.loop_of(clip.node, model))
        is_last = not uses[loop] or model.tree.order(uses[loop][-1].node) < at
        step = behind.get(id(clip.node))
        if step is not None and is_last and order.is_in_same_suite(clip.node, step.node, model):
            found[id(clip.node)] = _BEHIND
        elif id(clip.node) in before and len(passes[loop]) == 1 and at < model.tree.order(passes[loop][0].node):
            found[id(clip.node)] = _BEFORE
    return found


_USING = (What.STEP, What.BACKWARD, What.UNKNOWN)
"""What may use the gradients that are clipped."""


def _rounds(
    events: Sequence[TrainingEvent], kinds: Collection[What], model: Model
) -> defaultdict[int, list[TrainingEvent]]:
    """Events of some kinds in each loop, by the loop, and in the scope as a whole; each list in order."""
    found = defaultdict[int, list[TrainingEvent]](list)
    for event in events:
        if event.what in kinds:
            for loop in (*order.loops_around(event.node, model), None):
                found[id(loop)].append(event)
    return found


def _is_own(event: TrainingEvent) -> bool:
    return event.what is What.CLIP and isinstance(event.node, cst.Call)


def _is_same_round(one: TrainingEvent, other: TrainingEvent, model: Model) -> bool:
    return order.loop_of(one.node, model) is order.loop_of(other.node, model)
