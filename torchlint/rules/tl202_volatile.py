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

Where statements that evaluate follow, they go into a `torch.no_grad()` block, which changes what is computed. `--fix`
alone leaves such a line as it is, `Variable` and all: the keyword is the only mark of what was meant. The block starts
where the volatile tensor is first used. It ends with the suite if nothing there trains:

```diff run
 import torch
 from torch import nn
 from torch.autograd import Variable

 net = nn.Linear(3, 1)


 def evaluate(batches):
     total = 0
     for x, y in batches:
~        x = Variable(x, volatile=True)
~        y = Variable(y, volatile=True)
~
~        # the error of a batch
~        out = net(x)
~        total += (out - y).pow(2).sum().item()
+        x = Variable(x)
+        y = Variable(y)
+
+        # the error of a batch
+        with torch.no_grad():
+            out = net(x)
+            total += (out - y).pow(2).sum().item()
     return total


 total = evaluate([(torch.ones(2, 3), torch.ones(2, 1))])
```

and with the last of the statements that compute with volatile values if something does:

```diff run
 import torch
 from torch import nn
 from torch.autograd import Variable

 generator, critic = nn.Linear(2, 3), nn.Linear(3, 1)


 def step(noise):
~    noise = Variable(noise, volatile=True)
~    fake = generator(noise).detach()
+    noise = Variable(noise)
+    with torch.no_grad():
+        fake = generator(noise).detach()
     loss = critic(fake).mean()
     loss.backward()


 step(torch.ones(1, 2))
```

Everywhere else (a value that is not `True`, an attribute, a tensor that is returned, a mixture with training) the
keyword is dropped, which is safe: it does nothing. Setting the attribute has no fix.

Migration guide of 0.4: <https://pytorch.org/blog/pytorch-0_4_0-migration-guide/>.
"""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from torchlint import edit
from torchlint.model import Kind, Model
from torchlint.rule import Finding, Fix, on
from torchlint.rules import _volatile

_MESSAGE = "`volatile` has no effect since PyTorch 0.4; put the evaluation under `with torch.no_grad():`"


@on(cst.Call, needle="volatile")
def check_keyword(node: cst.Call, model: Model) -> Finding | None:
    """Report `volatile=` in a call of `Variable`."""
    arg = _volatile.keyword(node)
    if arg is None or model.qualified(node.func) != _volatile.VARIABLE:
        return None
    remove = Fix("Remove `volatile`", (edit.remove_argument(node, arg),))
    block = _volatile.block(node, model)
    if block is None:
        return Finding(arg, _MESSAGE, remove)
    only = replace(remove, message="Only remove `volatile`, where the graph is wanted")
    return Finding(arg, _MESSAGE, replace(block, alternatives=(only,)))


@on(cst.Attribute, needle=".volatile")
def check_attribute(node: cst.Attribute, model: Model) -> Finding | None:
    """Report `.volatile` of a tensor."""
    if node.attr.value != "volatile":
        return None
    value = model.value(node.value)
    if not value.kind & Kind.TENSOR or value.kind & ~(Kind.TENSOR | Kind.UNKNOWN | Kind.NONE | Kind.NUMBER):
        return None
    return Finding(node.attr, _MESSAGE, receiver=node.value)
