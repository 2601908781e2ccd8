r"""A tensor in an attribute stays on the CPU when the module moves.

`to()`, `cuda()` and `state_dict()` know parameters and buffers, and no other tensors. Where such a tensor meets the
input of `forward`, a module on a GPU raises. A buffer moves; with `persistent=False` it is not saved. This rule is off
by default, for it shows only where a module moves.

```diff run-differs
 import torch
 from torch import nn

 class Norm(nn.Module):
     def __init__(self):
         super().__init__()
~        self.mean = torch.tensor([0.5, 0.4, 0.3])
+        self.register_buffer("mean", torch.tensor([0.5, 0.4, 0.3]), persistent=False)
~        self.grid: torch.Tensor = torch.arange(3)
+        self.register_buffer("grid", torch.arange(3), persistent=False)

     def forward(self, x):
         return (x - self.mean) * torch.add(x, self.grid)

 y = Norm().double()(torch.zeros(2, 3, dtype=torch.double))
 moved = len(list(Norm().buffers()))
```

A scalar meets tensors on any device, and what is moved where it is used, made on a device, assigned again, or never
meets the input is left alone:

```diff
 import torch
 from torch import nn

 class Net(nn.Module):
     def __init__(self, device):
         super().__init__()
         self.scale = torch.tensor(2.0)
         self.moved = torch.ones(3)
         self.placed = torch.ones(3, device=device)
         self.again = torch.ones(3)
         self.only_shape = torch.ones(3)

     def forward(self, x):
         self.again = self.again.to(x.device)
         return (x * self.scale + self.moved.to(x) + self.placed + self.again).view(self.only_shape.shape)
```

A buffer refuses a name that the class has, and to become a number:

```diff run
 import torch
 from torch import nn

 class Scaled(nn.Module):
     scale = None

     def __init__(self):
         super().__init__()
!        self.scale = torch.ones(3)
!        self.shift = torch.ones(3)

     def forward(self, x):
         return (x * self.scale) * (x - self.shift)

 class Plain(Scaled):
     def __init__(self):
         super().__init__()
         self.shift = 0.0

 y = Plain()(torch.ones(3))
```

## When the fix is unsafe

Always: the tensor takes part in `to()`, so its dtype and device may change. There is none where the class or a base has
something of that name already, or a subclass or another file sets it.

`register_buffer`:
<https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_buffer>.
"""

from __future__ import annotations

import libcst as cst

from torchlint import edit
from torchlint.model import Kind, Model, Strength
from torchlint.model.overriding import is_bound_by_class, is_set_by_others
from torchlint.model.possibilities import Ndim, Tri
from torchlint.model.syntax import dotted, keyword, parameters, without_subscripts
from torchlint.model.torch import library
from torchlint.rule import Applicability, Edit, Finding, Fix, Group, Severity, all_of, on, pattern, word

BY_DEFAULT = False
GROUP = Group.CORRECTNESS
SEVERITY = Severity.ERROR

_MOVING = ("_apply", "to", "cuda", "__setattr__")
"""Methods by which a class moves what it keeps itself, or keeps it otherwise."""
_MOVED = frozenset(("to", "cuda", "type_as", "requires_grad_", "expand_as", "view_as", "reshape_as"))
"""Methods that move a tensor, or look at nothing but the shape or the dtype of what they are given."""


