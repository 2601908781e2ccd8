r"""Functions, classes and methods that torch does not have any more.

Code that uses them raises, with a supported version of torch. The message says since when, and what to use instead;
[the table](../api.md) lists all of them.

```diff run-after
 import torch

 a = torch.tensor([[2.0, 1.0], [1.0, 3.0]])
 b = torch.ones(2, 1)
-e, v = torch.symeig(a, eigenvectors=True)
+e, v = torch.linalg.eigh(a, UPLO='U')
-smallest = a.symeig()[0].min()
+smallest = torch.linalg.eigvalsh(a, UPLO='U').min()
-x, _ = torch.solve(b, a)
+x = torch.linalg.solve(a, b)
-y = torch.gesv(b, a)[0]
+y = torch.linalg.solve(a, b)
-rank = torch.matrix_rank(a, 1e-3)
+rank = torch.linalg.matrix_rank(a, tol=1e-3)
-spectrum = torch.rfft(a, 1)
+spectrum = torch.view_as_real(torch.fft.rfft(a))
 largest = torch.linalg.eigvalsh(a)[-1]
```

```diff
 import torch
 from torch.utils.data import DataLoader

 a = torch.eye(3)
!values = torch.eig(a)
!all = list(map(torch.symeig, [a]))
!solve = getattr(torch, "lstsq")
!lookup = torch.nn.Embedding(3, 2)._backend.Embedding
 symeig = getattr(torch, "symeig", None)
 batches = iter(DataLoader([1, 2]))
-first = batches.next()
+first = next(batches)

 def f(symeig, torch_symeig):
     return symeig(torch_symeig)

 class Layer(torch.nn.Module):
     def __init__(self):
         super().__init__()
         self._backend = "own"

     def forward(self, x):
         return x if self._backend == "own" else Layer()._backend
```

## When the fix is unsafe

The fix is safe where the new call gives what the old one gave in its last version: `torch.symeig` read the upper
triangle unless told otherwise, so `torch.linalg.eigh` is told to. `torch.lstsq` put the residuals below the solution,
so its fix is unsafe: it is right for square matrices. `torch.eig` has no fix: `torch.linalg.eig` gives complex results.

```diff
 import torch

 b, a = torch.ones(3, 1), torch.eye(3)
~x, _ = torch.lstsq(b, a)
+x = torch.linalg.lstsq(a, b).solution
```

Release notes: <https://github.com/pytorch/pytorch/releases>.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.model import Model
from torchlint.rule import Finding, Group, Severity, listed, on
from torchlint.rules.api import findings, methods

GROUP = Group.MIGRATION
SEVERITY = Severity.ERROR


@on(cst.Module, trigger=listed("TL302"))
def check(node: cst.Module, model: Model) -> Iterator[Finding]:
    """Report what is gone."""
    for use in findings.uses_of(model, "TL302"):
        if use.row.is_removed(model.target):
            yield findings.of_use(use, model)
    for attribute, row in methods.uses(model, "TL302"):
        if row.is_removed(model.target):
            yield findings.of_method(attribute, row, model)
