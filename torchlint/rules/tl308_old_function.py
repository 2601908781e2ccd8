r"""Autograd functions with methods that are not static.

Until 0.3 a `torch.autograd.Function` kept its state in `self`, and an instance was called. Since 1.5 that raises:
`forward` and `backward` are static methods with a context as their first argument, and the class is applied.

```diff run-after
 import torch

 class Double(torch.autograd.Function):
     @staticmethod
     def forward(ctx, x):
         return x * 2

     @staticmethod
     def backward(ctx, grad):
         return grad * 2

 w = torch.ones(2, requires_grad=True)
-y = Double()(w)
+y = Double.apply(w)
 z = Double.apply(w)
```

What an instance was made with becomes further inputs, which have no gradients, where the constructor does no more than
store it and the file calls instances on the spot:

```diff run-after
 import torch
 from torch.autograd import Function


 class Scale(Function):
~    def __init__(self, factor):
~        super().__init__()
~        self.factor = factor
~
~    def forward(self, x):
~        self.save_for_backward(x)
~        return x * self.factor
+    @staticmethod
+    def forward(ctx, x, factor):
+        ctx.factor = factor
+        ctx.save_for_backward(x)
+        return x * ctx.factor

~    def backward(self, grad):
~        return grad * self.factor
+    @staticmethod
+    def backward(ctx, grad):
+        return grad * ctx.factor, None


 w = torch.ones(2, requires_grad=True)
~y = Scale(3)(w)
+y = Scale.apply(w, 3)
 y.sum().backward()
 print(w.grad)
```

```diff
 import torch
 from torch.autograd import Function


 class Old(Function):
!    def forward(self, x):
         return self.doubled(x)

!    def backward(self, grad):
         return self.doubled(grad)

     def doubled(self, x):
         return x * 2


 class Layer(torch.nn.Module):
     def forward(self, x):
!        return Old()(x)


 out = Layer()(torch.ones(2))
```

## When the fix is unsafe

Calling an instance of a function with static methods raises, so `.apply` in its place is safe. Methods are made static
by an unsafe fix. There is none where the class has other methods, where an instance or the class is used for anything
but a call, where another file may have the class from here, and where the number of gradients that `backward` returns
is not seen: such a function has to be rewritten by hand.

Extending autograd: <https://docs.pytorch.org/docs/stable/notes/extending.html>.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint import edit
from torchlint.model import Model
from torchlint.model.syntax import positional_parameters
from torchlint.rule import Applicability, Finding, Fix, Group, Severity, on, word
from torchlint.rules.shared import static_functions
from torchlint.versions import Version

GROUP = Group.MIGRATION
SEVERITY = Severity.ERROR

_REMOVED: Version = (1, 5)
_METHODS = ("forward", "backward")


@on(cst.ClassDef, trigger=word("Function"))
def check_class(node: cst.ClassDef, model: Model) -> Iterator[Finding]:
    """Report `forward` and `backward` with `self`."""
    if not model.target.reaches(_REMOVED) or not _is_function(node, model):
        return
    for name, method in model.scopes.info(node).methods.items():
        if name in _METHODS and _has_self(method) and not _is_assigned_static(node, name, model):
            said = f"`{name}` of an autograd function has to be static since PyTorch 1.5; write `def {name}(ctx, …)`"
            yield Finding(method.name, f"{said} under `@staticmethod`", _rewrite(node, model), severity=Severity.ERROR)


@on(cst.Call, trigger=word("Function"))
def check_call(node: cst.Call, model: Model) -> Finding | None:
    """Report the call of an instance."""
    match node.func:
        case cst.Call(func=name, args=made) if isinstance(name, (cst.Name, cst.Attribute)):
            cls = model.value(name).node
        case _:
            return None
    if not isinstance(cls, cst.ClassDef) or not model.target.reaches(_REMOVED) or not _is_function(cls, model):
        return None
    if any(model.find_method(cls, name) is not None for name in ("__call__", "__new__")):
        return None  # who knows what is called
    forward = model.find_method(cls, "forward")
    fix = None
    if forward is not None and not _has_self(forward) and not made:
        fix = Fix("Use `.apply(…)`", (edit.replace_after(name, node.func, ".apply"),))
    elif model.home(cls) is model:
        fix = _rewrite(cls, model)
    return Finding(
        name, "an autograd function is applied since PyTorch 1.5; use `.apply(…)`", fix, severity=Severity.ERROR
    )


def _rewrite(cls: cst.ClassDef, model: Model) -> Fix | None:
    """One fix for all that is found of a class: half of it would be of no use."""
    edits = static_functions.rewritten(cls, model)
    if not edits:
        return None
    risk = "gradients of gradients are computed now, which `backward` may not be written for"
    return Fix("Make the methods static, and use `.apply(…)`", edits, Applicability.UNSAFE, risk=risk)


def _is_function(cls: cst.ClassDef, model: Model) -> bool:
    return model.class_kind(cls) == "function"


def _has_self(method: cst.FunctionDef) -> bool:
    params = positional_parameters(method)
    return not method.decorators and bool(params) and params[0].name.value == "self"


def _is_assigned_static(cls: cst.ClassDef, name: str, model: Model) -> bool:
    """Whether `forward = staticmethod(forward)` follows."""
    return any(
        isinstance(assign.value, cst.Call) and model.tree.code(assign.value).startswith(f"staticmethod({name})")
        for assign in model.tree.within(cls.body, cst.Assign)
    )
