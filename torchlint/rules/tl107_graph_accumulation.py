r"""Summing or listing losses that keep their graph keeps the memory of every iteration.

`total += loss` adds a tensor with its whole graph: nothing of any iteration is freed until `total` goes. What is only
reported needs no graph: keep `loss.detach()`, or `loss.item()` where a Python number will do.

```diff run
 import torch
 from torch import nn

 net = nn.Linear(3, 1)
 criterion = nn.MSELoss()
 optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
 total, average, history, sums = 0, 0, [], {"loss": 0}
 for _ in range(3):
     loss = criterion(net(torch.ones(2, 3)), torch.zeros(2, 1))
     optimizer.zero_grad()
     loss.backward()
     optimizer.step()
-    total += loss
+    total += loss.detach()
-    average = 0.9 * average + 0.1 * loss
+    average = 0.9 * average + (0.1 * loss).detach()
-    history.append((len(history), loss))
+    history.append((len(history), loss.detach()))
-    sums["loss"] += loss
+    sums["loss"] += loss.detach()
 print(float(total), float(average), len(history), float(sums["loss"]))
```

So do methods and functions of the project that put what they are given into something that stays:

```diff run
 import torch
 from torch import nn


 class Meter:
     def __init__(self):
         self.sum = self.count = 0

     def update(self, value, n=1):
         self.sum += value * n
         self.count += n


 net, meter = nn.Linear(3, 1), Meter()
 for _ in range(3):
     loss = net(torch.ones(2, 3)).mean()
     loss.backward()
-    meter.update(loss, 2)
+    meter.update(loss.detach(), 2)
```

A dictionary that is kept as a whole keeps what was put into it. Which of it is needed, nobody but you can say:

```diff run
 import torch
 from torch import nn

 net, rows = nn.Linear(3, 1), []
 for _ in range(3):
     loss = net(torch.ones(2, 3)).mean()
     row = {"loss": loss, "n": 2}
     loss.backward()
!    rows.append(row)
 for _ in range(3):
     loss = net(torch.ones(2, 3)).mean()
     loss.backward()
     rows.append({"loss": loss.item(), "n": 2})
```

And Lightning 1 keeps all that `training_step` returns where there is a `training_epoch_end` for it; the loss alone is
detached:

```diff
 import pytorch_lightning as pl


 class Task(pl.LightningModule):
     def training_step(self, batch, batch_idx):
         out = self(batch)
         penalty_loss = out.pow(2).mean()
~        return {"loss": out.mean() + penalty_loss, "penalty": penalty_loss}
+        return {"loss": out.mean() + penalty_loss, "penalty": penalty_loss.detach()}

     def training_epoch_end(self, outputs):
         print(sum(float(each["penalty"]) for each in outputs))
```

## What is known of the graph

A finding rests on `loss.backward()` in the same round, in whatever way that is written: `accelerator.backward(loss)`,
`scaler.scale(loss).backward()`, a function of the project, the result of `training_step`. It frees the graph, so nobody
can send gradients back through the sum any more. That holds for what the loss is made of as well, and for other results
of the call that it comes from. It does not hold where `retain_graph=True` is given.

A sum that reaches `backward()` itself needs its graph. Where nothing is sent back, losses must be summed and the sum
only be read, here or by those who call the function:

```diff
 import torch
 from torch import nn

 net = nn.Linear(3, 1)
 criterion = nn.MSELoss()


 def step(batches):
     total = 0
     for x, y in batches:
         total += criterion(net(x), y)
     total.backward()


 def objective(batches):
     total = 0
     for x, y in batches:
         total = total + criterion(net(x), y)
     return total


 def evaluate(batches):
     total = 0
     for x, y in batches:
-        total += criterion(net(x), y)
+        total += criterion(net(x), y).detach()
     print(f"{total:.3f}")
```

## When the fix is unsafe

Where the loss is not sent back whenever it is kept; where what is kept is a part of the loss or shares its graph, and
may be no tensor, or where a branch or a function that is not torch's may leave it out; where a sum is returned and only
the callers in this file show that it is only read. There is no fix where the list's last element is sent back
(`losses[-1].backward()`), or an object is kept that holds the loss.

PyTorch's FAQ: <https://docs.pytorch.org/docs/stable/notes/faq.html>.
"""

from __future__ import annotations

