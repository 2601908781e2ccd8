r"""A scheduler that steps before the optimizer skips the first learning rate.

Since PyTorch 1.1 `scheduler.step()` is called after `optimizer.step()`. Before it, the first value of the schedule is
never used, and all others come one step too early. torch warns once.

```diff run-differs
 import torch
 from torch import nn

 net = nn.Linear(2, 1)
 optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
 scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.1)
 rates = []
 for epoch in range(3):
~    scheduler.step()
~    optimizer.zero_grad()
~    net(torch.ones(1, 2)).sum().backward()
~    rates.append(optimizer.param_groups[0]["lr"])
~    optimizer.step()
+    optimizer.zero_grad()
+    net(torch.ones(1, 2)).sum().backward()
+    rates.append(optimizer.param_groups[0]["lr"])
+    optimizer.step()
+    scheduler.step()
```

A rate that is set for an epoch, a step behind the optimizer's, and one that is not made in the first round:

```diff
 import torch
 from torch import nn
 from torch.optim.lr_scheduler import ReduceLROnPlateau, StepLR

 net = nn.Linear(2, 1)
 optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
 scheduler = StepLR(optimizer, step_size=1)
 plateau = ReduceLROnPlateau(optimizer)
 for epoch in range(3):
     scheduler.step(epoch)
     plateau.step(0.5)
     if epoch > 0:
         scheduler.step()
     optimizer.step()
     scheduler.step()
 for epoch in range(3):
     scheduler.step()
```

## When the fix is unsafe

Always: training uses the learning rates as they were meant.

How to adjust the learning rate: <https://docs.pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate>.
"""

from __future__ import annotations

import libcst as cst

from torchlint import edit
from torchlint.model import Kind, Model
from torchlint.model.syntax import LEAVING, LoopStatement
from torchlint.model.training import What, object_kind
from torchlint.rule import Applicability, Finding, Fix, Group, Severity, on, pattern
from torchlint.rules.shared import order

GROUP = Group.CORRECTNESS
SEVERITY = Severity.ERROR


@on(cst.Expr, trigger=pattern(r"\bstep \( \)"))
def check(node: cst.Expr, model: Model) -> Finding | None:
    """Report a scheduler that steps first in a round."""
    match node.value:
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name("step")), args=[]):
            pass
        case _:
            return None
    loops = order.loops_around(node, model)
    if not loops or order.is_conditional(node, loops[0], model):
        return None
    value = model.value(owner)
    if value.kind != Kind.OBJECT or not _is_scheduler(object_kind(value), value.node, model):
        return None
    loop, at = loops[0], model.tree.order(node)
    steps = [each for each in model.training_events(model.scopes.scope_of(node)) if each.what is What.STEP]
    places = [model.tree.order(each.node) for each in steps]
    is_followed = any(at < model.tree.order(each.node) and model.tree.is_inside(each.node, loop) for each in steps)
    if not is_followed or min(places) < at:
        return None
    said = "the scheduler steps before the optimizer, so the first learning rate is skipped; call it after"
    return Finding(node, said, _fix(node, loop, model))


def _is_scheduler(kind: str, cls: cst.CSTNode | None, model: Model) -> bool:
    return kind == "scheduler" and cls is None


def _fix(node: cst.Expr, loop: LoopStatement, model: Model) -> Fix | None:
    """Move the statement to the end of the loop's body."""
    last = loop.body.body[-1]
    if isinstance(last, cst.SimpleStatementLine) and isinstance(last.body[-1], LEAVING):
        return None
    moved = edit.move_line(model.tree, node, below=last)
    return Fix("Move it to the end of the loop", moved, Applicability.UNSAFE) if moved is not None else None
