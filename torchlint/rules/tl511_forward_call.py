r"""`net.forward(x)` skips hooks, and whatever wraps `net`.

Hooks do not run, `DistributedDataParallel` does not synchronise what is called on its module, and what wraps the call
of a module (compiled modules, pruning, weight normalisation by hooks, FSDP) is left out. This rule is off by default,
for mostly there is nothing to step over.

```diff run-differs
 import torch
 from torch import nn

 net = nn.Linear(2, 1)
 seen = []
 handle = net.register_forward_hook(lambda module, args, result: seen.append(result.shape))
~y = net.forward(torch.ones(1, 2)).detach()
+y = net(torch.ones(1, 2)).detach()
 handle.remove()
 del net, handle
```

The method of a base class, one's own, and what is only named:

```diff
 import torch
 from torch import nn

 class Net(nn.Linear):
     def forward(self, x):
         x = super().forward(x)
         return nn.Linear.forward(self, x)

     def predict(self, x):
         return self.forward(x).detach()

 class Plain:
     def forward(self, x):
         return x

 def f(client, net: nn.Module, x):
     client.forward(x)
     Plain().forward(x)
     return net.forward
```

A hook that calls the module it is given would be called again by that, without end:

```diff run
 import torch
 from torch import nn

 def double(module: nn.Module, args, result):
!    return module.forward(2 * args[0])

 net = nn.Linear(2, 1)
 handle = net.register_forward_hook(double)
 y = net(torch.ones(1, 2)).detach()
 handle.remove()
 del net, handle
```

## When the fix is unsafe

Always: hooks run then.

`nn.Module`: <https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.forward>.
"""

from __future__ import annotations

import libcst as cst

from torchlint import edit
from torchlint.model import Kind, Model
from torchlint.model.syntax import last_name, parameters
from torchlint.rule import Finding, Fix, Group, Severity, on, pattern

BY_DEFAULT = False
GROUP = Group.CORRECTNESS
SEVERITY = Severity.WARNING


@on(cst.Call, trigger=pattern(r"\. forward \("))
def check(node: cst.Call, model: Model) -> Finding | None:
    """Report the forward method of a module that is called."""
    match node.func:
        case cst.Attribute(value=owner, attr=cst.Name("forward")) if not _is_self(owner):
            pass
        case _:
            return None
    value = model.value(owner)
    if value.kind != Kind.MODULE or _has_own_call(value.node, model):
        return None
    said = "`forward()` skips hooks and whatever wraps the module; call the module"
    if _is_in_hook(owner, model):
        return Finding(node.func, said)
    fix = Fix("Call the module", (edit.replace_after(owner, node.func),)).doubted(
        "hooks and whatever wraps the module run now"
    )
    return Finding(node.func, said, fix)


def _is_in_hook(owner: cst.BaseExpression, model: Model) -> bool:
    """Whether a function that is given a module is a hook: calling that module would call the hook again."""
    function = model.tree.enclosing(owner, cst.FunctionDef)
    if not isinstance(function, cst.FunctionDef) or not isinstance(owner, cst.Name):
        return False
    if all(each.name.value != owner.value for each in parameters(function)):
        return False
    arguments = (model.tree.parent(use) for use in model.all_called(function.name.value))
    calls = (model.tree.parent(arg) for arg in arguments if isinstance(arg, cst.Arg))
    return any(isinstance(call, cst.Call) and "hook" in last_name(call.func) for call in calls)


def _is_self(owner: cst.BaseExpression) -> bool:
    match owner:
        case cst.Name("self") | cst.Call(func=cst.Name("super")):
            return True
    return False


def _has_own_call(cls: cst.CSTNode | None, model: Model) -> bool:
    """Whether a class of the project decides itself what calling its modules does."""
    return isinstance(cls, cst.ClassDef) and model.find_method(cls, "__call__") is not None