@on(cst.Assign, cst.AnnAssign, trigger=all_of(word("forward"), pattern(r"\. \w+ (?::[^=\n]{1,200})?= \w")))
def check(node: cst.Assign | cst.AnnAssign, model: Model) -> Finding | None:
    """Report tensors of a module that meet its input and do not move with it."""
    match node:
        case cst.Assign(targets=[cst.AssignTarget(target=place)], value=cst.Call() as value):
            pass
        case cst.AnnAssign(target=place, value=cst.Call() as value):
            pass
        case _:
            return None
    match place:
        case cst.Attribute(value=cst.Name("self"), attr=cst.Name(value=name)) as target:
            pass
        case _:
            return None
    method = model.tree.enclosing(node, cst.FunctionDef)
    if not isinstance(method, cst.FunctionDef) or method.name.value != "__init__" or _is_placed(value, model):
        return None
    cls = model.class_of(method)
    if cls is None or model.class_kind(cls) != "module" or not _is_plain_tensor(value, model):
        return None
    if len(model.scopes.attribute(cls, name).assigned) != 1 or model.remember(_is_set_outside, name):
        return None
    if any(model.find_method(cls, each) is not None for each in _MOVING):
        return None
    if name not in model.remember(_meeting_input, cls):
        return None
    said = "this tensor stays on the CPU when the module moves to another device; register it as a buffer"
    return Finding(target, said, _fix(target, value, name, model))


def _is_plain_tensor(value: cst.BaseExpression, model: Model) -> bool:
    """Whether it is a tensor with dimensions that nothing learns."""
    found = model.value(value)
    if found.kind != Kind.TENSOR or (found.strength or Strength.NAME) < Strength.SIGNATURE or found.is_parameter:
        return False
    return not found.ndim & Ndim.ZERO and not found.grad & Tri.YES


def _is_placed(value: cst.BaseExpression, model: Model) -> bool:
    """Whether a device is given where a tensor is made."""
    for call in model.tree.within(value, cst.Call):
        if keyword(call.args, "device") is not None or keyword(call.args, "requires_grad") is not None:
            return True
        if isinstance(call.func, cst.Attribute) and call.func.attr.value in _MOVED:
            return True
    return False


def _is_set_outside(model: Model, name: str) -> bool:
    """Whether an attribute of that name is assigned on anything but `self`."""
    return any(model.is_target(each) and dotted(each.value) != "self" for each in model.tree.attributes(name))


def _meeting_input(model: Model, cls: cst.ClassDef) -> frozenset[str]:
    """The attributes that meet an argument of `forward` in an operator, a function of torch or a tensor's method."""
    forward = model.find_method(cls, "forward")
    if forward is None or model.home(forward).tree is not model.tree:
        return frozenset()
    given = {each.name.value for each in parameters(forward)[1:]}
    found: set[str] = set()
    for operation in model.tree.within(forward.body, cst.BinaryOperation):
        found.update(_met((operation.left, operation.right), given))
    for call in model.tree.within(forward.body, cst.Call):
        if len(call.args) > 20:
            continue
        args = [arg.value for arg in call.args]
        if isinstance(call.func, cst.Attribute) and call.func.attr.value in library.tensor_names() - _MOVED:
            args.append(call.func.value)
        elif not (model.qualified(call.func) or "").startswith("torch."):
            continue
        found.update(_met(args, given))
    return frozenset(found)


def _met(operands: list[cst.BaseExpression] | tuple[cst.BaseExpression, ...], given: set[str]) -> set[str]:
    """The attributes of `self` among some operands, if an argument is among them as well."""
    plain = [without_subscripts(each) for each in operands]
    if not any(isinstance(each, cst.Name) and each.value in given for each in plain):
        return set()
    return {
        each.attr.value
        for each in plain
        if isinstance(each, cst.Attribute) and isinstance(each.value, cst.Name) and each.value.value == "self"
    }


def _fix(target: cst.Attribute, value: cst.Call, name: str, model: Model) -> Fix | None:
    cls = model.tree.enclosing(target, cst.ClassDef)
    if not isinstance(cls, cst.ClassDef) or model.ask(is_bound_by_class, cls, name):
        return None  # a buffer refuses a name that is taken
    if model.ask(is_set_by_others, cls, name):
        return None  # and to be anything but a tensor
    if not isinstance(model.tree.statement(target), cst.SimpleStatementLine) or value.lpar:
        return None
    edits: tuple[Edit, ...] = (
        edit.replace_between(target.value, value, f'.register_buffer("{name}", '),
        edit.insert_after(value, ", persistent=False)"),
    )
    return Fix(
        "Register a buffer", edits, Applicability.UNSAFE, risk="it follows the module to other devices and dtypes now"
    )
