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

import itertools
import re
from bisect import bisect

import libcst as cst

from torchlint.model import Kind, Model
from torchlint.model.interpret.loaders import is_from_loader
from torchlint.model.syntax import dotted, last_name, parameters
from torchlint.model.torch.writers import function_writes, module_writes
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

_ARITHMETIC = (cst.Add, cst.Subtract, cst.Multiply, cst.Divide, cst.FloorDivide, cst.Power, cst.MatrixMultiply)

_HELD = Kind.TENSOR | Kind.NDARRAY | Kind.CONTAINER | Kind.UNKNOWN
"""What tensors are made of."""


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
        in_loops(pattern(r"= [\w.]+ [-+*/@]")),
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
    loop = order.loop_of(node, model) if name.value.strip("_") else None
    bound = _bound(loop.target, name.value) if isinstance(loop, cst.For) else None
    if bound is None or not isinstance(loop, cst.For):
        return None
    if not _is_looked_at(node.value, name.value) and not _goes_over_parameters(loop.iter):
        return None
    if _is_put_back(name, node, loop, model) or _is_read_later(name, node, loop, model):
        return None
    if _goes_over_new_ones(loop.iter, model) or not _is_tensor(node.value, loop, model):
        return None
    if not _may_hold(bound, node.value, model) or any(
        _may_write(call, model) for call in model.tree.within(node.value, cst.Call)
    ):
        return None
    return Finding(node, f"this new `{name.value}` is never read: what the loop goes over does not change")


def _bound(target: cst.BaseExpression, name: str) -> cst.Name | None:
    """The name in a target that a loop binds."""
    match target:
        case cst.Name(value=bound):
            return target if bound == name else None
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            return next(filter(None, (_bound(each.value, name) for each in elements)), None)
    return None


def _is_looked_at(value: cst.BaseExpression, name: str) -> bool:
    """Whether a method of the tensor begins what is assigned, a function of torch is called, or it is computed."""
    if isinstance(value, cst.BinaryOperation):
        return _is_computed(value)
    while isinstance(value, (cst.Call, cst.Attribute)):
        match value:
            case cst.Call(func=cst.Attribute(value=cst.Name(value=first), attr=cst.Name(value=method))):
                return first == "torch" or (first == name and method in _METHODS)
        value = value.func if isinstance(value, cst.Call) else value.value
    return isinstance(value, cst.Name) and value.value == "torch"


def _is_computed(value: cst.BinaryOperation) -> bool:
    """Whether arithmetic begins with a name, a path or a number."""
    operator, first = value.operator, value.left
    while isinstance(first, cst.BinaryOperation):
        operator, first = first.operator, first.left
    return isinstance(operator, _ARITHMETIC) and (
        isinstance(first, (cst.Integer, cst.Float)) or dotted(first) is not None
    )


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


def _goes_over_new_ones(source: cst.BaseExpression, model: Model) -> bool:
    """Whether each round gets new tensors, also counted or beside others: nothing keeps the old ones.

    They come from a loader or a generator.
    """
    if isinstance(source, cst.GeneratorExp) or model.value(source).kind & Kind.LOADER:
        return True
    return isinstance(source, cst.Call) and any(_goes_over_new_ones(arg.value, model) for arg in source.args)


def _may_hold(bound: cst.Name, value: cst.BaseExpression, model: Model) -> bool:
    """Whether what a loop goes over is to hold what is assigned: it has tensors, or what this is made of.

    A range has numbers: its variable is a name like any other.
    """
    kind = model.value(bound).kind
    if kind == Kind.TENSOR or not kind & _HELD:
        return kind == Kind.TENSOR
    return any(each.value == bound.value for each in model.tree.within(value, cst.Name))


def _may_write(call: cst.Call, model: Model) -> bool:
    """Whether a call may change the old tensor itself, which is then what is meant: `p = p.mul_(2)`, `out=p`."""
    if re.search(r"[^_]_$", last_name(call.func)):
        return True
    if any(arg.keyword is not None and arg.keyword.value in ("out", "inplace") for arg in call.args):
        return True
    ref, function = model.qualified(call.func), model.value(call.func)
    if isinstance(function.node, cst.FunctionDef) or module_writes(function):
        return True
    return ref is not None and any(function_writes(ref, arg, call, ()) for arg in call.args)


def _is_put_back(name: cst.Name, node: cst.Assign, loop: cst.For, model: Model) -> bool:
    """Whether the name has been assigned before in the same round: this may undo what that did, as with views."""
    at = model.tree.order(node)
    before = itertools.takewhile(lambda each: model.tree.order(each) < at, model.remember(_assigned, loop, name.value))
    return any(not order.are_exclusive(each, node, model) for each in before)


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
    around = order.loops_around(node, model)[-1]
    in_loop = _behind(reads.get(id(loop), []), last, model)
    if any(not order.are_exclusive(use, node, model) for use in in_loop):
        return True  # in the same round
    first = model.tree.order(around) if around is not loop else last
    return bool(_behind(reads.get(0, []), first, model))


def _behind(uses: list[cst.Name], place: int, model: Model) -> list[cst.Name]:
    """Those of some uses, which are in document order, that are behind a place."""
    return uses[bisect(uses, place, key=model.tree.order) :]


def _reads(model: Model, scope: cst.FunctionDef | cst.Module, name: str) -> dict[int, list[cst.Name]] | None:
    """Where a name is read, by the loop or comprehension that binds it there, 0 for none; None if functions may."""
    found: dict[int, list[cst.Name]] = {}
    if isinstance(scope, cst.FunctionDef) and (_is_of_outside(name, scope, model) or _hands_out_names(scope, model)):
        return None
    for use in model.references(name, scope):
        if model.scopes.scope_of(use) is not scope:
            if isinstance(scope, cst.FunctionDef) or not names.is_shadowed(name, use, model):
                return None
        elif _is_in_lambda(use, model):
            return None
        elif not model.is_target(use) or isinstance(model.tree.parent(use), cst.AugAssign):
            found.setdefault(_binder(use, model), []).append(use)
    return found


def _is_in_lambda(use: cst.Name, model: Model) -> bool:
    """Whether a name is read when a lambda is called, which may be in any round."""
    for up in model.tree.ancestors(use):
        if isinstance(up, (cst.FunctionDef, cst.ClassDef)):
            break
        if isinstance(up, cst.Lambda):
            return all(each.name.value != use.value for each in parameters(up))
    return False


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
        if isinstance(up, cst.BaseComp) and _bound(up.for_in.target, use.value):
            return id(up)
        if isinstance(up, cst.For) and child is up.body and _bound(up.target, use.value):
            return id(up)
        child = up
    return 0
