r"""`zero_grad(set_to_none=False)` keeps gradients of zeros, which take memory.

`None`, the default since PyTorch 2.0, saves the memory and the time to write it, and the first `backward()` assigns
where it would add. Some code asks for zeros on purpose, so this rule is off unless it is selected
(`--extend-select TL602`).

```diff
 import torch
 from torch import nn

 net = nn.Linear(2, 2)
 optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
~optimizer.zero_grad(set_to_none=False)
+optimizer.zero_grad()
~net.zero_grad(set_to_none=False)
+net.zero_grad()
 optimizer.zero_grad()
 optimizer.zero_grad(set_to_none=True)

 def f(flag):
     optimizer.zero_grad(set_to_none=flag)
```

## When the fix is unsafe

Always: gradients are `None` then, which who reads them has to expect, and an optimiser steps over parameters that got
none, where it would go on with its momentum and weight decay. For a project that supports versions before 2.0, the fix
writes `set_to_none=True`.

`zero_grad`: <https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html>.
"""

from __future__ import annotations

import libcst as cst

from torchlint import edit
from torchlint.model import Model
from torchlint.model.syntax import keyword, last_name
from torchlint.model.torch.arguments import literal_bool
from torchlint.rule import Finding, Fix, Group, Severity, on, word
from torchlint.versions import Version

BY_DEFAULT = False
GROUP = Group.PERFORMANCE
SEVERITY = Severity.INFO

_DEFAULT: Version = (2, 0)


@on(cst.Call, trigger=word("set_to_none"))
def check(node: cst.Call, model: Model) -> Finding | None:
    """Report gradients that are set to zero by choice."""
    if last_name(node.func) != "zero_grad":
        return None
    arg = keyword(node.args, "set_to_none")
    if arg is None or literal_bool(arg.value) is not False:
        return None
    if model.target.has(_DEFAULT):
        fix = Fix("Drop it: `None` is the default", (edit.remove_argument(node, arg),))
    else:
        fix = Fix("Use `set_to_none=True`", (edit.replace(arg.value, "True"),))
    said = "gradients of zeros take memory and time; `None` is cheaper"
    return Finding(arg, said, fix.doubted("what reads a gradient meets `None` where it met zeros"))
