r"""A list of layers in a module is not part of the module.

`self.layers = [nn.Linear(3, 3)]` is a plain list. A module finds its children among its attributes, not in lists or
dicts: `parameters()` leaves the layers out, so no optimizer trains them, `to()` leaves them on the CPU, `eval()` in
training mode, and `state_dict()` does not save them. `nn.ModuleList` and `nn.ModuleDict` are lists and dicts that are
modules.

```diff run-differs
 import torch
 from torch import nn

 class Net(nn.Module):
     def __init__(self):
         super().__init__()
~        self.layers = [nn.Linear(3, 3) for _ in range(2)]
+        self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(2)])
~        self.heads = {"a": nn.Linear(3, 1), "b": nn.Dropout(0.5)}
+        self.heads = nn.ModuleDict({"a": nn.Linear(3, 1), "b": nn.Dropout(0.5)})
         self.acts = [nn.ReLU(), nn.Tanh()]

 count = len(list(Net().parameters()))
```

```diff
 import torch
 from torch import nn

 class Net(nn.Module):
     def __init__(self, n, teacher):
         super().__init__()
         self.blocks = []
         for _ in range(n):
!            self.blocks.append(nn.Conv2d(3, 3, 1))
         self.first = nn.Linear(3, 3)
         self.all = [self.first, self.first]
         self._teacher = [nn.Linear(3, 3)]
         self.teacher = (teacher,)
         self.kept = [nn.Linear(3, 3)]
         self.body = nn.Sequential(*self.kept)
         self.moved = {"a": nn.Linear(3, 3)}

     def move(self, device):
         for layer in self.moved.values():
             layer.to(device)

 class Plain:
     def __init__(self):
         self.layers = [nn.Linear(3, 3)]
```

What is handed out may be registered where it goes, so nothing is said of it:

```diff run-differs
 import torch
 from torch import nn

 def stack(*layers):
     return nn.Sequential(*layers)

 class Net(nn.Module):
     def __init__(self):
         super().__init__()
         self.cached = {}
         self.head = nn.Sequential(self.shared("head"), nn.Linear(3, 1))
         self.built = [nn.Linear(3, 3), nn.Linear(3, 3)]
         self.body = stack(*self.built)
         self.pair = [nn.Linear(3, 3), nn.Linear(3, 3)]
         self.first, self.second = self.pair[0], self.pair[1]
         self.ends = [nn.Linear(3, 3), nn.Linear(3, 3)]
         self.last = self.ends[-1]
         self.steps = [nn.Linear(3, 3), nn.Linear(3, 3)]
         chosen = []
         for step in self.steps:
             chosen.append(step)
         self.chain = stack(*chosen)
~        self.counted = [nn.Linear(3, 3)]
+        self.counted = nn.ModuleList([nn.Linear(3, 3)])
         self.count = len(self.counted)
~        self.called = [nn.Linear(3, 3)]
+        self.called = nn.ModuleList([nn.Linear(3, 3)])
         self.size = self.called[0].out_features

     def shared(self, name):
         if name not in self.cached:
             self.cached[name] = nn.Linear(3, 3)
         return self.cached[name]

     def forward(self, x):
         for layer in self.called:
             x = layer(x)
         first = self.counted[0]
         return first(x)

 count = len(list(Net().parameters()))
```

Lists that a method makes, that are filled place by place, or hold copies of a module, are plain lists, too:

```diff run-differs
 import copy

 import torch
 from torch import nn

 def layer(size):
     return nn.Linear(size, size)

 class Net(nn.Module):
     def __init__(self, n, base: nn.Module):
         super().__init__()
!        self.down = self.make(n)
         self.up = [None] * n
         self.by_name = {}
         for i in range(n):
!            self.up[i] = nn.Linear(3, 3)
!            self.by_name[f"a{i}"] = layer(3)
!        self.grid = [[layer(3) for _ in range(n)] for _ in range(n)]
~        self.copies = [copy.deepcopy(base) for _ in range(n)]
+        self.copies = nn.ModuleList([copy.deepcopy(base) for _ in range(n)])
         self.rows = [[] for _ in range(n)]
!        self.rows[0].append(layer(3))
         self.ends = nn.ModuleList()
         self.both = [self.ends, self.ends]
         self.both[0].append(layer(3))
         self.targets = [copy.deepcopy(each) for each in self.down]
         self.body = nn.Sequential(*self.make(n))

     def make(self, n):
         layers = []
         for _ in range(n):
             layers.append(nn.Linear(3, 3))
             layers.append(nn.ReLU())
         return layers

 count = len(list(Net(2, nn.Linear(2, 2)).parameters()))
```

A container of torch's cannot take everything that a list can, and has neither all methods of a list nor of a dict:

```diff run-differs
 import torch
 from torch import nn
 from torch.nn import functional as F

 class Net(nn.Module):
     def __init__(self):
         super().__init__()
!        self.steps = [nn.Linear(3, 3), F.relu, nn.Linear(3, 3)]
!        self.heads = {"type": nn.Linear(3, 1), "keys": nn.Linear(3, 1)}
!        self.tasks = {"a": nn.Linear(3, 1)}
!        self.order = [nn.Linear(3, 3), nn.Linear(3, 3)]
         self.order.reverse()
!        self.rest = [nn.Linear(3, 3)]
         self.rest.append(F.relu)
!        self.stack = [nn.Linear(3, 3), nn.Linear(3, 3)]
         self.stack.pop()
!        self.taken = [nn.Linear(3, 3), nn.Linear(3, 3)]
         self.taken.__setitem__(slice(0, 1), [nn.Linear(3, 3)])
~        self.queue = [nn.Linear(3, 3), nn.Linear(3, 3)]
+        self.queue = nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3)])
         self.queue.pop(0)
~        self.layers = [nn.Linear(3, 3)] + [nn.Linear(3, 3) for _ in range(2)]
+        self.layers = nn.ModuleList([nn.Linear(3, 3)] + [nn.Linear(3, 3) for _ in range(2)])
!        self.same = [nn.Linear(3, 3), nn.Linear(3, 3)]
         self.ends = []
~        self.ends = [nn.Linear(3, 3), None]
+        self.ends = nn.ModuleList([nn.Linear(3, 3), None])

     def forward(self, x):
         head = self.tasks.get("a")
         self.same = [layer for layer in self.same]
         for layer in self.layers[1:]:
             x = layer(x)
         return x if head is None else head(x)

 count = len(list(Net().parameters()))
```

Nor can it be made before the module is, nor may an optimizer get its parameters twice:

```diff run
 import itertools

 import torch
 from torch import nn

 class Net(nn.Module):
     def __init__(self):
!        self.early = [nn.Linear(3, 3)]
         super().__init__()
         self.body = nn.Linear(3, 3)
!        self.layers = [nn.Linear(3, 3)]
!        self.heads = {"a": nn.Linear(3, 3)}
!        self.more = [nn.Linear(3, 3)]

 net = Net()
 params = list(net.parameters())
 for _, layer in enumerate(net.layers):
     params += list(layer.parameters())
 heads = [p for head in net.heads.values() for p in head.parameters()]
 optimizer = torch.optim.SGD(itertools.chain(params, heads, net.more[0].parameters()), lr=0.1)
 count = len(optimizer.param_groups[0]["params"])
```

## When the fix is unsafe

Always: the module has more parameters then, another state dict, and is trained as it was meant. Where layers are added
one by one there is no fix: begin with `nn.ModuleList()`. Nor where this file or another one does with the attribute
what `nn.ModuleList` cannot (`.remove(…)`), or collects the parameters of what is in it for an optimizer.

`nn.ModuleList`: <https://docs.pytorch.org/docs/stable/generated/torch.nn.ModuleList.html>.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.model import Kind, Model
from torchlint.model.made_modules import makes_state
from torchlint.model.syntax import last_name
from torchlint.rule import Finding, Group, Severity, all_of, any_of, on, pattern
from torchlint.rules.shared import registering, unregistered
from torchlint.rules.shared.handed_out import is_handed_out
from torchlint.rules.shared.made_of import made

GROUP = Group.CORRECTNESS
SEVERITY = Severity.ERROR

_SAID = "layers in a plain container are not part of the module: nothing trains, moves or saves them"


_ASSIGNED = any_of(
    pattern(r"\bself \. \w+ (?::[^=\n]{1,200})?= [\[{]\s*[^\]}\s]"),
    pattern(r"\bself \. \w+ (?::[^=\n]{1,200})?=[\s\\]*(?:\w+ \. )*\w* \("),
    pattern(r"\bappend \( (?:\w+ \. )*\w+ \("),
    pattern(r"\] = (?:\w+ \. )*\w+ \("),
)
_ADDED = any_of(
    pattern(r"\bappend \( (?:\w+ \. )*\w+ \("),
    pattern(r"\binsert \("),
    pattern(r"\bself \. \w+ \. (?:extend|update) \( [\[({]"),
    pattern(r"\bself \. \w+ \+= [\[({]"),
    all_of(pattern(r"\bself \. \w+ \. append \( \w+ \)"), pattern(r"\b\w+ = (?:\w+ \. )*_*[A-Z]\w* \(")),
)


@on(cst.Assign, cst.AnnAssign, trigger=_ASSIGNED)
def check_assignment(node: cst.Assign | cst.AnnAssign, model: Model) -> Iterator[Finding]:
    """Report a display with layers in an attribute of a module."""
    for kept in unregistered.assigned(node, _has_state, model):
        if not _is_handed_out(kept, model):
            yield Finding(kept.value, _SAID, registering.wrapped(kept, "Module", model))


@on(cst.Call, cst.AugAssign, trigger=_ADDED)
def check_append(node: cst.Call | cst.AugAssign, model: Model) -> Finding | None:
    """Report a layer that is added to a plain list of a module."""
    kept = unregistered.appended(node, _has_state, model)
    return Finding(node, _SAID) if kept is not None and not _is_handed_out(kept, model) else None


def _is_handed_out(kept: unregistered.KeptPlain, model: Model) -> bool:
    """Whether other code gets what is kept, and may register it there."""
    cls = model.tree.enclosing(kept.value, cst.ClassDef)
    return isinstance(cls, cst.ClassDef) and model.remember(is_handed_out, cls, last_name(kept.attribute))


def _has_state(node: cst.BaseExpression, model: Model) -> bool:
    return isinstance(node, cst.Call) and (model.ask(makes_state, node) or _is_copied_often(node, model))


def _is_copied_often(node: cst.Call, model: Model) -> bool:
    """Whether a module is copied for each round of a comprehension, whatever that counts: `[deepcopy(layer) for …]`."""
    match model.tree.parent(node):
        case cst.ListComp(elt=element, for_in=cst.CompFor(target=cst.Name(value=counter))) if element is node:
            pass
        case _:
            return False
    if last_name(node.func) != "deepcopy" or len(node.args) != 1:
        return False
    copied = node.args[0].value
    if not isinstance(copied, cst.Name) or copied.value == counter or model.value(copied).kind != Kind.MODULE:
        return False
    original = made(copied, model)
    return original is None or model.ask(makes_state, original)
