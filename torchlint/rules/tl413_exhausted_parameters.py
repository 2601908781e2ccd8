r"""`net.parameters()` is an iterator: the second loop over it gets nothing.

It is a generator. An optimizer that is made of it takes all there is, so clipping the same name afterwards clips
nothing, and says nothing. A second optimizer raises, for it has no parameters.

```diff run-differs
 import torch
 from torch import nn

 net = nn.Linear(2, 1)
 nn.init.ones_(net.weight)
~params = net.parameters()
+params = list(net.parameters())
 optimizer = torch.optim.SGD(params, lr=1.0)
 net(torch.full((1, 2), 1000.0)).sum().backward()
 torch.nn.utils.clip_grad_norm_(params, 1.0)
 optimizer.step()
 weight = net.weight.detach().clone()
 del params
```

So are `filter(…)` and generator expressions, and one that is made before a loop is empty in its second round:

```diff run-differs
 import torch
 from torch import nn

 net = nn.Linear(2, 1)
~trained = filter(lambda p: p.requires_grad, net.parameters())
+trained = list(filter(lambda p: p.requires_grad, net.parameters()))
~weights = (p for name, p in net.named_parameters() if "weight" in name)
+weights = list((p for name, p in net.named_parameters() if "weight" in name))
 optimizer = torch.optim.SGD([{"params": weights}], lr=1.0)
 sizes = [p.numel() for p in weights]
 norms = []
 for epoch in range(2):
     net(torch.ones(1, 2)).sum().backward()
     norms.append(nn.utils.clip_grad_norm_(trained, 1.0).item())
 del trained, weights
```

Lists, one use on each path, a new one in each round, and what takes one element after the other:

```diff
 import torch
 from torch import nn

 net = nn.Linear(2, 1)

 def make(name):
     params = net.parameters()
     if name == "sgd":
         optimizer = torch.optim.SGD(params, lr=0.1)
     if name == "adam":
         optimizer = torch.optim.Adam(params)
     return optimizer

 def once_each():
     params = net.parameters()
     weight, bias = next(params), next(params)
     params = list(net.parameters())
     for epoch in range(3):
         nn.utils.clip_grad_norm_(params, 1.0)
         fresh = net.parameters()
         nn.utils.clip_grad_norm_(fresh, 1.0)
     params = filter(lambda p: p.requires_grad, net.parameters())
     params = list(params)
     return torch.optim.SGD(params, lr=0.1), params

 def chosen(name):
     params = net.parameters()
     optimizer = torch.optim.Adam(params) if name == "adam" else torch.optim.SGD(params, lr=0.1)
     params = net.parameters()
     optimizer = name == "adam" and torch.optim.Adam(params) or torch.optim.SGD(params, lr=0.1)
     params = net.parameters()
     makers = {"adam": lambda: torch.optim.Adam(params), "sgd": lambda: torch.optim.SGD(params, lr=0.1)}
     weights = net.parameters()
     return optimizer, makers[name](), list(zip(weights, weights))
```

Several that are made at once, and a choice by what has used it up:

```diff
 import torch
 from torch import nn

 def average(net: nn.Module, slow: nn.Module, batches):
~    fast, averaged = net.parameters(), slow.parameters()
+    fast, averaged = list(net.parameters()), list(slow.parameters())
     for x in batches:
         for p, q in zip(fast, averaged):
             q.data.lerp_(p.data, 0.01)

 def choose(net: nn.Module):
~    params = net.parameters()
+    params = list(net.parameters())
     return torch.optim.SGD(params, lr=0.1) if sum(p.numel() for p in params) > 10 else torch.optim.Adam(params)
```

## When the fix is unsafe

Always: what came second has something to do then.

`Module.parameters`: <https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.parameters>.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint import edit
from torchlint.model import Kind, Model
from torchlint.model.bindings import bound_value, pairs
from torchlint.model.syntax import assigned_value, last_name, last_statement
from torchlint.rule import Applicability, Finding, Fix, Group, Severity, any_of, on, word
from torchlint.rules.api import names
from torchlint.rules.shared import order
from torchlint.rules.shared.consumers import consumer

GROUP = Group.CORRECTNESS
SEVERITY = Severity.ERROR

_METHODS = ("parameters", "named_parameters")
_LAZY = frozenset(("filter", "map", "chain", "from_iterable", "zip", "enumerate"))
"""What makes a generator of others."""


@on(cst.Assign, trigger=any_of(word("parameters"), word("named_parameters")))
def check(node: cst.Assign, model: Model) -> Iterator[Finding]:
    """Report generators of parameters that are used up when they are used again."""
    for target, value in pairs(node):
        if _receiver(value, model) is not None and id(value) in _used_up_by(target, node, model):
            said = "this iterator is used a second time, when nothing is left in it; make a list of it"
            yield Finding(value, said, _fix(value, model))


def _fix(value: cst.BaseExpression, model: Model) -> Fix | None:
    if not names.is_builtin("list", value, model):
        return None
    edits = edit.insert_before(value, "list("), edit.insert_after(value, ")")
    return Fix(
        "Make a list", edits, Applicability.UNSAFE, risk="the second use gets the parameters now, and got none so far"
    )


def _used_up_by(target: cst.BaseExpression, node: cst.Assign, model: Model) -> frozenset[int]:
    """The generators that a name or attribute is bound to and that are used again when nothing is left."""
    match target:
        case cst.Name(value=name):
            return model.remember(_names_used_up, model.scopes.scope_of(node), name)
        case cst.Attribute(value=cst.Name("self"), attr=cst.Name(value=name)):
            cls = model.tree.enclosing(node, cst.ClassDef)
            return model.remember(_attributes_used_up, cls, name) if isinstance(cls, cst.ClassDef) else frozenset()
    return frozenset()


def _receiver(node: cst.BaseExpression, model: Model) -> cst.BaseExpression | None:
    """The module in what makes a generator of its parameters."""
    match node:
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name("parameters" | "named_parameters"))):
            return (
                owner if model.value(node).kind == Kind.CONTAINER and not _is_overridden(node, owner, model) else None
            )
        case cst.Call(func=func, args=args) if last_name(func) in _LAZY:
            return next((found for arg in args if (found := _receiver(arg.value, model)) is not None), None)
        case cst.GeneratorExp(for_in=cst.CompFor(iter=source)):
            return _receiver(source, model)
    return None


def _is_overridden(call: cst.Call, owner: cst.BaseExpression, model: Model) -> bool:
    """Whether a class of the project has a `parameters()` of its own, which may give a list."""
    value = model.value(owner)
    if isinstance(value.node, cst.ClassDef):
        return any(model.find_method(value.node, name) is not None for name in _METHODS)
    return value.kind != Kind.MODULE and model.remember(_defines_parameters)


def _defines_parameters(model: Model) -> bool:
    return any(each.name.value in _METHODS for each in model.tree.all(cst.FunctionDef))


def _names_used_up(model: Model, scope: cst.FunctionDef | cst.Module, name: str) -> frozenset[int]:
    """The generators that a name is bound to and that are used again when nothing is left."""
    uses: list[cst.BaseExpression] = list(model.references(name, scope))
    return _used_up(uses, scope, model)


def _attributes_used_up(model: Model, cls: cst.ClassDef, name: str) -> frozenset[int]:
    """The same of an attribute of a class."""
    found: set[int] = set()
    uses: list[cst.BaseExpression] = [
        each
        for each in model.tree.attributes(name)
        if isinstance(each.value, cst.Name)
        and each.value.value == "self"
        and model.tree.enclosing(each, cst.ClassDef) is cls
    ]
    for scope in {id(each): each for use in uses for each in (model.scopes.scope_of(use),)}.values():
        found |= _used_up(uses, scope, model)
    return frozenset(found)


def _used_up(uses: list[cst.BaseExpression], scope: cst.FunctionDef | cst.Module, model: Model) -> frozenset[int]:
    """The generators made in a scope that are gone through twice, here or in other functions."""
    tree, found = model.tree, set[int]()
    here = [use for use in uses if model.scopes.scope_of(use) is scope]
    here.sort(key=lambda use: (tree.order(tree.statement(use)), model.is_target(use), tree.order(use)))
    made: cst.BaseExpression | None = None
    first: cst.BaseExpression | None = None
    by: set[str] = set()
    for use in here:
        if model.is_target(use):
            made, first, by = _generator(use, model), None, set()
            continue
        kind = consumer(use, model) if made is not None else None
        if made is None or kind is None:
            continue
        by.add(kind)
        is_second = first is not None and _is_used_again(use, first, model)
        if (is_second or _is_used_each_round(use, made, model)) and _is_certain(made, by, model):
            found.add(id(made))
        first = use
    bound = [use for use in here if model.is_target(use)]
    if len(bound) == 1 and made is not None and first is not None and order.is_in_same_suite(first, made, model):
        for use in uses:
            kind = consumer(use, model) if _is_elsewhere(use, scope, model) else None
            if kind is not None and _is_certain(made, {*by, kind}, model):
                found.add(id(made))
    return frozenset(found)


def _generator(target: cst.BaseExpression, model: Model) -> cst.BaseExpression | None:
    """The generator of parameters that a target is bound to."""
    if isinstance(target, cst.Name):
        value = bound_value(target, model.tree)
    else:
        value = assigned_value(target, model.tree)
    return value if value is not None and _receiver(value, model) is not None else None


def _is_used_again(use: cst.BaseExpression, first: cst.BaseExpression, model: Model) -> bool:
    """Whether each path to a use has used it first, and the two do not take elements in turn: `zip(it, it)`."""
    if not order.is_always_before(first, use, model):
        return False
    call = _given_to(use, model)
    return call is None or call is not _given_to(first, model)


def _given_to(use: cst.BaseExpression, model: Model) -> cst.CSTNode | None:
    """The call that a generator is an argument of."""
    arg = model.tree.parent(use)
    return model.tree.parent(arg) if isinstance(arg, cst.Arg) else None


def _is_used_each_round(use: cst.BaseExpression, made: cst.CSTNode, model: Model) -> bool:
    """Whether a loop goes through a generator in each of its rounds that was made outside of it."""
    loop = order.loop_of(use, model)
    if loop is None or model.tree.is_inside(made, loop) or order.is_conditional(use, loop, model):
        return False
    return not isinstance(last_statement(loop.body), (cst.Break, cst.Return, cst.Raise))


def _is_elsewhere(use: cst.BaseExpression, scope: cst.FunctionDef | cst.Module, model: Model) -> bool:
    """Whether another function that is called later names the same."""
    around: cst.CSTNode | None = model.scopes.scope_of(use)
    if around is scope or not isinstance(around, cst.FunctionDef):
        return False
    while isinstance(use, cst.Name) and isinstance(around, cst.FunctionDef) and around is not scope:
        if use.value in model.scopes.locals_of(around):
            return False
        around = model.tree.enclosing(around, cst.FunctionDef)
    return True


def _is_certain(made: cst.BaseExpression, by: set[str], model: Model) -> bool:
    """Whether it is a generator of torch: it is a module's, or given to a function of torch."""
    owner = _receiver(made, model)
    return "torch" in by or (owner is not None and model.value(owner).kind == Kind.MODULE)
