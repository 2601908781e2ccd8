r"""A default that warns, has changed, or is gone.

`softmax` without `dim` picks one by the number of dimensions, `meshgrid` without `indexing` will change its mind,
`grid_sample` without `align_corners` did so in 1.3, `stft` needs to be told about complex numbers. Say what is meant.

```diff run
 import torch
 import torch.nn.functional as F
 from torch.utils.checkpoint import checkpoint

 a, b = torch.rand(3), torch.rand(4)
-x, y = torch.meshgrid(a, b)
+x, y = torch.meshgrid(a, b, indexing='ij')
 image, theta = torch.rand(1, 2, 4, 4), torch.rand(1, 2, 3)
-grid = F.affine_grid(theta, (1, 2, 4, 4))
+grid = F.affine_grid(theta, (1, 2, 4, 4), align_corners=False)
-warped = F.grid_sample(image, grid)
+warped = F.grid_sample(image, grid, align_corners=False)
-p = F.softmax(torch.rand(2, 5))
+p = F.softmax(torch.rand(2, 5), dim=1)
 w = torch.rand(3, requires_grad=True)
-c = checkpoint(torch.sin, w)
+c = checkpoint(torch.sin, w, use_reentrant=True)
-s = torch.stft(torch.ones(64), 16, window=torch.ones(16), return_complex=False)
+s = torch.view_as_real(torch.stft(torch.ones(64), 16, window=torch.ones(16), return_complex=True))
 q = F.softmax(w, dim=0)
```

```diff run-after
 import torch

-steps = torch.linspace(0, 1)
+steps = torch.linspace(0, 1, steps=100)
 same = torch.linspace(0, 1, 100)
```

```diff
 import torch
 import torch.nn.functional as F
 from torch import nn

 def f(x, **options):
     F.softmax(x, **options)
!    return F.softmax(x)

!head = nn.LogSoftmax()
!loss = nn.KLDivLoss()
~spec = torch.stft(torch.ones(64), 16)
+spec = torch.view_as_real(torch.stft(torch.ones(64), 16, return_complex=True))
!axis = torch.cross(torch.eye(3), torch.eye(3))
```

## When the fix is unsafe

What the default is today is written out, so the fix is safe; if something else was meant, it has to be changed by
hand. `dim=` of `softmax` is written where the number of dimensions is plain to see, else there is no fix. `torch.stft`
of a complex tensor gives a complex one also without being told, so the fix that restores the old layout is unsafe.

`softmax`: <https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.softmax.html>.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from torchlint import edit
from torchlint.api import Row
from torchlint.model import Model
from torchlint.rule import Applicability, Finding, Fix, on
from torchlint.rules import _api, _api_fixes


@on(cst.Module, needle="table:TL305")
def check(node: cst.Module, model: Model) -> Iterator[Finding]:
    """Report calls that leave out what they should say."""
    rows = _api.row_uses(model, "TL305", ("default", "argument"))
    for call, func, args in _api.calls(model, rows):
        if args is not call.args or any(arg.star == "**" for arg in args):
            continue
        candidates = [row for row in rows.get(_name(func, model), ()) if _is_left_out(row, args, model)]
        row = _api.callee(func, candidates, model) if candidates else None
        if row is not None:
            yield _finding(row, call, model)


def _name(func: cst.BaseExpression, model: Model) -> str:
    name = _api.last(func)
    if isinstance(func, cst.Name):
        path = _api.imports(model).path(name)
        return (path or model.qualified(func) or name).rpartition(".")[2]
    if name in _api.imports(model).aliases:
        return (model.qualified(func) or name).rpartition(".")[2]
    return name


def _is_left_out(row: Row, args: Sequence[cst.Arg], model: Model) -> bool:
    given = _api.keyword(args, row.argument)
    if row.kind == "argument":
        return given is not None and model.tree.code(given.value) == row.literal
    if given is not None or any(_api.keyword(args, name) for name in ("size_average", "reduce")):
        return False
    if row.position is None:
        return True
    return not any(arg.star for arg in args) and sum(arg.keyword is None for arg in args) <= row.position


def _finding(row: Row, call: cst.Call, model: Model) -> Finding:
    name = f"`{_api.short(row.name)}`"
    what = f"{name} without `{row.argument}=`" if row.kind == "default" else f"`{row.argument}={row.literal}` of {name}"
    fix = _fix(row, call, model) if row.is_fixable(model.target) else None
    severity = "error" if row.is_removed(model.target) else "warning"
    at = call.func.attr if isinstance(call.func, cst.Attribute) and "Tensor." in row.name else call.func
    return Finding(at, _api.message(row, model, what), fix, severity=severity)


def _fix(row: Row, call: cst.Call, model: Model) -> Fix | None:
    match row.fix:
        case "add-argument":
            return Fix(f"Add `{row.text}`", (_api_fixes.add_argument(call, row.text),), _api.applicability(row))
        case "softmax-dim":
            return _softmax(row, call, model)
        case "stft":
            return _stft(row, call, model)
    return None


def _softmax(row: Row, call: cst.Call, model: Model) -> Fix | None:
    """The dimension that is taken today, where the number of dimensions is plain to see."""
    if not call.args or row.name.rpartition(".")[2][0].isupper():
        return None
    ndim = dimensions(call.args[0].value, model)
    if ndim is None:
        return None
    text = f"dim={0 if ndim in (0, 1, 3) else 1}"
    return Fix(f"Add `{text}`", (_api_fixes.add_argument(call, text),), _api.applicability(row))


_FACTORIES = frozenset(f"torch.{name}" for name in ("rand", "randn", "zeros", "ones", "empty"))


def dimensions(node: cst.BaseExpression, model: Model) -> int | None:
    """The number of dimensions of a tensor, where an expression says it plainly: ``x.view(-1, 10)``."""
    match node:
        case cst.Name(value=name):
            bound = model.bindings_of(name, node)
            assign = model.tree.parent(model.tree.parent(bound[0]) or node) if len(bound) == 1 else None
            if isinstance(assign, cst.Assign) and len(assign.targets) == 1 and not isinstance(assign.value, cst.Name):
                return dimensions(assign.value, model)
            return None
        case cst.Call(func=cst.Attribute(value=base, attr=cst.Name("view" | "reshape"))) if model.is_tensor(base):
            sizes = node.args
        case cst.Call(func=func) if isinstance(func, (cst.Name, cst.Attribute)) and _is_factory(func, model):
            sizes = [arg for arg in node.args if arg.keyword is None]
        case _:
            return None
    if not sizes or any(arg.star or arg.keyword is not None for arg in sizes):
        return None
    if len(sizes) > 1:
        return len(sizes)
    match sizes[0].value:
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            return len(elements) if all(isinstance(e, cst.Element) for e in elements) else None
        case cst.Integer():
            return 1
    return None


def _is_factory(func: cst.BaseExpression, model: Model) -> bool:
    found = _api.resolve(func, model)
    return found is not None and found[1] in _FACTORIES


def _stft(row: Row, call: cst.Call, model: Model) -> Fix | None:
    spelled = _api.spell("torch.view_as_real", call, model)
    if spelled is None or any(arg.star for arg in call.args):
        return None
    given = _api.keyword(call.args, "return_complex")
    if given is not None:
        inner, applicability = edit.replace(given.value, "True"), _api.applicability(row)
    else:
        inner, applicability = _api_fixes.add_argument(call, "return_complex=True"), Applicability.UNSAFE
    edits = (edit.insert_before(call, f"{spelled[0]}("), inner, edit.insert_after(call, ")"))
    return Fix("Ask for complex numbers, and view them as real ones", edits, applicability, spelled[1])
