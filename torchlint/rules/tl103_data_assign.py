r"""Assigning to `.data` replaces a tensor's storage, and autograd does not notice.

`p.data = v` makes `p` share memory with `v`, whatever its shape, dtype or device, and nothing that was recorded with
the old memory is told. To set values: `with torch.no_grad(): p.copy_(v)`. To set another tensor: a new `nn.Parameter`.
To load weights: `load_state_dict`.

```diff
 import torch
 from torch import nn

 net = nn.Linear(3, 2)
!net.weight.data = torch.zeros(3, 2).t()
!net.bias.data = net.bias.data.half()
!net.weight.data = torch.zeros(3, 2)
!net.weight.data = torch.zeros(*net.bias.shape, 2)
!net.bias.data = torch.zeros_like(net.bias, dtype=torch.half)
 with torch.no_grad():
     net.weight.copy_(torch.zeros(2, 3))
```

What a function of `nn.init` gives back is what it was given, as is what a method with an underscore gives back, so to
assign that does nothing (the other `.data` go with TL101 and TL102):

```diff run
 import torch
 from torch import nn


 class Net(nn.Module):
     def __init__(self):
         super().__init__()
         self.fc = nn.Linear(3, 2)
-        self.fc.weight.data = nn.init.constant_(self.fc.weight.data, 0.5)
+        nn.init.constant_(self.fc.weight.data, 0.5)
-        self.fc.bias.data = self.fc.bias.data.clamp_(-1, 1)
+        self.fc.bias.data.clamp_(-1, 1)


 net = Net()
 net.fc(torch.ones(1, 3)).sum().backward()
```

## When the fix is unsafe

Elsewhere always: the parameter keeps its shape, dtype, device and memory, and what shares the memory sees the new
values. An update of what was there, and values made on the spot in its size, are written into the parameter:

```diff run
 import torch
 from torch import nn

 net, target = nn.Linear(3, 2), nn.Linear(3, 2)
~for p, q in zip(net.parameters(), target.parameters()):
~    p.data = p.data - 0.1
~    p.data = torch.clamp(p.data, -1, 1)
~    q.data = 0.9 * q.detach() + 0.1 * p.detach()
+with torch.no_grad():
+    for p, q in zip(net.parameters(), target.parameters()):
+        p.sub_(0.1)
+        p.clamp_(-1, 1)
+        q.lerp_(p, 0.1)
~net.weight.data = torch.zeros(net.weight.shape)
+    net.weight.zero_()
 net(torch.ones(1, 3)).sum().backward()
 for p in net.parameters():
~    p.grad.data = p.grad / 2
+    p.grad = p.grad / 2
```

In an initialiser, what is all zeros or ones is written by `nn.init`; and a gradient is assigned itself:

```diff run
 import torch
 from torch import nn


 def init_weights(m):
     if isinstance(m, nn.Linear):
~        m.weight.data = torch.ones(m.weight.size())
~        m.bias.data = torch.zeros_like(m.bias)
+        nn.init.ones_(m.weight)
+        nn.init.zeros_(m.bias)


 net = nn.Linear(3, 2)
 net.apply(init_weights)
 net(torch.ones(1, 3)).sum().backward()
 grown = net.weight.detach().abs().mean() * torch.ones(2, 3)
~net.weight.grad.data = grown.mul(2)
+net.weight.grad = grown.mul(2)
```

So is what a function of the project makes in the size of the tensor that it is given, if that is seen:

```diff run
 import torch
 from torch import nn


 def normalized(weights, std=1.0):
     out = torch.randn(weights.size())
     out *= std / torch.sqrt(out.pow(2).sum(1, keepdim=True))
     return out


 torch.manual_seed(0)
 net = nn.Linear(3, 2)
~net.weight.data = normalized(net.weight, 0.01)
+with torch.no_grad():
+    net.weight.copy_(normalized(net.weight, 0.01))
 net(torch.ones(1, 3)).sum().backward()
```

What the file keeps of the old memory has to keep the old values, and what is part of another tensor
(`x = img.detach()`) must not change that: there is no fix then.

```diff
 import torch
 from torch import nn

 net, before = nn.Linear(3, 2), {}
 for n, p in net.named_parameters():
     before[n] = p.data
!    p.data = p.data + 0.1
 for n, p in net.named_parameters():
!    p.data = before[n]
```

An average of two parameters (`0.9 * q + 0.1 * p`) is `lerp_`, which gives the same up to rounding.

What is the memory of another tensor (`p.data = q.data`), or may have another shape or dtype (`.half()`, `.t()`,
`[rows]`, `torch.zeros(3, 2)`), is left to the author: `copy_`, `load_state_dict`, or a new `nn.Parameter`. `copy_`
takes over values only, so another dtype or device is for `.to(…)` of the module, and another shape for a new
`nn.Parameter`; the message says which.

Discussion in PyTorch: <https://github.com/pytorch/pytorch/issues/30987>.
"""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from torchlint import edit
from torchlint.model import Dtype, Evidence, Model, Tri, Value
from torchlint.model.codebase.exports import patcher
from torchlint.model.replaced import is_replaced
from torchlint.model.syntax import assignment_of
from torchlint.rule import Applicability, Edit, Finding, Fix, Group, attribute, on
from torchlint.rules.shared import (
    data_sites,
    forms,
    gradients,
    initialised,
    into_block,
    kept_memory,
    memory,
    optimizer_steps,
    several_views,
    soft_updates,
)

