r"""A parameter that is moved, cast or computed with is no parameter any more.

`nn.Parameter(torch.zeros(3)).cuda()` is a new tensor, computed from the parameter. Assigned to `self`, it is neither in
`parameters()` nor in the state dict, and no optimizer trains it. Lists and dicts of parameters are not looked into
either.

```diff run-differs
 import torch
 from torch import nn

 class Net(nn.Module):
     def __init__(self):
         super().__init__()
~        self.scale = nn.Parameter(torch.zeros(3)).double()
+        self.scale = nn.Parameter(torch.zeros(3).double())
~        self.shift = nn.Parameter(torch.randn(3) + 1) * 0.1
+        self.shift = nn.Parameter((torch.randn(3) + 1) * 0.1)
~        self.weights = [nn.Parameter(torch.zeros(3)) for _ in range(2)]
+        self.weights = nn.ParameterList([nn.Parameter(torch.zeros(3)) for _ in range(2)])
         self.bias = nn.Parameter(torch.zeros(3)).cpu()

 count = len(list(Net().parameters()))
```

```diff run
 import torch
 from torch import nn

 class Net(nn.Module):
     def __init__(self):
         super().__init__()
         self.base = nn.Parameter(torch.ones(3))
!        self.product = nn.Parameter(torch.rand(3)) * self.base
!        self.sum = nn.Parameter(torch.rand(3)).add(self.base)
!        self.mask = nn.Parameter(torch.rand(3)).bool()
!        self.rows = nn.Parameter(torch.zeros(3)).expand(2, 3)
!        self.heads = {"a": nn.Parameter(torch.zeros(3)), "items": nn.Parameter(torch.zeros(3))}

 count = len(list(Net().parameters()))
```

What is assigned again, or written in place where autograd records, cannot be a parameter; an optimizer wants each once:

```diff run
 import torch
 from torch import nn

 class Net(nn.Module):
     def __init__(self):
         super().__init__()
!        self.scale = nn.Parameter(torch.ones(2)) * 0.1
!        self.count = nn.Parameter(torch.ones(2)).double()
!        self.bias = nn.Parameter(torch.ones(2)) * 0.1

!        self.rows = [nn.Parameter(torch.ones(2))]
!        self.parts = [nn.Parameter(torch.ones(2))]

     def all(self):
         found = [*self.parameters(), *self.rows]
         found += self.parts
         return found

     def forward(self, x):
         self.scale = self.scale / self.scale.norm()
         self.count += 1
         return x * self.scale + self.bias.mul_(2)

 net = Net()
 optimizer = torch.optim.SGD(net.all(), lr=0.1)
 value = net(torch.ones(2))
```

```diff
 import torch
 from torch import nn

 class Net(nn.Module):
     def __init__(self):
         super().__init__()
         self.weight = nn.Parameter(torch.zeros(3).cuda())
         self.bias = nn.Parameter(torch.zeros(3)).requires_grad_(False)
         with torch.no_grad():
             self.mean = nn.Parameter(torch.zeros(3)).uniform_(-1, 1)
         self.ws = [nn.Parameter(torch.zeros(3)) for _ in range(2)]
         for i, w in enumerate(self.ws):
             self.register_parameter(f"w{i}", w)

 class Plain:
     def __init__(self):
         self.weight = nn.Parameter(torch.zeros(3)).cuda()

 def f():
     weight = nn.Parameter(torch.zeros(3)).cuda()
     return weight
```

What takes a list of tensors takes no `nn.ParameterList`, nor a part of one. What goes through it, does:

```diff run-differs
 import torch
 from torch import nn

 class Net(nn.Module):
     def __init__(self):
         super().__init__()
!        self.rows = [nn.Parameter(torch.zeros(3)), nn.Parameter(torch.ones(3))]
!        self.parts = [nn.Parameter(torch.zeros(3)), nn.Parameter(torch.ones(3))]
!        self.given = [nn.Parameter(torch.zeros(3)), nn.Parameter(torch.ones(3))]
!        self.either = [nn.Parameter(torch.zeros(3)), nn.Parameter(torch.ones(3))]
!        self.named = [nn.Parameter(torch.zeros(3)), nn.Parameter(torch.ones(3))]
~        self.terms = [nn.Parameter(torch.zeros(3)), nn.Parameter(torch.ones(3))]
+        self.terms = nn.ParameterList([nn.Parameter(torch.zeros(3)), nn.Parameter(torch.ones(3))])

     def all(self):
         return self.given

     def forward(self):
         named = self.named
         total = torch.cat(self.rows).sum() + torch.stack(self.parts[1:]).sum() + torch.hstack(self.all()).sum()
         total = total + torch.vstack(self.either if named else []).sum() + torch.einsum("i,i", named)
         return total + sum(self.terms).sum() + torch.stack([*self.terms]).sum() + torch.stack(list(self.terms)).sum()

 value = Net()().item()
 count = len(list(Net().parameters()))
```

## When the fix is unsafe

Always: the module has one more parameter then, and trains it. There is none where `nn.Parameter` or an optimizer
refuses what comes out: integers, booleans, and views like those of `expand`, in which elements share one place. Nor
where something else takes part that gets gradients: it would be cut off from them. Nor where a file assigns the
attribute a tensor that is no parameter (`self.w = self.w / self.w.norm()`).

`nn.Parameter`: <https://docs.pytorch.org/docs/stable/generated/torch.nn.parameter.Parameter.html>.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from torchlint import edit
from torchlint.model import Dtype, Kind, Model, Tri
from torchlint.model.syntax import last_name
from torchlint.model.torch import library
from torchlint.model.torch.schema import TensorResult
from torchlint.rule import Anchor, Edit, Finding, Fix, Group, Severity, all_of, on, pattern, word
from torchlint.rules.api import names
from torchlint.rules.shared import registering, unregistered

GROUP = Group.CORRECTNESS
SEVERITY = Severity.ERROR

_SAID = "this is a tensor computed from a parameter, and no parameter itself"
_IN_CONTAINER = "parameters in a plain container are not part of the module: nothing trains, moves or saves them"
_CALLED = frozenset(("Parameter",))
_MEANT = frozenset(("requires_grad_", "share_memory_", "retain_grad", "detach"))
"""Methods that give the parameter itself, or a plain tensor on purpose."""


@on(cst.Assign, cst.AnnAssign, trigger=word("Parameter"))
def check(node: cst.Assign | cst.AnnAssign, model: Model) -> Iterator[Finding]:
    """Report what is computed from a new parameter, and displays of parameters, in an attribute of a module."""
    for kept in unregistered.assigned(node, _is_parameter, model):
        yield Finding(
            kept.value,
            _IN_CONTAINER,
            registering.wrapped(kept, "Parameter", model),
        )
    target = node.target if isinstance(node, cst.AnnAssign) else node.targets[0].target
    inner = _lost(target, node.value, model) if node.value is not None else None
    if node.value is not None and inner is not None:
        is_kept = isinstance(target, cst.Attribute) and registering.is_never_another(target, model)
        fix = _moved_inside(node.value, inner, model) if is_kept else None
        yield Finding(node.value, f"{_SAID}; do it inside of `nn.Parameter`" if fix is not None else _SAID, fix)


@on(cst.Call, trigger=all_of(pattern(r"\. append \("), word("Parameter")))
def check_append(node: cst.Call, model: Model) -> Finding | None:
    """Report a parameter that is appended to a plain list of a module."""
    kept = unregistered.appended(node, _is_parameter, model)
    return Finding(node, _IN_CONTAINER) if kept is not None else None


def _lost(target: cst.BaseExpression, value: cst.BaseExpression, model: Model) -> cst.BaseExpression | None:
    """The new parameter from which something is computed that an attribute of a module is assigned."""
    inner = _computed_from(value)
    if inner is None or _without_same(value, model) is inner or not _is_parameter(inner, model):
        return None
    if not _is_self_of_module(target, model) or model.value(value).kind not in (Kind.TENSOR, Kind.UNKNOWN):
        return None
    return inner


def _is_self_of_module(target: cst.BaseExpression, model: Model) -> bool:
    cls = model.tree.enclosing(target, cst.ClassDef)
    return unregistered.is_own(target) and isinstance(cls, cst.ClassDef) and model.class_kind(cls) == "module"


def _is_parameter(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression makes a parameter."""
    if not isinstance(node, cst.Call) or not isinstance(node.func, (cst.Name, cst.Attribute)):
        return False
    if not names.is_called(node.func, _CALLED, model):
        return False
    return library.class_kind(model.qualified(node.func) or "") == "parameter"


