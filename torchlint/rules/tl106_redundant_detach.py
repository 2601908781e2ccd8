r"""A detach that does nothing.

`item()` and `tolist()` give Python numbers, which never carry a graph; detaching twice is detaching once.

```diff run
 import torch

 w = torch.ones(3, requires_grad=True)
 loss = (w * 2).sum()
-a = loss.detach().item()
+a = loss.item()
-b = loss.detach().cpu().item()
+b = loss.cpu().item()
-c = w.detach().tolist()
+c = w.tolist()
-d = loss.data.item()
+d = loss.item()
-e = w.data.detach()
+e = w.detach()
-f = w.detach().data
+f = w.detach()
-g = w.detach().detach()
+g = w.detach()
 h = w.detach().cpu().numpy()
 i = loss.cpu().item()
```

## When the fix is unsafe

The fix is safe.

`Tensor.item`: <https://docs.pytorch.org/docs/stable/generated/torch.Tensor.item.html>.
"""

from __future__ import annotations

import libcst as cst

from torchlint import edit
from torchlint.model import Evidence, Kind, Model, Strength
from torchlint.rule import Finding, Fix, on
from torchlint.rules import _data


@on(cst.Attribute, needle=(".detach", ".data"))
def check(node: cst.Attribute, model: Model) -> Finding | None:
    """Report a `.detach()` or `.data` whose effect nothing sees."""
    if node.attr.value == "data":
        return _needless_data(node, model)
    if node.attr.value != "detach":
        return None
    call = model.tree.parent(node)
    if not isinstance(call, cst.Call) or call.func is not node or call.args:
        return None
    value = model.value(node.value)
    if value.kind & ~(Kind.TENSOR | Kind.UNKNOWN | Kind.NUMBER | Kind.NONE):
        return None
    reason = _reason(node, call, model)
    if reason is None:
        return None
    evidence = value.evidence or Evidence(Strength.USE, "`.detach` is called on it, which only tensors have", node)
    fix = Fix("Remove `.detach()`", (edit.replace_after(node.value, call),))
    return Finding(node.attr, f"needless `.detach()`: {reason}", fix, call, evidence)


def _reason(node: cst.Attribute, call: cst.Call, model: Model) -> str | None:
    match node.value:
        case cst.Call(func=cst.Attribute(attr=cst.Name("detach")), args=[]):
            return "it is detached already"
    for name, outer in _data.chain(call, model):
        if not isinstance(outer, cst.Call):
            return None
        if name in _data.READERS:
            return f"`{name}()` gives Python numbers"
        if name not in _data.TRANSFERS:
            return None
    return None


def _needless_data(node: cst.Attribute, model: Model) -> Finding | None:
    found = _data.classify(node, model)
    if found is None or found[0] is not _data.Site.REDUNDANT:
        return None
    fix = Fix("Remove `.data`", (edit.replace_after(node.value, node),))
    return Finding(node.attr, "needless `.data`: nothing sees its effect", fix, evidence=found[2])
