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
     return w.grad

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
from torchlint.model.syntax import assignment_of, call_of, calls_method, dotted, keyword, positional
from torchlint.model.torch import library
from torchlint.model.torch.arguments import literal_bool
from torchlint.model.torch.schema import TensorResult
from torchlint.rule import Finding, Group, Severity, all_of, on, pattern, word
from torchlint.rules.api import names

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
        case cst.Attribute(value=loss, attr=cst.Name("requires_grad") as name) if _is_detached(loss, model):
            return Finding(name, _SAID, receiver=loss)
    return None


@on(cst.Call, trigger=all_of(pattern(r"\brequires_grad_ \("), word("backward")))
def check_method(node: cst.Call, model: Model) -> Finding | None:
    """Report `loss.requires_grad_()`."""
    match node.func:
        case cst.Attribute(value=loss, attr=cst.Name("requires_grad_") as name):
            is_asked = not node.args or literal_bool(node.args[0].value) is True
            return Finding(name, _SAID, receiver=loss) if is_asked and _is_detached(loss, model) else None
    return None


@on(cst.Call, trigger=all_of(pattern(r"\brequires_grad ="), word("backward")))
def check_constructor(node: cst.Call, model: Model) -> Finding | None:
    """Report `loss = torch.tensor(loss, requires_grad=True)`."""
    asked = keyword(node.args, "requires_grad")
    if asked is None or literal_bool(asked.value) is not True or not isinstance(node.func, (cst.Name, cst.Attribute)):
        return None
    if not _is_computed(node.args[0].value, model) or not _is_backpropagated(node, model):
        return None
    found = names.resolve(node.func, model)
    return Finding(node.func, _SAID) if found is not None and found[1] in _MAKERS else None


def _is_computed(node: cst.BaseExpression, model: Model) -> bool:
    """Whether a value is no constant: there are names in it, in calls or arithmetic, or it is one."""
    return any(isinstance(each, cst.Name) for each in model.tree.walk(node))


def _is_backpropagated(made: cst.Call, model: Model) -> bool:
    """Whether `backward()` is called on what a call makes: on the spot, or by its name."""
    parent = model.tree.parent(made)
    if isinstance(parent, cst.Attribute):
        return parent.attr.value == "backward" and call_of(parent, model.tree) is not None
    if not isinstance(parent, cst.Assign) or len(parent.targets) != 1:
        return False
    return _calls_backward(parent.targets[0].target, model)


def _is_detached(loss: cst.BaseExpression, model: Model) -> bool:
    """Whether a computed tensor that is seen to have no graph is made a leaf, and then begun with."""
    if not _calls_backward(loss, model) or _is_asked(loss, model) or _is_in_test(loss, model):
        return False
    if not isinstance(loss, cst.Name) or not _is_bound_to_computed(loss, model):
        return False
    assigns = [assignment_of(each, model.tree) for each in model.bindings_of(loss.value, loss)]
    values = [each.value for each in assigns if each is not None]
    return bool(values) and all(_is_cut_off(each, model) for each in values)


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


def _is_bound_to_computed(loss: cst.Name, model: Model) -> bool:
    """Whether none of the values of a name is made on the spot by a factory, or a constant."""
    for target in model.bindings_of(loss.value, loss):
        assign = assignment_of(target, model.tree)
        if assign is None:
            continue
        if not _is_computed(assign.value, model):
            return False
        if isinstance(assign.value, cst.Call) and isinstance(assign.value.func, (cst.Name, cst.Attribute)):
            name = model.qualified(assign.value.func)
            result = library.function(name)
            if isinstance(result, TensorResult) and result.grad == "factory" and name not in _MAKERS:
                return False
    return True


def _backward_of(model: Model) -> dict[tuple[str, int], list[int]]:
    """The ranks of the calls of ``backward()``, by the path it is called on and the ``id`` of the scope.

    Not of those that are given a gradient: a leaf gets its own that way, without any loss.
    """
    found: dict[tuple[str, int], list[int]] = {}
    for node in model.tree.attributes("backward"):
        path, call = dotted(node.value), call_of(node, model.tree)
        if path is not None and call is not None and not _is_given_gradient(call):
            found.setdefault((path, id(model.scopes.scope_of(node))), []).append(model.tree.order(node))
    return found


def _is_given_gradient(call: cst.Call) -> bool:
    return positional(call.args, 0) is not None or keyword(call.args, "gradient") is not None


def _calls_backward(loss: cst.BaseExpression, model: Model) -> bool:
    """Whether `backward()` is called on a name or path behind a place in its function, before it is bound again."""
    path, at, scope = dotted(loss), model.tree.order(loss), model.scopes.scope_of(loss)
    if path is None:
        return False
    begun = [order for order in model.remember(_backward_of).get((path, id(scope)), ()) if order > at]
    if not begun or "." in path:
        return bool(begun)
    bound = [model.tree.order(node) for node in model.targets(path, scope)]
    return not any(at < each < min(begun) for each in bound)