def _computed_from(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """What methods are called on and arithmetic is done to, where something new comes out."""
    while True:
        match node:
            case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(value=name))) if name in library.tensor_names():
                if name in _MEANT:
                    return None
                node = inner
            case cst.UnaryOperation(operator=cst.Minus(), expression=inner):
                node = inner
            case cst.BinaryOperation(left=cst.Call() as left) if not isinstance(node.operator, cst.MatrixMultiply):
                node = left if _mentions_parameter(left) else node.right
            case cst.BinaryOperation(right=right) if not isinstance(node.operator, cst.MatrixMultiply):
                node = right
            case _:
                return node


def _without_same(node: cst.BaseExpression, model: Model) -> cst.BaseExpression:
    """What an expression is itself: methods in place give what they write to, casts to the default dtype it too."""
    match node:
        case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(value=name))):
            result = library.method(name)
            if isinstance(result, TensorResult) and result.is_input:
                return _without_same(inner, model)
            if name == "float" and not _OTHER_DTYPE.search(model.tree.code(inner)):
                return _without_same(inner, model)
            if name == "cpu" and not node.args and not _OTHER_DEVICE.search(model.tree.code(inner)):
                return _without_same(inner, model)
    return node


_OTHER_DTYPE = re.compile(r"dtype|double|half|long|int|tensor\(|numpy|\w+_like")
"""What may give a parameter another dtype than the default."""
_OTHER_DEVICE = re.compile(r"cuda|device|_like|\.to\(")
"""What may put a parameter on another device than the CPU."""


