r"""A training loop that never clears the gradients adds them up.

`backward()` adds to `.grad`. If nothing clears it, each step goes along the sum of all gradients since the beginning,
most of them of weights that are no more.

```diff run-differs
 import torch
 from torch import nn

 torch.manual_seed(0)
 net = nn.Linear(2, 1)
 optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
 for epoch in range(5):
     loss = net(torch.ones(4, 2)).pow(2).mean()
~    loss.backward()
~    optimizer.step()
+    optimizer.zero_grad()
+    loss.backward()
+    optimizer.step()
 weight = net.weight.detach().clone()
```

A scaler steps for its optimizer:

```diff
 import torch
 from torch import nn

 net = nn.Linear(2, 1)
 optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
 scaler = torch.amp.GradScaler("cuda")
 for x in [torch.ones(4, 2)]:
     loss = net(x).sum() + torch.zeros(1).sum()
~    scaler.scale(loss).backward()
~    scaler.step(optimizer)
+    optimizer.zero_grad()
+    scaler.scale(loss).backward()
+    scaler.step(optimizer)
     scaler.update()
```

Gradients are cleared by the optimizer, the module, by hand, or in what the loop calls; LBFGS does it in its closure:

```diff
 import torch
 from torch import nn

 net = nn.Linear(2, 1)
 optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
 batches = [torch.ones(4, 2)]

 def update(loss):
     optimizer.zero_grad()
     loss.backward()
     optimizer.step()

 for x in batches:
     net.zero_grad()
     net(x).sum().backward()
     optimizer.step()
 for x in batches:
     net(x).sum().backward()
     optimizer.step()
     for p in net.parameters():
         p.grad = None
 for x in batches:
     update(net(x).sum())
 for x in batches:
     net(x).sum().backward()
 optimizer.step()
 for _ in range(3):
     once = torch.optim.Adam(net.parameters())
     net(batches[0]).sum().backward()
     once.step()
```

## When the fix is unsafe

Always: other gradients are used. There is no fix where the optimizer or `backward()` is not in the loop itself.

`zero_grad`: <https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html>.
"""

from __future__ import annotations

import re

import libcst as cst

from torchlint import edit
from torchlint.model import Kind, Model
from torchlint.model.syntax import LoopStatement, dotted, last_name, parameters, root
from torchlint.model.training import TrainingEvent, What, object_kind
from torchlint.rule import Applicability, Finding, Fix, Group, Severity, all_of, on, pattern, word
from torchlint.rules.shared import order
from torchlint.rules.shared.made_of import made

GROUP = Group.CORRECTNESS
SEVERITY = Severity.ERROR

_CLEARING = re.compile(r"zero(?!s(?:_like)?$)|clear|reset|clean|grad$|step_and|closure", re.IGNORECASE)
"""What functions may be called that clear gradients; `torch.zeros` is none."""
_ENGINES = frozenset(
    ("accelerator", "fabric", "engine", "model_engine", "manager", "strategy", "trainer", "dist_autograd")
)
"""What has a ``backward`` of its own, which may clear gradients as well."""


@on(cst.Call, trigger=all_of(pattern(r"\bstep \("), word("backward")))
def check(node: cst.Call, model: Model) -> Finding | None:
    """Report a loop that steps and never clears."""
    if not isinstance(node.func, cst.Attribute) or node.func.attr.value != "step" or len(node.args) > 1:
        return None
    loops = order.loops_around(node, model)
    optimizer = _optimizer(node, node.func.value, model) if loops else None
    if optimizer is None:
        return None
    scope = model.scopes.scope_of(node)
    is_known = _is_known(optimizer, scope, model)
    if is_known is None or (isinstance(scope, cst.FunctionDef) and scope.name.value.startswith("test")):
        return None
    loop, path = loops[0], dotted(optimizer) or ""
    events = [event for event in model.training_events(scope) if model.tree.is_inside(event.node, loop)]
    begun = [event for event in events if event.what is What.BACKWARD]
    if not begun or any(event.what is What.CLEAR for event in events):
        return None
    if any(root_of(event) in _ENGINES for event in begun) or _may_clear(node, loop, path, model):
        return None
    first = next((each for each in events if each.what is What.STEP and each.path == path), None)
    if first is not None and first.node is not node:
        return None  # reported once
    said = "gradients are never cleared in this loop, so each step adds up all of them; call `zero_grad()`"
    return Finding(node, said, _fix(begun[0], path, model) if is_known else None)


