r"""A method that is named and not called does nothing: the parentheses are missing.

`optimizer.step` is a valid expression. Python evaluates it to a method, drops it and goes on: nothing is updated, no
gradient is cleared, `model.eval` leaves dropout on. As a condition a function is always true, and `torch.save` writes
the method, with the whole module it belongs to, where a dictionary of tensors was meant.

```diff run-differs
 import torch
 from torch import nn

 torch.manual_seed(0)
 net = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
 optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
 scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
 before = net[0].weight.detach().clone()
 loss = net(torch.ones(4, 2)).sum()
~optimizer.zero_grad
+optimizer.zero_grad()
 loss.backward()
~optimizer.step
+optimizer.step()
~scheduler.step
+scheduler.step()
~net.eval
+net.eval()
 has_learnt = not torch.equal(before, net[0].weight)
~device = "cuda" if torch.cuda.is_available else "cpu"
+device = "cuda" if torch.cuda.is_available() else "cpu"
```

An optimizer and `load_state_dict` raise when they are given a method; there the fix is safe.

```diff run-after
 import io
 import torch
 from torch import nn

 net, other = nn.Linear(2, 2), nn.Linear(2, 2)
-optimizer = torch.optim.Adam(net.parameters, lr=0.1)
+optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
-other.load_state_dict(net.state_dict)
+other.load_state_dict(net.state_dict())
```

```diff
 import torch
 from torch import nn

 net = nn.Linear(2, 2)
~torch.save(net.state_dict, "net.pt")
+torch.save(net.state_dict(), "net.pt")
~torch.save({"net": net.state_dict, "epoch": 3}, "all.pt")
+torch.save({"net": net.state_dict(), "epoch": 3}, "all.pt")
```

A method that is kept, passed on or compared is meant as one, and so is an attribute of that name:

```diff
 import inspect
 import torch
 from torch import nn

 class Data:
     def __init__(self, train):
         self.train = train

 class Frozen(nn.Module):
     def __init__(self):
         super().__init__()
         self.eval = True

 net = nn.Linear(2, 2)
 optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
 step = optimizer.step
 net.register_forward_hook(print)
 callbacks = [optimizer.step, net.eval]
 Data(True).train
 Frozen().eval
 net.weight.is_cuda
 net.weight.grad
 available = torch.cuda.is_available
 if available():
     print(inspect.signature(net.forward).parameters)

 def resume(checkpoint):
     net.load_state_dict(checkpoint.state_dict)
     try:
         optimizer.step
     except AttributeError:
         print("no optimizer")
```

In a notebook the last expression of a cell is shown, which is what it is for. `step`, `zero_grad`, `backward`, `train`
and `eval` are reported there as well: what they do was wanted, and a method shows nothing worth seeing.

## When the fix is unsafe

Where it runs today, for then the program does something else: what is written. It is safe where an optimizer or
`load_state_dict` is given the method, which raises. There is none where the method wants an argument
(`ReduceLROnPlateau.step(metric)`).

```diff
 import torch
 from torch.optim.lr_scheduler import ReduceLROnPlateau

 net = torch.nn.Linear(3, 3)
 optimizer = torch.optim.SGD(net.parameters(), 0.1)
 scheduler = ReduceLROnPlateau(optimizer)
!scheduler.step
```

`Optimizer.step`: <https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.step.html>.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint import edit
from torchlint.model import Kind, Model, Value
from torchlint.model.methods_called import calls_on
from torchlint.model.syntax import call_of, keyword, last_name
from torchlint.model.training import object_kind
from torchlint.rule import Finding, Fix, Group, Severity, all_of, any_of, on, pattern, word
from torchlint.rules.api import names
from torchlint.rules.shared.own_attributes import has_attribute
from torchlint.rules.shared.statements import is_probed

GROUP = Group.CORRECTNESS
SEVERITY = Severity.ERROR

_OF_TENSORS = frozenset(("backward", "cuda", "cpu", "detach_", "requires_grad_", "zero_"))
_OF_MODULES = frozenset(("train", "eval", "zero_grad", "cuda", "cpu", "half", "double", "requires_grad_"))
_OF_OPTIMIZERS = frozenset(("step", "zero_grad"))
_OF_OBJECTS = {"scheduler": frozenset(("step",)), "scaler": frozenset(("step", "update", "unscale_"))}

_SIGNS = {
    "step": ("zero_grad", "get_last_lr"),
    "zero_grad": ("step",),
    "train": ("parameters", "named_parameters"),
    "eval": ("parameters", "named_parameters"),
}
"""What else is called on an unknown object that has a method of this name."""

_STATES = frozenset(("state_dict", "parameters", "named_parameters"))

_STATEMENT = any_of(
    pattern(r"\bstep\b(?=[\t\x20)]*(?:[\r\n;#]|\Z))"),
    pattern(r"\bzero_grad\b(?=[\t\x20)]*(?:[\r\n;#]|\Z))"),
    pattern(r"\bbackward\b(?=[\t\x20)]*(?:[\r\n;#]|\Z))"),
    pattern(r"\btrain\b(?=[\t\x20)]*(?:[\r\n;#]|\Z))"),
    pattern(r"\beval\b(?=[\t\x20)]*(?:[\r\n;#]|\Z))"),
    pattern(r"\bcuda\b(?=[\t\x20)]*(?:[\r\n;#]|\Z))"),
    pattern(r"\bcpu\b(?=[\t\x20)]*(?:[\r\n;#]|\Z))"),
    pattern(r"\bhalf\b(?=[\t\x20)]*(?:[\r\n;#]|\Z))"),
    pattern(r"\bdouble\b(?=[\t\x20)]*(?:[\r\n;#]|\Z))"),
    pattern(r"\bdetach_\b(?=[\t\x20)]*(?:[\r\n;#]|\Z))"),
    pattern(r"\bzero_\b(?=[\t\x20)]*(?:[\r\n;#]|\Z))"),
    pattern(r"\brequires_grad_\b(?=[\t\x20)]*(?:[\r\n;#]|\Z))"),
    pattern(r"\bupdate\b(?=[\t\x20)]*(?:[\r\n;#]|\Z))"),
    pattern(r"\bunscale_\b(?=[\t\x20)]*(?:[\r\n;#]|\Z))"),
)


@on(cst.Expr, trigger=_STATEMENT)
def check_statement(node: cst.Expr, model: Model) -> Finding | None:
    """Report a statement that names a method and does not call it."""
    method = node.value
    if not isinstance(method, cst.Attribute) or method.attr.value not in _NAMES:
        return None
    if method.attr.value not in _ACTING and model.tree.is_shown(node):
        return None
    if not _has_method(method, model) or is_probed(node, model):
        return None
    said = f"`{method.attr.value}` is not called, so the statement does nothing"
    if _needs_arguments(method, model):
        return Finding(method.attr, said)
    return _finding(method, said, method)


NEEDING_ARGUMENTS = {
    "step": ("ReduceLROnPlateau", "LBFGS", "GradScaler"),
    "unscale_": ("GradScaler",),
}
"""The methods that take an argument, which only the author knows, by the classes of torch that have them."""


def _needs_arguments(node: cst.Attribute, model: Model) -> bool:
    """Whether a method is known to raise where it is called without arguments."""
    value = model.value(node.value)
    method = model.find_method(value.node, node.attr.value) if isinstance(value.node, cst.ClassDef) else None
    if method is not None:
        given = [*method.params.posonly_params, *method.params.params][1:]
        return any(each.default is None for each in (*given, *method.params.kwonly_params))
    return (value.ref or "").rpartition(".")[2] in NEEDING_ARGUMENTS.get(node.attr.value, ())


_ACTING = frozenset(("step", "zero_grad", "backward", "train", "eval"))
"""What nobody names to look at."""

_NAMES = _OF_TENSORS | _OF_MODULES | _OF_OPTIMIZERS | frozenset().union(*_OF_OBJECTS.values())


def _has_method(node: cst.Attribute, model: Model) -> bool:
    """Whether a torch object that is seen to be one has this method."""
    name, value = node.attr.value, model.value(node.value)
    if value.kind == Kind.MODULE:
        return name in _OF_MODULES and not has_attribute(value, name, model)
    if value.kind == Kind.OPTIMIZER:
        return name in _OF_OPTIMIZERS and not has_attribute(value, name, model)
    if value.kind == Kind.OBJECT:
        return name in _OF_OBJECTS.get(_role(value, model), ())
    if name in _OF_TENSORS and model.is_tensor(node.value):
        return True
    return value.kind == Kind.UNKNOWN and name in _SIGNS and model.ask(calls_on, node.value, _SIGNS[name])


def _role(value: Value, model: Model) -> str:
    """What kind of class an object is of."""
    if isinstance(value.node, cst.ClassDef):
        return model.class_kind(value.node)
    return object_kind(value)


_ASKED = frozenset(
    (
        "is_available",
        "is_initialized",
        "is_bf16_supported",
        "is_built",
        "is_grad_enabled",
        "is_scripting",
        "is_tracing",
        "is_compiling",
        "is_exporting",
        "is_in_onnx_export",
        "is_nccl_available",
        "is_gloo_available",
        "is_mpi_available",
        "is_torchelastic_launched",
        "is_autocast_enabled",
        "is_inference_mode_enabled",
        "is_anomaly_enabled",
    )
)
"""Functions of torch that say whether something is so."""

_CONDITION = pattern(
    r"\bis_(?:available|initialized|bf16_supported|built|grad_enabled|scripting|tracing|compiling|exporting|"
    r"in_onnx_export|nccl_available|gloo_available|mpi_available|torchelastic_launched|autocast_enabled|"
    r"inference_mode_enabled|anomaly_enabled)\b(?!\s*\()"
)
"""Where one of them is not called."""


@on(
    cst.If,
    cst.While,
    cst.IfExp,
    cst.Assert,
    cst.CompIf,
    cst.UnaryOperation,
    cst.BooleanOperation,
    trigger=any_of(
        _CONDITION,
        all_of(word("is_available"), pattern(r"\bis_available\b(?!\s*\()")),
        all_of(word("is_initialized"), pattern(r"\bis_initialized\b(?!\s*\()")),
    ),
)
def check_condition(
    node: cst.If | cst.While | cst.IfExp | cst.Assert | cst.CompIf | cst.UnaryOperation | cst.BooleanOperation,
    model: Model,
) -> Iterator[Finding]:
    """Report a function of torch that is asked whether it is true."""
    for asked in _asked(node, model):
        if not isinstance(asked, (cst.Name, cst.Attribute)) or not names.is_of_import(asked, model):
            continue
        if names.is_called(asked, _ASKED, model):
            ref = model.qualified(asked)
            if ref is not None and ref.startswith("torch."):
                yield _finding(asked, f"`{ref}` is a function, which is always true; call it", _last(asked))


def _asked(node: cst.CSTNode, model: Model) -> tuple[cst.BaseExpression, ...]:
    """The expressions of which a node wants to know whether they are true."""
    match node:
        case cst.UnaryOperation(operator=cst.Not(), expression=test):
            return (test,)
        case cst.If(test=test) | cst.While(test=test) | cst.IfExp(test=test) | cst.Assert(test=test):
            return (test,)
        case cst.CompIf(test=test):
            return (test,)
        case cst.BooleanOperation(left=left, operator=cst.And(), right=right):
            return left, right
        case cst.BooleanOperation(left=left, operator=cst.Or(), right=right):
            return (left, right) if not _is_chosen(node, model) else (left,)
    return ()


def _is_chosen(node: cst.BooleanOperation, model: Model) -> bool:
    """Whether `given or torch.cuda.is_available` chooses the function to call: what it is bound to is called."""
    parent = model.tree.parent(node)
    if call_of(node, model.tree) is not None:
        return True
    match parent:
        case cst.Assign(targets=[cst.AssignTarget(target=target)]):
            return any(call_of(use, model.tree) is not None for use in model.all_called(last_name(target)))
    return False


_STATE = any_of(
    pattern(r"\. state_dict\b(?=\s*[,)}\]])"),
    pattern(r"\. parameters\b(?=\s*[,)}\]])"),
    pattern(r"\. named_parameters\b(?=\s*[,)}\]])"),
)


@on(cst.Call, trigger=_STATE)
def check_argument(node: cst.Call, model: Model) -> Iterator[Finding]:
    """Report `net.state_dict` that is saved, and methods that `load_state_dict` or an optimizer is given."""
    if not any(True for arg in node.args for _ in _states(arg.value, model)):
        return
    name = names.called_name(node.func, model)
    if name == "load_state_dict":
        wanted, raises = _given(node, "state_dict"), True
    elif name == "save" and model.qualified(node.func) == "torch.save":
        wanted, raises = _given(node, "obj"), False
    elif _mentions_state(node) and model.value(node).kind == Kind.OPTIMIZER:
        wanted, raises = _given(node, "params"), True
    else:
        return
    for state in _states(wanted, model) if wanted is not None else ():
        value = model.value(state.value)
        is_known = value.kind in (Kind.MODULE, Kind.OPTIMIZER) or _role(value, model) in _OF_OBJECTS
        if is_known and not has_attribute(value, state.attr.value, model):
            said = f"`{state.attr.value}` is not called: "
            said += f"`{name}` raises on a method" if raises else "the method is saved, with the object it belongs to"
            yield _finding(state, said, state.attr, raises=raises)


def _mentions_state(node: cst.Call) -> bool:
    return any(last_name(arg.value) in _STATES for arg in node.args)


def _given(node: cst.Call, name: str) -> cst.BaseExpression | None:
    """The first argument, or the one of that name."""
    arg = keyword(node.args, name)
    if arg is None and node.args and node.args[0].keyword is None and not node.args[0].star:
        arg = node.args[0]
    return arg.value if arg is not None else None


def _states(node: cst.BaseExpression, model: Model, *, is_bound: bool = False) -> Iterator[cst.Attribute]:
    """The methods that give a state and are not called, in an expression and in the displays it is made of."""
    match node:
        case cst.Attribute(value=cst.Call(func=func)) if last_name(func) == "signature":
            return  # that of `inspect`, whose `parameters` are none of tensors
        case cst.Attribute(attr=cst.Name(value=name)) if name in _STATES:
            yield node
        case cst.Dict(elements=elements) | cst.Tuple(elements=elements) | cst.List(elements=elements):
            for element in elements:
                yield from _states(element.value, model, is_bound=is_bound)
        case cst.Name(value=name) if not is_bound:
            bound = model.bindings_of(name, node)
            target = model.tree.parent(bound[0]) if len(bound) == 1 else None
            assign = model.tree.parent(target) if isinstance(target, cst.AssignTarget) else None
            if isinstance(assign, cst.Assign) and isinstance(assign.value, cst.Dict):
                yield from _states(assign.value, model, is_bound=True)


def _last(node: cst.Name | cst.Attribute) -> cst.CSTNode:
    return node.attr if isinstance(node, cst.Attribute) else node


def _finding(named: cst.BaseExpression, said: str, at: cst.CSTNode, *, raises: bool = False) -> Finding:
    fix = Fix("Call it", (edit.insert_after(named, "()"),))
    if not raises:
        fix = fix.doubted("the method runs now, which it never did")
    at = at.attr if isinstance(at, cst.Attribute) else at
    return Finding(at, said, fix)
