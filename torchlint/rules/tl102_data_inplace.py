r"""Writing to a tensor through `.data` is never noticed by `backward()`.

An in-place operation on `x.data` changes `x` without counting it: if `x` was saved for the backward pass, the gradients
are silently wrong. To initialise a parameter there is `nn.init`; to update one there is
`with torch.no_grad():`; a gradient needs neither.

```diff run
 import torch
 from torch import nn


 class Net(nn.Module):
     def __init__(self):
         super().__init__()
         self.fc = nn.Linear(3, 2)
-        self.fc.weight.data.normal_(0, 0.02)
+        nn.init.normal_(self.fc.weight, 0, 0.02)
-        self.fc.bias.data.fill_(0.1)
+        nn.init.constant_(self.fc.bias, 0.1)


 def weights_init(m):
     if isinstance(m, nn.Linear):
-        m.weight.data.uniform_(-0.1, 0.1)
+        nn.init.uniform_(m.weight, -0.1, 0.1)
-        m.bias.data.zero_()
+        nn.init.zeros_(m.bias)
-        m.weight.data[0] = 1.0
+        with torch.no_grad():
+            m.weight[0] = 1.0


 net = Net()
 net.apply(weights_init)
 net.fc(torch.ones(1, 3)).sum().backward()
 for p in net.parameters():
-    p.grad.data.clamp_(-1, 1)
+    p.grad.clamp_(-1, 1)
-    p.grad.data.zero_()
+    p.grad.zero_()
```

An initialiser is one by its name, or because `apply` is given it, in any file of the project; so is what a function
returns that is called for `apply`:

```diff run
 import torch
 from torch import nn

 def uniform(scale):
     def f(m):
         if isinstance(m, nn.Linear):
-            m.weight.data.uniform_(-scale, scale)
-            m.bias.data.fill_(0.0)
+            nn.init.uniform_(m.weight, -scale, scale)
+            nn.init.constant_(m.bias, 0.0)
     return f

 def decay(rate):
     def f(m):
~        m.weight.data.mul_(rate)
+        with torch.no_grad():
+            m.weight.mul_(rate)
     return f

 net = nn.Sequential(nn.Linear(3, 2))
 net.apply(uniform(0.1))
 decay(0.9)(net[0])
 net(torch.ones(3)).sum().backward()
```

## When the fix is unsafe

Everywhere else: the new form bumps the version counter, so what computed wrong gradients silently raises in
`backward()`. And where the project has a lazy module (`nn.LazyLinear`), whose parameters cannot be written before the
first batch, as their `.data` can; and for gradients where some are sparse (`nn.Embedding(4, 2, sparse=True)`), which
what is written to their `.data` does not reach. A loop goes into the block as a whole, and so does one around it, where
nothing else in it computes what may have a graph; and so does an `if` of which several branches write.

```diff run
 import torch
 from torch import nn

 net = nn.Linear(3, 2)
~for p in net.parameters():
~    p.data.add_(torch.ones_like(p), alpha=-0.1)
~    p.data -= 0.1
+with torch.no_grad():
+    for p in net.parameters():
+        p.add_(torch.ones_like(p), alpha=-0.1)
+        p -= 0.1
 for p in net.parameters():
     norm = net(p.sum() * torch.ones(3)).norm()
~    p.data.div_(norm.item())
+    with torch.no_grad():
+        p.div_(norm.item())
 with torch.no_grad():
     for p in net.parameters():
~        p.data.clamp_(-1, 1)
+        p.clamp_(-1, 1)
```

An average of two parameters, as in soft updates, is `lerp_`, which gives the same up to rounding. Where `step` of an
optimizer would get several blocks, it is decorated as a whole, as those of torch are, and calls its closure under
`torch.enable_grad()`:

```diff run
 import torch
 from torch import nn
 from torch.optim import Optimizer


 class Descent(Optimizer):
+    @torch.no_grad()
     def step(self):
         for group in self.param_groups:
             for p in group["params"]:
~                p.data.mul_(0.99)
+                p.mul_(0.99)
                 factor = -group["lr"]
~                p.data.add_(p.grad, alpha=factor)
+                p.add_(p.grad, alpha=factor)


 net, target = nn.Linear(3, 2), nn.Linear(3, 2)
 net(torch.ones(1, 3)).sum().backward()
 Descent(net.parameters(), {"lr": 0.1}).step()
 tau = 0.01
~for p, q in zip(net.parameters(), target.parameters()):
~    q.data.copy_(tau * p + (1 - tau) * q)
+with torch.no_grad():
+    for p, q in zip(net.parameters(), target.parameters()):
+        q.lerp_(p, tau)
```

There is no fix where the statement computes gradients, itself or in a function that it calls: the block would keep it
from doing so. Nor is there one where a function that it calls keeps what it computes (`self.aux = …`, `kept.append(y)`,
`@lru_cache`): that would have no graph then, and training would silently do less.

```diff run
 import torch
 from torch import nn

 net = nn.Linear(2, 2)

 def gradient(p):
     return torch.autograd.grad(net(torch.ones(1, 2)).sum() + p.sum(), p)[0]

 def step(p):
     return 0.1 * gradient(p)

 for p in net.parameters():
!    p.data.sub_(0.1 * gradient(p))
!    p.data -= step(p)
!    p.data.sub_(torch.autograd.grad(p.sum(), p)[0])

 class Doubled(nn.Module):
     def __init__(self):
         super().__init__()
         self.fc = nn.Linear(2, 2)

     def forward(self, x):
         self.doubled = 2 * self.fc(x)
         return self.doubled

 doubled = Doubled()
!net.bias.data.copy_(doubled(torch.ones(2)))
 (doubled.doubled + net.bias).sum().backward()
```

`apply_`, `map_` and `map2_` raise for what requires grad, also under `no_grad`; they are called on
`.detach()`: `m.weight.detach().apply_(f)`.

There is no fix for a tensor in the middle of a graph, nor where the result of the operation is used, nor for a
parameter that `forward` writes (but for a first call alone, behind a flag that it sets): a second call would overwrite
what the first has saved for `backward()`.

```diff
 import torch
 from torch import nn

 net = nn.Linear(3, 2)
 hidden = net(torch.ones(1, 3))
!hidden.data.mul_(2)
!total = net.weight.data.zero_().sum()
!torch.add(net.bias, 1, out=net.bias.data)
 hidden.mul_(2)
```

Nor is there one for one of several views that is used further, or for what they are views of: torch raises for them as
soon as something was written that autograd notices. Those that only a loop goes through are gone then.

```diff run
 import torch

 def hide(x):
     h, c = x.chunk(2, 1)
!    h.data[:, 0].fill_(3)
     return h[:, 0] + c[:, 1]

 def clear(x):
     a, b = x.unbind(0)
!    x.data.zero_()
     return a + b

 def halve(x):
     for row in x.unbind(0):
~        row.data.mul_(0.5)
+        with torch.no_grad():
+            row.mul_(0.5)
     return x.sum()

 print(hide(torch.ones(2, 4, requires_grad=True) * 1), clear(torch.ones(2, 3, requires_grad=True) * 1))
 print(halve(torch.ones(2, 3, requires_grad=True) * 1))
```

In-place operations and autograd: <https://docs.pytorch.org/docs/stable/notes/autograd.html>.
"""

