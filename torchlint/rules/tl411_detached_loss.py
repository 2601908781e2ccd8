r"""A loss that is told to require grad is a leaf: nothing before it learns.

`loss.requires_grad = True` makes the error go away that `backward()` raises on a loss without a graph, and nothing
else. The gradient ends at the loss itself. What was computed before it, under `no_grad`, through `.item()`, NumPy or
`argmax`, is not part of any graph.

Off unless selected (`--extend-select TL411`): only what is seen to have no graph is reported. Nothing of that kind
stood in nearly 400 repositories and 50 packages, so nothing shows how often it is right there.

```diff run
 import torch
 from torch import nn

 net = nn.Linear(2, 1)
 values = [net(torch.ones(2)).item() for _ in range(3)]
!loss = torch.tensor(sum(values), requires_grad=True)
 loss.backward()
 assert net.weight.grad is None
```

```diff
 import torch
 import torch.nn.functional as F

 def train(net, x, y):
     loss = F.cross_entropy(net(x).argmax(1).float(), y)
!    loss.requires_grad = True
     loss.backward()

 def again(net, x, y):
     with torch.no_grad():
         loss = F.mse_loss(net(x), y)
!    loss.requires_grad_()
     loss.backward()

 class Trainer:
     def step(self, net, x, y, scaler):
!        F.l1_loss(net(x).detach(), y).requires_grad_(True).backward()
         self.loss = F.l1_loss(net(x).detach(), y)
!        self.loss.requires_grad = True
         self.loss.backward()
         loss = F.l1_loss(net(x).detach(), y)
!        loss.requires_grad = True
         scaler.scale(loss).backward()

     def several(self, losses, accelerator):
!        loss = torch.tensor(losses, requires_grad=True).mean()
         loss.backward()
!        total = torch.tensor([each.item() for each in losses], requires_grad=True)
         accelerator.backward(total / 2)
```

Leaves that something is computed from, a loss that somebody else goes on with, and one that has or may have a graph, to
which the line does nothing, are left alone:

```diff
 import torch
 import torch.nn.functional as F

 def optimise(x, y):
     w = torch.tensor(x.mean(), requires_grad=True)
     loss = F.mse_loss(w * x, y)
     loss.backward()
     start = torch.ones(1)
     start.requires_grad_()
     start.backward()
     x.requires_grad_()
     x = x * 2
     x.backward()
     out = torch.tensor(x.mean().item(), requires_grad=True)
     out.backward()
     return w.grad, out.grad

 def needless(net, criterion, x, y):
     loss = criterion(net(x), y)
     loss.requires_grad = True
     loss.backward()

 def step(net, x, y):
     loss = F.mse_loss(net(x), y)
     loss.requires_grad = True
     return loss
```

## When the fix is unsafe

There is none: the loss has to be computed from the parameters, by what autograd knows.

Autograd mechanics: <https://docs.pytorch.org/docs/stable/notes/autograd.html>.
"""

from __future__ import annotations

import libcst as cst

from torchlint.model import Certainty, Kind, Model, Tri
from torchlint.model.bindings import last_assigned
from torchlint.model.syntax import assigned_value, calls_method, dotted, keyword, last_name
from torchlint.model.torch import library
from torchlint.model.torch.arguments import literal_bool
from torchlint.model.torch.schema import TensorResult
from torchlint.rule import Finding, Group, Severity, all_of, on, pattern, word
from torchlint.rules.api import names
from torchlint.rules.shared import begun

BY_DEFAULT = False
GROUP = Group.CORRECTNESS
SEVERITY = Severity.ERROR

_SAID = "this loss has no graph: `requires_grad` is set by hand, so `backward()` reaches no parameter"
_CUTTING = frozenset(("argmax", "argmin", "argsort", "detach", "item", "numpy", "tolist"))
"""Methods whose results have no graph, whatever they are called on."""
_FAR = 12
"""How many steps are gone back to what a loss is computed from."""
_MAKERS = ("torch.tensor", "torch.as_tensor", "torch.asarray", "torch.autograd.Variable")


@on(cst.AssignTarget, trigger=all_of(pattern(r"\brequires_grad ="), word("backward")))
def check_attribute(node: cst.AssignTarget, model: Model) -> Finding | None:
    """Report `loss.requires_grad = True`."""
    assign = model.tree.parent(node)
    if not isinstance(assign, cst.Assign) or literal_bool(assign.value) is not True:
        return None
    match node.target:
        case cst.Attribute(value=loss, attr=cst.Name("requires_grad") as name) if _is_detached(loss, None, model):
            return Finding(name, _SAID, receiver=loss)
    return None


@on(cst.Call, trigger=all_of(pattern(r"\brequires_grad_ \("), word("backward")))
def check_method(node: cst.Call, model: Model) -> Finding | None:
    """Report `loss.requires_grad_()`."""
    match node.func:
        case cst.Attribute(value=loss, attr=cst.Name("requires_grad_") as name):
            is_asked = not node.args or literal_bool(node.args[0].value) is True
            return Finding(name, _SAID, receiver=loss) if is_asked and _is_detached(loss, node, model) else None
    return None