_UNSAFE = Applicability.UNSAFE
_IN_PLACE = forms.ELEMENTWISE - {"clone", "detach"}
"""What there is with an underscore, too."""
_CONVERTING = frozenset(("to", "type", "type_as", "half", "bfloat16", "float", "double", "cuda", "cpu"))
_RESHAPING = frozenset(
    ("t", "transpose", "permute", "view", "reshape", "flatten", "squeeze", "unsqueeze", "expand", "repeat")
)
_JOINING = frozenset(("cat", "concat", "concatenate", "stack", "hstack", "vstack"))

GROUP = Group.MIGRATION


@on(cst.Attribute, trigger=attribute("data"))
def check(node: cst.Attribute, model: Model) -> Finding | None:
    """Report `.data` as the target of an assignment."""
    found = data_sites.at(node, data_sites.Site.ASSIGN, model)
    if found is None:
        return None
    value, evidence = found
    fix = _fix(node, value, evidence, model)
    is_gradient = gradients.is_gradient(value, node.value, model)
    assign = assignment_of(node, model.tree)
    advice = "assign to `.grad` itself" if is_gradient else _advice(node, assign, model)
    message = f"autograd does not notice this assignment to `.data`; {advice}"
    half = data_sites.half_of(node, model)
    return Finding(node.attr, message, fix, evidence=evidence, receiver=node.value, half_of=half)


def _advice(node: cst.Attribute, assign: cst.Assign | None, model: Model) -> str:
    """What to write instead: `copy_` takes values over; the shape, dtype and device stay what they are."""
    match assign.value if assign is not None else None:
        case cst.Call(func=cst.Attribute(value=source, attr=cst.Name(value=name))) if name in _CONVERTING:
            if _is_of(source, model.tree.code(node.value), model):
                return "convert the module or tensor with `.to(…)`"
            return "use `with torch.no_grad(): ….copy_(…)`, or a new `nn.Parameter` for another dtype or device"
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=name))) if name in _RESHAPING | _JOINING:
            return "assign a new tensor or `nn.Parameter`"
        case cst.Attribute(attr=cst.Name("T" | "mT" | "H" | "mH")):
            return "assign a new tensor or `nn.Parameter`"
    if kept_memory.gives_exchanged(node, model):
        return "keep it only to exchange memory"
    if kept_memory.is_put_back_later(node, model):
        return "keep a clone of the old values, and use `copy_`"
    return "use `with torch.no_grad(): ….copy_(…)`"


