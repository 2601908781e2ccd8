r"""Integer tensors divided by `/` are no integers since PyTorch 1.6: they are no indices and no sizes any more.

`top / width` was the row of the best candidate. Today it is a float, and indexing with it raises. Write `//`, or
`torch.div(a, b, rounding_mode='floor')`. Only what has to be an integer is reported, where both sides certainly are:
the code that is left to find raises whenever it is reached, and to look for it means to look at every division. So this
rule is off unless it is selected (`--extend-select TL312`); `torchlint upgrade` always looks.

```diff
 import torch
 from torch import nn

 x = torch.rand(6)
 width = torch.tensor(2)
~a = x[torch.arange(6) / 2]
+a = x[torch.arange(6) // 2]
~b = x.index_select(0, torch.arange(6) / width)
+b = x.index_select(0, torch.arange(6) // width)
 best = x.topk(2)[1]
~row = best / x.size(0)
+row = best // x.size(0)
 rows = torch.gather(x, 0, row)
 embedding = nn.Embedding(3, 2)
~c = embedding(torch.arange(6) / 2)
+c = embedding(torch.arange(6) // 2)
~for i in range(best.max() / 2):
+for i in range(best.max() // 2):
     print(i)
~d = x.view(best.max() / 2, -1)
+d = x.view(best.max() // 2, -1)
```

```diff
 import torch

 x = torch.rand(6)
 half = torch.arange(6) / 2
 mean = torch.arange(6).sum() / 6
 whole = x[(torch.arange(6) / 2).long()]
 scaled = torch.arange(6) / 6
 y = x[torch.arange(6) // 2] * scaled
 table = {}

 def f(a, b, x):
     later = torch.arange(6) / 2
     later = later.long()
     table[torch.arange(6) / 2] = 1
     return x[a / b], x[later]
```

## When the fix is unsafe

Always: for negative numbers `/` rounded towards zero once, and `//` rounds down.

`torch.div`: <https://docs.pytorch.org/docs/stable/generated/torch.div.html>.
"""

from __future__ import annotations

import libcst as cst

from torchlint.model import Dtype, Kind, Model
from torchlint.model.syntax import has_stars, last_name
from torchlint.rule import Anchor, Edit, Finding, Fix, Group, Severity, on, pattern
from torchlint.rules.api import guards, names
from torchlint.versions import Version

BY_DEFAULT = False
GROUP = Group.MIGRATION
SEVERITY = Severity.ERROR

_SINCE: Version = (1, 6)
_INDEX = {
    **dict.fromkeys(("gather", "index_select", "index_add", "index_fill", "index_copy", "scatter", "scatter_add"), 1),
    **dict.fromkeys(("index_add_", "index_fill_", "index_copy_", "scatter_", "scatter_add_"), 1),
    **dict.fromkeys(("take", "bincount"), 0),
}
"""Which argument of a method is an index; of a function it is the next one."""
_SIZES = frozenset("view reshape expand new_zeros new_ones new_empty".split())  # noqa: SIM905
"""Methods all of whose arguments are sizes."""
_FIRST = frozenset(("torch.nn.functional.embedding", "torch.nn.functional.one_hot"))
_RISK = "quotients below zero are rounded down, and `/` once rounded them towards zero"


@on(cst.BinaryOperation, trigger=pattern("[^/]/[^/=]"))
def check(node: cst.BinaryOperation, model: Model) -> Finding | None:
    """Report divisions whose result is used as an index or a size."""
    if not isinstance(node.operator, cst.Divide) or not model.target.reaches(_SINCE):
        return None
    if not _is_used_as_integer(node, model) or not _is_integer_tensor(node.left, model):
        return None
    if not _is_integer_tensor(node.right, model) and not _is_integer(node.right, model):
        return None
    if guards.is_guarded(node, model):
        return None
    fix = Fix("Use `//`", (Edit(Anchor(node.left, True), Anchor(node.right, False), " // "),)).doubted(_RISK)
    said = "integers divided by `/` are no integers since PyTorch 1.6, and this has to be one; use `//`"
    return Finding(node, said, fix, severity=Severity.ERROR, receiver=node.left)


def _is_integer_tensor(node: cst.BaseExpression, model: Model) -> bool:
    value = model.value(node)
    return value.kind == Kind.TENSOR and value.dtype == Dtype.INT


def _is_integer(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is plainly an integer of Python: a literal, a length, one size of a tensor."""
    match node:
        case cst.Integer() | cst.Call(func=cst.Name("len")):
            return True
        case cst.Call(func=cst.Attribute(value=base, attr=cst.Name("size")), args=[_]):
            return model.is_tensor(base)
        case cst.Subscript(value=cst.Attribute(value=base, attr=cst.Name("shape")), slice=[_]):
            return model.is_tensor(base)
    return False


def _is_used_as_integer(node: cst.BaseExpression, model: Model) -> bool:
    """Whether what an expression gives, or the one name it is assigned to, raises unless it is an integer."""
    if _needs_integer(node, model):
        return True
    match model.tree.parent(node):
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name) as target)]):
            scope = model.scopes.scope_of(target)
            if len(model.targets(name, scope)) != 1:
                return False
            return any(user is not target and _needs_integer(user, model) for user in model.references(name, scope))
    return False


def _needs_integer(node: cst.BaseExpression, model: Model) -> bool:
    parent = model.tree.parent(node)
    match parent:
        case cst.Index() | cst.Slice():
            at: cst.CSTNode | None = parent
            while at is not None and not isinstance(at, cst.Subscript):
                at = model.tree.parent(at)
            return at is not None and model.is_tensor(at.value)
        case cst.Arg(keyword=None, star=""):
            call = model.tree.parent(parent)
            return isinstance(call, cst.Call) and _is_index_of(parent, call, model)
    return False


def _is_index_of(arg: cst.Arg, call: cst.Call, model: Model) -> bool:
    """Whether an argument is one that has to be an integer."""
    index = next(at for at, other in enumerate(call.args) if other is arg)
    func = call.func
    if not isinstance(func, (cst.Name, cst.Attribute)) or has_stars(call.args):
        return False
    found = names.resolve(func, model)
    name = last_name(func)
    if found is not None:
        is_index = found[1] == f"torch.{name}" and name in _INDEX and index == _INDEX[name] + 1
        return is_index or (found[1] in _FIRST and index == 0)
    if isinstance(func, cst.Name) and name == "range":
        return not names.is_shadowed(name, call, model)
    value = model.value(func)
    if value.kind == Kind.MODULE:
        return value.ref == "torch.nn.Embedding" and index == 0
    if not isinstance(func, cst.Attribute) or not model.is_tensor(func.value):
        return False
    return name in _SIZES or _INDEX.get(name) == index