def _mentions_parameter(node: cst.BaseExpression) -> bool:
    while isinstance(node, (cst.Call, cst.Attribute)):
        if isinstance(node, cst.Call) and last_name(node.func) == "Parameter":
            return True
        node = node.func if isinstance(node, cst.Call) else node.value
    return False


def _may_overlap(node: cst.BaseExpression, model: Model) -> bool:
    """Whether a method is called in an expression that may give several elements one place in memory."""
    return any(library.is_overlapping(last_name(call.func)) for call in model.tree.within(node, cst.Call))


def _cuts(outer: cst.BaseExpression, inner: cst.BaseExpression, model: Model) -> bool:
    """Whether something else in an expression may get gradients from it: a parameter is cut off from what made it."""
    child: cst.CSTNode = inner
    for up in model.tree.ancestors(inner):
        match up:
            case cst.BinaryOperation(left=left, right=right):
                value = model.value(right if left is child else left)
                if value.kind & (Kind.TENSOR | Kind.UNKNOWN) and value.grad != Tri.NO:
                    return True
            case cst.Call(args=args):
                values = [model.value(arg.value) for arg in args]
                if any(each.kind & Kind.TENSOR and each.grad != Tri.NO for each in values):
                    return True
        if up is outer:
            break
        child = up
    return False


def _moved_inside(outer: cst.BaseExpression, inner: cst.BaseExpression, model: Model) -> Fix | None:
    """`nn.Parameter(x.cuda())` for `nn.Parameter(x).cuda()`."""
    if not isinstance(inner, cst.Call) or not inner.args or inner.lpar or outer.lpar:
        return None
    if not model.value(outer).dtype & Dtype.FLOAT or _may_overlap(outer, model) or _cuts(outer, inner, model):
        return None
    whole, part = model.tree.code(outer), model.tree.code(inner)
    arg = inner.args[0]
    if arg.keyword is not None or arg.star or whole.count(part) != 1 or "\n" in whole or "#" in whole:
        return None
    head, _, tail = whole.partition(part)
    given = model.tree.code(arg.value)
    if not isinstance(arg.value, (cst.Name, cst.Attribute, cst.Call, cst.Subscript)) and not arg.value.lpar:
        given = f"({given})"
    edits = (
        Edit(Anchor(outer, False), Anchor(inner, False), ""),
        edit.replace(arg.value, f"{head}{given}{tail}"),
        Edit(Anchor(inner, True), Anchor(outer, True), ""),
    )
    used = tuple(each for each in edits if each.start != each.end and (head or each is not edits[0]))
    used = tuple(each for each in used if tail or each is not edits[2])
    return Fix("Do it inside of the parameter", used).doubted(
        "it gets into `parameters()` and the state dict, and state dicts that were saved before lack it"
    )
