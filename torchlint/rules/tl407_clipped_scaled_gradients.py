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

It is taken out once, before all that clips, and only where the loss was scaled:

```diff
 import torch
 from torch import nn

 def train(nets, optimizer: torch.optim.Optimizer, scaler: torch.amp.GradScaler, loss, by_norm, by_value):
     scaler.scale(loss).backward()
~    for net in nets:
~        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
+    scaler.unscale_(optimizer)
+    for net in nets:
+        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
     scaler.step(optimizer)
     scaler.update()
     scaler.scale(loss).backward()
~    if by_norm:
~        nn.utils.clip_grad_norm_(nets[0].parameters(), 1.0)
+    scaler.unscale_(optimizer)
+    if by_norm:
+        nn.utils.clip_grad_norm_(nets[0].parameters(), 1.0)
     if by_value:
!        nn.utils.clip_grad_value_(nets[0].parameters(), 1.0)
     scaler.step(optimizer)

 def train_with_mixed_precision(net, optimizer: torch.optim.Optimizer, loss, use_amp):
     scaler = torch.amp.GradScaler("cuda") if use_amp else None
     if use_amp:
         scaler.scale(loss).backward()
     else:
         loss.backward()
~    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
+    if use_amp:
+        scaler.unscale_(optimizer)
+    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
     if use_amp:
         scaler.step(optimizer)
     else:
         optimizer.step()

 def take_it_out_too_late(net, optimizer: torch.optim.Optimizer, scaler: torch.amp.GradScaler, loss):
     scaler.scale(loss).backward()
!    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
     scaler.unscale_(optimizer)
     scaler.step(optimizer)

 def accumulate(net, optimizer: torch.optim.Optimizer, scaler: torch.amp.GradScaler, losses, size):
     for i, loss in enumerate(losses):
         scaler.scale(loss).backward()
!        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
         if (i + 1) % size == 0:
             scaler.step(optimizer)
             scaler.update()

 def accumulate_in_a_loop(net, optimizer: torch.optim.Optimizer, scaler: torch.amp.GradScaler, batches, split):
     for batch in batches:
         for part in split(batch):
             scaler.scale(net(part).sum()).backward()
!            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
         scaler.step(optimizer)
         scaler.update()

 def step_with_each(net, optimizers: list[torch.optim.Optimizer], scaler: torch.amp.GradScaler, loss):
     scaler.scale(loss).backward()
!    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
     for optimizer in optimizers:
         scaler.step(optimizer)
     scaler.update()

 def leave_out(net, optimizer: torch.optim.Optimizer, scaler: torch.amp.GradScaler, losses):
     for loss in losses:
         scaler.scale(loss).backward()
!        norm = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
         if norm > 100:
             continue
         scaler.step(optimizer)
         scaler.update()
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

Always: the steps become as large as they were meant to be. There is none where it is not seen which optimizer it is, or
its name is bound after the clipping, nor where it steps only now and then, where the round may be left before the
step, or after a loop around the clipping: a second `unscale_()` before a step raises.

Gradient clipping with a scaler:
<https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-clipping>.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst

from torchlint import edit
from torchlint.model import Kind, Model
from torchlint.model.methods_called import calls_on
from torchlint.model.syntax import dotted, keyword, last_name
from torchlint.model.training import TrainingEvent, What, object_kind
from torchlint.rule import Finding, Fix, Group, Severity, on, part
from torchlint.rules.shared import clipping, order
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
    begun: cst.CSTNode
    """The `backward()` that they come from."""
    steps: list[TrainingEvent] = field(default_factory=list)
    """What the scaler steps with."""


def _scaled(model: Model, scope: cst.FunctionDef | cst.Module) -> dict[int, _Scaled]:
    """The calls of a scope that clip what is not unscaled, and is stepped with by the scaler."""
    found: dict[int, _Scaled] = {}
    events = model.training_events(scope)
    if not any(event.what is What.CLIP for event in events):
        return found

    def see(event: TrainingEvent, facts: Facts[TrainingEvent]) -> None:
        match event.what:
            case What.BACKWARD:
                facts.clear()
                if _scaler_of(event.node, model):
                    facts["scaled"] = event
            case What.UNSCALE | What.UNKNOWN:
                facts["unscaled"] = event
            case What.CLIP if "scaled" in facts and "unscaled" not in facts:
                begun = facts["scaled"].node
                found[id(event.node)] = _Scaled(_scaler_of(begun, model), begun)

    Paths(model, [(event.node, event) for event in events], see).follow(scope)
    steps: list[TrainingEvent] = []
    for event in reversed(events):
        if event.what is What.STEP:
            steps.append(event)
        elif event.what is What.BACKWARD:
            steps = []
        elif id(event.node) in found:
            clip = found[id(event.node)]
            clip.steps = [each for each in steps if each.by == clip.scaler]
    return {key: clip for key, clip in found.items() if clip.steps}


def _computes_with_factor(model: Model, scope: cst.FunctionDef | cst.Module) -> bool:
    """Whether a scope asks for the factor of a scaler to compute with it, as who takes it out by hand does."""
    for name in model.tree.attributes("get_scale"):
        call = model.tree.parent(name)
        if model.scopes.scope_of(name) is scope and isinstance(call, cst.Call) and _is_computed_with(call, model):
            return True
    return False


_COMPUTING = frozenset(("mul_", "div_", "mul", "div", "multiply_", "divide_", "true_divide_"))


def _is_computed_with(factor: cst.Call, model: Model) -> bool:
    """Whether a number is multiplied or divided by, or kept."""
    parent = model.tree.parent(factor)
    if isinstance(parent, cst.Arg):
        call = model.tree.parent(parent)
        return isinstance(call, cst.Call) and last_name(call.func) in _COMPUTING
    return isinstance(parent, (cst.BinaryOperation, cst.Assign, cst.AugAssign))


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
    """`scaler.unscale_(optimizer)` on a line before all that clips: once, for a second time raises."""
    optimizers = {each.path for each in scaled.steps}
    clips = _of_same_gradients(node, scaled, model)
    if clips[0] is not node or len(optimizers) != 1 or "" in optimizers:
        return None
    line = _line_before(clips, scaled, model)
    if line is None or _is_unscaled_later(line, scaled, model):
        return None
    optimizer = optimizers.pop()
    if any(order.is_bound_between(optimizer, line, step.node, model) for step in scaled.steps):
        return None
    if any(order.is_left_between(line, step.node, model) for step in scaled.steps):
        return None  # without the step the factor counts as taken out, and the next round would do it once more
    text = f"{scaled.scaler}.unscale_({optimizer})"
    newline, indent = model.tree.source.newline, model.tree.indentation(line)
    guards = _guards(scaled.begun, line, model)
    if len(guards) > 1 or not all(guards):
        return None
    loops = order.loops_around(line, model)
    if any(not model.tree.is_inside(step.node, loop.body) for step in scaled.steps for loop in loops):
        return None  # gradients add up over several rounds, and the factor is taken out once for each step
    if any(guard not in guards for step in scaled.steps for guard in _guards(step.node, line, model)):
        return None
    if guards:
        text = f"if {guards[0]}:{newline}{indent}{model.tree.module.default_indent}{text}"
    first = line.body[0] if isinstance(line, cst.SimpleStatementLine) else line
    edits = (edit.insert_before(first, f"{text}{newline}{indent}"),)
    return Fix("Take the factor out first", edits).doubted(
        "the limit acts on gradients without the factor now, so less is clipped"
    )


def _of_same_gradients(node: cst.Call, scaled: _Scaled, model: Model) -> list[cst.CSTNode]:
    """What clips the gradients of one `backward()`, in document order."""
    scope = model.scopes.scope_of(node)
    found = model.remember(_scaled, scope)
    clips = [event.node for event in model.training_events(scope) if id(event.node) in found]
    return [each for each in clips if found[id(each)].begun is scaled.begun]


def _line_before(clips: list[cst.CSTNode], scaled: _Scaled, model: Model) -> cst.CSTNode | None:
    """The statement that holds the first clipping, in the suite that all of it is in, and outside of its loops."""
    tree, found = model.tree, None
    first = tree.statement(clips[0])
    for up in (first, *tree.ancestors(first)):
        suite = tree.parent(up)
        if any(tree.is_inside(each, up) for each in (scaled.begun, *(step.node for step in scaled.steps))):
            break
        if not isinstance(suite, (cst.IndentedBlock, cst.Module)):
            continue
        is_whole = found is None and all(tree.is_inside(each, suite) for each in clips)
        if is_whole or (found is not None and isinstance(up, (cst.For, cst.While))):
            found = up
    return None if isinstance(found, cst.SimpleStatementLine) and len(found.body) > 1 else found


def _is_unscaled_later(line: cst.CSTNode, scaled: _Scaled, model: Model) -> bool:
    """Whether the factor is taken out behind a statement, where it is too late: a second time raises."""
    for event in model.training_events(model.scopes.scope_of(line)):
        if model.tree.order(event.node) < model.tree.order(line) or order.are_exclusive(event.node, line, model):
            continue
        if event.what is What.BACKWARD:
            break
        if event.what is What.UNSCALE or (event.what is What.UNKNOWN and _is_given(scaled.scaler, event.node)):
            return True
    return False


def _is_given(path: str, call: cst.CSTNode) -> bool:
    return isinstance(call, cst.Call) and any(dotted(arg.value) == path for arg in call.args)


def _guards(node: cst.CSTNode, line: cst.CSTNode, model: Model) -> list[str]:
    """The conditions under which a `backward()` or a step runs, and a statement near it without them.

    Without that `backward()` there is no factor to take out. A condition that can be asked once more is written out,
    others are empty.
    """
    found: list[str] = []
    child = node
    for up in model.tree.ancestors(node):
        if model.tree.is_inside(line, up):
            break
        match up:
            case cst.If(test=cst.Name() | cst.Attribute() | cst.Comparison() as test) if child is up.body:
                found.append("" if model.tree.within(test, cst.Call) else model.tree.code(test))
            case cst.If() | cst.IfExp() | cst.Match() | cst.ExceptHandler():
                found.append("")
        child = up
    return found
