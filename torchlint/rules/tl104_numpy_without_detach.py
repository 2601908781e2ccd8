r"""`.numpy()` on a tensor that requires grad raises.

NumPy knows no graph, so PyTorch refuses to hand over a tensor that has one. `x.detach().cpu().numpy()` is what is
meant; the detach comes first, so that nothing else is recorded.

```diff run-after
 import numpy as np
 import torch
 from torch import nn

 net = nn.Linear(3, 2)
 out = net(torch.ones(1, 3))
-a = out.numpy()
+a = out.detach().numpy()
-b = out.cpu().numpy()
+b = out.detach().cpu().numpy()
-c = np.asarray(net.weight)
+c = np.asarray(net.weight.detach())
-d = net.weight.cpu().float().numpy()
+d = net.weight.detach().cpu().float().numpy()
 e = out.argmax(1).numpy()
 f = out.detach().cpu().numpy()
 g = net.weight.numpy(force=True)
 with torch.no_grad():
     h = net(torch.ones(1, 3)).numpy()
 i = torch.from_numpy(a).numpy()
```

## When the fix is unsafe

The fix is safe: the original raises, or the tensor has no graph and detaching it is nothing. `np.asarray(x)` takes
arrays, too: where `x` may be one there is no fix, and where it is not known to be a tensor on every path the fix is
unsafe.

`Tensor.numpy`: <https://docs.pytorch.org/docs/stable/generated/torch.Tensor.numpy.html>.
"""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from torchlint import edit
from torchlint.model import Dtype, Kind, Model, Strength, Tri, Value
from torchlint.rule import (
    Applicability,
    Edit,
    Finding,
    Fix,
    all_of,
    any_of,
    attribute,
    on,
    outside_functions,
    part,
    pattern,
)

_BEFORE_NUMPY = frozenset(("cpu", "cuda", "to", "float", "double", "half", "contiguous", "squeeze", "view", "reshape"))
_FUNCTIONS = frozenset(("numpy.array", "numpy.asarray", "numpy.asanyarray", "numpy.ascontiguousarray"))

_TRIGGER = any_of(
    all_of(attribute("numpy"), part("backward")),
    all_of(attribute("numpy"), attribute("step")),
    outside_functions(attribute("numpy")),
    all_of(pattern(r"array \( [-+~(\w]"), part("backward")),
    all_of(pattern(r"array \( [-+~(\w]"), attribute("step")),
    outside_functions(pattern(r"array \( [-+~(\w]")),
)
"""In functions it counts where the file trains. The array of a list is none of a tensor."""


@on(cst.Call, trigger=_TRIGGER)
def check(node: cst.Call, model: Model) -> Finding | None:
    """Report a conversion to NumPy of what requires grad."""
    if model.without_backward(node):
        return None
    match node:
        case cst.Call(func=cst.Attribute(value=tensor, attr=cst.Name("numpy") as name), args=[]):
            return _finding(tensor, name, node, model)
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=last)) | cst.Name(value=last), args=[arg, *_]) if (
            last in ("array", "asarray", "asanyarray", "ascontiguousarray") and not arg.star and arg.keyword is None
        ):
            if model.qualified(node.func) in _FUNCTIONS:
                return _finding(arg.value, node.func, node, model)
    return None


def _finding(tensor: cst.BaseExpression, start: cst.CSTNode, call: cst.Call, model: Model) -> Finding | None:
    value = model.value(tensor)
    if not _expects_grad(value) or model.grad_enabled(call) != Tri.YES:
        return None
    source = tensor
    while isinstance(source, cst.Call) and isinstance(source.func, cst.Attribute):
        if source.func.attr.value not in _BEFORE_NUMPY:
            break
        source = source.func.value
    edits: tuple[Edit, ...] = (edit.insert_after(source, ".detach()"),)
    if not source.lpar and isinstance(source, (cst.BinaryOperation, cst.UnaryOperation, cst.IfExp, cst.Comparison)):
        edits = (edit.insert_before(source, "("), edit.insert_after(source, ").detach()"))
    message = "converting a tensor that requires grad to NumPy raises; use `.detach()` first"
    fix = Fix("Insert `.detach()`", edits)
    if start is call.func and value.kind != Kind.TENSOR:  # NumPy's functions take arrays and numbers, too
        is_open = not value.kind & ~(Kind.TENSOR | Kind.UNKNOWN)
        fix_or_none = replace(fix, applicability=Applicability.UNSAFE) if is_open else None
        return Finding(start, message, fix_or_none, call, receiver=tensor)
    return Finding(start, message, fix, call, receiver=tensor)


def _expects_grad(value: Value) -> bool:
    """Whether a tensor is expected to require grad, on more than a name."""
    if not value.may_be_tensor or value.grad != Tri.YES or not value.dtype & Dtype.FLOAT:
        return False
    return (value.strength or Strength.NAME) >= Strength.CONVENTION
