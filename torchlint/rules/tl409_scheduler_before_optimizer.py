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

A function that is called in a loop is part of the round:

```diff
 import torch
 from torch import nn

 net = nn.Linear(2, 1)
 optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
 scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1)


 def train(loader):
~    scheduler.step()
~    for x in loader:
+    for x in loader:
         optimizer.zero_grad()
         net(x).sum().backward()
         optimizer.step()
+    scheduler.step()


 for epoch in range(3):
     train([torch.ones(1, 2)])
```

Where a round may end before, the step cannot be moved to its end:

```diff
 import torch
 from torch import nn

 def train(net: nn.Module, loader):
     optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
     scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1)
     for x in loader:
!        scheduler.step()
         if x is None:
             continue
         optimizer.zero_grad()
         net(x).sum().backward()
         optimizer.step()

 def train_until(net: nn.Module, loader):
     optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
     scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1)
     while True:
!        scheduler.step()
         optimizer.zero_grad()
         net(next(loader)).sum().backward()
         optimizer.step()
         if loader.is_empty:
             break
```

A rate that is set for an epoch, a step after the optimizer's, and one that is not made in the first round:

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

Always: training uses the learning rates as they were meant. There is none where a `continue`, `break` or `return`
after it may end the round, or where the name of the scheduler is bound anew after it.

How to adjust the learning rate: <https://docs.pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate>.
"""

from __future__ import annotations

import libcst as cst

from torchlint import edit
from torchlint.model import Kind, Model
from torchlint.model.recording import callers_of
from torchlint.model.syntax import LEAVING, LoopStatement, dotted
from torchlint.model.training import What, object_kind
from torchlint.rule import Finding, Fix, Group, Severity, on, pattern
from torchlint.rules.shared import order

GROUP = Group.CORRECTNESS
SEVERITY = Severity.ERROR

_FAR = 2
"""How many calls away the loop around a function may be."""


@on(cst.Expr, trigger=pattern(r"\bstep \( \)"))
def check(node: cst.Expr, model: Model) -> Finding | None:
    """Report a scheduler that steps first in a round."""
    match node.value:
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name("step")), args=[]):
            pass
        case _:
            return None
    area = order.loop_of(node, model) or model.scopes.scope_of(node)
    if isinstance(area, cst.Module) or order.is_conditional(node, area, model):
        return None
    value = model.value(owner)
    if value.kind != Kind.OBJECT or value.node is not None or object_kind(value) != "scheduler":
        return None
    if not _is_first_of_round(node, model):
        return None
    said = "the scheduler steps before the optimizer, so the first learning rate is skipped; call it after"
    is_followed = any(model.tree.is_inside(each, area) for each in _steps(node, model))
    return Finding(node, said, _fix(node, owner, area, model) if is_followed else None)


def _is_first_of_round(node: cst.CSTNode, model: Model, far: int = _FAR, *, is_followed: bool = False) -> bool:
    """Whether an optimizer steps in a round after what is done here, and none before.

    What is in no loop is part of the round in which its function is called.
    """
    loop, scope = order.loop_of(node, model), model.scopes.scope_of(node)
    area = loop or scope
    if isinstance(area, cst.Module) or order.is_conditional(node, area, model):
        return False
    at, steps = model.tree.order(node), _steps(node, model)
    if any(model.tree.order(each) < at for each in steps):
        return False
    is_followed = is_followed or any(model.tree.is_inside(each, area) for each in steps)
    if loop is not None or not far or not isinstance(scope, cst.FunctionDef):
        return loop is not None and is_followed
    calls = model.ask(callers_of, scope)
    return any(_is_first_of_round(call, model, far - 1, is_followed=is_followed) for call in calls)


def _steps(node: cst.CSTNode, model: Model) -> list[cst.CSTNode]:
    """Where optimizers step in the scope of a node, and not in what it calls itself."""
    events = model.training_events(model.scopes.scope_of(node))
    return [each.node for each in events if each.what is What.STEP and each.node is not node]


def _fix(node: cst.Expr, owner: cst.BaseExpression, area: LoopStatement | cst.FunctionDef, model: Model) -> Fix | None:
    """Move the statement to the end of the body of a loop, or of the function that is called in one."""
    if any(model.tree.order(each) > model.tree.order(node) for each in _ends_of_round(area, model)):
        return None
    last = area.body.body[-1]
    if isinstance(last, cst.SimpleStatementLine) and isinstance(last.body[-1], LEAVING):
        return None
    scheduler = dotted(owner)
    if scheduler is None or order.is_bound_between(scheduler, node, last, model):
        return None
    moved = edit.move_line(model.tree, node, below=last)
    name = "function" if isinstance(area, cst.FunctionDef) else "loop"
    if moved is None:
        return None
    return Fix(f"Move it to the end of the {name}", moved).doubted("each learning rate comes one step later")


def _ends_of_round(area: LoopStatement | cst.FunctionDef, model: Model) -> list[cst.CSTNode]:
    """Where a round ends before the end of the body: no step would be made there."""
    if isinstance(area, cst.FunctionDef):
        returns = model.tree.within(area, cst.Return)
        return [each for each in returns if model.scopes.scope_of(each) is area]
    ends = [*model.tree.within(area, cst.Continue), *model.tree.within(area, cst.Break)]
    return [each for each in ends if order.loop_of(each, model) is area]
