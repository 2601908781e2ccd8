r"""TorchScript is deprecated.

`torch.jit.script`, `torch.jit.trace` and what goes with them warn since PyTorch 2.10: `torch.compile` and
`torch.export` take their place. What to use depends on what the program is for, so there is no fix. To leave
TorchScript is a decision about a whole program, and not about each of its lines: so this rule is off unless it is
selected (`--extend-select TL311`). `torchlint upgrade` always counts it.

```diff
 import torch
 from torch import nn

 model = nn.Linear(2, 2)
!scripted = torch.jit.script(model)
!@torch.jit.script
 def f(x: torch.Tensor):
     return x * 2
 fast = torch.compile(model)
 used = torch.jit.ignore
```

## When the fix is unsafe

There is no fix, neither a safe nor an unsafe one.

TorchScript: <https://docs.pytorch.org/docs/stable/jit.html>.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.model import Model
from torchlint.rule import Finding, Group, listed, on
from torchlint.rules.api import findings

BY_DEFAULT = False
GROUP = Group.DEPRECATED


@on(cst.Module, trigger=listed("TL311"))
def check(node: cst.Module, model: Model) -> Iterator[Finding]:
    """Report the functions of TorchScript."""
    for use in findings.uses_of(model, "TL311"):
        yield findings.of_use(use, model)
