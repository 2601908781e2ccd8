r"""`torch.load` without `weights_only` runs code from the file, before PyTorch 2.6.

A checkpoint is a pickle: loading one from somebody else runs whatever it says. Since 1.13 `weights_only=True` allows
tensors, numbers, strings and containers of them, and nothing else; since 2.6 that is the default. Where all supported
versions have that default, this rule is silent.

```diff
 import dill
 import torch

!state = torch.load("model.pt")
~weight = torch.load("w.pt", map_location="cpu").unsqueeze(0)
+weight = torch.load("w.pt", map_location="cpu", weights_only=True).unsqueeze(0)
 state = torch.load("model.pt", weights_only=True)
 everything = torch.load("model.pt", weights_only=False)
!pickled = torch.load("model.pt", pickle_module=dill)

 def f(path, **options):
     return torch.load(path, **options)
```

Where the file saves something at the same path, that says which: `weights_only=True` where all of it is seen to be
allowed, `weights_only=False` where an object is seen that the other would refuse, as a number of NumPy
(`np.mean(losses)`) is. Else the use says it: a state dict alone, or an object, here or in a function that the file is
given to; and what the project saves anywhere in a dict with the keys that are read.

```diff
 import torch
 from torch import nn

 net = nn.Linear(2, 2)
~net.load_state_dict(torch.load("weights.pt"))
+net.load_state_dict(torch.load("weights.pt", weights_only=True))
~model = torch.load("model.pt")
+model = torch.load("model.pt", weights_only=False)
 model.eval()
~checkpoint = torch.load("checkpoint.pt")
+checkpoint = torch.load("checkpoint.pt", weights_only=False)
 net = checkpoint["model"].float()


 def save(path, net, args):
     torch.save({"net": net.state_dict(), "args": args, "rate": args.rate}, path)


 def resume(path, net):
~    checkpoint = torch.load(path)
+    checkpoint = torch.load(path, weights_only=False)
     net.load_state_dict(checkpoint["net"])
```

What a class of the project takes for its state may hold anything, so there is no fix:

```diff
 import torch


 class Scaled:
     def __init__(self, optimizer, scaler):
         self.optimizer, self.scaler = optimizer, scaler

     def load_state_dict(self, state):
         self.optimizer.load_state_dict(state["optimizer"])
         self.scaler = state["scaler"]


 def resume(path, optimizer, scaler):
     scaled = Scaled(optimizer, scaler)
!    scaled.load_state_dict(torch.load(path))
```

A project that sets `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD` gives up what 2.6 has brought: each call that does not say
`weights_only=` runs code from the file, and nothing raises.

```diff
 import os

 import torch

 os.environ["TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"] = "1"

~model = torch.load("model.pt")
+model = torch.load("model.pt", weights_only=False)
 model.eval()
```

What is tried is left alone where the handler loads in another way, or waits for the `TypeError` of a version without
the keyword.

```diff
 import torch

 try:
     state = torch.load("model.pt")
 except TypeError:
     state = None
 try:
!    state = torch.load("model.pt")
 except Exception:
     print("start new training")
```

## When the fix is unsafe

Always: `weights_only=True` raises where the file holds more than weights, and `weights_only=False` runs code from it:
write that only for files from somewhere you trust, else name the classes with `torch.serialization.add_safe_globals`.
Where nothing says what the file holds there is none, and the message names both. A `pickle_module` of its own is an
error with `weights_only=True`, so there is no fix.

`torch.load`: <https://docs.pytorch.org/docs/stable/generated/torch.load.html>.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from torchlint import edit
from torchlint.model import Model
from torchlint.model.codebase.exports import set_in_environment
from torchlint.model.syntax import keyword, positional
from torchlint.rule import Applicability, Finding, Fix, Group, listed, on
from torchlint.rules.api import calls, table
from torchlint.rules.shared import loaded
from torchlint.rules.shared.saved import Content
from torchlint.versions import Version

GROUP = Group.SECURITY

_DEFAULT: Version = (2, 6)
_SAID = "before PyTorch 2.6 `torch.load` runs code from the file; pass `weights_only=True`"
_WEIGHTS = f"{_SAID}, which is enough here"
_EITHER = f"{_SAID}, or `False` if you trust it"
_RAISES = (
    "loading what this file holds raises since PyTorch 2.6; "
    "pass `weights_only=False` if you trust it, or use `add_safe_globals`"
)
_OWN = "`torch.load` with a `pickle_module` runs code from the file; pass `weights_only=False` if you trust it"
_FORCED = "`TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD` is set: `torch.load` runs code from the file; say `weights_only=`"
_VARIABLE = "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"
_ON = ("1", "y", "yes", "true")
"""What torch takes for yes, in lower case."""
_MESSAGES = {Content.WEIGHTS: _WEIGHTS, Content.OBJECT: _RAISES, Content.UNKNOWN: _EITHER}


@on(cst.Module, trigger=listed("TL701"))
def check(node: cst.Module, model: Model) -> Iterator[Finding]:
    """Report calls that leave it to the version what may be loaded."""
    oldest = model.target.oldest
    is_forced = any(value.lower() in _ON for value in model.ask(set_in_environment, _VARIABLE))
    if oldest is not None and oldest >= _DEFAULT and not is_forced:
        return
    rows = table.of_rule("TL701")
    for call, func, args in calls.candidates(model, rows, loaded.is_left_alone):
        if args is not call.args or any(arg.star for arg in args):
            continue
        if keyword(args, "weights_only") is not None:
            continue
        is_own = keyword(args, "pickle_module") is not None or positional(args, 2) is not None
        for row in rows.get("load", ()):
            if calls.callee(func, (row,), model) is not None:
                if is_own:
                    yield Finding(call.func, _OWN)
                    continue
                held = loaded.content(call, model)
                fix = _fix(call, held) if row.is_fixable(model.target) else None
                yield Finding(call.func, _FORCED if is_forced else _MESSAGES[held], fix)


def _fix(call: cst.Call, held: Content) -> Fix | None:
    """The argument that goes with what the file holds; None where nothing says what: one of the two would be wrong."""
    if held is Content.UNKNOWN:
        return None
    weights = _added(call, "weights_only=True", "", "a file with other objects than tensors and containers raises then")
    if held is Content.WEIGHTS:
        return weights
    everything = _added(call, "weights_only=False", ", if the file can be trusted", "the file can run code")
    how = ", with `torch.serialization.add_safe_globals` for the classes"
    allowed = _added(call, "weights_only=True", how, "objects of classes that are not allowed raise then")
    return replace(everything, alternatives=(allowed,))


def _added(call: cst.Call, text: str, when: str, risk: str) -> Fix:
    return Fix(f"Add `{text}`{when}", (edit.add_argument(call, text),), Applicability.UNSAFE, risk=risk)