import libcst as cst

from torchlint import edit
from torchlint.model import Kept, Model, Tie
from torchlint.model.graphs.kept import kept_for_nothing
from torchlint.model.graphs.steps import kept_of_step
from torchlint.rule import Applicability, Edit, Finding, Fix, Group, all_of, any_of, attribute, in_loops, on, pattern

GROUP = Group.PERFORMANCE

_TRIGGER = any_of(
    attribute("backward"),
    pattern(r"backward(?:_pass|_step)? \("),
    pattern(r"training_step \("),
    pattern(r"compute_loss \("),
    all_of(pattern(r"(?:[-+]=|append \(|= [\w.]+ [+-])"), attribute("backward")),
    in_loops(pattern(r"\+= (?:[^\n]|[\\(,]\n){0,500}(?:[Ll]oss|criterion|objective|nll|elbo|cost)")),
    in_loops(pattern(r"-= (?:[^\n]|[\\(,]\n){0,500}(?:[Ll]oss|criterion|objective|nll|elbo|cost)")),
    in_loops(pattern(r"[Ll]oss\w* [-+]=")),
    in_loops(pattern(r"[Ll]oss\w* \. append \(")),
    in_loops(pattern(r"append \( (?:[^\n]|[\\(,]\n){0,500}(?:[Ll]oss|criterion|objective|nll|elbo|cost)")),
    in_loops(pattern(r"= [\w.]+ [+-] (?:[^\n]|[\\(,]\n){0,500}(?:[Ll]oss|criterion|objective|nll|elbo|cost)")),
)
"""Where nothing in a function sends gradients back, the sum or what is added must be called a loss, on one line."""


_RISKS = {
    Tie.NONE: "callers in other files may call `backward()` on it",
    Tie.SHARED: "it has no `.detach()` if it is a number",
    Tie.PART: "it has no `.detach()` if it is a number, and its graph may be needed where the loss is made without it",
    Tie.SAME: "where `backward()` is not called on it, somebody may need its graph",
}


@on(cst.AugAssign, cst.Assign, cst.AnnAssign, cst.NamedExpr, cst.Call, trigger=_TRIGGER)
def check(node: cst.CSTNode, model: Model) -> Finding | None:
    """Report what keeps graphs for nothing."""
    kept = model.ask(kept_for_nothing, node)
    if not kept or not model.may_record(node):
        return None
    receiver = kept[0].graph
    keeps = f"`{kept[0].keeping.path}` keeps the graph of every iteration in memory"
    if any(each.tie == Tie.LAST for each in kept):
        return Finding(node, f"{keeps}; call `backward()` first, then keep it detached", receiver=receiver)
    if not all(each.can_detach for each in kept):
        return Finding(node, f"{keeps}; keep only what is needed of it, detached", receiver=receiver)
    doubtful = [each for each in kept if not each.is_certain]
    how = Applicability.UNSAFE if doubtful else Applicability.SAFE
    risk = "a number is no tensor, and `.item()` waits for the device"
    number = Fix("Add `.item()`, for a number", _all(kept, "item"), Applicability.UNSAFE, risk=risk)
    risk = _RISKS.get(doubtful[0].tie, "") if doubtful else ""
    fix = Fix("Add `.detach()`", _all(kept, "detach"), how, alternatives=(number,), risk=risk)
    return Finding(node, f"{keeps}; add `.detach()` (or `.item()` for a number)", fix, receiver=receiver)


@on(cst.Return, trigger=pattern(r"def training_epoch_end"))
def check_step(node: cst.Return, model: Model) -> Finding | None:
    """Report what Lightning keeps of each step with its graph."""
    kept = model.ask(kept_of_step, node)
    if not kept or not model.may_record(node):
        return None
    said = "the trainer keeps what is returned for `training_epoch_end`, with its graph; add `.detach()`"
    edits = tuple(each_edit for each in kept for each_edit in edit.append(each, ".detach()"))
    fix = Fix("Add `.detach()`", edits, Applicability.UNSAFE, risk=_RISKS[Tie.SHARED])
    return Finding(kept[0], said, fix, receiver=kept[0])


def _all(kept: list[Kept], method: str) -> tuple[Edit, ...]:
    return tuple(each_edit for each in kept for each_edit in edit.append(each.value, f".{method}()"))
