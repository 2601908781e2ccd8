r"""An in-place operation on a leaf that requires grad raises, outside of `torch.no_grad()`.

`net.weight += 1` is to change a parameter, and autograd refuses: *a leaf Variable that requires grad is being used in
an in-place operation*. It would have to differentiate by a value that is gone. A view of the leaf is refused as well.
Under `torch.no_grad()` nothing is recorded, and the parameter is simply written.

```diff run-after
 import torch
 from torch import nn

 net = nn.Linear(3, 6)
-net.weight.copy_(torch.eye(6, 3))
-net.bias += 1
-net.weight[:, 0] -= 1
+with torch.no_grad():
+    net.weight.copy_(torch.eye(6, 3))
+    net.bias += 1
+    net.weight[:, 0] -= 1
 b = net.bias.view(3, -1)
-b[:, 0] += 2
+with torch.no_grad():
+    b[:, 0] += 2
 net.weight.sum().backward()
-for p in net.parameters():
-    if p.grad is not None:
-        p -= 0.1 * p.grad
-        p.grad.zero_()
+with torch.no_grad():
+    for p in net.parameters():
+        if p.grad is not None:
+            p -= 0.1 * p.grad
+            p.grad.zero_()
```

```diff run-after
 import torch

 w = torch.zeros(3, requires_grad=True)
-w[0] = 5.0
+with torch.no_grad():
+    w[0] = 5.0
 y = w * 2
 y[0] = 1.0
 y += 1
 y.sum().backward()
```

Where autograd does not record, on what does not require grad, and on results of other operations there is nothing to
say. Neither is there where it is not shown that autograd records:

```diff
 import torch
 from torch import nn

 net = nn.Linear(3, 6)
 with torch.no_grad():
     net.weight.copy_(torch.eye(6, 3))
     net.bias += 1
 nn.init.zeros_(net.bias)
 net.weight.grad = None
 net.bias.requires_grad_(False)
 net.bias += 1

 def soft_update(target: nn.Linear, tau):
     target.weight.mul_(tau)

 class Net(nn.Module):
     def __init__(self):
         super().__init__()
         self.scale = nn.Parameter(torch.ones(3))
         self.register_buffer("mean", torch.zeros(3))
         self.mean += 1
-        self.scale.mul_(0.1)
+        with torch.no_grad():
+            self.scale.mul_(0.1)

     @torch.no_grad()
     def clip(self):
         self.scale.clamp_(0, 1)
```

What may be a copy is no view: it can be written, and the graph goes through what is written.

```diff run
 import torch
 from torch import nn

 net = nn.Linear(3, 3)
 w = net.weight.t().contiguous()
 w *= torch.tensor([2.0, 0.0, 1.0])
 flat = net.weight.t().reshape(-1)
 flat[0] = 5.0
 exact = net.weight.double()
 exact += 1
 net.weight.to(torch.float64).mul_(2)
 (w.sum() + flat.sum() + exact.sum()).backward()
```

## When the fix is unsafe

Never: what raises is done as it is written. There is no fix where the result of the operation is used on the spot.

```diff
 import torch

 w = torch.zeros(3, requires_grad=True)
!r = w.add_(1).sum()
```

In-place operations: <https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-operations-with-autograd>.
"""

from __future__ import annotations

import re
from dataclasses import replace

import libcst as cst

from torchlint import edit
from torchlint.model import Certainty, Kind, Model, Tri, Value
from torchlint.model.freezing import is_frozen
from torchlint.model.recording import may_show_recording, shows_recording
from torchlint.model.reworked import may_be_reworked
from torchlint.model.scopes import target_names
from torchlint.model.syntax import assignment_of, integer, is_none, last_name
from torchlint.model.torch import library
from torchlint.model.torch.writers import is_writing, refuses_to_record
from torchlint.rule import Applicability, Finding, Fix, Group, Severity, all_of, any_of, on, part, pattern, word
from torchlint.rules.shared import into_block, no_grad, unrecorded
from torchlint.rules.shared.statements import is_probed

GROUP = Group.CORRECTNESS
SEVERITY = Severity.ERROR

_LEAVES = any_of(
    pattern(r"\brequires_grad \b"),
    word("requires_grad_"),
    word("Parameter"),
    word("parameters"),
    word("named_parameters"),
    part("weight"),
    part("bias"),
)
"""What a file has to hold for a leaf that requires grad to be known."""

