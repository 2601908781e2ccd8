r"""`async` is a keyword since Python 3.7: `.cuda(async=True)` does not parse.

The argument is called `non_blocking` since PyTorch 0.4.

```diff run-after
 import torch

 x = torch.ones(3)
 if torch.cuda.is_available():
-    x = x.cuda(async=True)
+    x = x.cuda(non_blocking=True)
-    x = x.to("cuda", async = True)
+    x = x.to("cuda", non_blocking = True)
-    x = x.cuda(async=True, non_blocking=True)
+    x = x.cuda(non_blocking=True)
 x = x.cpu()
```

## When the fix is unsafe

The fix is safe: the file does not run as it is.

`Tensor.cuda`: <https://docs.pytorch.org/docs/stable/generated/torch.Tensor.cuda.html>.
"""

from __future__ import annotations

import libcst as cst

from torchlint import edit
from torchlint.file.tree.placeholders import ASYNC
from torchlint.model import Model
from torchlint.model.syntax import keyword
from torchlint.rule import Finding, Fix, Group, Severity, on, pattern

GROUP = Group.MIGRATION
SEVERITY = Severity.ERROR

_METHODS = frozenset(("cuda", "to", "cpu", "type", "copy_", "float", "half", "double", "long", "pin_memory"))


@on(cst.Call, trigger=pattern(r"\basync ="))
def check(node: cst.Call, model: Model) -> Finding | None:
    """Report the keyword argument `async` of a transfer."""
    if not isinstance(node.func, cst.Attribute) or node.func.attr.value not in _METHODS:
        return None
    arg = keyword(node.args, ASYNC)
    if arg is None or arg.keyword is None:
        return None
    has_both = keyword(node.args, "non_blocking") is not None
    change = edit.remove_argument(node, arg) if has_both else edit.replace(arg.keyword, "non_blocking")
    fix = Fix("Remove `async`" if has_both else "Rename to `non_blocking`", (change,))
    message = "`async` is a keyword since Python 3.7; the argument is called `non_blocking`"
    return Finding(arg.keyword, message, fix, severity=Severity.ERROR)
