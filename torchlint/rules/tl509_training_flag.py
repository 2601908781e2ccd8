r"""`net.training = False` sets the flag of one module and leaves its layers in the mode they are in.

Dropout and batch normalisation ask their own flag. `net.eval()` goes through all of them. This rule is off by default,
for some set the flag of one module on purpose.

```diff run-differs
 import torch
 from torch import nn

 torch.manual_seed(0)
 net = nn.Sequential(nn.Linear(2, 8), nn.Dropout())
~net.training = False
+net.eval()
 torch.manual_seed(1)
 y = net(torch.ones(1, 2)).detach()
~net.training = True
+net.train()
 del net
```

One's own flag, a module without others inside, loops over all modules, and a mode that is copied:

```diff
 from torch import nn

 class Net(nn.Module):
     def train(self, mode=True):
         self.training = True
         return super().train(mode)

 def g(net: nn.Module, other: nn.Module):
!    net.training = other.training = False

 def f(net: nn.Module, other: nn.Module, config):
     drop = nn.Dropout()
     drop.training = True
     for module in net.modules():
         module.training = False
     net.training = other.training
     config.training = False
```

## When the fix is unsafe

Always: the layers inside change their mode, too.

`Module.eval`: <https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.eval>.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint import edit
from torchlint.model import Kind, Model
from torchlint.rule import Applicability, Edit, Finding, Fix, Group, Severity, on, pattern
from torchlint.rules.shared.own_attributes import has_attribute

BY_DEFAULT = False
GROUP = Group.CORRECTNESS
SEVERITY = Severity.ERROR

_WITH_OTHERS = ("torch.nn.Module", "torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.ModuleDict")
"""Classes of torch whose modules have others inside; of a class of the project they may."""
_WALKS = frozenset(("modules", "named_modules", "children", "named_children"))

_RISK = "all modules in it change their mode now, too"


@on(cst.Assign, trigger=pattern(r"\. training ="))
def check(node: cst.Assign, model: Model) -> Iterator[Finding]:
    """Report flags of modules that are set by hand."""
    match node.value:
        case cst.Name("True" | "False") as mode:
            found = (_set(each.target, mode, len(node.targets) == 1, model) for each in node.targets)
            yield from (each for each in found if each is not None)


def _set(target: cst.BaseExpression, mode: cst.Name, is_only: bool, model: Model) -> Finding | None:
    """The finding on one of the targets, with a fix where it is the only one."""
    match target:
        case cst.Attribute(value=owner, attr=cst.Name("training")):
            pass
        case _:
            return None
    if isinstance(owner, cst.Name) and (owner.value == "self" or _is_walked(owner, model)):
        return None
    value = model.value(owner)
    if value.kind != Kind.MODULE or has_attribute(value, "training", model):
        return None
    if not isinstance(value.node, cst.ClassDef) and value.ref not in _WITH_OTHERS:
        return None
    method = "train" if mode.value == "True" else "eval"
    said = f"this sets the mode of one module, and not of those inside; call `{method}()`"
    if not is_only:
        return Finding(target.attr, said)
    edits: tuple[Edit, ...] = (edit.replace(target.attr, f"{method}()", end=mode),)
    return Finding(target.attr, said, Fix(f"Call `{method}()`", edits, Applicability.UNSAFE, risk=_RISK))


def _is_walked(name: cst.Name, model: Model) -> bool:
    """Whether a loop around goes over modules and binds the name, so that each of them is set."""
    for up in model.tree.ancestors(name):
        if isinstance(up, cst.FunctionDef):
            break
        if isinstance(up, cst.For) and any(
            isinstance(each, cst.Name) and each.value == name.value for each in model.tree.walk(up.target)
        ):
            return any(each.attr.value in _WALKS for each in model.tree.within(up.iter, cst.Attribute))
    return False
