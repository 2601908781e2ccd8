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

Removing the keyword is safe: it does nothing. What was meant, a `torch.no_grad()` block, changes what is computed: with
`--unsafe-fixes` the statements that evaluate go into one, instead. Run that before the keyword is gone: it alone tells
where the block belongs. The block starts where the volatile tensor is first used, and ends with the suite if nothing
there trains:

```python
def evaluate(batches):
    total = 0
    for x, y in batches:
        x = Variable(x, volatile=True)
        out = net(x)
        total += (out - y).pow(2).sum().item()
    return total
```

```python
def evaluate(batches):
    total = 0
    for x, y in batches:
        with torch.no_grad():
            out = net(x)
            total += (out - y).pow(2).sum().item()
    return total
```

If something there trains, the block ends with the last of the statements that compute with volatile values. Where the
value is not `True`, and for an attribute, a tensor that is returned or a mixture with training, there is none. Setting
the attribute has no fix.

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
    return Finding(arg, _MESSAGE, replace(remove, alternatives=(replace(block, is_preferred=True),)))


@on(cst.Attribute, needle=".volatile")
def check_attribute(node: cst.Attribute, model: Model) -> Finding | None:
    """Report `.volatile` of a tensor."""
    if node.attr.value != "volatile":
        return None
    value = model.value(node.value)
    if not value.kind & Kind.TENSOR or value.kind & ~(Kind.TENSOR | Kind.UNKNOWN | Kind.NONE | Kind.NUMBER):
        return None
    return Finding(node.attr, _MESSAGE, receiver=node.value)
