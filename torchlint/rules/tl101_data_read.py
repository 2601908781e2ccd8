r"""Autograd does not notice what is written to `.data`.

`x.data` shares memory with `x` but not its version counter: write to it, and `backward()` computes wrong gradients
silently. `x.detach()` is the same tensor with the counter, so the same mistake is an error. Where nothing but
metadata is read, or the reader is an `nn.init` function, nothing is needed at all.

```diff run
 import torch
 from torch import nn

 w = torch.ones(3, requires_grad=True)
-total = (w.data * 2).sum()
+total = (w.detach() * 2).sum()
-rows = w.data.size(0)
+rows = w.size(0)
-like = torch.zeros_like(w.data)
+like = torch.zeros_like(w)
-there = w.data is not None
+there = w is not None
-moved = torch.ones(2, dtype=torch.double).to(w.data)
+moved = torch.ones(2, dtype=torch.double).to(w)
 layer = nn.Linear(3, 2)


 def init_weights(m):
-    nn.init.xavier_uniform_(m.weight.data)
+    nn.init.xavier_uniform_(m.weight)


 layer.apply(init_weights)
-shape, first = layer.bias.data.shape, w.data[0] * 2
+shape, first = layer.bias.shape, w.detach()[0] * 2
 with torch.no_grad():
-    norm = (w.data + 1).norm()
+    norm = (w + 1).norm()
```

What is made of it on the spot may carry no graph anyway, and so may what it is read from; indices and masks have none:

```diff run
 import torch
 from torch.utils.data import DataLoader, TensorDataset

 w = torch.ones(2, 3, requires_grad=True)
 for (x,) in DataLoader(TensorDataset(torch.ones(2, 3))):
     out = w * x
-    pred = out.data.max(1)[1]
+    pred = out.max(1)[1]
-    rows = torch.max(out.data, 1)[1]
+    rows = torch.max(out, 1)[1]
-    large = (out.data > 0.5).float()
+    large = (out > 0.5).float()
-    first = x.data[0].numpy()
+    first = x[0].numpy()
-    picked = out.gather(1, pred.data.view(-1, 1))
+    picked = out.gather(1, pred.view(-1, 1))
-    kept = out.data.sum()
+    kept = out.detach().sum()
```

A gradient is outside the graph already, and stays there if it is written under `no_grad`:

```diff run
 import torch

 w = torch.ones(3, requires_grad=True)
 (w * w).sum().backward()
-step = 0.1 * w.grad.data
+step = 0.1 * w.grad


 @torch.no_grad()
 def decay(w):
-    grad = w.grad.data
+    grad = w.grad
     grad.add_(w, alpha=0.1)


 decay(w)
```

## When the fix is unsafe

When the result is written in place later, or leaves to code that may write to it, and where a parameter is initialised
outside of what is an initialiser by its name or use: then `backward()` raises where `.data` computed wrong gradients.
And where the project has a lazy module (`nn.LazyLinear`): before the first batch its parameters refuse what their
`.data` does.

```diff run
 import torch

 w = torch.ones(3, requires_grad=True)
~copy = w.data
+copy = w.detach()
 copy[0] = 5.0
```

And where autograd may keep what was read for `backward()`, and what it was read from is written in place in the file or
given to code that is not seen: that may raise now. A program in which an optimizer or another file writes between the
two can tell; the read is called safe all the same. Nothing is kept of a tensor without a graph that is computed with
by itself.

```diff run
 import torch

 w = torch.ones(2, 3, requires_grad=True)


 def largest(x, k):
     return x.topk(k, 1)[0]


-best = largest(w.data, 2)
+best = largest(w.detach(), 2)
~products = torch.einsum("ij,ij->i", [w.data, w])
+products = torch.einsum("ij,ij->i", [w.detach(), w])
 with torch.no_grad():
     w.add_(1)
```

## What has no fix

Memory that parameters exchange: whoever has it writes to it, and with `.detach()` the one that had it first would be
told.

```diff
 import torch


 def swap(left: torch.nn.Parameter, right: torch.nn.Parameter):
!    fast = left.data
     left.data = right.detach().cpu()
     fast.copy_(right)
     right.data = fast
```

## What is left alone

```diff
 import torch
 from torch.nn.utils.rnn import pack_padded_sequence
 from torch.utils.data import TensorDataset

 packed = pack_padded_sequence(torch.ones(2, 3, 1), [3, 2], batch_first=True)
 flat = packed.data
 dataset = TensorDataset(torch.ones(3))
 raw = dataset.data


 class Page:
     def __init__(self):
         self.data = b""


 body = Page().data
```

Why PyTorch wants it gone: <https://github.com/pytorch/pytorch/issues/30987>.
"""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from torchlint import edit
from torchlint.model import Evidence, Kind, Model, Ndim, Tri, Usage, Value
from torchlint.model.aliasing.here import only_metadata
from torchlint.model.syntax import chain
from torchlint.model.torch import library
from torchlint.model.torch.schema import makes_new
from torchlint.rule import Applicability, Finding, Fix, Group, Severity, attribute, on
from torchlint.rules.shared import (
    as_number,
    asked_types,
    data_sites,
    discrete,
    given_batches,
    gradients,
    identity,
    indices,
    initialised,
    integers,
    kept_memory,
    lazy,
    memory,
    operands,
    optimizer_steps,
    sparse_gradients,
    transforms,
    tried,
    used_up,
)
from torchlint.rules.shared.volatile import blocks
from torchlint.rules.shared.volatile.given import is_made_volatile
from torchlint.rules.shared.without_graph import stays_without_graph

