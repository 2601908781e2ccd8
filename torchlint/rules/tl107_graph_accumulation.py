r"""Summing losses that keep their graph keeps every iteration's memory alive.

`total += loss` adds a tensor with its whole graph: nothing of any iteration is freed until `total` goes. What is only
reported needs no graph: add `loss.detach()`, or `loss.item()` where a Python number will do.

```diff run
 import torch
 from torch import nn

 net = nn.Linear(3, 1)
 criterion = nn.MSELoss()
 optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
 total, history = 0, []
 for _ in range(3):
     loss = criterion(net(torch.ones(2, 3)), torch.zeros(2, 1))
     optimizer.zero_grad()
     loss.backward()
     optimizer.step()
-    total += loss
+    total += loss.detach()
-    history.append(loss)
+    history.append(loss.detach())
 print(float(total), len(history))
```

A sum that reaches `backward()` needs its graph, and so may one that is returned:

```diff
 import torch
 from torch import nn

 net = nn.Linear(3, 1)
 criterion = nn.MSELoss()


 def step(batches):
     total = 0
     for x, y in batches:
         total += criterion(net(x), y)
     total.backward()


 def objective(batches):
     total = 0
     for x, y in batches:
         total = total + criterion(net(x), y)
     return total
```

## When the fix is unsafe

The fix is safe: the sum never reaches `backward()`.

PyTorch's FAQ: <https://docs.pytorch.org/docs/stable/notes/faq.html>.
"""

from __future__ import annotations

import re

import libcst as cst

from torchlint import edit
from torchlint.model import Dtype, Kind, Model, Ndim, Strength, Tri, Value
from torchlint.model.syntax import dotted
from torchlint.rule import Applicability, Edit, Finding, Fix, Group, all_of, any_of, attribute, in_loops, on, pattern

GROUP = Group.PERFORMANCE

_LOSS = re.compile(r"[Ll]oss|criterion|objective|nll|elbo|cost")
_TRIGGER = any_of(
    attribute("backward"),
    all_of(pattern(r"(?:[-+]=|append \(|= [\w.]+ [+-])"), attribute("backward")),
    in_loops(pattern(r"\+= (?:[^\n]|[\\(,]\n)*(?:[Ll]oss|criterion|objective|nll|elbo|cost)")),
    in_loops(pattern(r"-= (?:[^\n]|[\\(,]\n)*(?:[Ll]oss|criterion|objective|nll|elbo|cost)")),
    in_loops(pattern(r"append \( (?:[^\n]|[\\(,]\n)*(?:[Ll]oss|criterion|objective|nll|elbo|cost)")),
    in_loops(pattern(r"= [\w.]+ [+-] (?:[^\n]|[\\(,]\n)*(?:[Ll]oss|criterion|objective|nll|elbo|cost)")),
)
"""Where nothing in the file calls ``backward``, what is added must be called a loss, on the line of the operator."""


@on(cst.AugAssign, trigger=_TRIGGER)
def check_sum(node: cst.AugAssign, model: Model) -> Finding | None:
    """Report ``total += loss``."""
    if not isinstance(node.operator, (cst.AddAssign, cst.SubtractAssign)):
        return None
    return _finding(node, node.target, node.value, model)


@on(cst.Assign, trigger=_TRIGGER)
def check_reassigned(node: cst.Assign, model: Model) -> Finding | None:
    """Report ``total = total + loss``."""
    match node:
        case cst.Assign(targets=[cst.AssignTarget(target=target)], value=cst.BinaryOperation() as sum_) if isinstance(
            sum_.operator, (cst.Add, cst.Subtract)
        ):
            name = dotted(target)
            if name is None:
                return None
            if dotted(sum_.left) == name:
                return _finding(node, target, sum_.right, model)
            if (
                dotted(sum_.right) == name
                and isinstance(sum_.operator, cst.Add)
                and model.calls_backward(model.tree.module)
            ):
                return _finding(node, target, sum_.left, model)
    return None


@on(cst.Call, trigger=_TRIGGER)
def check_append(node: cst.Call, model: Model) -> Finding | None:
    """Report ``losses.append(loss)``."""
    match node:
        case cst.Call(func=cst.Attribute(value=target, attr=cst.Name("append")), args=[cst.Arg(star="", value=value)]):
            if isinstance(model.tree.parent(node), cst.Expr):
                return _finding(node, target, value, model)
    return None


