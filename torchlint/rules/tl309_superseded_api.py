r"""API that torch's documentation calls deprecated or superseded, without a warning.

It works as ever, and may for long: so this rule is off unless it is selected (`--extend-select TL309`).

```diff run
 import torch
 import torch.nn.functional as F

 a, b = torch.arange(3.0), torch.ones(3)
-outer = torch.ger(a, b)
+outer = torch.outer(a, b)
-more = a.ger(b)
+more = a.outer(b)
-y = F.sigmoid(a)
+y = torch.sigmoid(a)
 z = torch.outer(a, b)
```

```diff
 import torch
 import numpy as np

 a = torch.eye(3)
!n = torch.norm(a)
!m = a.norm(2)
!u, s, v = torch.svd(a)
 k = np.linalg.norm(np.ones(3))
```

## When the fix is unsafe

Renames of what is called are safe: the functions do the same. What is only named (`{"tanh": F.tanh}`) is another object
then, so that is unsafe; so is another class where the project asks for the old one
(`isinstance(m, nn.UpsamplingNearest2d)`). `torch.nn.utils.spectral_norm` has an unsafe fix, for the keys of the
`state_dict` change, and what is written to the weight afterwards, by an initialiser say, is lost. `torch.norm` and
`torch.svd` have none: what to write depends on the dimensions, and on all uses of `V`.

```diff
 from torch import nn
~from torch.nn.utils import spectral_norm
+from torch.nn.utils.parametrizations import spectral_norm

 layer = spectral_norm(nn.Linear(3, 3))
```

`torch.norm`: <https://docs.pytorch.org/docs/stable/generated/torch.norm.html>.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.model import Model
from torchlint.rule import Finding, Group, Severity, listed, on
from torchlint.rules.api import findings, methods

BY_DEFAULT = False
GROUP = Group.DEPRECATED
SEVERITY = Severity.INFO


@on(cst.Module, trigger=listed("TL309"))
def check(node: cst.Module, model: Model) -> Iterator[Finding]:
    """Report what is only documented as superseded."""
    for use in findings.uses_of(model, "TL309"):
        yield findings.of_use(use, model)
    for attribute, row in methods.uses(model, "TL309"):
        yield findings.of_method(attribute, row, model)
