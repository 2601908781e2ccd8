r"""Assigning to `.data` swaps a tensor's storage under autograd's feet.

`p.data = v` makes `p` share memory with `v`, whatever its shape, dtype or device, and nothing that was recorded with
the old memory is told. To set values: `with torch.no_grad(): p.copy_(v)`. To set another tensor: a new `nn.Parameter`.
To load weights: `load_state_dict`.

```diff
 import torch
 from torch import nn

 net = nn.Linear(3, 2)
!net.weight.data = torch.zeros(2, 3)
 for p in net.parameters():
!    p.data = p.detach() - 0.1
 with torch.no_grad():
     net.weight.copy_(torch.zeros(2, 3))
```

## When the fix is unsafe

There is no automatic fix: `copy_` keeps shape, dtype, device and memory, the assignment replaces all four.

Discussion in PyTorch: <https://github.com/pytorch/pytorch/issues/30987>.
"""

from __future__ import annotations

import libcst as cst

from torchlint.model import Model
from torchlint.rule import Finding, Group, attribute, on
from torchlint.rules.shared import data_sites

GROUP = Group.MIGRATION


@on(cst.Attribute, trigger=attribute("data"))
def check(node: cst.Attribute, model: Model) -> Finding | None:
    """Report `.data` as the target of an assignment."""
    found = data_sites.at(node, data_sites.Site.ASSIGN, model)
    if found is None:
        return None
    message = "assignment to `.data` swaps storage behind autograd's back; use `with torch.no_grad(): ….copy_(…)`"
    half = data_sites.half_of(node, model)
    return Finding(node.attr, message, evidence=found[1], receiver=node.value, half_of=half)