@on(cst.Call, trigger=all_of(pattern(r"\brequires_grad ="), word("backward")))
def check_constructor(node: cst.Call, model: Model) -> Finding | None:
    """Report `loss = torch.tensor(loss, requires_grad=True)`."""
    asked = keyword(node.args, "requires_grad")
    if asked is None or literal_bool(asked.value) is not True or not isinstance(node.func, (cst.Name, cst.Attribute)):
        return None
    if not _is_computed(node.args[0].value, model) or not begun.is_begun_with(node, model):
        return None
    found = names.resolve(node.func, model) if not _is_in_test(node, model) else None
    return Finding(node.func, _SAID) if found is not None and found[1] in _MAKERS else None


def _is_computed(node: cst.BaseExpression, model: Model) -> bool:
    """Whether a value is no constant: there are names in it, in calls or arithmetic, or it is one."""
    return any(isinstance(each, cst.Name) for each in model.tree.walk(node))


def _is_detached(loss: cst.BaseExpression, made: cst.BaseExpression | None, model: Model) -> bool:
    """Whether a computed tensor that is seen to have no graph is made a leaf, and then begun with."""
    is_begun = begun.is_named_begun_with(loss, model) or (made is not None and begun.is_begun_with(made, model))
    if not is_begun or _is_asked(loss, model) or _is_in_test(loss, model):
        return False
    values = _bound_to(loss, model)
    return bool(values) and all(not _is_made_on_the_spot(each, model) and _is_cut_off(each, model) for each in values)


def _is_cut_off(value: cst.BaseExpression, model: Model) -> bool:
    """Whether a value, or what it is computed from first, is seen to have no graph: the prediction of a loss."""
    certainty = model.requires_grad(value)
    if certainty is not None and certainty >= Certainty.EXPECTED:
        return False
    node: cst.BaseExpression | None = value
    for _ in range(_FAR):
        if node is None:
            break
        seen = model.value(node)
        if (seen.kind == Kind.TENSOR and seen.grad == Tri.NO) or calls_method(node, _CUTTING):
            return True
        if isinstance(node, cst.Comparison):
            return True
        node = _first(node, model)
    return False


def _is_tensor(receiver: cst.BaseExpression, model: Model) -> bool:
    """Whether a method is called on what is computed, and not on a module that has a criterion."""
    return isinstance(receiver, (cst.Call, cst.BinaryOperation, cst.Subscript)) or model.is_tensor(receiver)


def _first(node: cst.BaseExpression, model: Model) -> cst.BaseExpression | None:
    """What an expression is computed from first."""
    match node:
        case cst.BinaryOperation(left=left):
            return left
        case cst.UnaryOperation(expression=inner) | cst.Subscript(value=inner):
            return inner
        case cst.Name():
            return model.ask(last_assigned, node)
        case cst.Call(func=cst.Attribute(value=receiver)) if _is_tensor(receiver, model):
            return receiver
        case cst.Call(args=[cst.Arg(value=first, star="", keyword=None), *_]):
            return first
    return None


def _is_in_test(loss: cst.BaseExpression, model: Model) -> bool:
    """Whether this is in a test, which wants `backward()` to run and nothing to learn."""
    scope = model.scopes.scope_of(loss)
    return isinstance(scope, cst.FunctionDef) and scope.name.value.startswith("test_")


def _is_asked(loss: cst.BaseExpression, model: Model) -> bool:
    """Whether a condition around a place asks for `loss.requires_grad`: there is a graph where there can be one."""
    path = dotted(loss)
    for up in model.tree.ancestors(loss):
        if isinstance(up, cst.FunctionDef):
            break
        if isinstance(up, cst.If) and path is not None:
            if any(dotted(each) == f"{path}.requires_grad" for each in model.tree.within(up.test, cst.Attribute)):
                return True
    return False


def _is_made_on_the_spot(value: cst.BaseExpression, model: Model) -> bool:
    """Whether a value is a constant, or made by a factory."""
    if not _is_computed(value, model):
        return True
    if not isinstance(value, cst.Call) or not isinstance(value.func, (cst.Name, cst.Attribute)):
        return False
    name = model.qualified(value.func)
    result = library.function(name)
    return isinstance(result, TensorResult) and result.grad == "factory" and name not in _MAKERS


def _bound_to(loss: cst.BaseExpression, model: Model) -> list[cst.BaseExpression]:
    """What a name or path is plainly assigned in its function; another expression is its own value."""
    path, scope = dotted(loss), model.scopes.scope_of(loss)
    if isinstance(loss, cst.Name):
        values = [assigned_value(each, model.tree) for each in model.bindings_of(loss.value, loss)]
    elif path is not None:
        targets = [each for each in model.tree.attributes(last_name(loss)) if dotted(each) == path]
        values = [assigned_value(each, model.tree) for each in targets if model.scopes.scope_of(each) is scope]
    else:
        return [loss] if isinstance(loss, cst.Call) else []
    return [each for each in values if each is not None]