from __future__ import annotations

import re
from dataclasses import replace

import libcst as cst

from torchlint import edit
from torchlint.model import Kind, Model, Strength, Tri, Value
from torchlint.model.codebase.exports import patcher
from torchlint.model.replaced import is_replaced
from torchlint.model.syntax import chain, last_name, parameters, root
from torchlint.model.torch import writers
from torchlint.rule import Applicability, Edit, Finding, Fix, Group, Severity, attribute, on
from torchlint.rules.shared import (
    age,
    data_sites,
    first_call,
    gradients,
    identity,
    initialised,
    integers,
    into_block,
    lazy,
    memory,
    no_grad,
    optimizer_steps,
    several_views,
    soft_updates,
    sparse_gradients,
    tried,
    unrecorded,
)
from torchlint.rules.shared.uncomputed import is_uncomputed
from torchlint.rules.shared.without_graph import stays_without_graph

GROUP = Group.MIGRATION

_NN_INIT = {"normal_": "normal_", "uniform_": "uniform_", "fill_": "constant_", "zero_": "zeros_"}
_DETACHED = "Replace `.data` with `.detach()`: this method raises for what requires grad"
_UNRECORDED = "remove `.data`: autograd does not record here"


@on(cst.Attribute, trigger=attribute("data"))
def check(node: cst.Attribute, model: Model) -> Finding | None:
    """Report an in-place operation through `.data`."""
    found = data_sites.at(node, data_sites.Site.INPLACE, model)
    if found is None:
        return None
    value, evidence = found
    write = memory.write_through(node, model)
    fix = _fix(node, value, write, data_sites.initialises(node, value, model), model) if write is not None else None
    if fix is not None and fix.applicability is Applicability.SAFE and tried.keeps_error_of_none(node, model):
        risk = "None has no `.data`, and the error that is caught becomes another one"
        fix = replace(fix, applicability=Applicability.UNSAFE, risk=risk)
    fix = fix and sparse_gradients.doubted(lazy.doubted(fix, node, value, model), node, value, model)
    if fix is not None and fix.applicability is Applicability.UNSAFE:
        fix = fix.doubted("if autograd has saved the old values, `backward()` raises now")
    message = f"autograd does not notice this write through `.data`; {_advice(node, value, fix, model)}"
    half = data_sites.half_of(node, model)
    severity = _severity(value, fix)
    return Finding(node.attr, message, fix, evidence=evidence, severity=severity, receiver=node.value, half_of=half)


