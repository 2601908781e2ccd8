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
-torch.set_default_tensor_type(torch.DoubleTensor)
+torch.set_default_dtype(torch.float64)
-nn.init.constant(a, 1)
+nn.init.constant_(a, 1)
 layer = nn.Linear(2, 2)
 layer(torch.ones(1, 2)).sum().backward()
~old = nn.utils.weight_norm
+old = nn.utils.parametrizations.weight_norm
~draw = nn.init.normal
+draw = nn.init.normal_
```

The import comes along, in whatever form it is, and brings its uses with it, which are not reported again:

```diff run
 import torch
-from torch.nn.init import normal as draw
+from torch.nn.init import normal_ as draw

 p = draw(torch.ones(3)).requires_grad_()
 p.sum().backward()
-from torch.nn.utils import clip_grad_norm
-norm = clip_grad_norm([p], 1.0)
+from torch.nn.utils import clip_grad_norm_
+norm = clip_grad_norm_([p], 1.0)
```

```diff run
 import torch
-from torch.cuda.amp import autocast
-with autocast(enabled=False):
+with torch.amp.autocast('cuda', enabled=False):
     x = torch.ones(2) * 2
```

Another class is another answer to `isinstance`, so where the project asks for the old one the fix is unsafe:

```diff
 import torch

~scaler = torch.cuda.amp.GradScaler(enabled=False)
+scaler = torch.amp.GradScaler('cuda', enabled=False)
!is_scaler = isinstance(scaler, torch.cuda.amp.GradScaler)
```

What stands in a `try` with another way out is left alone; a handler that does nothing is none:

```diff run
 import torch
 from torch import nn

 def init(m):
     try:
-        nn.init.constant(m.bias, 0.01)
+        nn.init.constant_(m.bias, 0.01)
     except AttributeError:
         pass
     try:
         nn.init.normal(m.weight)
     except AttributeError:
         if m.weight is not None:
             nn.init.normal_(m.weight)

 init(nn.Linear(3, 2, bias=False))
```

`torch.tensor` is for numbers, lists and arrays; of a tensor it makes a copy, and warns:

```diff run
 import torch

 x = torch.ones(2, requires_grad=True)
~y = torch.tensor(x)
+y = x.detach().clone()
~z = torch.tensor(x * 2)
+z = (x * 2).detach().clone()
~q = torch.tensor(torch.zeros(2)[:1])
+q = torch.zeros(2)[:1].detach().clone()
!w = torch.tensor(x, dtype=torch.double)
 v = torch.tensor(x.tolist())
 u = torch.as_tensor(x)
```

Other things have the same names, and a class of tensors is also a type:

```diff
 import torch
 from linalg import qr

 class Matrix:
     def qr(self): ...

 a = Matrix().qr()
 is_sparse = isinstance(a, torch.sparse.FloatTensor)
 b = qr(torch.ones(3))

 def f(torch):
     return torch.qr(1)

 def decoded(masks, reader):
     if isinstance(masks, list):
         masks = torch.stack(masks)
     elif isinstance(masks, dict):
         masks = reader.decode(masks)
         masks = torch.tensor(masks)
     return masks

 if hasattr(torch, "qr"):
     c = torch.qr(torch.eye(2))

 def copied(x: torch.Tensor, half: bool):
     rates = draw(3)
     if half:
         rates = torch.cat((rates, torch.ones(3)))
     return torch.tensor(rates), torch.tensor(x)

 def from_list(x=None, half=False):
     if half:
         x = 1 + torch.ones(2)
     if isinstance(x, (list, float)):
         x = torch.tensor(x)
     return x

 norm = torch.nn.utils.weight_norm
 if hasattr(torch.nn.utils.parametrizations, "weight_norm"):
     norm = torch.nn.utils.parametrizations.weight_norm
```

## When the fix is unsafe

A fix is safe where the new call gives the same values, gradients and dtype, which is tested for each row of the table
by running both. It is unsafe where something else changes: the keys of a `state_dict` (`weight_norm`), the default
tolerances (`assert_allclose`), the order in which two arguments that both do something are evaluated. A copy by
`x.detach().clone()` stays on its device, also where another one is the default. Where a function or class is only
named, and not called, its new name is another object, so that is unsafe as well; and where a file of the project names
a class to ask for it (`isinstance`, `type(x) is`, `case`, `@f.register`), so is another class. There is none for
what the file itself puts something else in the place of (`F.upsample = mine`, `mock.patch`), and none where a
file of the project has a name that goes with the old form, or its end (`n.endswith("_g")`):

```diff
 from torch import nn

