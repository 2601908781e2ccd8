r"""Gradients are clipped while the scaler's factor is still in them.

`scaler.scale(loss).backward()` gives gradients that are 65536 times too large at first, and the factor changes while
training. Clipped to a norm of 1 before `scaler.unscale_(optimizer)`, they are divided by the factor afterwards: what is
left of them is a few millionths, and the steps are next to nothing.

```diff
 import torch
 from torch import nn

 net = nn.Linear(2, 1).cuda()
 optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
 scaler = torch.amp.GradScaler("cuda")
 for x in torch.ones(3, 4, 2, device="cuda"):
     optimizer.zero_grad()
     scaler.scale(net(x).sum()).backward()
~    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
+    scaler.unscale_(optimizer)
+    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
     scaler.step(optimizer)
     scaler.update()
```

The same on a CPU, with a factor that is given:

```diff run-differs
 import torch
 from torch import nn

 torch.manual_seed(0)
 net = nn.Linear(2, 1)
 optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

 def train(x):
     scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
     scaler.scale(net(x).sum()).backward()
~    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
+    scaler.unscale_(optimizer)
+    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
     scaler.step(optimizer)

 train(torch.ones(4, 2))
 weight = net.weight.detach().clone()
```

Where the factor is taken out before, somewhere, or was never in, all is well:

```diff
 import torch
 from torch import nn

 net = nn.Linear(2, 1)
 optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
 scaler = torch.amp.GradScaler("cuda")

 def train(x, clips):
     scaler.scale(net(x).sum()).backward()
     if clips:
         scaler.unscale_(optimizer)
     nn.utils.clip_grad_norm_(net.parameters(), 1.0)
     scaler.step(optimizer)

 def train_in_full_precision(x):
     net(x).sum().backward()
     nn.utils.clip_grad_norm_(net.parameters(), 1.0)
     scaler.step(optimizer)
```

## When the fix is unsafe

Always: the steps become as large as they were meant to be. There is none where it is not seen which optimizer it is.

Gradient clipping with a scaler:
<https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-clipping>.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst

from torchlint import edit
from torchlint.model import Kind, Model
from torchlint.model.methods_called import calls_on
from torchlint.model.syntax import dotted, keyword
from torchlint.model.training import TrainingEvent, What, object_kind
from torchlint.rule import Applicability, Finding, Fix, Group, Severity, on, part
from torchlint.rules.shared import clipping
from torchlint.rules.shared.made_of import made
from torchlint.rules.shared.paths import Facts, Paths

GROUP = Group.CORRECTNESS
SEVERITY = Severity.ERROR


@on(cst.Call, trigger=part("clip_grad"))
def check(node: cst.Call, model: Model) -> Finding | None:
    """Report gradients that are clipped with a scaler's factor in them."""
    scope = model.scopes.scope_of(node)
    scaled = model.remember(_scaled, scope).get(id(node))
    if scaled is None or clipping.only_measures(node, model) or model.remember(_computes_with_factor, scope):
        return None
    said = f"these gradients are still scaled by `{scaled.scaler}`; call `{scaled.scaler}.unscale_(…)` before"
    return Finding(node.func, said, _fix(node, scaled, model))


@dataclass
class _Scaled:
    """Clipping of gradients that a scaler has made larger."""

    scaler: str
    is_first: bool
    """Whether nothing else clips before, for what is taken out twice raises."""
    optimizers: list[str] = field(default_factory=list)
    """What steps with them, by the names it has."""


def _scaled(model: Model, scope: cst.FunctionDef | cst.Module) -> dict[int, _Scaled]:
    """The calls of a scope that clip what is not unscaled, and is stepped with by the scaler."""
    found: dict[int, _Scaled] = {}
    events = model.training_events(scope)
    if not any(event.what is What.CLIP for event in events):
        return found

    def see(event: TrainingEvent, facts: Facts[str]) -> None:
        match event.what:
            case What.BACKWARD:
                facts.clear()
                scaler = _scaler_of(event.node, model)
                if scaler:
                    facts["scaled"] = scaler
            case What.UNSCALE | What.UNKNOWN:
                facts["unscaled"] = ""
            case What.CLIP if "scaled" in facts and "unscaled" not in facts:
                found[id(event.node)] = _Scaled(facts["scaled"], "clipped" not in facts)
                facts["clipped"] = ""

    Paths(model, [(event.node, event) for event in events], see).follow(scope)
    steps: list[TrainingEvent] = []
    for event in reversed(events):
        if event.what is What.STEP:
            steps.append(event)
        elif event.what is What.BACKWARD:
            steps = []
        elif id(event.node) in found:
            clip = found[id(event.node)]
            clip.optimizers = sorted({each.path for each in steps if each.by == clip.scaler})
    return {key: clip for key, clip in found.items() if clip.optimizers}


def _computes_with_factor(model: Model, scope: cst.FunctionDef | cst.Module) -> bool:
    """Whether a scope asks for the factor of a scaler to compute with it, as who takes it out by hand does."""
    for name in model.tree.attributes("get_scale"):
        call = model.tree.parent(name)
        if model.scopes.scope_of(name) is scope and isinstance(call, cst.Call):
            if isinstance(model.tree.parent(call), (cst.BinaryOperation, cst.Assign)):
                return True
    return False


def _scaler_of(node: cst.CSTNode, model: Model) -> str:
    """The scaler in `scaler.scale(loss).backward()`, if it is one of torch and may be on."""
    match node:
        case cst.Call(func=cst.Attribute(value=cst.Name() as name)):
            loss = made(name, model)
        case cst.Call(func=cst.Attribute(value=loss)):
            pass
        case _:
            return ""
    match loss:
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name("scale"))):
            return dotted(owner) or "" if _is_scaler(owner, model) else ""
    return ""


def _is_scaler(owner: cst.BaseExpression, model: Model) -> bool:
    """Whether something is a scaler of torch, or is given and used like one, and is not off."""
    value = model.value(owner)
    if value.kind == Kind.UNKNOWN:
        return model.ask(calls_on, owner, ("update",))
    if not value.kind & Kind.OBJECT or value.kind & ~(Kind.OBJECT | Kind.NONE) or object_kind(value) != "scaler":
        return False
    call = made(owner, model)
    enabled = keyword(call.args, "enabled") if isinstance(call, cst.Call) else None
    return enabled is None or not (isinstance(enabled.value, cst.Name) and enabled.value.value == "False")


def _fix(node: cst.Call, scaled: _Scaled, model: Model) -> Fix | None:
    """`scaler.unscale_(optimizer)` on a line before."""
    statement = model.tree.statement(node)
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) > 1 or not scaled.is_first:
        return None
    if len(scaled.optimizers) != 1 or not scaled.optimizers[0]:
        return None
    call = f"{scaled.scaler}.unscale_({scaled.optimizers[0]})"
    text = f"{call}{model.tree.source.newline}{model.tree.indentation(statement)}"
    return Fix("Take the factor out first", (edit.insert_before(statement.body[0], text),), Applicability.UNSAFE)
