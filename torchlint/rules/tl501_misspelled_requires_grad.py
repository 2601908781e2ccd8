r"""`require_grad` is not `requires_grad`.

Assigning to an attribute that does not exist makes one, and nothing else: the layer that was to be frozen goes on
learning. A tensor and a module say nothing about it.

```diff
 import torch
 from torch import nn

 w = torch.zeros(3)
~w.require_grad = True
+w.requires_grad = True
 w.requires_grad = False

 net = nn.Linear(2, 2)
~net.weight.require_grad = False
+net.weight.requires_grad = False
!net.require_grad = False
 for p in net.parameters():
~    p.require_grad = False
+    p.requires_grad = False

 class Options:
     def __init__(self, require_grad):
         self.require_grad = require_grad

 options = Options(True)
 options.require_grad = False
```

## When the fix is unsafe

Always: what was written had no effect, and the fix has one. An attribute of a whole module has no fix: what is meant is
`net.requires_grad_(False)`. Where the receiver is not known to be a tensor or a module, the attribute may be its own.

`requires_grad`: <https://docs.pytorch.org/docs/stable/generated/torch.Tensor.requires_grad.html>.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint import edit
from torchlint.model import Kind, Model
from torchlint.rule import Applicability, Finding, Fix, Group, Severity, attribute, on

GROUP = Group.CORRECTNESS
SEVERITY = Severity.ERROR

_WRONG, _RIGHT = "require_grad", "requires_grad"


@on(cst.Attribute, trigger=attribute("require_grad"))
def check(node: cst.Attribute, model: Model) -> Iterator[Finding]:
    """Report that a misspelled attribute is assigned to."""
    if node.attr.value != _WRONG or not model.is_target(node):
        return
    value = model.value(node.value)
    if value.kind == Kind.MODULE and isinstance(node.value, cst.Name) and node.value.value == "self":
        return  # a module may have a setting of that name
    if value.kind == Kind.MODULE:
        yield Finding(node.attr, f"torch knows no attribute `{_WRONG}`, so this does nothing; use `.{_RIGHT}_(…)`")
    elif model.is_tensor(node.value):
        fix = Fix(f"Use `.{_RIGHT}`", (edit.replace(node.attr, _RIGHT),), Applicability.UNSAFE)
        said = f"torch knows no attribute `{_WRONG}`, so this does nothing; use `{_RIGHT}`"
        yield Finding(node.attr, said, fix, receiver=node.value)
