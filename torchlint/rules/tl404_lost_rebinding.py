r"""Assigning to the variable of a loop changes nothing that the loop goes over.

`for t in batch: t = t.to(device)` gives a name to a new tensor, which is lost in the next iteration. The list keeps
the old ones. So does a module whose parameters a loop assigns to.

```diff run
 import torch
 from torch import nn

 net = nn.Linear(2, 1)
 nn.init.ones_(net.weight)
 batch = [torch.ones(3), torch.zeros(3)]
 for t in batch:
!    t = t.to(torch.float64)
 for p in net.parameters():
!    p = torch.zeros_like(p)
 dtype, weight = batch[0].dtype, net.weight.detach().clone()
```

What is read afterwards, in the loop, after it or in a function, and what changes the tensor itself:

```diff
 import torch
 from torch import nn

 def f(batch: list[torch.Tensor], net: nn.Module, device):
     total = 0
     for t in batch:
         t = t.to(device)
         total = total + t.sum()
     for t in batch:
         t = t * 2
     last = t
     for p in net.parameters():
         p.requires_grad_(False)
     for i, t in enumerate(batch):
         t = batch[i] = t.to(device)
     for item in batch:
         name = item
         name = 3
     return total, last, [t.to(device) for t in batch]
```

## When the fix is unsafe

There is none: `batch = [t.to(device) for t in batch]` may be meant, or an operation in place.

`Tensor.to`: <https://docs.pytorch.org/docs/stable/generated/torch.Tensor.to.html>.
"""

from __future__ import annotations

from bisect import bisect

import libcst as cst

from torchlint.model import Kind, Model
from torchlint.model.interpret.loaders import is_from_loader
from torchlint.rule import Finding, Group, Severity, any_of, in_loops, on, pattern
from torchlint.rules.api import names
from torchlint.rules.shared import order

GROUP = Group.CORRECTNESS
SEVERITY = Severity.ERROR


_METHODS = frozenset(
    """
    to cuda cpu detach clone float half double bfloat16 long int bool type type_as contiguous squeeze unsqueeze view
    reshape permute transpose t clamp masked_fill add sub mul div abs
    """.split()  # noqa: SIM905
)
"""Methods that begin what is assigned to the name that they are called on."""


@on(
    cst.Assign,
    trigger=any_of(
        in_loops(
            pattern(
                r"= \w+ \. (?:to|cuda|cpu|detach|clone|float|half|double|bfloat16|long|int|bool|type|type_as|contiguous"
                r"|squeeze|unsqueeze|view|reshape|permute|transpose|t|clamp|masked_fill|add|sub|mul|div|abs) \("
            )
        ),
        in_loops(pattern(r"= torch \. \w")),
        pattern(r"\bfor\b[^:]{0,500}\b(?:named_)?parameters \("),
    ),
)
def check(node: cst.Assign, model: Model) -> Finding | None:
    """Report a tensor that is assigned to a loop's variable and not read."""
    match node:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name() as name)]):
            pass
        case _:
            return None
    loop = order.loop_of(node, model)
    if not isinstance(loop, cst.For) or not _binds(loop.target, name.value):
        return None
    if not _is_looked_at(node.value, name.value) and not _goes_over_parameters(loop.iter):
        return None
    if _is_put_back(name, node, loop, model) or _is_read_later(name, node, loop, model):
        return None
    if _goes_over_loader(loop.iter, model) or not _is_tensor(node.value, loop, model):
        return None
    return Finding(node, f"this new `{name.value}` is never read: what the loop goes over does not change")


def _binds(target: cst.BaseExpression, name: str) -> bool:
    match target:
        case cst.Name(value=bound):
            return bound == name
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            return any(_binds(each.value, name) for each in elements)
    return False


def _is_looked_at(value: cst.BaseExpression, name: str) -> bool:
    """Whether a method of the tensor begins what is assigned, or a function of torch is called by its full name."""
    while isinstance(value, (cst.Call, cst.Attribute)):
        match value:
            case cst.Call(func=cst.Attribute(value=cst.Name(value=first), attr=cst.Name(value=method))):
                return first == "torch" or (first == name and method in _METHODS)
        value = value.func if isinstance(value, cst.Call) else value.value
    return isinstance(value, cst.Name) and value.value == "torch"