GROUP = Group.MIGRATION

_MESSAGE = "`.data` gives a tensor whose changes autograd does not notice; {}"


@on(cst.Attribute, trigger=attribute("data"))
def check(node: cst.Attribute, model: Model) -> Finding | None:
    """Report a read of `.data`."""
    found = data_sites.at(node, data_sites.Site.READ, model)
    if found is None:
        return None
    value, evidence = found
    statement = model.tree.parent(node)
    if isinstance(statement, cst.Expr) and not model.tree.is_shown(statement):  # nor would a fix do anything there
        said = "the statement reads `.data` and does nothing with it; remove it"
        return Finding(node.attr, said, evidence=evidence, receiver=node.value)
    if is_made_volatile(node, model):  # what stands for the wrapper is written when that can go
        return Finding(node.attr, _MESSAGE.format("use `.detach()`"), evidence=evidence, receiver=node.value)
    if asked_types.is_asked(node, model):
        said = "`.data` is a `torch.Tensor`, whatever is in it; ask for its `dtype`"
        return Finding(node.attr, said, evidence=evidence, receiver=node.value)
    fix = _without_assignment(_with_error(_fix(node, value, evidence, model), node, model), node, model)
    fix = lazy.doubted(blocks.waiting(transforms.doubted(fix, model), node, model), node, value, model)
    if model.usage(node) >= Usage.OVERWRITTEN:
        fix = sparse_gradients.doubted(fix, node, value, model)
    if fix.applicability is Applicability.UNSAFE and not fix.risk:
        fix = replace(fix, risk=data_sites.risk(node, value, evidence, model))
    half = data_sites.half_of(node, model)
    if half is None and fix.applicability is Applicability.UNSAFE and kept_memory.is_exchanged(node, model):
        said = _MESSAGE.format("keep it only to exchange memory")
        return Finding(node.attr, said, evidence=evidence, receiver=node.value)
    if half is not None and _is_asked_for_metadata(node, model) and not _is_assigned_data(half):
        half = None
    if half is not None:  # when the other half stands in its block, this one may need nothing
        fix = replace(fix, deferred=True)
    message = _MESSAGE.format("use `.detach()`" if fix.edits[0].text else "remove it")
    severity = Severity.INFO if fix.applicability is Applicability.SAFE else None  # nothing can go wrong there
    return Finding(node.attr, message, fix, evidence=evidence, severity=severity, receiver=node.value, half_of=half)


def _is_assigned_data(statement: cst.CSTNode) -> bool:
    """Whether a statement assigns to `.data`: what it reads stays as it is as long as that does."""
    match statement:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Attribute(attr=cst.Name("data")))]):
            return True
    return False


def _is_asked_for_metadata(node: cst.Attribute, model: Model) -> bool:
    """Whether metadata is read of `.data` on the spot, `p.data.size()`; what a function is given is a half."""
    return isinstance(model.tree.parent(node), cst.Attribute) and model.ask(only_metadata, node)


