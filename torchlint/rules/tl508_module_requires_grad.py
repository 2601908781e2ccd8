r"""A module has no `requires_grad`: assigning to it freezes nothing.

`net.requires_grad = False` makes an attribute that nobody reads, and the parameters go on learning. The method with an
underscore sets it for all of them.

```diff run-differs
 import torch
 from torch import nn

 net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
~net[0].requires_grad = False
+net[0].requires_grad_(False)
 net(torch.ones(3)).sum().backward()
 learns = [p.grad is not None for p in net.parameters()]
```

```diff
 import torch
 from torch import nn

 class Net(nn.Module):
     def __init__(self, frozen):
         super().__init__()
         self.encoder = nn.Linear(3, 3)
         self.scale = nn.Parameter(torch.ones(3))
         self.scale.requires_grad = False
~        self.encoder.requires_grad = not frozen
+        self.encoder.requires_grad_(not frozen)
         for p in self.encoder.parameters():
             p.requires_grad = False
         for m in self.modules():
             m.requires_grad_(False)

 class Own(nn.Module):
     def __init__(self):
         super().__init__()
         self.requires_grad = True

 def freeze(model):
     model.requires_grad = False

 Own().requires_grad = False
```

What a container holds may be parameters, which do have the attribute:

```diff run-differs
 import torch
 from torch import nn

 class Adapted(nn.Module):
     def __init__(self, rank):
         super().__init__()
         self.adapters = nn.ModuleList()
         self.scales = nn.ModuleDict({"a": nn.ParameterList([nn.Parameter(torch.ones(2))])})
         self.gates = nn.ParameterDict({"a": nn.Parameter(torch.ones(2))})
         self.body = nn.ModuleList([nn.Sequential(nn.Linear(3, 3))])
         if rank:
             adapter = nn.ParameterDict({"down": nn.Parameter(torch.ones(2))})
             self.adapters.append(adapter)
         else:
             self.adapters = self.gates = None

     def freeze(self):
         for adapter in self.adapters:
             adapter["down"].requires_grad = False
         self.scales["a"][0].requires_grad = False
         self.gates["a"].requires_grad = False
         for layer in self.body:
~            layer[0].requires_grad = False
+            layer[0].requires_grad_(False)

 def freeze(blocks: nn.ModuleList, parts: nn.Module):
     for block in blocks:
         block[0].requires_grad = False
     parts["a"].requires_grad = False
     for part in parts:
         part.requires_grad = False
~    blocks[0].requires_grad = False
+    blocks[0].requires_grad_(False)

 net = Adapted(1)
 net.freeze()
 frozen = [not p.requires_grad for p in net.parameters()]
```

Where the file reads the attribute of a module there is no fix: `.requires_grad_()` makes none.

```diff run
 import torch
 from torch import nn

 def freeze(net: nn.Module, flag=False):
!    net.requires_grad = flag
     return net.requires_grad

 learns = freeze(nn.Linear(2, 2))
```

## When the fix is unsafe

Always: what was written had no effect, and the fix has one.

`Module.requires_grad_`: <https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html>.
"""

from __future__ import annotations

import libcst as cst

from torchlint import edit
from torchlint.model import Kind, Model, Strength
from torchlint.rule import Finding, Fix, Group, Severity, on, pattern
from torchlint.rules.shared.own_attributes import has_attribute

GROUP = Group.CORRECTNESS
SEVERITY = Severity.ERROR


@on(cst.AssignTarget, trigger=pattern(r"\brequires_grad ="))
def check(node: cst.AssignTarget, model: Model) -> Finding | None:
    """Report that the attribute of a module is assigned to."""
    target = node.target
    if not isinstance(target, cst.Attribute) or target.attr.value != "requires_grad":
        return None
    value = model.value(target.value)
    if value.kind != Kind.MODULE or value.strength == Strength.NAME or has_attribute(value, "requires_grad", model):
        return None
    said = "a module has no `requires_grad`, so its parameters go on learning; use `.requires_grad_(…)`"
    return Finding(target.attr, said, _fix(node, target, model))


def _fix(node: cst.AssignTarget, target: cst.Attribute, model: Model) -> Fix | None:
    assign = model.tree.parent(node)
    if not isinstance(assign, cst.Assign) or len(assign.targets) > 1 or target.lpar:
        return None
    if model.remember(_is_read, model.tree.code(target.value)):
        return None  # the method sets no attribute
    if isinstance(assign.value, (cst.Tuple, cst.Yield)) or "\n" in model.tree.code(assign.value):
        return None
    edits = (
        edit.replace_between(target.attr, assign.value, "_("),
        edit.insert_after(assign.value, ")"),
    )
    return Fix("Call `.requires_grad_(…)`", edits).doubted("the flag reaches the parameters now, and did not so far")


def _is_read(model: Model, path: str) -> bool:
    """Whether anything reads the attribute of a module, or of what a module is called somewhere."""
    reads = [each for each in model.tree.attributes("requires_grad") if not model.is_target(each)]
    owners = [each.value for each in reads if isinstance(each, cst.Attribute)]
    return any(model.tree.code(each) == path or model.value(each).kind == Kind.MODULE for each in owners)