def _optimizer(step: cst.Call, owner: cst.BaseExpression, model: Model) -> cst.BaseExpression | None:
    """What steps: the owner of a `step()`, or what a scaler of torch is given."""
    if not step.args:
        return owner
    value = model.value(owner)
    return step.args[0].value if value.kind == Kind.OBJECT and object_kind(value) == "scaler" else None


def root_of(event: TrainingEvent) -> str:
    """The last name of what `backward` is called on."""
    return event.path.rpartition(".")[2]


def _is_known(owner: cst.BaseExpression, scope: cst.FunctionDef | cst.Module, model: Model) -> bool | None:
    """Whether an optimizer is one of torch; False for a parameter of that name; None for all else."""
    value = model.value(owner)
    if value.kind == Kind.OPTIMIZER and not isinstance(value.node, cst.ClassDef):
        return None if (value.ref or "").endswith("LBFGS") else True
    is_given = isinstance(scope, cst.FunctionDef) and root(owner) in {each.name.value for each in parameters(scope)}
    if value.kind == Kind.UNKNOWN and last_name(owner) == "optimizer" and isinstance(owner, cst.Name) and is_given:
        return False
    return None


def _may_clear(node: cst.Call, loop: LoopStatement, path: str, model: Model) -> bool:
    """Whether a loop makes its optimizer, ends in its first round, or calls what may clear gradients."""
    last = loop.body.body[-1]
    small = last.body[-1] if isinstance(last, cst.SimpleStatementLine) else None
    if isinstance(small, (cst.Break, cst.Return)) or _has_one_round(loop):
        return True
    for target in model.tree.within(loop, cst.AssignTarget):
        if dotted(target.target) in (path, path.partition(".")[0]):
            return True
    for call in model.tree.within(loop, cst.Call):
        func = made(call.func, model) if isinstance(call.func, cst.Name) else None
        if _CLEARING.search(last_name(call.func)) or (func is not None and _CLEARING.search(last_name(func))):
            return True
        is_scaling = call is node or last_name(call.func) == "unscale_"
        if not is_scaling and any(_has(arg.value, path) for arg in call.args):
            return True
    return any(each.attr.value == "grad" and model.is_target(each) for each in model.tree.within(loop, cst.Attribute))


def _has_one_round(loop: LoopStatement) -> bool:
    match loop:
        case cst.For(iter=cst.Call(func=cst.Name("range"), args=[cst.Arg(value=cst.Integer("1"))])):
            return True
    return False


def _has(given: cst.BaseExpression, path: str) -> bool:
    """Whether what is given is the optimizer, or an object that has it: `self` for `self.optimizer`."""
    owner = dotted(given)
    return bool(owner and path) and f"{path}.".startswith(f"{owner}.")


def _fix(begun: TrainingEvent, path: str, model: Model) -> Fix | None:
    """`optimizer.zero_grad()` on a line before the `backward()`."""
    call = begun.node
    statement = model.tree.statement(call)
    is_own = isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute) and call.func.attr.value == "backward"
    if not is_own or not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) > 1:
        return None
    text = f"{path}.zero_grad(){model.tree.source.newline}{model.tree.indentation(statement)}"
    return Fix("Clear the gradients first", (edit.insert_before(statement.body[0], text),), Applicability.UNSAFE)