def _advice(node: cst.Attribute, value: Value, fix: Fix | None, model: Model) -> str:
    """What to write instead: what the fix does, where there is one."""
    if gradients.is_gradient(value, node.value, model):
        return "a gradient needs no `.data`"
    is_off = model.grad_enabled(node) == Tri.NO
    if fix is None and value.is_parameter and data_sites.is_in_forward(node, model) and not is_off:
        return "compute a new tensor"
    if fix is not None and "nn.init" in fix.message:
        return "use `nn.init`"
    if fix is not None and fix.message == _DETACHED:
        return "use `.detach()`"
    if fix is not None and fix.message.startswith("Remove"):
        return f"r{fix.message[1:].partition(',')[0]}"
    return _UNRECORDED if is_off else "use `torch.no_grad()`"


def _severity(value: Value, fix: Fix | None) -> Severity | None:
    """How bad a write is: none can go wrong that the fix lets as it is, and one in the middle of a graph does."""
    if fix is not None and fix.applicability is Applicability.SAFE:
        return Severity.INFO
    return Severity.ERROR if value.is_tensor and value.leaf == Tri.NO and value.grad == Tri.YES else None


def _fix(node: cst.Attribute, value: Value, write: cst.CSTNode, initialises: bool, model: Model) -> Fix | None:
    if isinstance(write, cst.Arg):
        return None
    drop = _without_data(node, value, write, model)
    if drop is None:
        return None
    back = _assigned_back(node, write, model)
    if back is not None:
        drop = (edit.replace_before(back, back.value), *drop)
    is_gradient = gradients.is_gradient(value, node.value, model)
    is_plain = value.is_tensor and not is_gradient
    is_plain = is_plain and (integers.is_parameter(value) or stays_without_graph(node.value, model))
    if any(name in writers.OF_THE_VIEW for name, _ in chain(node, model.tree)):
        said = "Remove `.data`: the tensor gets the new shape, as before PyTorch 0.4"
        is_resized = is_plain and _gives_new_size(node, model) and not _may_require_grad(node, model)
        return Fix(said, drop, Applicability.UNSAFE) if is_resized else None
    if is_gradient and not gradients.may_have_graph(node.value, model):
        is_told = identity.are_told_apart(model) and no_grad.own_statement(write, model) is None
        if _operands_without_graph(write, model) and not gradients.are_saved(model) and not is_told:
            return Fix("Remove `.data`: a gradient carries no graph", drop)
        if not _brings_graph(write, model):
            return Fix("Remove `.data`: a gradient carries no graph", drop, Applicability.UNSAFE)
    in_forward = value.is_parameter and data_sites.is_in_forward(node, model)
    if in_forward and not first_call.is_alone(node, model):
        return None
    if value.is_tensor and value.leaf == Tri.NO:
        return None
    if several_views.raises_later(node.value, model):
        return None
    initialises = initialises and not in_forward
    if initialises and (init := _nn_init(node, write, back, model)) is not None:
        return init
    safe = Applicability.SAFE if initialises and unrecorded.knows_all_calls(write, model) else Applicability.UNSAFE
    if any(map(writers.refuses_to_record, (name for name, _ in chain(node, model.tree)))):
        if is_plain and _operands_without_graph(write, model):
            return Fix("Remove `.data`: the tensor has no graph", drop, safe)
        return None if back is not None else Fix(_DETACHED, (edit.replace(node.attr, "detach()"),), safe)
    small = back or no_grad.own_statement(write, model)
    moves = soft_updates.lerped(node, small, model) if small is not None else None
    if small is not None and moves is not None:
        return soft_updates.fix(small, moves, model)
    if model.grad_enabled(node) == Tri.NO:
        return Fix(_UNRECORDED.capitalize(), drop, safe)
    if is_plain and _operands_without_graph(write, model):
        return Fix("Remove `.data`: the tensor has no graph", drop, safe)
    if is_plain and _took_no_graph(write, model):
        risk = "a graph of what is written would come along, and tensors took nothing that had one before 0.4"
        return Fix("Remove `.data`: the tensor has no graph", drop, Applicability.UNSAFE, risk=risk)
    if small is None:
        return None
    said = "Move the operation into a `torch.no_grad()` block"
    moved = into_block.moved(small, said, drop, safe, model)
    return moved and (optimizer_steps.decorated(moved, small, model) or moved)


