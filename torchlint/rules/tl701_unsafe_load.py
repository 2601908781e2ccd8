r"""`torch.load` without `weights_only` runs code from the file, before PyTorch 2.6.

A checkpoint is a pickle: loading one from somebody else runs whatever it says. Since 1.13 `weights_only=True` allows
tensors, numbers, strings and containers of them, and nothing else; since 2.6 that is the default. Where all supported
versions have that default, this rule is silent.

```diff
 import dill
 import torch

~state = torch.load("model.pt")
+state = torch.load("model.pt", weights_only=True)
~state = torch.load("model.pt", map_location="cpu")
+state = torch.load("model.pt", map_location="cpu", weights_only=True)
 state = torch.load("model.pt", weights_only=True)
 everything = torch.load("model.pt", weights_only=False)
!pickled = torch.load("model.pt", pickle_module=dill)

 def f(path, **options):
     return torch.load(path, **options)
```

## When the fix is unsafe

Always: `weights_only=True` raises where the file holds more than weights. If it does and comes from somewhere you
trust, say `weights_only=False`. A `pickle_module` of its own is an error with `weights_only=True`, so there is no fix.

`torch.load`: <https://docs.pytorch.org/docs/stable/generated/torch.load.html>.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint import api
from torchlint.model import Model
from torchlint.rule import Finding, Fix, on
from torchlint.rules import _api, _api_fixes
from torchlint.target import Version

_DEFAULT: Version = (2, 6)
_SAID = (
    "`torch.load` runs code from the file unless `weights_only=True`, which is the default since PyTorch 2.6; "
    "say which is meant"
)


@on(cst.Module, needle="table:TL701")
def check(node: cst.Module, model: Model) -> Iterator[Finding]:
    """Report calls that leave it to the version what may be loaded."""
    oldest = model.target.oldest
    if oldest is not None and oldest >= _DEFAULT:
        return
    rows = api.of_rule("TL701")
    for call, func, args in _api.calls(model, rows):
        if args is not call.args or any(arg.star for arg in args):
            continue
        if _api.keyword(args, "weights_only") is not None:
            continue
        is_own = _api.keyword(args, "pickle_module") is not None or _api.positional(args, 2) is not None
        for row in rows.get("load", ()):
            if _api.callee(func, (row,), model) is not None:
                fix = None
                if row.is_fixable(model.target) and not is_own:
                    text = "weights_only=True"
                    fix = Fix(f"Add `{text}`", (_api_fixes.add_argument(call, text),), _api.applicability(row))
                yield Finding(call.func, _SAID, fix)