def _is_of(source: cst.BaseExpression, owner: str, model: Model) -> bool:
    """Whether methods and attributes of the owner give something: ``w.data.clone()`` of ``w``."""
    while model.tree.code(source) != owner:
        match source:
            case cst.Call(func=cst.Attribute(value=inner)) | cst.Attribute(value=inner):
                source = inner
            case _:
                return False
    return True


def _fix(node: cst.Attribute, value: Value, evidence: Evidence, model: Model) -> Fix | None:
    """Write the values into the tensor, where they have its shape and dtype, and no other tensor has their memory."""
    target = model.tree.parent(node)
    assign = assignment_of(node, model.tree)
    if not isinstance(target, cst.AssignTarget) or assign is None or len(assign.targets) > 1 or node.lpar:
        return None
    written = assign.value
    if initialised.is_by_assignment(node, assign, model):
        safe = Applicability.UNSAFE if data_sites.is_doubtful(value, evidence, model) else Applicability.SAFE
        drop = (edit.replace_before(assign, written),)
        return Fix("Remove the assignment: the call writes to the tensor itself", drop, safe)
    if isinstance(written, (cst.Tuple, cst.Yield, cst.NamedExpr)) or edit.breaks_line(model.tree.code(written)):
        return None
    if value.is_tensor and not value.dtype & Dtype.FLOAT:  # `x / 2` and `x * 0.5` have another dtype
        return None
    if value.leaf == Tri.NO or (value.is_parameter and data_sites.is_in_forward(node, model)):
        return None
    is_same = not _is_alias(written, model) and forms.form(written, node.value, model) is forms.WrittenForm.SAME
    if gradients.is_gradient(value, node.value, model):
        if not is_same and not _is_computed_without_graph(written, model):
            return None
        drop = (edit.replace_after(node.value, node),)
        risk = "what holds the old gradient keeps the old values"
        risk += "" if is_same else "; one of another shape or dtype raises"
        return Fix("Assign to `.grad` itself", drop, _UNSAFE, risk=risk)
    if not is_same:
        return None
    if not data_sites.is_kept(node, value) and not _mentions(written, node.value, model):
        return None
    if several_views.raises_later(node.value, model):
        return None
    is_free = data_sites.is_kept(node, value) or not kept_memory.may_be_anothers(node, model)
    if not is_free or kept_memory.is_kept(node, model):
        return None
    moves = soft_updates.lerped(node, assign, model)
    if moves is not None:
        return soft_updates.fix(assign, moves, model)
    filled = _filled(written)
    if filled is not None and data_sites.initialises(node, value, model):
        init = _init(node, assign, f"{filled}_", model)
        if init is not None:
            return init
    method, edits = _update(node, written, model)
    if filled is not None:
        method, number = _FILLING[filled]
        edits = (edit.replace_after(node.value, assign, f".{method}({number})"),)
    said = f"Write the values with `.{method}(…)`"
    is_off = model.grad_enabled(node) == Tri.NO
    risk = "the tensor keeps its memory, dtype and device: what shares the memory changes, and an expanded one raises"
    if is_off:
        return Fix(said, edits, _UNSAFE, risk=risk)
    moved = into_block.moved(assign, said, edits, _UNSAFE, model)
    if moved is None:
        return None
    return optimizer_steps.decorated(moved, assign, model) or replace(moved, risk=risk)


_FILLING = {"zeros": ("zero_", ""), "ones": ("fill_", "1")}
"""The methods that write what the factories make, which are those of `nn.init` with an underscore, too."""


def _filled(written: cst.BaseExpression) -> str | None:
    """``ones`` of ``torch.ones(p.size())`` and ``torch.ones_like(p)``; it has been seen that those have the form."""
    match written:
        case cst.Call(func=cst.Attribute(value=cst.Name("torch"), attr=cst.Name(value=name)), args=[_, *more], lpar=[]):
            factory = name.removesuffix("_like")
            is_all = all(arg.keyword is not None and arg.keyword.value == "dtype" for arg in more)
            return factory if factory in _FILLING and is_all else None
    return None


