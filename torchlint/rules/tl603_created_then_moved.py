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
     return x, y, w, torch.ones(2).to(unknown), torch.zeros_like(x).to(device), torch.from_numpy(unknown).cuda()
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
from torchlint.rule import Applicability, Edit, Finding, Fix, Group, Severity, any_of, on, pattern
from torchlint.rules.shared.factories import factory, is_leaf_to_train

BY_DEFAULT = False
GROUP = Group.PERFORMANCE
SEVERITY = Severity.WARNING

_RANDOM = frozenset(("rand", "randn", "randint", "randperm"))
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
    if name is None or is_leaf_to_train(made) or keyword(made.args, "device") is not None or len(node.args) > 1:
        return None
    if method.value == "cuda":
        device = model.tree.code(node.args[0].value) if node.args else '"cuda"'
    elif node.args and _is_device(node.args[0], model):
        device = model.tree.code(node.args[0].value)
    else:
        return None
    is_safe = method.value == "to" and name not in _RANDOM
    applicability = Applicability.SAFE if is_safe else Applicability.UNSAFE
    edits: tuple[Edit, ...] = (edit.add_argument(made, f"device={device}"), edit.replace_after(made, node))
    said = "this is made on the CPU and copied; make it there with `device=`"
    return Finding(method, said, Fix("Make it on the device", edits, applicability))


def _is_device(arg: cst.Arg, model: Model) -> bool:
    """Whether an argument of `to` is known to be a device."""
    if arg.star or (arg.keyword is not None and arg.keyword.value != "device"):
        return False
    value = model.value(arg.value)
    if value.kind == Kind.STRING:
        return True
    if value.kind != Kind.OBJECT:
        return False
    if value.ref == "torch.device":
        return True
    match arg.value:
        case cst.Attribute(value=owner, attr=cst.Name("device")):
            return model.is_tensor(owner)
    return False