_HARMLESS = frozenset(("detach_", "requires_grad_", "share_memory_", "retain_grad", "rename_"))
_NO_OPERANDS = (cst.BaseString, cst.List, cst.Tuple, cst.Set, cst.Dict, cst.BaseComp)
"""What nothing can be computed with in place: the target is no tensor."""
_REPLACING = re.compile(r"\b(?:set|del)attr *\(|\b_parameters\b")
"""What may put something else in the place of a parameter, by whatever name."""
_FAR = 3
"""How many assignments of views are gone back, and how many calls from `__init__`."""


@on(
    cst.Call,
    trigger=all_of(
        any_of(
            pattern(r"_\((?<=\w_\()(?<!requires_grad_\()(?<!init\.\w{4}_\()(?<!init\.\w{5}_\()(?<!init\.\w{7}_\()"),
            pattern(r"_[\s)\\]+\("),
        ),
        _LEAVES,
    ),
)
def check_call(node: cst.Call, model: Model) -> Finding | None:
    """Report in-place methods of leaves."""
    match node.func:
        case cst.Attribute(value=tensor, attr=cst.Name(value=name)) if is_writing(name) and name not in _HARMLESS:
            return _finding(tensor, node, node.func.attr, model)
    return None


@on(cst.AugAssign, trigger=all_of(pattern(r"[-+*/|&^]=(?!=)"), _LEAVES))
def check_augmented(node: cst.AugAssign, model: Model) -> Finding | None:
    """Report `net.bias += 1`, also of a part."""
    if isinstance(node.operator, cst.MatrixMultiplyAssign) or isinstance(node.value, _NO_OPERANDS):
        return None
    return _finding(node.target, node, node.target, model, is_written=True)


@on(cst.AssignTarget, trigger=all_of(pattern(r"\] ="), _LEAVES))
def check_item(node: cst.AssignTarget, model: Model) -> Finding | None:
    """Report `w[0] = 1`."""
    if not isinstance(node.target, cst.Subscript):
        return None
    return _finding(node.target, node, node.target, model, is_written=True)


def _finding(
    tensor: cst.BaseExpression, write: cst.CSTNode, at: cst.CSTNode, model: Model, *, is_written: bool = False
) -> Finding | None:
    if not _may_be_leaf(_viewed(tensor, is_written=is_written), model) or not model.ask(may_show_recording, write):
        return None
    if not _is_leaf(tensor, model, is_written=is_written) or not _records(write, model) or is_probed(write, model):
        return None
    if isinstance(write, cst.Call) and refuses_to_record(last_name(write.func)):
        fix: Fix | None = Fix("Write through `.detach()`", edit.append(tensor, ".detach()"))
        said = "this method raises for a leaf that requires grad; write through `.detach()`"
    else:
        fix = _fix(write, model)
        said = "an in-place operation on a leaf that requires grad raises; do it under `torch.no_grad()`"
    return Finding(at, said, fix, severity=Severity.ERROR, receiver=tensor)


def _is_leaf(node: cst.BaseExpression, model: Model, *, is_written: bool = False, far: int = _FAR) -> bool:
    """Whether an expression is a leaf that requires grad, or a view of one. Of what is written any part is."""
    node = _viewed(node, is_written=is_written)
    if not _may_be_leaf(node, model):
        return False
    value = model.value(node)
    if value.kind != Kind.TENSOR or value.grad != Tri.YES:
        return False
    if value.leaf == Tri.YES:
        return _is_certain(value, node, model)
    return isinstance(node, cst.Name) and far > 0 and _is_view_of_leaf(node, model, far)


def _may_be_leaf(node: cst.BaseExpression, model: Model) -> bool:
    """Whether a name or path is among those that can be a leaf or a view of one, before the model is asked."""
    return isinstance(node, (cst.Name, cst.Attribute)) and last_name(node) in model.remember(_suspects)


def _viewed(node: cst.BaseExpression, *, is_written: bool = False) -> cst.BaseExpression:
    """What an expression is a view of, or itself. Of what is written any part is.

    `w.t().contiguous()` may be a copy, which can be written where autograd records.
    """
    while True:
        match node:
            case cst.Subscript(value=inner) if is_written or all(map(_is_basic, node.slice)):
                node = inner
            case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(value=name))) if library.is_always_view(name):
                node = inner
            case cst.Attribute(value=inner, attr=cst.Name("T" | "mT" | "real" | "imag")):
                node = inner
            case _:
                return node
        is_written = False


_MAKERS = ("Parameter", "requires_grad", "requires_grad_", "parameters", "named_parameters", "register_parameter")


