r"""A layer that is made in `forward` has new random weights each time, and nothing trains them.

No optimizer has its parameters, no state dict saves them, and `to()` does not move them. The module computes something
else in each call.

```diff run
 import torch
 from torch import nn

 class Net(nn.Module):
     def forward(self, x):
!        x = nn.Linear(2, 2)(x)
!        norm = nn.BatchNorm1d(2)
         return self.shift(norm(x))

     def shift(self, x):
!        return x + nn.Parameter(torch.randn(2))

 torch.manual_seed(0)
 net = Net()
 count = len(list(net.parameters()))
 is_same = bool((net(torch.ones(3, 2)) == net(torch.ones(3, 2))).all())
```

Layers without parameters, what is kept, and wrappers around layers that are there:

```diff
 import torch
 from torch import nn

 class Net(nn.Module):
     def __init__(self):
         super().__init__()
         self.fc = nn.Linear(2, 2)
         self.late = None

     def forward(self, x):
         if self.late is None:
             self.late = nn.Linear(2, 2)
         x = nn.Sequential(self.fc, nn.ReLU())(x)
         blur = nn.Conv1d(1, 1, 3)
         blur.weight.data.fill_(1 / 3)
         return blur(nn.Softmax(dim=1)(x)[:, None])

     def make(self):
         return nn.Linear(2, 2)

 def f(x):
     return nn.Linear(2, 2)(x)
```

## When the fix is unsafe

There is none: the layer belongs into `__init__`, with the sizes that it has there.

`nn.Module`: <https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html>.
"""

from __future__ import annotations

import re

import libcst as cst

from torchlint.model import Model
from torchlint.model.made_modules import makes_parameters, may_make_parameters
from torchlint.model.names import MODULE_METHODS
from torchlint.model.syntax import call_of, last_name
from torchlint.rule import Finding, Group, Severity, all_of, any_of, on, pattern, word
from torchlint.rules.shared.own_calls import called_by

GROUP = Group.CORRECTNESS
SEVERITY = Severity.ERROR

_CLASS = re.compile(r"_*[A-Z]")
"""How names of classes begin."""
_BUILDERS = ("__init__", "build", "reset_parameters", "setup")
"""Methods that may make what they keep; what they call is not only called by `forward`."""


@on(
    cst.Call,
    trigger=all_of(
        word("forward"),
        any_of(
            pattern(r"\) \("),
            pattern(r"(?m)(?:^|[;:])[\t\x20]*\w+ = (?:\w+ \. )*_*[A-Z]\w* \("),
            pattern(r"[-+*/@%(,] (?:\w+ \. )*Parameter \("),
            pattern(r"\breturn (?:\w+ \. )*Parameter \("),
        ),
    ),
)
def check(node: cst.Call, model: Model) -> Finding | None:
    """Report layers and parameters that are made in `forward` and not kept."""
    name = last_name(node.func)
    if _CLASS.match(name) is None:
        return None
    if name == "Parameter":
        if not _is_made_by_forward(node, model) or not model.value(node).is_parameter:
            return None
        said = "this parameter is made in each call, so nothing trains it; make it in `__init__`"
        return Finding(node.func, said) if _is_only_computed_with(node, model) else None
    if not _is_only_called(node, model) or not model.ask(may_make_parameters, node):
        return None
    if not _is_made_by_forward(node, model):
        return None
    said = "this layer has new random weights in each call, and nothing trains them; make it in `__init__`"
    return Finding(node.func, said) if model.ask(makes_parameters, node) else None


def _is_made_by_forward(node: cst.CSTNode, model: Model) -> bool:
    """Whether the method around a node is one of a module, and is `forward` or only called by it."""
    method = model.tree.enclosing(node, cst.FunctionDef)
    cls = model.class_of(method) if isinstance(method, cst.FunctionDef) else None
    if cls is None or not isinstance(method, cst.FunctionDef) or method.name.value in _BUILDERS:
        return False
    if not cls.bases or model.class_kind(cls) != "module":
        return False
    name = method.name.value
    if name == "forward":
        return True
    return name in called_by(cls, "forward", model) and not any(
        name in called_by(cls, each, model) for each in _BUILDERS
    )


def _is_only_called(node: cst.Call, model: Model) -> bool:
    """Whether a new layer is called, on the spot or by a local name, and nothing else becomes of it."""
    made = _moved(node, model)
    if call_of(made, model.tree) is not None:
        return True
    uses = _uses(made, model)
    return bool(uses) and all(call_of(_moved(use, model), model.tree) is not None for use in uses)


def _is_only_computed_with(node: cst.Call, model: Model) -> bool:
    """Whether a new parameter is computed with, on the spot or by a local name, and nothing else becomes of it."""
    made = _moved(node, model)
    if _is_operand(made, model):
        return True
    uses = _uses(made, model)
    return bool(uses) and all(_is_operand(_moved(use, model), model) for use in uses)


def _is_operand(node: cst.CSTNode, model: Model) -> bool:
    match model.tree.parent(node):
        case cst.BinaryOperation():
            return True
        case cst.Arg() as arg:
            call = model.tree.parent(arg)
            return isinstance(call, cst.Call) and (model.qualified(call.func) or "").startswith("torch.nn.functional.")
    return False


def _moved(node: cst.CSTNode, model: Model) -> cst.CSTNode:
    """What methods that give the same module or a copy on another device make of an expression."""
    while True:
        parent = model.tree.parent(node)
        call = call_of(parent, model.tree) if isinstance(parent, cst.Attribute) and parent.value is node else None
        if call is None or not isinstance(parent, cst.Attribute) or MODULE_METHODS.get(parent.attr.value) != "self":
            return node
        node = call


def _uses(made: cst.CSTNode, model: Model) -> list[cst.Name]:
    """Where a local name is read that is bound to an expression and to nothing else."""
    assign = model.tree.parent(made)
    match assign:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name() as target)]):
            pass
        case _:
            return []
    names = model.references(target.value, model.scopes.scope_of(target))
    bound = [each for each in names if model.is_target(each)]
    return [each for each in names if each is not target] if len(bound) == 1 else []
