r"""`torchvision.datapoints` was a beta, and is called `torchvision.tv_tensors`.

The module was renamed in 0.16, together with some of its classes: `BoundingBox` is `BoundingBoxes`, and its
`spatial_size` is `canvas_size`.

```diff
~from torchvision import datapoints
+from torchvision import tv_tensors as datapoints

 image = datapoints.Image([0])
!boxes = datapoints.BoundingBox([0, 0, 1, 1])
```

```diff
 import torchvision
 from mylib import datapoints

!torchvision.disable_beta_transforms_warning()
 image = datapoints.Image([0])
```

## When the fix is unsafe

Always: the classes were renamed as well, and the tests here do not run torchvision.

`tv_tensors`: <https://docs.pytorch.org/vision/stable/tv_tensors.html>.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.model import Model
from torchlint.rule import Finding, Group, listed, on
from torchlint.rules.api import findings

GROUP = Group.DEPRECATED


@on(cst.Module, trigger=listed("TL903"))
def check(node: cst.Module, model: Model) -> Iterator[Finding]:
    """Report the module, its classes, and the call that silenced its warning."""
    for use in findings.uses_of(model, "TL903"):
        yield findings.of_use(use, model)