def _fix(node: cst.Attribute, value: Value, evidence: Evidence, model: Model) -> Fix:
    drop = edit.keep_owner(model.tree, node)
    detach = (edit.replace(node.attr, "detach()"),)
    doubtful = data_sites.is_doubtful(value, evidence, model) and not integers.are_given(node.value, model)
    if initialised.is_read(node, model):
        safe = data_sites.initialises(node, value, model)
        return Fix("Remove `.data`: `nn.init` records nothing", drop, _applicability(safe))
    usage = model.usage(node)
    if model.ask(only_metadata, node) or (usage is Usage.METADATA and _is_in_function(node, model)):
        return Fix("Remove `.data`: only metadata is read", drop, _applicability(not doubtful))
    if asked_types.is_moved_to(node, model):  # if that is no tensor, it may keep what it is given
        return Fix("Remove `.data`: only metadata is read", drop, Applicability.UNSAFE)
    if _is_compared_with_none(node, model):
        return Fix("Remove `.data`: it is never `None`", drop, _applicability(not doubtful))
    if gradients.is_gradient(value, node.value, model):
        is_told = (identity.are_told_apart(model) or gradients.are_replaced(model)) and not used_up.is_used_up(
            node, model
        )
        is_kept = usage is Usage.SAVED and gradients.are_written(model)
        has_graph = gradients.may_have_graph(node.value, model)
        is_plain = not has_graph and not is_told
        if usage in data_sites.READING and is_plain and not is_kept:
            return Fix("Remove `.data`: a gradient carries no graph", drop)
        # what is not kept for `backward()` may be written to
        safe = not is_kept and (usage <= Usage.SAVED or not gradients.may_be_saved(model))
        is_filled = usage is Usage.OVERWRITTEN and _is_never_recorded(node, model)
        if is_plain and (is_filled or used_up.is_communicated(node, model)):
            return Fix("Remove `.data`: a gradient carries no graph", drop, _applicability(safe))
        if is_plain and usage >= Usage.OVERWRITTEN:
            with_step = optimizer_steps.decorated(Fix("Remove `.data`", drop), node, model)
            if with_step is not None:
                return with_step
        return Fix("Replace `.data` with `.detach()`", detach, _applicability(safe))
    if transforms.records_nothing(node, model) and usage in data_sites.READING and _consumed(node, model):
        return Fix("Remove `.data`: autograd does not record here", drop, _applicability(not doubtful))
    if doubtful and usage in data_sites.READING and data_sites.is_computed_without_graph(node, node.value, model):
        return Fix("Remove `.data`: autograd does not record here", drop, Applicability.UNSAFE)
    if value.is_tensor and value.ndim == Ndim.ZERO and as_number.is_formatted(node, model):
        return Fix("Remove `.data`: only its number is formatted", drop)
    is_compared = memory.is_compared(node.value, model) or (doubtful and _is_compared(node, model))
    if is_compared or (usage < Usage.OVERWRITTEN and discrete.gives_no_graph(node, model)):
        return Fix("Remove `.data`: what is computed from it carries no graph", drop, _applicability(not doubtful))
    safe = not doubtful and data_sites.is_left_alone(node, model)
    if transforms.records_nothing(node, model) and memory.is_made_a_parameter(node, model):
        return Fix("Remove `.data`: autograd does not record here", drop, _applicability(safe))
    if indices.taker(node, model) is not None or indices.is_handed_to_index(node, model):
        return Fix("Remove `.data`: indices and masks carry no graph", drop, _applicability(safe))
    if usage is not Usage.WRITTEN and integers.are_certain(node, model):
        is_kept = safe and usage in data_sites.READING
        return Fix("Remove `.data`: integers carry no graph", drop, _applicability(is_kept))
    has_no_graph = stays_without_graph(node.value, model) or given_batches.is_given(node.value, model)
    is_asked = isinstance(model.tree.parent(node), cst.Attribute)  # None has no such method, either
    if has_no_graph and not value.kind & ~(Kind.TENSOR | Kind.UNKNOWN | (Kind.NONE if is_asked else Kind.UNKNOWN)):
        if identity.is_fresh(node.value, model):
            return Fix("Remove `.data`: the tensor has no graph", drop)
        if usage in data_sites.READING and _consumed(node, model) and not identity.may_get_graph(model):
            return Fix("Remove `.data`: the tensor has no graph", drop, _applicability(safe))
        if usage is not Usage.WRITTEN and identity.may_be_one(node, node.value, model):
            is_kept = safe and usage in data_sites.READING
            return Fix("Remove `.data`: the tensor has no graph", drop, _applicability(is_kept))
    if usage in data_sites.READING and not doubtful and _consumed(node, model):
        with_step = optimizer_steps.decorated(Fix("Remove `.data`", drop), node, model)
        if with_step is not None:
            return with_step
    if has_no_graph and not safe and usage is not Usage.WRITTEN and not identity.are_told_apart(model):
        return Fix("Remove `.data`: the tensor has no graph", drop, Applicability.UNSAFE)
    return Fix("Replace `.data` with `.detach()`", detach, _applicability(safe))


