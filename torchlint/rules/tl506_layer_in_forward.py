r"""A layer that is made in `forward` has new random weights each time, and nothing trains them.

No optimizer has its parameters, no state dict saves them, and `to()` does not move them. The module computes something
else in each call.

```diff run
 import torch
 from torch import nn

 def make(size):
     return nn.Linear(size, size)

 class Net(nn.Module):
     def forward(self, x):
!        x = nn.Linear(2, 2)(x)
!        norm = nn.BatchNorm1d(2)
!        first = nn.Linear(2, 2)
         if x.is_cuda:
             first = first.cuda()
!        rest = [nn.Linear(2, 2) for _ in range(2)]
         for layer in rest:
             x = layer(x)
         last = []
!        last.append(make(2))
         x = nn.Sequential(*last)(first(x))
         return self.shift(norm(x))

     def shift(self, x):
         x = x * nn.Parameter(torch.ones(2), requires_grad=False)
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
         kept = [nn.Linear(2, 2)]
         self.all = nn.Sequential(*kept)
         for layer in kept:
             x = layer(x)
         return blur(nn.Softmax(dim=1)(self.all(x))[:, None])

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
from torchlint.model.syntax import keyword, last_name, positional
from torchlint.rule import Finding, Group, Severity, all_of, any_of, on, pattern, word
from torchlint.rules.shared.own_calls import called_by
from torchlint.rules.shared.short_lived import is_only_called, moved

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
            pattern(r"(?m)(?:^|[;:])[\t\x20]*\w+ = [\[(]*\s*(?:\w+ \. )*\w+ \("),
            pattern(r"\b(?:append|insert|extend) \( [\[(]*\s*(?:\w+ \. )*\w+ \("),
            pattern(r"[-+*/@%(,] (?:\w+ \. )*Parameter \("),
            pattern(r"\breturn (?:\w+ \. )*Parameter \("),
        ),
    ),
)
def check(node: cst.Call, model: Model) -> Finding | None:
    """Report layers and parameters that are made in `forward` and not kept."""
    if last_name(node.func) == "Parameter":
        if _is_constant(node) or not _is_made_by_forward(node, model) or not model.value(node).is_parameter:
            return None
        said = "this parameter is made in each call, so nothing trains it; make it in `__init__`"
        return Finding(node.func, said) if _is_only_computed_with(node, model) else None
    if not _may_be_class(node, model) or not is_only_called(node, model) or not _is_made_by_forward(node, model):
        return None
    if _is_decorated(node, model) or _is_in_another(node, model):
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


def _may_be_class(node: cst.Call, model: Model) -> bool:
    """Whether a class that may make a layer is called, or a function by its name, which may do it."""
    if _CLASS.match(last_name(node.func)) is None and not isinstance(node.func, cst.Name):
        return False
    return model.ask(may_make_parameters, node)


def _is_decorated(node: cst.Call, model: Model) -> bool:
    """Whether a function is called that may give what it has given before."""
    function = model.value(node.func).node
    return isinstance(function, cst.FunctionDef) and bool(function.decorators)


def _is_in_another(node: cst.Call, model: Model) -> bool:
    """Whether a layer is made for another one on the spot, which is reported as a whole."""
    call = model.tree.parent(arg) if isinstance(arg := model.tree.parent(node), cst.Arg) else None
    return isinstance(call, cst.Call) and model.ask(makes_parameters, call)


def _is_only_computed_with(node: cst.Call, model: Model) -> bool:
    """Whether a new parameter is computed with, on the spot or by a local name, and nothing else becomes of it."""
    made = moved(node, model)
    if _is_operand(made, model):
        return True
    uses = _uses(made, model)
    return bool(uses) and all(_is_operand(moved(use, model), model) for use in uses)


def _is_constant(node: cst.Call) -> bool:
    """Whether a parameter is said to be none that learns."""
    given = keyword(node.args, "requires_grad") or positional(node.args, 1)
    return given is not None and isinstance(given.value, cst.Name) and given.value.value == "False"


def _is_operand(node: cst.CSTNode, model: Model) -> bool:
    match model.tree.parent(node):
        case cst.BinaryOperation():
            return True
        case cst.Arg() as arg:
            call = model.tree.parent(arg)
            return isinstance(call, cst.Call) and (model.qualified(call.func) or "").startswith("torch.nn.functional.")
    return False


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
