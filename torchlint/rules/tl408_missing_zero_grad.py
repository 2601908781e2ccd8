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

Where several backward passes make one step, they go on adding up. What empties something else clears no gradients:

```diff
 import torch
 from torch import nn

 def train(net: nn.Module, loader, env, use_amp, k):
     optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
     scaler = torch.amp.GradScaler("cuda") if use_amp else None
     for x in loader:
         rewards = env.reset()
~        for part in x.chunk(4):
~            net(part).sum().backward()
~        optimizer.step()
+        optimizer.zero_grad()
+        for part in x.chunk(4):
+            net(part).sum().backward()
+        optimizer.step()
     for i, x in enumerate(loader):
         torch.cuda.reset_peak_memory_stats()
         (net(x).sum() / k).backward()
         if (i + 1) % k == 0:
~            optimizer.step()
+            optimizer.step()
+            optimizer.zero_grad()
     for x in loader:
         loss = net(x).sum()
~        if use_amp:
~            scaler.scale(loss).backward()
~        else:
~            loss.backward()
~        if use_amp:
~            scaler.step(optimizer)
+        optimizer.zero_grad()
+        if use_amp:
+            scaler.scale(loss).backward()
+        else:
+            loss.backward()
+        if use_amp:
+            scaler.step(optimizer)
         else:
             optimizer.step()
     for x in loader:
         net(x).sum().backward()
         optimizer.step()
         net.reset()
```

Several optimizers that step with the gradients of one `backward()` are all told to clear theirs:

```diff run-differs
 import torch
 from torch import nn

 a, b = nn.Linear(2, 1), nn.Linear(2, 1)
 first, second = torch.optim.SGD(a.parameters(), lr=0.1), torch.optim.SGD(b.parameters(), lr=0.1)
 for _ in range(3):
     loss = (a(torch.ones(4, 2)) + b(torch.ones(4, 2))).pow(2).mean()
~    loss.backward()
~    first.step()
~    second.step()
+    first.zero_grad()
+    second.zero_grad()
+    loss.backward()
+    first.step()
+    second.step()
 weights = [a.weight.detach().clone(), b.weight.detach().clone()]
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

Always: other gradients are used. There is no fix where the optimizer or `backward()` is not in the loop itself, where
several places step, or where it would stand after a step and something in the loop reads `.grad`.

```diff
 import torch

 def train(net: torch.nn.Linear, loader, scaler):
     optimizer = torch.optim.SGD(net.parameters(), 0.1)
     for x in loader:
