r"""`volatile` was removed in PyTorch 0.4 and has no effect: the graph is built.

`Variable(x, volatile=True)` once switched autograd off for all that followed. Today it warns and records everything, so
evaluation needs the memory of training. Put `with torch.no_grad():` around the evaluation.

```diff run
 import torch
 from torch.autograd import Variable

-x = Variable(torch.ones(3), volatile=True)
+x = Variable(torch.ones(3))
-y = Variable(torch.ones(3), requires_grad=False, volatile=True)
+y = Variable(torch.ones(3), requires_grad=False)
!x.volatile = True
 z = Variable(torch.ones(3))
```

## When the fix is unsafe

Removing the keyword is safe: it does nothing. What was meant, a `torch.no_grad()` block, changes what is computed, so
the message says where it belongs. Setting the attribute has no fix.

Migration guide of 0.4: <https://pytorch.org/blog/pytorch-0_4_0-migration-guide/>.
"""

from __future__ import annotations

import libcst as cst

from torchlint import edit
from torchlint.model import Kind, Model
from torchlint.rule import Finding, Fix, on

_MESSAGE = "`volatile` has no effect since PyTorch 0.4; put the evaluation under `with torch.no_grad():`"


@on(cst.Call, needle="volatile")
def check_keyword(node: cst.Call, model: Model) -> Finding | None:
    """Report `volatile=` in a call of `Variable`."""
    for arg in node.args:
        if arg.keyword is not None and arg.keyword.value == "volatile":
            if model.qualified(node.func) != "torch.autograd.Variable":
                return None
            fix = Fix("Remove `volatile`", (edit.remove_argument(node, arg),))
            return Finding(arg, _MESSAGE, fix)
    return None


@on(cst.Attribute, needle=".volatile")
def check_attribute(node: cst.Attribute, model: Model) -> Finding | None:
    """Report `.volatile` of a tensor."""
    if node.attr.value != "volatile":
        return None
    value = model.value(node.value)
    if not value.kind & Kind.TENSOR or value.kind & ~(Kind.TENSOR | Kind.UNKNOWN | Kind.NONE | Kind.NUMBER):
        return None
    return Finding(node.attr, _MESSAGE, receiver=node.value)
