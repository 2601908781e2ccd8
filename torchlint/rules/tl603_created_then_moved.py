r"""A tensor is made on the CPU and copied to the device, where it could be made at once.

`torch.zeros(1000, 1000).to(device)` takes memory of the CPU, fills it, and copies it. `device=` makes the tensor where
it is needed. This rule is off by default.

```diff run
 import torch

 device = torch.device("cpu")
-x = torch.zeros(2, 3).to(device)
+x = torch.zeros(2, 3, device=device)
-y = torch.arange(6).to("cpu")
+y = torch.arange(6, device="cpu")
 z = torch.ones(2).to(x)
 dtype = torch.ones(2).to(torch.int64)
 there = torch.ones(2, device=device).to(device)
```

Random numbers are other ones on another device, and `.cuda()` says where, but not on which:

```diff
 import torch

 def f(device: torch.device, unknown):
~    x = torch.randn(2, 3, requires_grad=False).to(device)
+    x = torch.randn(2, 3, requires_grad=False, device=device)
~    y = torch.full((2,), 1.0).cuda()
+    y = torch.full((2,), 1.0, device="cuda")
     w = torch.ones(2).to(device, torch.half)
     noise = torch.randn(2, generator=torch.Generator().manual_seed(0)).to(device)
     there = w.device
-    z = torch.zeros(2).to(there, non_blocking=True)
+    z = torch.zeros(2, device=there)
     return x, y, w, torch.ones(2).to(unknown), torch.zeros_like(x).to(device), torch.from_numpy(unknown).cuda()
```

The device of what `forward` is given is one, by name too; what else has that name is not known to be a tensor:

```diff
 import torch
 from torch import nn

 class Net(nn.Module):
     def forward(self, x):
~        state = torch.zeros(2).to(x.device)
+        state = torch.zeros(2, device=x.device)
         return x + state

 def f(engine, dtype):
     return torch.zeros(2).to(engine.device), torch.zeros(2).to(dtype)
```

## When the fix is unsafe

For random numbers, for `.cuda()`, and where the device may be something else.

Creation of tensors: <https://docs.pytorch.org/docs/stable/torch.html#creation-ops>.
"""

from __future__ import annotations

import libcst as cst

from torchlint import edit
from torchlint.model import Kind, Model
from torchlint.model.syntax import keyword
from torchlint.rule import Edit, Finding, Fix, Group, Severity, any_of, on, pattern
from torchlint.rules.shared.factories import factory, is_leaf_to_train

BY_DEFAULT = False
GROUP = Group.PERFORMANCE
SEVERITY = Severity.WARNING

_RANDOM = frozenset(("rand", "randn", "randint", "randperm"))
_PLACED = ("device", "generator")
"""Arguments that say where a tensor is made: a generator makes numbers on its own device."""
_FACTORIES = frozenset(("zeros", "ones", "full", "empty", "eye", "arange", "linspace", "tensor")) | _RANDOM


@on(cst.Call, trigger=any_of(pattern(r"\) \. to \("), pattern(r"\) \. cuda \(")))
def check(node: cst.Call, model: Model) -> Finding | None:
    """Report new tensors that are moved on the spot."""
    match node.func:
        case cst.Attribute(value=cst.Call() as made, attr=cst.Name("to" | "cuda") as method):
            pass
        case _:
            return None
    name = factory(made, _FACTORIES, model)
    if name is None or is_leaf_to_train(made) or any(keyword(made.args, each) is not None for each in _PLACED):
        return None
    given = [arg for arg in node.args if arg.keyword is None or arg.keyword.value != "non_blocking"]
    if len(given) > 1:
        return None
    if method.value == "cuda":
        device = model.tree.code(given[0].value) if given else '"cuda"'
    elif given and _is_device(given[0], model):
        device = model.tree.code(given[0].value)
    else:
        return None
    edits: tuple[Edit, ...] = (edit.add_argument(made, f"device={device}"), edit.replace_after(made, node))
    said = "this is made on the CPU and copied; make it there with `device=`"
    fix = Fix("Make it on the device", edits)
    if name in _RANDOM:
        fix = fix.doubted("a device draws other random numbers than the CPU")
    elif method.value != "to" or not _is_proved(given[0].value, model):
        fix = fix.doubted("the argument may be `None`, which `device=` takes for the CPU, or may be no device")
    return Finding(method, said, fix)


def _is_device(arg: cst.Arg, model: Model) -> bool:
    """Whether an argument of `to` is known to be a device."""
    if arg.star or (arg.keyword is not None and arg.keyword.value != "device"):
        return False
    value = model.value(arg.value)
    return value.kind == Kind.STRING or (value.kind == Kind.OBJECT and value.ref == "torch.device")


def _is_proved(device: cst.BaseExpression, model: Model) -> bool:
    """Whether it is known for certain that something is a device, and not only that of what may be a tensor."""
    value = model.value(device)
    return value.kind == Kind.STRING or value.strength is not None
