r"""`loss.data[0]` is how a scalar was read before PyTorch 0.4; today it raises.

Losses and full reductions have no dimension since 0.4, so indexing one is an `IndexError`. `loss.item()` is the number.
A full reduction of a tensor used to be a Python number. It is a tensor now, which `round` cannot round.

```diff run-after
 import torch
 from torch import nn

 criterion = nn.MSELoss()
 w = torch.ones(3, requires_grad=True)
 loss = criterion(w * 2, torch.zeros(3))
-a = loss.data[0]
+a = loss.item()
-b = w.sum().data[0]
+b = w.sum().item()
-c = -loss.data[0]
+c = -loss.item()
-d = loss.data.cpu().numpy()[0]
+d = loss.item()
 total = 0
 for _ in range(2):
     total += loss.detach()
-print(total[0])
+print(total.item())
-print(round(loss, 2))
+print(round(loss.item(), 2))
 e = w.detach()[0]
```

What has one dimension has none when that is summed, as in the helper that many training scripts have:

```diff run-after
 import torch


 def accuracy(output, target, topk=(1,)):
     _, pred = output.topk(max(topk), 1, True, True)
     correct = pred.t().eq(target.view(1, -1))
     res = []
     for k in topk:
         correct_k = correct[:k].reshape(-1).float().sum(0)
         res.append(correct_k.mul_(100.0 / target.size(0)))
     return res


 scores, target = torch.eye(3), torch.tensor([0, 1, 0])
 prec1, prec2 = accuracy(scores.data, target, topk=(1, 2))
-a = prec1[0]
+a = prec1.item()
-b = prec2[0]
+b = prec2.item()
```

## When the fix is unsafe

When the rank is not known, and only the name or the use says that a scalar is meant (`"%.3f" % err.data[0]`): `.item()`
raises on a tensor with more than one element, which `loss.backward()` before it rules out. Where the criterion may be
another one than is seen: it is set from outside of the class, by a subclass, or its `.reduction` is set. For what was
drawn from a distribution, where it is returned or given on: it has no dimension only if the distribution has none.
`round` of what is a number until the first batch has come: there `float` is used. In a `try` that waits for the
`IndexError` by its name: it no longer comes.

```diff
 import torch
 from torch.distributions import Categorical


 def report(loss, pred):
~    print("loss", loss.data[0])
+    print("loss", loss.item())
     return pred.tolist()[0]


 def learn(criterion, x):
     loss = criterion(x)
     loss.backward()
-    print("loss", loss.data[0])
+    print("loss", loss.item())


 def act(probs):
     action = Categorical(probs).sample()
     first = action.detach()[0]
~    return action.data[0]
+    return action.item()


 def accuracy(scores: torch.Tensor, target: torch.Tensor, rows):
     correct = 0
     for row in rows:
         correct += (scores[row] == target).sum()
     share = round(len(rows) / 3, 2)
~    return round(100 * correct / len(rows), 2)
+    return round(float(100 * correct / len(rows)), 2)
```

Migration guide of 0.4: <https://pytorch.org/blog/pytorch-0_4_0-migration-guide/>.
"""

from __future__ import annotations

import libcst as cst

from torchlint import edit
from torchlint.model import Kind, Model, Ndim, Strength
from torchlint.model.syntax import call_of, calls_method
from torchlint.rule import Applicability, Finding, Fix, Group, Severity, all_of, attribute, on, pattern
from torchlint.rules.api import names
from torchlint.rules.shared import criteria, data_sites, memory, one_element, scalars, tried

GROUP = Group.MIGRATION

_UNSAFE = Applicability.UNSAFE
_MESSAGE = "indexing a 0-dim tensor raises since PyTorch 0.4; use `.item()`"
_AWAITED = "the `IndexError` that is waited for here no longer comes"
_SEVERAL = "`.item()` raises if the tensor has several elements"
_EMPTY = "`[False]` of a 0-dim tensor gives an empty one since PyTorch 0.4; use `.item()`"


@on(cst.Attribute, trigger=attribute("data"))
def check(node: cst.Attribute, model: Model) -> Finding | None:
    """Report `.data[0]` of a scalar."""
    found = data_sites.at(node, data_sites.Site.SCALAR, model)
    if found is None:
        return None
    value, evidence = found
    index = scalars.scalar_index(node, model)
    assert index is not None
    is_scalar = value.is_tensor and value.ndim == Ndim.ZERO and not scalars.is_false(index)
    # its only element is meant, and what of more dimensions has it at `[0]` is a tensor again, of no use to anybody
    proven = is_scalar and not criteria.may_be_another(node.value, model)
    source = memory.before_copies(node.value)
    proven = proven or (not scalars.is_false(index) and one_element.is_sent_back(source, model))
    said = "Replace `.data` with `.detach()`, for an element"
    element = Fix(said, (edit.replace(node.attr, "detach()"),), _UNSAFE, risk="an element is no number")
    awaited = tried.is_awaited("IndexError", node, model)
    fix = Fix(
        "Replace with `.item()`",
        (edit.replace_after(memory.before_copies(node.value), _made_number(index, model), ".item()"),),
        Applicability.SAFE if proven and not awaited else _UNSAFE,
        risk=_AWAITED if awaited else _SEVERAL,
        alternatives=() if proven else (element,),
    )
    severity = Severity.ERROR if is_scalar else None
    message = _EMPTY if scalars.is_false(index) else _MESSAGE
    return Finding(node.attr, message, fix, index, evidence, severity, node.value)