def _init(node: cst.Attribute, assign: cst.Assign, function: str, model: Model) -> Fix | None:
    """``nn.init.ones_(p)`` for ``p.data = torch.ones(p.size())``."""
    if model.ask(is_replaced, function) or model.ask(patcher, f"torch.nn.init.{function}"):
        return None
    name, missing = model.spelling(f"torch.nn.init.{function}", node)
    if not name:
        return None
    begun = edit.replace_before(assign, node.value, f"{name}(")
    edits = (begun, edit.replace_after(node.value, assign, ")"))
    risk = "the tensor keeps its memory, dtype and device: what shares the memory changes"
    return Fix(f"Use `nn.init.{function}`", edits, _UNSAFE, imports=("torch",) if missing else (), risk=risk)


def _update(node: cst.Attribute, written: cst.BaseExpression, model: Model) -> tuple[str, tuple[Edit, ...]]:
    """The method that writes values, and the edits that make a call of it: ``w.sub_(c)`` of ``w.data = w.data - c``."""
    source = node.value
    match written:
        case cst.BinaryOperation(left=left, operator=operator, right=right, lpar=[]) if forms.is_same(
            left, source, model
        ):
            if type(operator) in forms.METHODS and not _mentions(right, source, model) and not right.lpar:
                method = forms.METHODS[type(operator)]
                return method, (edit.replace_between(source, right, f".{method}("), edit.insert_after(right, ")"))
        case cst.Call(func=cst.Attribute(value=inner, attr=name), args=args, lpar=[]) if forms.is_same(
            inner, source, model
        ):
            if name.value in _IN_PLACE and not any(_mentions(arg.value, source, model) for arg in args):
                method = f"{name.value}_"
                return method, (edit.replace_between(source, name, "."), edit.replace(name, method))
        case cst.Call(args=[cst.Arg(value=first, keyword=None, star=""), *rest], lpar=[]) as call if forms.is_same(
            first, source, model
        ):
            function = (model.qualified(call.func) or "").removeprefix("torch.")
            if function in _IN_PLACE and not any(_is_elsewhere(arg) or _mentions(arg, source, model) for arg in rest):
                begun = edit.replace_between(source, rest[0] if rest else first, f".{function}_(")
                return f"{function}_", (begun,) if rest else (begun, edit.delete(first))
        case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name("clone")), args=[], lpar=[]):
            return "copy_", (edit.replace_between(source, inner, ".copy_("), edit.replace_after(inner, written, ")"))
    return "copy_", (edit.replace_between(source, written, ".copy_("), edit.insert_after(written, ")"))


def _is_elsewhere(arg: cst.Arg) -> bool:
    """Whether the result of a function of torch may go elsewhere: to what `out=` or `**kwargs` names."""
    return bool(arg.star) or (arg.keyword is not None and arg.keyword.value == "out")


def _mentions(node: cst.CSTNode, source: cst.BaseExpression, model: Model) -> bool:
    """Whether the values of a tensor are part of an expression; its gradient is another tensor."""
    found = (each for each in model.tree.within(node, type(source)) if forms.is_same(each, source, model))
    parents = (model.tree.parent(each) for each in found)
    return any(not (isinstance(up, cst.Attribute) and up.attr.value == "grad") for up in parents)


def _is_computed_without_graph(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression computes a tensor that has no graph: ``m.mul(n)``."""
    value = model.value(node)
    return memory.is_new(node, model) and value.is_tensor and value.grad == Tri.NO and bool(value.dtype & Dtype.FLOAT)


def _is_alias(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression gives memory that something else holds."""
    match node:
        case cst.Name() | cst.Attribute() | cst.Subscript():
            return True
        case cst.Call(func=cst.Attribute(attr=cst.Name("detach"))):
            return True
    return False