def _assigned_back(node: cst.Attribute, write: cst.CSTNode, model: Model) -> cst.Assign | None:
    """The statement that assigns a tensor the memory it has, which is what the methods that write give back."""
    last = next(reversed([call for _, call in chain(node, model.tree)]), write)
    assign = model.tree.parent(last)
    if not isinstance(assign, cst.Assign) or not isinstance(assign.targets[0].target, cst.Attribute):
        return None
    line = model.tree.parent(assign)
    if line is None or model.remember(no_grad.is_by_hand, line):
        return None
    return assign if initialised.is_by_assignment(assign.targets[0].target, assign, model) else None


def _may_require_grad(node: cst.Attribute, model: Model) -> bool:
    """Whether something is an input of an autograd function: it requires grad also where nothing is recorded of it."""
    function = model.tree.enclosing(node, cst.FunctionDef)
    if not isinstance(function, cst.FunctionDef) or function.name.value != "forward":
        return False
    cls = model.class_of(function)
    is_input = any(each.name.value == root(node) for each in parameters(function))
    return is_input and cls is not None and model.class_kind(cls) == "function"


def _gives_new_size(node: cst.Attribute, model: Model) -> bool:
    """Whether a size is given, and what follows writes to what has it: ``x.data.resize_(n).copy_(y)``."""
    names = [name for name, _ in chain(node, model.tree)]
    return names[0] in ("resize_", "resize_as_") and all(map(memory.is_inplace, names))


def _without_data(node: cst.Attribute, value: Value, write: cst.CSTNode, model: Model) -> tuple[Edit, ...] | None:
    """The operation on the tensor itself: ``p -= 1`` for ``p.data -= 1``, ``p.sub_(1)`` where that cannot be."""
    drop = edit.replace_after(node.value, node)
    if not isinstance(write, cst.AugAssign):
        return (drop,)
    method = memory.METHODS_OF_OPERATORS.get(type(write.operator))
    if method is None:
        return None
    if write.target is not node or _may_be_assigned(node, value, model):
        return (drop,)
    if isinstance(write.value, (cst.Tuple, cst.Yield)) or node.lpar:
        return None
    return edit.replace_between(node.value, write.value, f".{method}("), edit.insert_after(write.value, ")")


_COMPUTES_PARAMETERS = re.compile(r"parametri[sz]|weight_norm|spectral_norm")