def _suspects(model: Model) -> frozenset[str]:
    """The last names of all that can be a leaf or a view of one, as far as it is written in this file.

    They are what is bound to something in which a parameter is made or asked for, the attributes of torch's layers, and
    views of these. The model is asked about no others, which is what takes time.
    """
    found = set(library.parameter_names())
    for word_ in _MAKERS:
        for name in model.tree.names(word_):
            bound = model.tree.enclosing(name, cst.Assign, cst.AnnAssign, cst.For, cst.CompFor, cst.Param)
            is_in_body = isinstance(bound, cst.For) and not model.tree.is_inside(name, bound.iter)
            found.update(_bound(bound) if bound is not None and not is_in_body else ())
            attribute = model.tree.parent(name)
            if isinstance(attribute, cst.Attribute):
                found.add(last_name(attribute.value))
    for _ in range(_FAR):
        for assign in model.tree.all(cst.Assign):
            if last_name(_viewed(assign.value)) in found:
                found.update(_bound(assign))
    return frozenset(found - {"", "self"})


def _bound(node: cst.CSTNode) -> list[str]:
    """The last names of what a statement or a parameter binds."""
    match node:
        case cst.Assign(targets=targets):
            return [name for each in targets for name in _last_names(each.target)]
        case cst.AnnAssign(target=target) | cst.For(target=target) | cst.CompFor(target=target):
            return _last_names(target)
        case cst.Param(name=name):
            return [name.value]
    return []


def _last_names(target: cst.BaseExpression) -> list[str]:
    return target_names(target) or [last_name(target)]


def _is_basic(element: cst.SubscriptElement) -> bool:
    """Whether an index makes a view: a number, a slice, `None`, `...`."""
    if not isinstance(element.slice, cst.Index):
        return True
    index = element.slice.value
    return isinstance(index, cst.Ellipsis) or is_none(index) or integer(index) is not None


def _is_certain(value: Value, node: cst.BaseExpression, model: Model) -> bool:
    owner = node.value if isinstance(node, cst.Attribute) else node
    if model.ask(is_frozen, owner) or model.ask(may_be_reworked, owner):
        return False
    if isinstance(node, cst.Attribute) and model.mentions(_REPLACING):
        return False
    certainty = model.requires_grad(node)
    if certainty == Certainty.EXPECTED:
        return model.ask(shows_recording, node)
    return certainty == Certainty.PROVED and value.certainty == Certainty.PROVED


def _is_view_of_leaf(name: cst.Name, model: Model, far: int) -> bool:
    """Whether a name is bound once, to a view of a leaf, where autograd records."""
    bound = model.bindings_of(name.value, name)
    assign = assignment_of(bound[0], model.tree) if len(bound) == 1 else None
    if assign is None or isinstance(assign.value, (cst.Name, cst.Attribute)) or not _is_bound_once(name, model):
        return False
    return model.grad_enabled(assign) == Tri.YES and _is_leaf(assign.value, model, far=far - 1)


def _is_bound_once(name: cst.Name, model: Model) -> bool:
    targets = model.targets(name.value, model.scopes.scope_of(name))
    plain = [n for n in targets if not isinstance(model.tree.parent(n), (cst.Subscript, cst.AugAssign))]
    return len(plain) == 1


def _records(node: cst.CSTNode, model: Model) -> bool:
    """Whether autograd records where something is written: that is shown, or a module is being made."""
    return model.grad_enabled(node) == Tri.YES and (model.ask(shows_recording, node) or _is_made(node, model, _FAR))


def _is_made(node: cst.CSTNode, model: Model, far: int) -> bool:
    """Whether a node runs in the `__init__` of a module, or in a method that this calls."""
    function = model.tree.enclosing(node, cst.FunctionDef, cst.Lambda)
    cls = model.class_of(function) if isinstance(function, cst.FunctionDef) else None
    if cls is None or not isinstance(function, cst.FunctionDef) or model.class_kind(cls) != "module":
        return False
    if function.name.value == "__init__":
        return True
    for use in model.all_called(function.name.value) if far else ():
        match use, model.tree.parent(use):
            case cst.Attribute(value=cst.Name("self")), cst.Call(func=func) as call if func is use:
                if model.tree.enclosing(call, cst.ClassDef) is cls and model.grad_enabled(call) == Tri.YES:
                    if _is_made(call, model, far - 1):
                        return True
    return False


def _fix(write: cst.CSTNode, model: Model) -> Fix | None:
    """The statement under `torch.no_grad()`, where it is one of its own."""
    small = no_grad.own_statement(write, model)
    if small is None:
        return None
    is_safe = unrecorded.knows_all_calls(write, model)
    applicability = Applicability.SAFE if is_safe else Applicability.UNSAFE
    said = "Move the operation into a `torch.no_grad()` block"
    moved = into_block.moved(small, said, (), applicability, model)
    risk = "" if is_safe else "what is called in the statement runs under `no_grad`, too"
    return replace(moved, risk=risk) if moved is not None else None