!        loss = net(x).sum(); loss.backward(); optimizer.step()
```

`zero_grad`: <https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html>.
"""

from __future__ import annotations

import re

import libcst as cst

from torchlint import edit
from torchlint.model import Kind, Model
from torchlint.model.methods_called import calls_on
from torchlint.model.syntax import LoopStatement, dotted, last_name, parameters, root
from torchlint.model.training import TrainingEvent, What, object_kind
from torchlint.rule import Finding, Fix, Group, Severity, all_of, on, pattern, word
from torchlint.rules.shared import order
from torchlint.rules.shared.made_of import made, modules_of

GROUP = Group.CORRECTNESS
SEVERITY = Severity.ERROR

_CLEARING = re.compile(r"zero(?!s(?:_like)?$)|grad$|grads$|gradients|step_and|closure", re.IGNORECASE)
"""What functions may be called that clear gradients; `torch.zeros` is none."""
_EMPTYING = re.compile(r"clear|reset|clean", re.IGNORECASE)
"""What may be called so and clears gradients, if it has to do with the optimizer: `env.reset()` does not."""
_LIKE_MODULES = ("parameters", "named_parameters", "train", "eval", "zero_grad", "state_dict", "backward")
_HOOKS = re.compile(r"\bregister_(?:step_p(?:ost|re)_hook|post_accumulate_grad_hook)\b|\bregister_optimizer_step_p")
"""What has functions called that may clear gradients when an optimizer steps."""
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
    if model.mentions(_HOOKS):
        return None
    first = next((each for each in events if each.what is What.STEP and each.path == path), None)
    if first is not None and first.node is not node:
        return None  # reported once
    said = "gradients are never cleared in this loop, so each step adds up all of them; call `zero_grad()`"
    return Finding(node, said, _fix(loop, events, path, model) if is_known else None)


def _optimizer(step: cst.Call, owner: cst.BaseExpression, model: Model) -> cst.BaseExpression | None:
    """What steps: the owner of a `step()`, or what a scaler of torch is given."""
    if not step.args:
        return owner
    value = model.value(owner)
    is_object = value.kind & ~Kind.NONE == Kind.OBJECT
    return step.args[0].value if is_object and object_kind(value) == "scaler" else None


def root_of(event: TrainingEvent) -> str:
    """The last name of what `backward` is called on."""
    return event.path.rpartition(".")[2]


def _is_known(owner: cst.BaseExpression, scope: cst.FunctionDef | cst.Module, model: Model) -> bool | None:
    """Whether an optimizer is one of torch; False for a parameter of that name; None for all else."""
    value = model.value(owner)
    if value.kind & ~Kind.NONE == Kind.OPTIMIZER and not isinstance(value.node, cst.ClassDef):
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
    bindings: list[cst.AssignTarget | cst.NamedExpr] = [*model.tree.within(loop, cst.AssignTarget)]
    bindings += model.tree.within(loop, cst.NamedExpr)
    targets = (each.target for each in bindings)
    if any(dotted(target) in (path, path.partition(".")[0]) for target in targets):
        return True
    holders = (path, *modules_of(node, model))
    for call in model.tree.within(loop, cst.Call):
        if _is_clearing(call, holders, loop, model):
            return True
        is_scaling = call is node or last_name(call.func) == "unscale_"
        if not is_scaling and any(_has(arg.value, path) for arg in call.args):
            return True
    for each in model.tree.within(loop, cst.Attribute):
        if each.attr.value == "zero_grad" or (each.attr.value == "grad" and model.is_target(each)):
            return True  # TL401 has something to say of one that is not called
    return False


def _is_clearing(call: cst.Call, holders: tuple[str, ...], loop: LoopStatement, model: Model) -> bool:
    """Whether a function that is not seen here may clear gradients, by its name and by whose it is."""
    func = made(call.func, model) if isinstance(call.func, cst.Name) else None
    called = (last_name(call.func), last_name(func) if func is not None else "")
    if any(map(_CLEARING.search, called)):
        return True
    if isinstance(model.value(call.func).node, cst.ClassDef) and not isinstance(model.tree.parent(call.func), cst.Del):
        return True
    if not any(map(_EMPTYING.search, called)) or isinstance(model.value(call.func).node, cst.FunctionDef):
        return False  # what a function of the project does is among the events
    if isinstance(call.func, cst.Attribute) and model.qualified(call.func) is None:
        return _may_hold(call.func.value, holders, loop, model)
    is_unknown = not call.args and model.value(call.func).kind == Kind.UNKNOWN
    return is_unknown or any(_may_hold(arg.value, holders, loop, model) for arg in call.args)


def _may_hold(owner: cst.BaseExpression, holders: tuple[str, ...], loop: LoopStatement, model: Model) -> bool:
    """Whether something is the optimizer or a module, has it, or was made of it."""
    path = dotted(owner)
    if path is None or model.value(owner).kind & (Kind.MODULE | Kind.OPTIMIZER):
        return True
    if any(_has(owner, each) for each in holders) or model.ask(calls_on, owner, _LIKE_MODULES):
        return True
    if any(dotted(call.func) == path for call in model.tree.within(loop, cst.Call)):
        return True  # a module that is not seen to be one
    origin = made(owner, model)
    given = origin.args if isinstance(origin, cst.Call) else ()
    return any(_has(arg.value, each) for arg in given for each in holders)


def _has_one_round(loop: LoopStatement) -> bool:
    match loop:
        case cst.For(iter=cst.Call(func=cst.Name("range"), args=[cst.Arg(value=cst.Integer("1"))])):
            return True
    return False


def _has(given: cst.BaseExpression, path: str) -> bool:
    """Whether what is given is the optimizer, or an object that has it: `self` for `self.optimizer`."""
    owner = dotted(given)
    return bool(owner and path) and f"{path}.".startswith(f"{owner}.")


def _fix(loop: LoopStatement, events: list[TrainingEvent], path: str, model: Model) -> Fix | None:
    """`optimizer.zero_grad()` on a line of its own: before what the step takes, or behind a step of many rounds.

    What other optimizers take of the same goes with it: one `zero_grad()` hides that another one is missing.
    """
    found = _backward_of(loop, events, path, model)
    if found is None:
        return None
    begun, whole = found
    if _gathers(begun[0], whole, model):
        return _behind(whole, loop, path, model)
    line = _begin_of(loop, events, path, model)
    if line is None:
        return None
    steps = [each for each in events if each.what is What.STEP and (each.path == path or each.is_proved)]
    stepping = dict.fromkeys(each.path for each in steps if each.path)
    paths = [each for each in stepping if _begin_of(loop, events, each, model) is line]
    end = f"{model.tree.source.newline}{model.tree.indentation(line)}"
    text = "".join(f"{each}.zero_grad(){end}" for each in paths)
    first = line.body[0] if isinstance(line, cst.SimpleStatementLine) else line
    return Fix("Clear the gradients first", (edit.insert_before(first, text),)).doubted(
        "gradients no longer add up over the rounds, so training takes another way"
    )


def _steps(events: list[TrainingEvent], path: str) -> list[cst.CSTNode]:
    return [event.node for event in events if event.what is What.STEP and event.path == path]


def _backward_of(
    loop: LoopStatement, events: list[TrainingEvent], path: str, model: Model
) -> tuple[list[cst.CSTNode], cst.CSTNode] | None:
    """The `backward()` that an optimizer steps with and its one step; None if they are not in the loop itself."""
    steps = _steps(events, path)
    begun = _taken(events, steps[0], model)
    if any(not _is_own(each) for each in begun) or any(model.tree.statement(each) is loop for each in begun):
        return None
    whole = steps[0] if len(steps) == 1 else _choice(steps, model)
    return None if whole is None else (begun, whole)


def _begin_of(loop: LoopStatement, events: list[TrainingEvent], path: str, model: Model) -> cst.CSTNode | None:
    """The statement before which the gradients are cleared that an optimizer takes in each round."""
    found = _backward_of(loop, events, path, model)
    if found is None or _gathers(found[0][0], found[1], model):
        return None
    return _line_before(found[0], _steps(events, path), model)


def _is_own(call: cst.CSTNode) -> bool:
    return isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute) and call.func.attr.value == "backward"


def _taken(events: list[TrainingEvent], step: cst.CSTNode, model: Model) -> list[cst.CSTNode]:
    """The `backward()` whose gradients a step takes: those since another step, where there is one between."""
    found: list[cst.CSTNode] = []
    for event in reversed(events):
        if model.tree.order(event.node) >= model.tree.order(step):
            continue
        if event.what is What.BACKWARD:
            found.insert(0, event.node)
        elif event.what is What.STEP and found and not order.are_exclusive(event.node, step, model):
            break
    return found or [event.node for event in events if event.what is What.BACKWARD]


def _gathers(begun: cst.CSTNode, step: cst.CSTNode, model: Model) -> bool:
    """Whether a step takes the gradients of several rounds: it is made under a condition, or a round ends before it."""
    child = step
    for up in model.tree.ancestors(step):
        if model.tree.is_inside(begun, up):
            break
        if isinstance(up, (cst.If, cst.Match, cst.ExceptHandler)):
            return True
        child = up
    first, last = model.tree.order(begun), model.tree.order(child)
    area = model.tree.parent(child)
    skips = model.tree.within(area, cst.Continue) if area is not None else []
    own = [each for each in skips if order.loop_of(each, model) is order.loop_of(step, model)]
    return any(first < model.tree.order(each) < last for each in own)


def _behind(step: cst.CSTNode, loop: LoopStatement, path: str, model: Model) -> Fix | None:
    """Clear them behind the step, if nothing reads them there."""
    if any(each.attr.value == "grad" for each in model.tree.within(loop, cst.Attribute)):
        return None
    line = model.tree.statement(step)
    inserted = edit.insert_line(model.tree, line, f"{path}.zero_grad()", beside=line)
    risk = "gradients no longer add up over the steps, so training takes another way"
    return None if inserted is None else Fix("Clear the gradients after it", (inserted,)).doubted(risk)


def _line_before(begun: list[cst.CSTNode], steps: list[cst.CSTNode], model: Model) -> cst.CSTNode | None:
    """The statement before which nothing has been sent back: of branches and loops without the steps the whole."""
    tree, nodes = model.tree, [*begun, *steps]
    found = tree.statement(begun[0])
    for up in tree.ancestors(found):
        if all(tree.is_inside(each, up) for each in nodes) and isinstance(up, (cst.For, cst.While)):
            break
        if isinstance(up, (cst.For, cst.While, cst.If, cst.Match, cst.ExceptHandler, cst.Try)):
            if not all(_is_in_same_branch(each, found, model) for each in nodes):
                found = up
    if not isinstance(tree.parent(found), (cst.IndentedBlock, cst.Module)):
        return None
    return None if isinstance(found, cst.SimpleStatementLine) and len(found.body) > 1 else found


def _is_in_same_branch(node: cst.CSTNode, line: cst.CSTNode, model: Model) -> bool:
    """Whether a node is in the suite of a statement, or would be without the `with` around it."""
    suite = model.tree.parent(line)
    while isinstance(suite, cst.IndentedBlock) and isinstance(model.tree.parent(suite), cst.With):
        suite = model.tree.parent(model.tree.parent(suite) or suite)
    return suite is not None and model.tree.is_inside(node, suite)


def _choice(steps: list[cst.CSTNode], model: Model) -> cst.If | None:
    """The statement each branch of which makes one of some steps: with a scaler or without."""
    inner = model.tree.enclosing(steps[0], cst.If)
    if not isinstance(inner, cst.If) or isinstance(model.tree.parent(inner), cst.If):
        return None
    suites = [inner.body]
    orelse = inner.orelse
    while isinstance(orelse, cst.If):
        suites.append(orelse.body)
        orelse = orelse.orelse
    suites += [orelse.body] if orelse is not None else []
    is_whole = orelse is not None and len(suites) == len(steps)
    made_in = [any(model.tree.is_inside(step, suite) for step in steps) for suite in suites]
    return inner if is_whole and all(made_in) else None