def _may_be_assigned(node: cst.Attribute, value: Value, model: Model) -> bool:
    """Whether a tensor can be bound again to what it was taken from: to a name of this scope, to a plain attribute."""
    match node.value:
        case cst.Name(value=name):
            scope = model.scopes.scope_of(node)
            return not isinstance(scope, cst.FunctionDef) or name in model.scopes.locals_of(scope)
        case cst.Attribute(attr=cst.Name(value=name)):
            if name == "grad":
                return True
            computed = model.mentions(_COMPUTES_PARAMETERS)
            methods = any(name in model.scopes.info(cls).methods for cls in model.scopes.all_classes())
            return value.is_parameter and not computed and not methods
    return False


def _nn_init(node: cst.Attribute, write: cst.CSTNode, back: cst.Assign | None, model: Model) -> Fix | None:
    """``p.data.normal_(0, 1)`` as ``nn.init.normal_(p, 0, 1)``, where it is a statement of its own."""
    match write:
        case cst.Call(func=cst.Attribute(value=target, attr=cst.Name(value=method)), args=args) if target is node:
            pass
        case _:
            return None
    function = _NN_INIT.get(method)
    if function is not None and (model.ask(is_replaced, function) or model.ask(patcher, f"torch.nn.init.{function}")):
        return None
    up = model.tree.parent(write)
    if function is None or node.lpar or write.func.lpar or not (isinstance(up, cst.Expr) or up is back):
        return None
    if args and "#" in model.tree.code(write).partition(model.tree.code(args[0].value))[0]:
        return None  # a comment stands behind the bracket
    if any(a.star or (a.keyword and a.keyword.value not in ("mean", "std", "generator")) for a in args):
        return None
    if method == "fill_" and len(args) != 1:
        return None
    name, missing = model.spelling(f"torch.nn.init.{function}", node)
    if not name:
        return None
    begun = f"{name}("
    before = edit.insert_before(node.value, begun) if back is None else edit.replace_before(back, node.value, begun)
    rest = edit.replace_between(node.value, args[0], ", ") if args else edit.replace_after(node.value, write, ")")
    imports = ("torch",) if missing else ()
    return Fix(f"Use `nn.init.{function}`", (before, rest), imports=imports)


def _operands(write: cst.CSTNode, model: Model) -> list[cst.BaseExpression] | None:
    """What is written, there and by what follows on it (``.mul_(0.9).add_(x)``); None if that cannot be told."""
    match write:
        case cst.Call(args=args):
            further = memory.write_through(write, model)
            rest = _operands(further, model) if further is not None else []
            return None if rest is None else [*(arg.value for arg in args), *rest]
        case cst.AugAssign(value=value):
            return [value]
        case cst.AssignTarget():
            assign = model.tree.parent(write)
            return [assign.value] if isinstance(assign, cst.Assign) else []
    return None


def _operands_without_graph(write: cst.CSTNode, model: Model) -> bool:
    """Whether what is written can bring no graph along."""
    operands = _operands(write, model)
    return operands is not None and all(_without_graph(operand, model) for operand in operands)


def _brings_graph(write: cst.CSTNode, model: Model) -> bool:
    """Whether what is written is seen to bring a graph along."""
    operands = _operands(write, model)
    return operands is None or any(model.value(operand).grad == Tri.YES for operand in operands)


def _took_no_graph(write: cst.CSTNode, model: Model) -> bool:
    """Whether what is written had no graph when the file was written: `fill_` took numbers alone before PyTorch 0.4."""
    operands = _operands(write, model)
    if operands is None or not age.is_of_that_time(model) or _brings_graph(write, model):
        return False
    is_number = isinstance(write, cst.Call) and last_name(write.func) == "fill_" and len(operands) == 1
    if is_number and not model.value(operands[0]).kind & Kind.TENSOR:
        return True
    return all(_without_graph(operand, model) or is_uncomputed(operand, model) for operand in operands)


def _without_graph(node: cst.BaseExpression, model: Model) -> bool:
    value = model.value(node)
    if value.kind & Kind.UNKNOWN and not (value.strength or 0) >= Strength.CONVENTION:
        return False
    return not value.kind & Kind.TENSOR or stays_without_graph(node, model)
