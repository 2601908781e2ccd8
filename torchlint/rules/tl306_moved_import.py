r"""Names that are private to torch, or have moved.

A private module is not for others: it goes without notice. What had to be taken from one has a public name by now, and
some packages have become part of another.

```diff run
 import torch
 import torch.utils.data
-from torch.utils.data._utils.collate import default_collate
+from torch.utils.data import default_collate
-import torch.quantization as tq
+import torch.ao.quantization as tq
-from torch.nn import intrinsic
+from torch.ao.nn import intrinsic
-from torch.utils._pytree import _register_pytree_node, tree_map
+from torch.utils._pytree import register_pytree_node, tree_map

 batch = default_collate([1, 2])
 stub = tq.QuantStub()
```

```diff run-after
 import torch
-from torch._six import inf
+from math import inf
-from torch._six import container_abcs
+import collections.abc as container_abcs
-from torch import _assert, Assert
-Assert(True, "never")
+from torch import _assert
+_assert(True, "never")

 assert inf > 1 and container_abcs.Mapping
 _assert(True, "never")
```

```diff
!from torch.utils.ffi import create_extension
!from torch._six import string_classes, int_classes
!import torch.legacy.nn
 from mylib._six import inf
 from . import _six
 try:
     from torch._six import inf
 except ImportError:
     from math import inf
```

## When the fix is unsafe

A fix is safe where the new name is the same object, or does the same, which is tested for each row of
[the table](../api.md). It is unsafe where something differs: no scheduler of torch is an instance of `_LRScheduler` any
more, so `LRScheduler` changes what `isinstance` says. So it is where a name that is another object by now is
only named, and not called.

```diff
~from torch.optim.lr_scheduler import _LRScheduler
~class Warmup(_LRScheduler): ...
+from torch.optim.lr_scheduler import LRScheduler
+class Warmup(LRScheduler): ...
```

Release notes: <https://github.com/pytorch/pytorch/releases>.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.model import Model
from torchlint.rule import Finding, Group, listed, on
from torchlint.rules.api import findings

GROUP = Group.DEPRECATED


@on(cst.Module, trigger=listed("TL306"))
def check(node: cst.Module, model: Model) -> Iterator[Finding]:
    """Report private and moved names, where they are imported and where they are used."""
    for use in findings.uses_of(model, "TL306"):
        yield findings.of_use(use, model)