def _with_error(fix: Fix, node: cst.Attribute, model: Model) -> Fix:
    """A fix that raises for None as `.data` did, where somebody waits for that."""
    if fix.applicability is not Applicability.SAFE or fix.edits[0].text or not tried.keeps_error_of_none(node, model):
        return fix
    is_read = model.usage(node) in data_sites.READING and data_sites.is_left_alone(node, model)
    detach = (edit.replace(node.attr, "detach()"),)
    return Fix("Replace `.data` with `.detach()`", detach, _applicability(is_read))


def _without_assignment(fix: Fix, node: cst.Attribute, model: Model) -> Fix:
    """A fix that leaves no `x = x` of `x = x.data`: the statement goes."""
    match node.value, model.tree.parent(node):
        case cst.Name(value=name), cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=target))]) as assign:
            is_in_class = isinstance(model.tree.enclosing(node, cst.FunctionDef, cst.ClassDef), cst.ClassDef)
            removal = edit.remove_statement(model.tree, assign) if name == target and not is_in_class else None
            if removal is not None and not fix.edits[0].text:
                return replace(fix, edits=(removal,))
    return fix


def _is_never_recorded(node: cst.Attribute, model: Model) -> bool:
    """Whether autograd is off where something is read, and wherever the name is used that it is given."""
    if model.grad_enabled(node) != Tri.NO:
        return False
    match model.tree.parent(node):
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]) if _is_in_function(node, model):
            uses = model.references(name, model.scopes.scope_of(node))
            return all(model.grad_enabled(use) == Tri.NO for use in uses)
        case cst.Attribute():
            return True
    return False


def _applicability(safe: bool) -> Applicability:
    return Applicability.SAFE if safe else Applicability.UNSAFE


def _consumed(node: cst.Attribute, model: Model) -> bool:
    """Whether the value is used up on the spot: nothing that shares its memory lives on."""
    whole: cst.CSTNode = node
    for name, outer in chain(node, model.tree):
        if isinstance(outer, cst.Call) and makes_new(library.method(name)):
            return True
        if name != "[]" and not memory.shares(name, outer):
            return False
        whole = outer
    match model.tree.parent(whole):
        case cst.AugAssign(target=target, value=value):
            return value is whole and model.is_tensor(target)
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Subscript(value=target))]):
            return model.is_tensor(target)
        case cst.BinaryOperation(left=left, operator=cst.Modulo()):  # a text shows whether it requires grad
            return model.is_tensor(left)
        case cst.BinaryOperation() | cst.UnaryOperation():
            return True
        case cst.Arg(keyword=None) as arg:
            return _is_copied(arg, model) or used_up.is_computed_with(arg, model)
        case cst.Element() as element if isinstance(sequence := model.tree.parent(element), (cst.List, cst.Tuple)):
            arg_ = model.tree.parent(sequence)
            return isinstance(arg_, cst.Arg) and used_up.is_computed_with(arg_, model)
        case cst.Comparison() as comparison:
            return not model.remember(discrete.asks_for_identity, comparison)
    return False


def _is_in_function(node: cst.CSTNode, model: Model) -> bool:
    """Whether no other file can import the name that something is given."""
    return isinstance(model.scopes.scope_of(node), cst.FunctionDef)


def _is_compared(node: cst.Attribute, model: Model) -> bool:
    """Whether a tensor, or one of the two results of its method, is compared: that gives booleans."""
    whole = [node, *(outer for _, outer in chain(node, model.tree))][-1]
    parent = model.tree.parent(whole)
    comparison = model.tree.parent(parent) if isinstance(parent, cst.ComparisonTarget) else parent
    if not isinstance(comparison, cst.Comparison) or model.remember(discrete.asks_for_identity, comparison):
        return False
    return whole is node or operands.method_with_places(node, model) is not None


def _is_copied(arg: cst.Arg, model: Model) -> bool:
    """Whether an argument's elements go into a tensor: ``y.copy_(x.data)``."""
    match model.tree.parent(arg):
        case cst.Call(func=cst.Attribute(value=target, attr=cst.Name(value=name))):
            return memory.is_inplace(name) and model.value(target).may_be_tensor
    return False


def _is_compared_with_none(node: cst.Attribute, model: Model) -> bool:
    match model.tree.parent(node):
        case cst.Comparison(
            left=left, comparisons=[cst.ComparisonTarget(operator=cst.Is() | cst.IsNot(), comparator=cst.Name("None"))]
        ):
            return left is node
    return False
