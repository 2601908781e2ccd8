r"""`pack_padded_sequence` wants its lengths on the CPU.

The sequences may be on a GPU, `lengths` may not: since PyTorch 1.7 that raises. Before, they were copied back silently,
so scripts of that time move both. On the CPU nothing is raised, so tests do not find it.

```diff run
 import torch
 from torch.nn.utils.rnn import pack_padded_sequence

 device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
 x = torch.ones(2, 3, 4).to(device)
 lengths = torch.tensor([3, 2])
-a = pack_padded_sequence(x, lengths.to(device), batch_first=True).data
+a = pack_padded_sequence(x, lengths.to(device).cpu(), batch_first=True).data
 moved = lengths.to(device)
 moved, order = moved.sort(descending=True)
-b = pack_padded_sequence(x[order], lengths=moved, batch_first=True).data
+b = pack_padded_sequence(x[order], lengths=moved.cpu(), batch_first=True).data
 c = pack_padded_sequence(x, lengths, batch_first=True).data
 d = pack_padded_sequence(x, moved.cpu(), batch_first=True).data
 e = pack_padded_sequence(x, moved.tolist(), batch_first=True).data
 f = pack_padded_sequence(x, moved.to("cpu"), batch_first=True).data
```

```diff
 import torch
 from torch.nn.utils import rnn

 def f(x, lengths, mask: torch.Tensor, device, kept):
-    a = rnn.pack_padded_sequence(x, torch.LongTensor(lengths).cuda())
+    a = rnn.pack_padded_sequence(x, torch.LongTensor(lengths).cpu())
     counts = mask.to(device=device).sum(1)
-    b = rnn.pack_padded_sequence(x, counts - 1)
+    b = rnn.pack_padded_sequence(x, (counts - 1).cpu())
     if kept:
         counts = counts.cpu()
     c = rnn.pack_padded_sequence(x, counts)
     d = rnn.pack_padded_sequence(x, lengths), rnn.pack_padded_sequence(x, mask.to(torch.int64).sum(1))
     return a, b, c, d
```

## When the fix is unsafe

Never: on the CPU `.cpu()` gives the tensor itself.

What `lengths` may be: <https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.rnn.pack_padded_sequence.html>.
How it came about: <https://github.com/pytorch/pytorch/issues/43227>.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import libcst as cst

from torchlint import edit
from torchlint.model import Model
from torchlint.model.bindings import all_assigned, last_target, unpacked_from
from torchlint.model.syntax import assigned_value, integer, keyword, last_name, positional
from torchlint.rule import Edit, Finding, Fix, Group, Severity, all_of, any_of, attribute, on, word
from torchlint.rules.api import guards
from torchlint.rules.shared.statements import is_probed
from torchlint.versions import Version

GROUP = Group.MIGRATION
SEVERITY = Severity.ERROR

_SINCE: Version = (1, 7)
_PACKING = "torch.nn.utils.rnn.pack_padded_sequence"
_FAR = 6
"""How many steps are gone back."""
_LEAVING = frozenset(("cpu", "tolist", "numpy", "item", "size", "dim", "numel"))
"""Methods whose results are on no GPU, wherever the tensor is."""
_DEVICE = re.compile(r"device|gpu|cuda", re.IGNORECASE)
"""What names for a device are made of."""


@on(
    cst.Call,
    trigger=all_of(word("pack_padded_sequence"), any_of(attribute("cuda"), attribute("to"), word("device"))),
)
def check(node: cst.Call, model: Model) -> Finding | None:
    """Report lengths that were moved to a device that may be a GPU."""
    arg = keyword(node.args, "lengths") or positional(node.args, 1)
    if arg is None or not isinstance(node.func, (cst.Name, cst.Attribute)) or model.qualified(node.func) != _PACKING:
        return None
    if not model.target.reaches(_SINCE) or not _is_moved(arg.value, model) or not model.is_tensor(arg.value):
        return None
    if is_probed(node, model) or guards.is_guarded(node, model):
        return None
    said = "lengths on a GPU raise since PyTorch 1.7: `pack_padded_sequence` wants them on the CPU"
    return Finding(arg.value, said, Fix("Move them to the CPU", _edits(arg.value)))


def _edits(lengths: cst.BaseExpression) -> tuple[Edit, ...]:
    match lengths:
        case cst.Call(func=cst.Attribute(attr=cst.Name("cuda") as method), args=[]):
            return (edit.replace(method, "cpu"),)
    return edit.append(lengths, ".cpu()")


def _is_moved(node: cst.BaseExpression, model: Model, far: int = _FAR) -> bool:
    """Whether an expression is, by how it is written, on a device that may be a GPU."""
    if not far:
        return False
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=name))) if name in _LEAVING:
            return False
        case cst.Call(func=func, args=args):
            if last_name(func) == "cuda" or (model.qualified(func) or "").startswith("torch.cuda."):
                return True
            device = keyword(args, "device") or (positional(args, 0) if last_name(func) == "to" else None)
            said = _may_be_gpu(device.value, model) if device is not None else None
            if said is not None:
                return said
            if isinstance(func, cst.Attribute) and model.qualified(func) is None:
                return _is_moved(func.value, model, far - 1)
            first = positional(args, 0)
            return first is not None and _is_moved(first.value, model, far - 1)
        case cst.Subscript(value=inner) | cst.Attribute(value=inner, attr=cst.Name("data" | "values")):
            return _is_moved(inner, model, far - 1)
        case cst.BinaryOperation(left=left, right=right):
            return _is_moved(left, model, far - 1) or _is_moved(right, model, far - 1)
        case cst.Comparison(left=inner) | cst.UnaryOperation(expression=inner):
            return _is_moved(inner, model, far - 1)
        case cst.Name():
            target = model.ask(last_target, node)
            value = assigned_value(target, model.tree) if target is not None else None
            made = value if value is not None else target and unpacked_from(target, model.tree)
            return made is not None and not isinstance(made, cst.Tuple) and _is_moved(made, model, far - 1)
    return False


def _may_be_gpu(node: cst.BaseExpression, model: Model, far: int = _FAR) -> bool | None:
    """Whether what is given for a device may be a GPU; None if it is not seen to be a device."""
    match node:
        case cst.SimpleString():
            return not str(node.evaluated_value).startswith(("cpu", "meta"))
        case cst.Integer():
            return integer(node) is not None
        case cst.IfExp(body=one, orelse=other) if far:
            return _any_gpu((one, other), model, far)
        case cst.Call(args=[cst.Arg(value=named), *_]) if far and model.qualified(node.func) == "torch.device":
            return _may_be_gpu(named, model, far - 1)
        case cst.Name() if far:
            is_local = node.value in model.scopes.hidden_at(node)
            scope = model.scopes.scope_of(node) if is_local else model.tree.module
            values = [each for each in model.ask(all_assigned, node.value, scope) if each is not None]
            said = _any_gpu(values, model, far) if values else None
            return said if said is not None else _DEVICE.search(node.value) is not None or None
        case cst.Attribute(attr=cst.Name(value=name)) if model.qualified(node) is None:
            return _DEVICE.search(name) is not None or None
    return None


def _any_gpu(nodes: Sequence[cst.BaseExpression], model: Model, far: int) -> bool | None:
    said = [_may_be_gpu(node, model, far - 1) for node in nodes]
    return None if None in said and True not in said else True in said