!layer = nn.utils.weight_norm(nn.Linear(2, 2))
 layer.weight_g.requires_grad_(False)
```

Release notes: <https://github.com/pytorch/pytorch/releases>.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint import edit
from torchlint.model import Kind, Model
from torchlint.model.bindings import last_assigned
from torchlint.model.syntax import call_of, keyword, last_name, parameters
from torchlint.model.torch import library
from torchlint.model.torch.schema import TensorResult
from torchlint.rule import Applicability, Finding, Fix, Group, listed, on, pattern
from torchlint.rules.api import findings, methods
from torchlint.rules.api.uses import Use
from torchlint.rules.shared.made_of import made

GROUP = Group.DEPRECATED

_FAR = 3
"""How many names are gone back to where a tensor was made."""


@on(cst.Module, trigger=listed("TL302"))
def check(node: cst.Module, model: Model) -> Iterator[Finding]:
    """Report what is deprecated and still there."""
    for use in findings.uses_of(model, "TL302"):
        if use.row.is_removed(model.target) or _is_type(use, model):
            continue
        yield findings.of_use(use, model)
    for attribute, row in methods.uses(model, "TL302"):
        if not row.is_removed(model.target):
            yield findings.of_method(attribute, row, model)


@on(cst.Call, trigger=pattern(r"\btensor \( (?!data\b)[A-Za-z_(]"))
def check_copy(node: cst.Call, model: Model) -> Finding | None:
    """Report `torch.tensor(x)` of what torch made."""
    if not node.args or node.args[0].keyword is not None or node.args[0].star or last_name(node.func) != "tensor":
        return None
    if keyword(node.args, "requires_grad") is not None or model.qualified(node.func) != "torch.tensor":
        return None
    given = node.args[0].value
    if not _is_made_by_torch(given, model):
        return None
    if not model.value(given).kind & (Kind.TENSOR | Kind.UNKNOWN):  # a test has said that it is a list
        return None
    said = "`torch.tensor` of a tensor warns: it makes a copy without a graph; use `x.detach().clone()`"
    return Finding(node.func, said, _copied(node, given) if len(node.args) == 1 else None)


def _is_made_by_torch(node: cst.BaseExpression, model: Model, far: int = _FAR) -> bool:
    """Whether an expression is computed by torch here. Who writes `torch.tensor(x)` may annotate `x` wrongly."""
    match node:
        case cst.BinaryOperation(left=left, right=right):
            return _is_made_by_torch(left, model, far) or _is_made_by_torch(right, model, far)
        case cst.Call(func=cst.Name() | cst.Attribute() as func):
            ref = model.qualified(func)
            if ref is not None or isinstance(func, cst.Name):
                return isinstance(library.function(ref), TensorResult)
            is_tensor = isinstance(library.method(func.attr.value), TensorResult)
            return is_tensor and _is_made_by_torch(func.value, model, far)
        case cst.Subscript(value=whole):
            return _is_made_by_torch(whole, model, far)
        case cst.Name() if far:
            assigned = model.ask(last_assigned, node) or (made(node, model) if _is_bound_once(node, model) else None)
            return assigned is not None and _is_made_by_torch(assigned, model, far - 1)
    return False


def _is_bound_once(name: cst.Name, model: Model) -> bool:
    """Whether the scope of a name, or the module, binds it in one place."""
    scope = model.scopes.scope_of(name)
    bound = [each for each in model.references(name.value, scope) if model.is_target(each)]
    given = parameters(scope) if isinstance(scope, cst.FunctionDef) else []
    return len(bound) <= 1 and all(each.name.value != name.value for each in given)


def _copied(call: cst.Call, given: cst.BaseExpression) -> Fix | None:
    """`x.detach().clone()` for `torch.tensor(x)`."""
    if call.lpar or given.lpar:
        return None
    is_simple = isinstance(given, (cst.Name, cst.Attribute, cst.Subscript, cst.Call))
    before, after = ("", "") if is_simple else ("(", ")")
    edits = (
        edit.replace_before(call, given, before),
        edit.replace_after(given, call, f"{after}.detach().clone()"),
    )
    return Fix("Copy it", edits, Applicability.UNSAFE, risk="what is no tensor has no `.detach()`")


def _is_type(use: Use, model: Model) -> bool:
    """Whether a class of tensors is named as such, and not called: `isinstance(x, torch.sparse.FloatTensor)`."""
    return use.row.kind == "class" and use.row.last.endswith("Tensor") and call_of(use.node, model.tree) is None
