r"""Functions, classes and methods that torch marks as deprecated.

They still run, most of them with a warning, and go in a later version. The message says since when, and what to use
instead; [the table](../api.md) lists all of them. With `--target-torch`, `target-torch` in the settings, or a
requirement of the project on torch, only that is reported which is deprecated in a version that is supported, and only
that is written which exists in all of them. What a version check or a `try` guards is left alone.

```diff run
 import torch
 from torch import nn

 a = torch.eye(3) * 2
-q, r = torch.qr(a)
+q, r = torch.linalg.qr(a)
-u = torch.cholesky(a, upper=True)
+u = torch.linalg.cholesky(a, upper=True)
-v = torch.chain_matmul(a, a, u)
+v = torch.linalg.multi_dot([a, a, u])
-w = a.qr(some=False)[0]
+w = torch.linalg.qr(a, mode='complete')[0]
-s = torch.range(0, 4, 2)
+s = torch.arange(0, 5, 2, dtype=torch.get_default_dtype())
-b = torch.tensor(a)
+b = a.detach().clone()
-nn.init.constant(a, 1)
+nn.init.constant_(a, 1)
 layer = nn.Linear(2, 2)
 layer(torch.ones(1, 2)).sum().backward()
~old = nn.utils.weight_norm
+old = nn.utils.parametrizations.weight_norm
```

The import comes along, in whatever form it is:

```diff run
 import torch
-from torch.nn.utils import clip_grad_norm
+from torch.nn.utils import clip_grad_norm_
-from torch.nn.init import normal as draw
+from torch.nn.init import normal_ as draw

 p = torch.ones(3, requires_grad=True)
 p.sum().backward()
-norm = clip_grad_norm([p], 1.0)
+norm = clip_grad_norm_([p], 1.0)
```

```diff run
 import torch
-from torch.cuda.amp import autocast

-with autocast(enabled=False):
+with torch.amp.autocast('cuda', enabled=False):
     x = torch.ones(2) * 2
```

Other things have the same names:

```diff
 import torch
 from linalg import qr

 class Matrix:
     def qr(self): ...

 a = Matrix().qr()
 b = qr(torch.ones(3))

 def f(torch):
     return torch.qr(1)

 if hasattr(torch, "qr"):
     c = torch.qr(torch.eye(2))
```

## When the fix is unsafe

A fix is safe where the new call gives the same values, gradients and dtype, which is tested for each row of the table by
running both. It is unsafe where something else changes: the keys of a `state_dict` (`weight_norm`), the default
tolerances (`assert_allclose`), the order in which two arguments that both do something are evaluated.

Release notes: <https://github.com/pytorch/pytorch/releases>.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from torchlint import edit
from torchlint.api import Row
from torchlint.model import Kind, Model, Strength
from torchlint.rule import Finding, Fix, on
from torchlint.rules import _api, _api_found


@on(cst.Module, needle="table:TL302")
def check(node: cst.Module, model: Model) -> Iterator[Finding]:
    """Report what is deprecated and still there."""
    for use in _api.uses(model, "TL302"):
        if not use.row.is_removed(model.target):
            yield _api.report(use, model)
    for attribute, row in _api_found.methods(model, "TL302"):
        if not row.is_removed(model.target):
            yield _api.report_method(attribute, row, model)
    rows = _api.row_uses(model, "TL302", ("behaviour",))
    for call, func, args in _api.calls(model, rows):
        yield from _copied(call, func, args, rows.get(_api.last(func), ()), model)


def _copied(
    call: cst.Call, func: cst.BaseExpression, args: Sequence[cst.Arg], rows: Sequence[Row], model: Model
) -> Iterator[Finding]:
    """`torch.tensor(x)` of a tensor, which warns: it reads like a constructor, and copies."""
    if not args or args[0].star or args[0].keyword is not None or args is not call.args:
        return
    copied = args[0].value
    value = model.value(copied)
    if value.kind != Kind.TENSOR or (value.strength or 0) < Strength.CONVENTION:
        return
    row = _api.callee(func, rows, model)
    if row is None:
        return
    fix = None
    if row.fix == "clone" and len(args) == 1:
        closing = ("(", ")") if isinstance(copied, (cst.BinaryOperation, cst.UnaryOperation, cst.IfExp)) else ("", "")
        if copied.lpar:
            closing = ("", "")
        edits = (
            edit.replace_before(call, copied, closing[0]),
            edit.replace_after(copied, call, f"{closing[1]}.detach().clone()"),
        )
        fix = Fix("Use `.detach().clone()`", edits, _api.applicability(row))
    at = call.func.attr if isinstance(call.func, cst.Attribute) and "Tensor." in row.name else call.func
    yield Finding(at, f"`{_api.short(row.name)}` of a tensor warns since PyTorch 1.0; use {row.advice}", fix, receiver=copied)
