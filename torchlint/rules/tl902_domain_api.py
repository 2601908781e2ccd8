r"""Removed and deprecated API of torchvision, torchaudio and torchtext.

They follow torch in removing what has been deprecated for some versions. The message says since which version of the
library; [the table](../api.md) lists all of them.

```diff
 import torchvision
 import torchvision.transforms as T
 from torchvision.transforms import v2

~a = T.Scale(8)
+a = T.Resize(8)
~b = T.RandomSizedCrop(8)
+b = T.RandomResizedCrop(8)
~c = T.RandomAffine(10, fillcolor=0)
+c = T.RandomAffine(10, fill=0)
~torchvision.utils.save_image(d, "d.png", range=(0, 1))
+torchvision.utils.save_image(d, "d.png", value_range=(0, 1))
!e = v2.ToTensor()
 f = T.ToTensor()
 g = T.Resize(8)
```

```diff
!import torchtext.legacy
!from torchvision.transforms._functional_video import to_tensor
!import torchaudio.backend
~from torchvision.transforms.functional_tensor import rgb_to_grayscale
+from torchvision.transforms.functional import rgb_to_grayscale
 from mylib.transforms import Scale

 a = Scale(2)
```

## When the fix is unsafe

Always: the tests here do not run these libraries. The renames are those that their release notes name.

torchvision: <https://github.com/pytorch/vision/releases>.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint import edit
from torchlint.model import Model
from torchlint.model.syntax import keyword, last_name
from torchlint.rule import Finding, Fix, Group, Severity, listed, on
from torchlint.rules.api import calls, findings, table
from torchlint.rules.api.table import Row

GROUP = Group.DEPRECATED


@on(cst.Module, trigger=listed("TL902"))
def check(node: cst.Module, model: Model) -> Iterator[Finding]:
    """Report names and arguments of the domain libraries."""
    for use in findings.uses_of(model, "TL902"):
        yield findings.of_use(use, model)
    rows = table.of_kinds("TL902", ("argument",), model.target)
    for call, func, args in calls.candidates(model, rows):
        for row in rows.get(last_name(func), ()):
            arg = keyword(args, row.argument)
            if arg is not None and calls.callee(func, (row,), model) is not None:
                yield _argument(row, call, arg, model)


def _argument(row: Row, call: cst.Call, arg: cst.Arg, model: Model) -> Finding:
    assert arg.keyword is not None
    fix = None
    if row.fix == "rename-argument" and keyword(call.args, row.to) is None:
        fix = Fix(f"Rename to `{row.to}`", (edit.replace(arg.keyword, row.to),), row.applicability)
    elif row.fix == "drop-argument":
        fix = Fix(f"Drop `{row.argument}`", (edit.remove_argument(call, arg),), row.applicability)
    severity = Severity.ERROR if row.is_removed(model.target) else None
    said = findings.message(row, model, f"`{row.argument}=` of `{row.name}`")
    return Finding(arg.keyword, said, calls.judged(fix, call, row, model), severity=severity)