def _made_number(index: cst.Subscript, model: Model) -> cst.BaseExpression:
    """``x.data[0].item()``: what makes a number of the element goes with it."""
    method = model.tree.parent(index)
    call = call_of(method, model.tree) if isinstance(method, cst.Attribute) and method.value is index else None
    return call if call is not None and calls_method(call, ("item",)) and not call.args else index


@on(cst.Subscript, trigger=all_of(pattern(r"\[ (?:0[boxBOX]?[0_]*|False) \]"), attribute("data")))
def check_accumulated(node: cst.Subscript, model: Model) -> Finding | None:
    """Report `total[0]` where `total` is a sum of 0-dim tensors."""
    if not scalars.is_zero_index(node) or not isinstance(node.value, (cst.Name, cst.Attribute)):
        return None
    if model.is_target(node) or not scalars.may_be_scalar(node.value, model):
        return None
    if not model.remember(_is_of_that_time):
        return None
    value = model.value(node.value)
    is_scalar = value.is_tensor and value.ndim == Ndim.ZERO
    if not is_scalar and not scalars.is_sum_of_scaled(node.value, model):
        return None
    if isinstance(node.value, cst.Attribute) and node.value.attr.value == "data":
        return None
    edits = (edit.replace_after(node.value, _made_number(node, model), ".item()"),)
    if scalars.is_false(node):
        fix = Fix("Replace with `.item()`", edits, _UNSAFE, risk="`[False]` gives an empty tensor, no number")
        return Finding(node, _EMPTY, fix, receiver=node.value)
    if tried.is_awaited("IndexError", node, model):
        fix = Fix("Replace with `.item()`", edits, _UNSAFE, risk=_AWAITED)
        return Finding(node, _MESSAGE, fix, severity=Severity.ERROR, receiver=node.value)
    if not is_scalar or criteria.may_be_another(node.value, model):
        fix = Fix("Replace with `.item()`", edits, _UNSAFE, risk=_SEVERAL)
        return Finding(node, _MESSAGE, fix, receiver=node.value)
    return Finding(node, _MESSAGE, Fix("Replace with `.item()`", edits), severity=Severity.ERROR, receiver=node.value)


@on(cst.Call, trigger=all_of(pattern(r"\bround \("), attribute("data")))
def check_rounded(node: cst.Call, model: Model) -> Finding | None:
    """Report `round(total)` of a 0-dim tensor."""
    match node:
        case cst.Call(func=cst.Name("round"), args=[cst.Arg(value=rounded, keyword=None, star=""), *_]):
            value = model.value(rounded)
        case _:
            return None
    if not value.is_tensor or value.ndim != Ndim.ZERO or (value.strength or 0) <= Strength.NAME:
        return None
    if model.qualified(node.func) != "builtins.round" or not model.remember(_is_of_that_time):
        return None
    said = "`round` raises for a tensor, and a full reduction is one since PyTorch 0.4; make it a number"
    return Finding(rounded, said, _as_number(rounded, model), severity=Severity.ERROR, receiver=rounded)


def _is_of_that_time(model: Model) -> bool:
    """Whether a file is as old as what it would have raised since then, had anybody run it: it has ``.data``."""
    return bool(model.tree.attributes("data"))


def _as_number(node: cst.BaseExpression, model: Model) -> Fix | None:
    if _may_be_number(node, model):
        if not names.is_builtin("float", node, model):
            return None
        edits = edit.insert_before(node, "float("), edit.insert_after(node, ")")
        return Fix("Use `float`", edits, _UNSAFE, risk="an int becomes a float")
    return Fix("Add `.item()`", edit.append(node, ".item()"))


def _may_be_number(node: cst.BaseExpression, model: Model) -> bool:
    """Whether on some path an expression is no tensor: a sum before the first term."""
    match node:
        case cst.BinaryOperation(left=left, right=right):
            return _may_be_number(left, model) and _may_be_number(right, model)
        case cst.UnaryOperation(expression=operand):
            return _may_be_number(operand, model)
    return model.value(node).kind != Kind.TENSOR
