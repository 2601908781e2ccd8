r"""`loss.data[0]` is how a scalar was read before PyTorch 0.4; today it raises.

Losses and full reductions have no dimension since 0.4, so indexing one is an `IndexError`. `loss.item()` is the number.

```diff run-after
 import torch
 from torch import nn

 criterion = nn.MSELoss()
 w = torch.ones(3, requires_grad=True)
 loss = criterion(w * 2, torch.zeros(3))
-a = loss.data[0]
+a = loss.item()
-b = w.sum().data[0]
+b = w.sum().item()
-c = -loss.data[0]
+c = -loss.item()
-d = loss.data.cpu().numpy()[0]
+d = loss.item()
 total = 0
 for _ in range(2):
     total += loss.detach()
-print(total[0])
+print(total.item())
 e = w.detach()[0]
```

## When the fix is unsafe

When the rank is not known, and only the name or the use says that a scalar is meant: `.item()` raises on a tensor with
more than one element.

```diff
 import torch


 def report(loss, pred):
~    print("loss", loss.data[0])
+    print("loss", loss.item())
     return pred.tolist()[0]
```

Migration guide of 0.4: <https://pytorch.org/blog/pytorch-0_4_0-migration-guide/>.
"""

from __future__ import annotations

import libcst as cst

from torchlint import edit
from torchlint.model import Model, Ndim
from torchlint.rule import Applicability, Finding, Fix, on
from torchlint.rules import _data

_UNSAFE = Applicability.UNSAFE
_MESSAGE = "indexing a 0-dim tensor raises since PyTorch 0.4; use `.item()`"


@on(cst.Attribute, needle=".data")
def check(node: cst.Attribute, model: Model) -> Finding | None:
    """Report `.data[0]` of a scalar."""
    found = _data.at(node, _data.Site.SCALAR, model)
    if found is None:
        return None
    value, evidence = found
    index = _data.scalar_index(node, model)
    assert index is not None
    proven = value.is_tensor and value.ndim == Ndim.ZERO
    element = Fix("Replace `.data` with `.detach()`, for an element", (edit.replace(node.attr, "detach()"),), _UNSAFE)
    fix = Fix(
        "Replace with `.item()`",
        (edit.replace_after(node.value, index, ".item()"),),
        Applicability.SAFE if proven else _UNSAFE,
        alternatives=() if proven else (element,),
    )
    severity = "error" if proven else "warning"
    return Finding(node.attr, _MESSAGE, fix, index, evidence, severity, node.value)


@on(cst.Subscript, needle=(".data", r"beside:.data:\[ 0 \]"))
def check_accumulated(node: cst.Subscript, model: Model) -> Finding | None:
    """Report `total[0]` where `total` is a sum of 0-dim tensors."""
    if not _data.is_zero_index(node) or not isinstance(node.value, (cst.Name, cst.Attribute)):
        return None
    if model.is_target(node) or not _data.may_be_scalar(node.value, model):
        return None
    value = model.value(node.value)
    if not value.is_tensor or value.ndim != Ndim.ZERO:
        return None
    if isinstance(node.value, cst.Attribute) and node.value.attr.value == "data":
        return None
    fix = Fix("Replace with `.item()`", (edit.replace_after(node.value, node, ".item()"),))
    return Finding(node, _MESSAGE, fix, severity="error", receiver=node.value)
