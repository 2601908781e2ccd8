r"""`require_grad` is not `requires_grad`.

Assigning to an attribute that does not exist makes one, and nothing else: the layer that was to be frozen goes on
learning. A tensor and a module say nothing about it. The same goes for `requires_grads`, `required_grad` and other
spellings, and for `requires_grad_`, which is a method: what is assigned takes its place.

```diff
 import torch
 from torch import nn

 w = torch.zeros(3)
~w.require_grad = True
+w.requires_grad = True
 w.requires_grad = False

 net = nn.Linear(2, 2)
~net.weight.require_grad = False
+net.weight.requires_grad = False
!net.require_grad = False
 for p in net.parameters():
~    p.require_grad = False
+    p.requires_grad = False
~    p.requires_grads = False
+    p.requires_grad = False
~    p.requires_gradient = False
+    p.requires_grad = False
~    p.requires_grad_ = False
+    p.requires_grad = False
     p.requires_grad_(False)
!net.requires_grad_ = False
!net.required_grad = False

 class Options:
     def __init__(self, require_grad):
         self.require_grad = require_grad

 options = Options(True)
 options.require_grad = False
```

## When the fix is unsafe

Always: what was written had no effect, and the fix has one. An attribute of a whole module has no fix: what is meant is
`net.requires_grad_(False)`. Nor has that of integers, which cannot require grad. Where the receiver is not known to be
a tensor or a module, the attribute may be its own.

`requires_grad`: <https://docs.pytorch.org/docs/stable/generated/torch.Tensor.requires_grad.html>.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint import edit
from torchlint.model import Dtype, Kind, Model
from torchlint.rule import Finding, Fix, Group, Severity, on, pattern

GROUP = Group.CORRECTNESS
SEVERITY = Severity.ERROR

_WRONG = frozenset(
    """
    require_grad require_grads requires_grads required_grad required_grads require_gradient requires_gradient
    require_gradients requires_gradients requires_grade requires_Grad requires_gard requires_grd require_grad_
    require_grads_ requires_grad_ reqires_grad reqiures_grad requries_grad require_gard
    """.split()  # noqa: SIM905
)
"""What is assigned to in published code where `requires_grad` is meant."""
_RIGHT = "requires_grad"


@on(
    cst.Attribute,
    trigger=pattern(
        r"\b(?:required_grad|required_grads|require_grad|require_grad_|require_grads|require_grads_|requires_grads"
        r"|requires_grad_|require_gradient|require_gradients|requires_gradient|requires_gradients|requires_grade"
        r"|requires_Grad|requires_gard|requires_grd|reqires_grad|reqiures_grad|requries_grad|require_gard)\b(?! \()"
    ),
)
def check(node: cst.Attribute, model: Model) -> Iterator[Finding]:
    """Report that a misspelled attribute is assigned to."""
    name = node.attr.value
    if name not in _WRONG or not model.is_target(node):
        return
    value = model.value(node.value)
    if value.kind == Kind.MODULE and isinstance(node.value, cst.Name) and node.value.value == "self":
        return  # a module may have a setting of that name
    is_method = name == f"{_RIGHT}_"
    said = f"this replaces the method `{name}`" if is_method else f"torch knows no attribute `{name}`"
    said += " and sets no flag" if is_method else ", so this does nothing"
    if value.kind == Kind.MODULE:
        yield Finding(node.attr, f"{said}; use `.{_RIGHT}_(…)`")
    elif model.is_tensor(node.value):
        fix = Fix(f"Use `.{_RIGHT}`", (edit.replace(node.attr, _RIGHT),)).doubted(
            "the flag counts now, and did nothing so far"
        )
        if value.dtype and not value.dtype & Dtype.FLOAT:
            yield Finding(node.attr, f"{said}; only floating point tensors can require grad")
        else:
            yield Finding(node.attr, f"{said}; use `{_RIGHT}`", fix, receiver=node.value)