def _goes_over_parameters(source: cst.BaseExpression) -> bool:
    """Whether a loop goes over parameters, also those of two modules at once, or counts them."""
    match source:
        case cst.Call(func=cst.Attribute(attr=cst.Name("parameters" | "named_parameters"))):
            return True
        case cst.Call(func=cst.Name("zip" | "enumerate" | "list"), args=args):
            return any(_goes_over_parameters(arg.value) for arg in args)
    return False


def _is_tensor(value: cst.BaseExpression, loop: cst.For, model: Model) -> bool:
    """Whether a tensor is assigned; of a batch that a loader gave the parts are, where it is used behind the loop."""
    if model.is_tensor(value):
        return True
    batch = loop.iter
    if not isinstance(batch, cst.Name) or not is_from_loader(model.value(value)):
        return False
    last = model.tree.last_below(loop)
    uses = model.references(batch.value, model.scopes.scope_of(batch))
    return any(model.tree.order(use) > last and not model.is_target(use) for use in uses)


def _goes_over_loader(source: cst.BaseExpression, model: Model) -> bool:
    """Whether each round gets new tensors from a loader, also counted or beside others: nothing keeps the old ones."""
    if model.value(source).kind & Kind.LOADER:
        return True
    return isinstance(source, cst.Call) and any(_goes_over_loader(arg.value, model) for arg in source.args)


def _is_put_back(name: cst.Name, node: cst.Assign, loop: cst.For, model: Model) -> bool:
    """Whether the name has been assigned before in the same round: this may undo what that did, as with views."""
    assigned = model.remember(_assigned, loop, name.value)
    before = bisect([model.tree.order(each) for each in assigned[:2]], model.tree.order(node))
    return before > 0 and not order.are_exclusive(assigned[0], node, model)


def _assigned(model: Model, loop: cst.For, name: str) -> list[cst.Name]:
    """Where the body of a loop assigns to a name."""
    return [
        each
        for each in model.references(name, model.scopes.scope_of(loop))
        if model.is_target(each) and model.tree.is_inside(each, loop.body)
    ]


def _is_read_later(name: cst.Name, node: cst.Assign, loop: cst.For, model: Model) -> bool:
    """Whether what is assigned may be read: behind it, in a function, or in a loop around that comes round again."""
    reads = model.remember(_reads, model.scopes.scope_of(name), name.value)
    if reads is None:
        return True
    last = model.tree.last_below(node)
    around = model.tree.order(order.loops_around(node, model)[-1])
    in_loop, elsewhere = reads.get(id(loop), []), reads.get(0, [])
    first = around if around != model.tree.order(loop) else last
    return bisect(in_loop, last) < len(in_loop) or bisect(elsewhere, first) < len(elsewhere)


def _reads(model: Model, scope: cst.FunctionDef | cst.Module, name: str) -> dict[int, list[int]] | None:
    """Where a name is read, by the loop or comprehension that binds it there, 0 for none; None if functions may."""
    found: dict[int, list[int]] = {}
    if isinstance(scope, cst.FunctionDef) and (_is_of_outside(name, scope, model) or _hands_out_names(scope, model)):
        return None
    for use in model.references(name, scope):
        if model.scopes.scope_of(use) is not scope:
            if isinstance(scope, cst.FunctionDef) or not names.is_shadowed(name, use, model):
                return None
        elif not model.is_target(use) or isinstance(model.tree.parent(use), cst.AugAssign):
            found.setdefault(_binder(use, model), []).append(model.tree.order(use))
    return found


def _is_of_outside(name: str, function: cst.FunctionDef, model: Model) -> bool:
    """Whether a function declares that a name is not its own."""
    within = model.tree.within
    declared: list[cst.Global | cst.Nonlocal] = [*within(function, cst.Global), *within(function, cst.Nonlocal)]
    return any(item.name.value == name for each in declared for item in each.names)


def _hands_out_names(function: cst.FunctionDef, model: Model) -> bool:
    """Whether a function asks for all its names at once."""
    return any(model.tree.is_inside(name, function) for name in model.tree.names("locals"))


def _binder(use: cst.Name, model: Model) -> int:
    """The loop around a name whose variable it is, or the comprehension."""
    child: cst.CSTNode = use
    for up in model.tree.ancestors(use):
        if isinstance(up, (cst.FunctionDef, cst.ClassDef)):
            break
        if isinstance(up, cst.BaseComp) and _binds(up.for_in.target, use.value):
            return id(up)
        if isinstance(up, cst.For) and child is up.body and _binds(up.target, use.value):
            return id(up)
        child = up
    return 0