def _finding(node: cst.CSTNode, target: cst.BaseExpression, added: cst.BaseExpression, model: Model) -> Finding | None:
    loop = _loop(node, model)
    name = dotted(target)
    if loop is None or name is None:
        return None
    escapes = "." in name or model.leaves_function(name, node)
    backward = model.calls_backward(loop)
    if dotted(added) not in model.backwarded(loop) and (escapes or not (backward or _is_called_loss(added, model))):
        return None  # before the model is asked, which costs more
    value = model.value(added)
    if model.grad_enabled(node) != Tri.YES or not (_is_loss(value, added) or _is_backwarded(value, added, loop, model)):
        return None
    if not _starts_outside(name, loop, model) or model.reaches_backward(name, node):
        return None
    if escapes and not _is_backwarded(value, added, loop, model):
        return None  # whoever gets it may call `backward()` on it
    if not backward and not _is_plainly_a_loss(value, added, model):
        return None
    message = f"`{name}` keeps the graph of every iteration alive; add `.detach()` (or `.item()` for a number)"
    # what is a number on some path has no `.detach()`
    if value.kind & ~(Kind.TENSOR | Kind.UNKNOWN):
        return Finding(node, message, receiver=added)
    number = Fix("Add `.item()`, for a number", _called(added, "item"), Applicability.UNSAFE)
    fix = Fix("Add `.detach()`", _called(added, "detach"), alternatives=(number,))
    return Finding(node, message, fix, receiver=added)


def _is_loss(value: Value, node: cst.BaseExpression) -> bool:
    """Whether a value is a scalar that carries a graph."""
    if value.kind & ~(Kind.TENSOR | Kind.UNKNOWN | Kind.NONE | Kind.NUMBER) or not value.kind & Kind.TENSOR:
        return False
    if value.grad != Tri.YES or not value.dtype & Dtype.FLOAT or value.ndim == Ndim.MORE:
        return False
    return value.ndim == Ndim.ZERO or bool(_LOSS.search(_text(node)))


def _is_plainly_a_loss(value: Value, added: cst.BaseExpression, model: Model) -> bool:
    """Whether a sum outside a training loop is one of losses: torch says it is a tensor, its name says the rest."""
    return (value.strength or Strength.NAME) >= Strength.SIGNATURE and _is_called_loss(added, model)


def _is_called_loss(added: cst.BaseExpression, model: Model) -> bool:
    code = model.tree.code(added)
    return "\n" not in code and bool(_LOSS.search(code))


def _is_backwarded(value: Value, added: cst.BaseExpression, loop: cst.CSTNode, model: Model) -> bool:
    """Whether ``backward()`` is called in the loop on the very thing that is added: then it is a loss with a graph."""
    name = dotted(added)
    if name is None or not value.kind & (Kind.TENSOR | Kind.UNKNOWN) or value.grad == Tri.NO:
        return False
    return name in model.backwarded(loop)


def _text(node: cst.BaseExpression) -> str:
    match node:
        case cst.Name(value=name):
            return name
        case cst.Attribute(value=value, attr=cst.Name(value=name)):
            return f"{_text(value)}.{name}"
        case cst.Call(func=func):
            return _text(func)
        case cst.BinaryOperation(left=left, right=right):
            return f"{_text(left)} {_text(right)}"
        case cst.Subscript(value=value):
            return _text(value)
    return ""


def _loop(node: cst.CSTNode, model: Model) -> cst.For | cst.While | None:
    """The outermost loop of the same function around a node."""
    found: cst.For | cst.While | None = None
    for up in model.tree.ancestors(node):
        if isinstance(up, (cst.For, cst.While)):
            found = up
        if isinstance(up, (cst.FunctionDef, cst.Lambda, cst.ClassDef)):
            break
    return found


def _starts_outside(name: str, loop: cst.For | cst.While, model: Model) -> bool:
    """Whether what is added to lives longer than one iteration of the innermost loop that sets it up.

    A sum that every iteration starts anew and that one iteration's inner loop fills is alive for that iteration only;
    it counts as accumulated over the inner loop.
    """
    if "." in name:
        return True
    return any(
        not model.tree.is_inside(site, loop) or _is_inside_inner_loop(model, name, site, loop)
        for site in model.bindings_of(name, loop)
    )


def _called(node: cst.BaseExpression, method: str) -> tuple[Edit, ...]:
    if node.lpar or isinstance(node, (cst.Name, cst.Attribute, cst.Call, cst.Subscript)):
        return (edit.insert_after(node, f".{method}()"),)
    return edit.insert_before(node, "("), edit.insert_after(node, f").{method}()")


def _is_inside_inner_loop(model: Model, name: str, site: cst.CSTNode, loop: cst.CSTNode) -> bool:
    """Whether inside ``loop`` the name is set up before an inner loop that goes on using it."""
    tree = model.tree
    block = tree.parent(tree.statement(site))
    for use in model.references(name, model.scopes.scope_of(site)):
        inner = tree.enclosing(use, cst.For, cst.While)
        if inner is not None and inner is not loop and block is not None and not tree.is_inside(site, inner):
            if tree.is_inside(inner, loop) and tree.is_inside(inner, block):
                return True
    return False
