r"""`best = net.state_dict()` is no copy: it changes as the network goes on learning.

The dictionary holds the tensors of the network themselves. After more steps they have other values, so what is loaded,
saved or returned in the end is the last state and not the best one. The same goes for `best = net`.

Off unless selected (`--extend-select TL412`): in nearly 400 repositories and 50 packages it has reported 14 places, of
which 13 are mistakes, and one is a first state that is replaced before anybody reads it. That is too few to be sure.

```diff run-differs
+import copy
 import torch
 from torch import nn

 torch.manual_seed(0)
 net = nn.Linear(2, 1)
 optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
~first = net.state_dict()
+first = copy.deepcopy(net.state_dict())
 best_loss = float("inf")
 for epoch in range(5):
     loss = net(torch.ones(4, 2)).pow(2).mean()
     if loss.item() < best_loss:
         best_loss = loss.item()
~        best_state = net.state_dict()
+        best_state = copy.deepcopy(net.state_dict())
     optimizer.zero_grad()
     loss.backward()
     optimizer.step()
 net.load_state_dict(best_state)
 best = net.weight.detach().clone()
 net.load_state_dict(first)
```

What is kept in an object, to be loaded again by another method, and the module itself:

```diff
 import copy
 import torch
 from torch import nn

 class EarlyStopping:
     def __init__(self, model: nn.Module):
         self.model = model
         self.best = None

     def update(self, loss, model: nn.Module):
         if loss < self.best_loss:
~            self.best = model.state_dict()
+            self.best = copy.deepcopy(model.state_dict())

     def restore(self, model: nn.Module):
         model.load_state_dict(self.best)

 def fit(net: nn.Module, optimizer: torch.optim.Optimizer, batches, score):
     best = None
     for x in batches:
         net(x).sum().backward()
         optimizer.step()
         optimizer.zero_grad()
         if score(net) > 0.9:
~            best = net
+            best = copy.deepcopy(net)
     return best
```

What is copied, written to a file at once, loaded into another module at once, or read before anything changes, is
right:

```diff
 import copy
 import torch
 from torch import nn

 def fit(net: nn.Module, other: nn.Module, optimizer: torch.optim.Optimizer, batches):
     other.load_state_dict(net.state_dict())
     state = net.state_dict()
     state["weight"].zero_()
     net.load_state_dict(state)
     for epoch, x in enumerate(batches):
         net(x).sum().backward()
         optimizer.step()
         optimizer.zero_grad()
         best = copy.deepcopy(net.state_dict())
         if epoch % 10 == 0:
             checkpoint = {"net": net.state_dict(), "epoch": epoch}
             torch.save(checkpoint, "net.pt")
     last = net.state_dict()
     return best, last

 def keep(net: nn.Module, optimizer: torch.optim.Optimizer, batches, score):
     for x in batches:
         net(x).sum().backward()
         optimizer.step()
         optimizer.zero_grad()
         if score(net) > 0.9:
             best = copy.deepcopy(net).cpu().state_dict()
     return best

 def distill(teacher: nn.Module, reference: nn.Module, batches, optimizer: torch.optim.Optimizer):
     student = nn.Linear(2, 2)
     reference.requires_grad_(False)
     mine = torch.optim.SGD(student.parameters(), lr=0.1)
     first, second = teacher.state_dict(), reference.state_dict()
     for x in batches:
         student(x).sum().backward()
         mine.step()
     other = nn.Linear(2, 2)
     other.load_state_dict(first)
     for x in batches:
         optimizer.step()
     return other, second
```

Of several that are kept at once, by what stands around the module:

```diff
 import copy
 import torch
 from torch import nn

 def select(net: nn.Module, optimizer: torch.optim.Optimizer, batches, score):
     lowest, best, best_state = 1.0, None, None
     for x in batches:
         net(x).sum().backward()
         optimizer.step()
         optimizer.zero_grad()
         if score(net) < lowest:
~            lowest, best = score(net), net
+            lowest, best = score(net), copy.deepcopy(net)
~            lowest, best_state = score(net), net.eval().state_dict()
+            lowest, best_state = score(net), copy.deepcopy(net.eval().state_dict())
     return best, best_state
```

## When the fix is unsafe

Always: what is used afterwards has other values, and a copy takes memory.

`Module.state_dict`: <https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html>.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import libcst as cst

from torchlint.model import Kind, Model
from torchlint.model.bindings import last_target, pairs
from torchlint.model.methods_called import calls_on
from torchlint.model.names import MODULE_METHODS
from torchlint.model.syntax import dotted, last_name, literal_key, without_subscripts
from torchlint.model.training import What
from torchlint.rule import Finding, Group, Severity, any_of, on, pattern
from torchlint.rules.shared import order
from torchlint.rules.shared.deep_copies import copied
from torchlint.rules.shared.left_alone import is_left_alone

BY_DEFAULT = False
GROUP = Group.CORRECTNESS
SEVERITY = Severity.ERROR

_OF_MODULES = ("train", "eval", "parameters", "named_parameters")
_SHALLOW = ("builtins.dict", "collections.OrderedDict", "copy.copy")
_TRAINS = re.compile(
    r"(?<!pre)(?<!cons)train(?!er|ing|able)|(?<![a-z])fit|learn(?!er|ing|able)|optimi[sz]e(?!r)", re.IGNORECASE
)
"""What functions that train a module they are given are called."""
_TO_RETURN_TO = re.compile(r"best|init|start|stop", re.IGNORECASE)
"""What attributes, or their classes, are called that keep a state for going back to it after training."""
_METADATA = frozenset(("keys", "__len__"))


N = TypeVar("N", bound=cst.CSTNode)


@dataclass(frozen=True)
class _Kept:
    """A state that something is bound to."""

    name: str
    """The name or path that keeps it."""
    place: cst.CSTNode
    """The statement, or the call of `append`."""
    whole: cst.BaseExpression
    """The state with what is around it, which a copy is to be made of."""
    key: str | int | None = None
    """The key under which it stands in a dictionary that the name keeps, where one is seen."""


@on(cst.Call, trigger=pattern(r"\. state_dict \("))
def check_state(node: cst.Call, model: Model) -> Finding | None:
    """Report a state that is kept while its module changes, and used afterwards."""
    func = node.func
    if not isinstance(func, cst.Attribute) or func.attr.value != "state_dict":
        return None
    kept, path = _kept(node, model), dotted(_itself(func.value))
    if kept is None or path is None or not _is_module(func.value, model):
        return None
    module = path.removesuffix(".module")
    if not _is_used_late(kept, module, model):
        return None
    said = f"`{kept.name}` shares the tensors of `{module}`, which go on changing; keep a copy"
    return Finding(func.attr, said, copied(kept.whole, model))


@on(
    cst.Assign,
    trigger=any_of(
        pattern(r"(?:best|Best|BEST)\w* = [\w.]+(?=[\t\x20]*(?:[\r\n;#]|\Z))"),
        pattern(r"(?:best|Best|BEST)\w*(?:,[\t\x20]?\w{1,80}){0,9} = [^=\r\n]{1,200},"),
    ),
)
def check_module(node: cst.Assign, model: Model) -> Iterator[Finding]:
    """Report `best = net` in a loop that goes on training `net`."""
    for target, value in pairs(node):
        if not isinstance(target, cst.Name) or "best" not in target.value.lower():
            continue
        if not isinstance(value, (cst.Name, cst.Attribute)) or not _is_module(value, model):
            continue
        module = dotted(value)
        if module is None or not _is_kept_sometimes(node, model):
            continue
        if _is_used_late(_Kept(target.value, node, value), module, model):
            said = f"`{target.value}` is `{module}` itself, which goes on learning; keep a copy"
            yield Finding(value, said, copied(value, model))


def _is_kept_sometimes(node: cst.Assign, model: Model) -> bool:
    """Whether a loop keeps something in some of its rounds."""
    return any(order.is_conditional(node, loop, model) for loop in order.loops_around(node, model))


def _itself(node: cst.BaseExpression) -> cst.BaseExpression:
    """The module that methods give back which return their module: `net` of `net.cpu().eval()`."""
    while True:
        match node:
            case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(value=name))) if (
                MODULE_METHODS.get(name) == "self"
            ):
                node = inner
            case _:
                return without_subscripts(node)


def _kept(call: cst.Call, model: Model) -> _Kept | None:
    """What keeps a state: a name, an attribute of `self`, a list that it is appended to."""
    node: cst.BaseExpression = call
    whole = node
    key: str | int | None = None
    while True:
        parent = model.tree.parent(node)
        match parent:
            case cst.Attribute(attr=cst.Name("copy")) if isinstance(outer := model.tree.parent(parent), cst.Call):
                node = whole = outer
            case cst.DictElement(key=cst.BaseExpression() as name) if isinstance(
                outer := model.tree.parent(parent), cst.Dict
            ):
                node, key = outer, literal_key(name)
            case cst.Arg() if isinstance(outer := model.tree.parent(parent), cst.Call):
                if isinstance(outer.func, cst.Attribute) and outer.func.attr.value == "append":
                    path = dotted(outer.func.value)
                    return _Kept(path, outer, whole) if path is not None else None
                if not isinstance(outer.func, (cst.Name, cst.Attribute)):
                    return None
                if model.qualified(outer.func) not in _SHALLOW:
                    return None
                node, whole = outer, (outer if parent.keyword is None else whole)
                key = parent.keyword.value if parent.keyword is not None else key
            case cst.Assign(targets=[cst.AssignTarget(target=target)]):
                place: cst.BaseExpression = target
                while isinstance(place, cst.Subscript):
                    key, place = _key(place), place.value
                path = dotted(place)
                return _Kept(path, parent, whole, key) if path is not None else None
            case cst.Element() if isinstance(outer := model.tree.parent(parent), cst.Tuple):
                several = model.tree.parent(outer)
                bound = pairs(several) if isinstance(several, cst.Assign) else ()
                path = next((dotted(target) for target, value in bound if value is node), None)
                return _Kept(path, several, whole, key) if path is not None and several is not None else None
            case _:
                return None


def _key(item: cst.Subscript) -> str | int | None:
    """The key that an item has, where that is written there."""
    match item.slice:
        case [cst.SubscriptElement(slice=cst.Index(value=key))]:
            return literal_key(key)
    return None


def _is_module(node: cst.BaseExpression, model: Model) -> bool:
    kind = model.value(node).kind
    if kind == Kind.UNKNOWN and isinstance(node, cst.Attribute) and node.attr.value == "module":
        node = node.value
    if kind != Kind.UNKNOWN:
        return kind == Kind.MODULE
    return model.ask(calls_on, node, _OF_MODULES) and not model.ask(calls_on, node, ("step",))


def _is_used_late(kept: _Kept, module: str, model: Model) -> bool:
    """Whether a state is used after its module has changed."""
    scope = model.scopes.scope_of(kept.place)
    if isinstance(scope, cst.FunctionDef) and scope.name.value.startswith("test_"):
        return False  # what is loaded is compared with what was there
    reads: Sequence[cst.CSTNode]
    if "." not in kept.name:
        reads = model.remember(_reads, kept.name, scope)
    else:
        loaded = _loaded(kept, module, model)
        if any(model.scopes.scope_of(each) is not scope for each in loaded):
            return True
        reads = loaded
    changes = _near(kept.place, model.remember(_changes, module, scope), model) if reads else ()
    if not changes:
        return False
    outside = [
        read
        for read in _near(kept.place, reads, model)
        if not model.tree.is_inside(read, kept.place)
        and not _is_of_other_item(read, kept, model)
        and not _is_of_other_state(read, kept, model)
    ]
    return any(_is_late(read, change, kept, module, model) for change in changes for read in outside)


_NEAR = 16
"""How many changes and reads are looked at, before and behind the place where a state is kept."""


def _near(place: cst.CSTNode, nodes: Sequence[N], model: Model) -> Sequence[N]:
    """Those of some nodes in document order that are near a place."""
    at = bisect_left(nodes, model.tree.order(place), key=model.tree.order)
    return nodes[max(at - _NEAR, 0) : at + _NEAR]


def _changes(model: Model, module: str, scope: cst.FunctionDef | cst.Module) -> Sequence[cst.CSTNode]:
    """What a scope does that changes a module, in document order."""
    return sorted(_changing(scope, module, model), key=model.tree.order)


def _changing(scope: cst.FunctionDef | cst.Module, module: str, model: Model) -> Iterator[cst.CSTNode]:
    """Steps, loading into a module, functions that train what they are given."""
    for event in model.training_events(scope):
        if event.what is What.STEP and _is_of_another(event.node, module, model):
            continue
        if event.what is What.STEP or (event.what is What.LOAD and event.path in (module, f"{module}.module")):
            yield event.node
    area: cst.CSTNode = scope.body if isinstance(scope, cst.FunctionDef) else scope
    for call in model.tree.within(area, cst.Call):
        is_given = any(dotted(arg.value) == module for arg in call.args)
        if is_given and _TRAINS.search(last_name(call.func)) and model.scopes.scope_of(call) is scope:
            yield call


def _is_of_another(node: cst.CSTNode, module: str, model: Model) -> bool:
    """Whether what trains is given another module than that one, or is seen to leave it alone."""
    if is_left_alone(node, module, model):
        return True
    given = [arg.value for arg in node.args] if isinstance(node, cst.Call) else []
    modules = [dotted(each) for each in given if model.value(each).kind == Kind.MODULE]
    return bool(modules) and module not in modules


def _reads(model: Model, name: str, scope: cst.FunctionDef | cst.Module) -> Sequence[cst.Name]:
    """Where a name is read for what it holds, in document order."""
    return [node for node in model.references(name, scope) if _is_read(node, model)]


def _is_read(node: cst.Name, model: Model) -> bool:
    parent = model.tree.parent(node)
    if model.is_target(node):
        return False
    match parent:
        case cst.Attribute(attr=cst.Name(value=name)):
            return name not in _METADATA and name != "append"
        case cst.Comparison() | cst.ComparisonTarget() | cst.If() | cst.UnaryOperation() | cst.BooleanOperation():
            return False
        case cst.Arg():
            call = model.tree.parent(parent)
            return not (isinstance(call, cst.Call) and last_name(call.func) in ("len", "print"))
    return True


def _is_of_other_item(read: cst.CSTNode, kept: _Kept, model: Model) -> bool:
    """Whether an item of the dictionary is read that is not the state: `checkpoint["epoch"]`."""
    item = model.tree.parent(read)
    key = _key(item) if isinstance(item, cst.Subscript) and item.value is read else None
    return key is not None and kept.key is not None and key != kept.key


def _is_of_other_state(read: cst.CSTNode, kept: _Kept, model: Model) -> bool:
    """Whether a name is given something else on every path to where it is read."""
    match kept.place:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name() | cst.Tuple())]) if isinstance(read, cst.Name):
            bound = model.ask(last_target, read)
            return bound is not None and not model.tree.is_inside(bound, kept.place)
    return False


def _is_late(read: cst.CSTNode, change: cst.CSTNode, kept: _Kept, module: str, model: Model) -> bool:
    """Whether the state is taken, then the module is changed, and then the state is read."""
    at = model.tree.order
    taken = kept.place
    around = order.loops_around(taken, model)
    shared = [loop for loop in order.loops_around(change, model) if loop in around]
    if model.tree.is_inside(read, change) or _loads_it(change, kept) or order.are_exclusive(change, read, model):
        return False
    for loop in order.loops_around(change, model):
        if loop not in around and model.tree.is_inside(read, loop) and at(taken) < at(loop):
            if not order.leaves(change, loop, model) and not model.remember(_is_bound_in, module, loop):
                return not _is_bound_anew(kept, module, loop, list(model.tree.walk(loop))[-1], model)
    if at(taken) < at(change) < at(read) and not order.are_exclusive(taken, change, model):
        suite = model.tree.enclosing(taken, cst.FunctionDef) or model.tree.module
        area = shared[0] if shared else suite
        ends = order.leaves(change, area, model) and not order.is_in_same_suite(read, change, model)
        if not ends and not order.leaves(taken, area, model) and not _is_bound_anew(kept, module, change, read, model):
            return True
    for loop in shared:
        if not order.is_conditional(taken, loop, model) or order.leaves(taken, loop, model):
            continue
        if model.remember(_is_bound_in, module, loop):
            continue
        if model.tree.is_inside(read, loop):
            if not order.is_in_same_suite(read, taken, model) and not order.are_exclusive(read, taken, model):
                return True
        elif at(read) > at(loop) and not _is_bound_anew(kept, module, loop, read, model):
            return True
    return False


def _loads_it(change: cst.CSTNode, kept: _Kept) -> bool:
    """Whether the module is loaded with the very state that is kept, so that this is still its own."""
    match change:
        case cst.Call(func=cst.Attribute(attr=cst.Name("load_state_dict")), args=[cst.Arg(value=state), *_]):
            return dotted(state) == kept.name
    return False


def _is_bound_anew(kept: _Kept, module: str, after: cst.CSTNode, read: cst.CSTNode, model: Model) -> bool:
    """Whether between a change and a read the name or the module is bound to something else."""
    scope = model.scopes.scope_of(read)
    for node in _between(after, read, model.targets(kept.name, scope), model):
        if order.is_in_same_suite(read, node, model) and not model.tree.is_inside(node, kept.place):
            return True
    return bool(_between(kept.place, after, model.targets(module.partition(".")[0], scope), model))


def _between(one: cst.CSTNode, other: cst.CSTNode, nodes: Sequence[N], model: Model) -> Sequence[N]:
    """Those of some nodes in document order that begin behind one and before another one."""
    at = model.tree.order
    return nodes[bisect_right(nodes, at(one), key=at) : bisect_left(nodes, at(other), key=at)]


def _is_bound_in(model: Model, module: str, loop: cst.CSTNode) -> bool:
    """Whether a loop makes another module by that name, or tells a path anew."""
    root = module.partition(".")[0]
    for name in model.tree.within(loop, cst.Name):
        if name.value == root and model.is_target(name):
            return True
    return any(dotted(target.target) == module for target in model.tree.within(loop, cst.AssignTarget))


def _loaded(kept: _Kept, module: str, model: Model) -> list[cst.BaseExpression]:
    """Where a class loads what an attribute keeps back into a module of that name, and uses it for nothing else."""
    cls = model.tree.enclosing(kept.place, cst.ClassDef)
    first, _, last = kept.name.partition(".")
    if first != "self" or not isinstance(cls, cst.ClassDef) or not _goes_back(last, module, cls, model):
        return []
    found: list[cst.BaseExpression] = []
    for use in model.tree.attributes(last, cls):
        if dotted(use) != kept.name or model.is_target(use):
            continue
        arg = model.tree.parent(use)
        call = model.tree.parent(arg) if isinstance(arg, cst.Arg) else None
        match call:
            case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name("load_state_dict"))):
                if last_name(owner) == module.rpartition(".")[2]:
                    found.append(use)
            case None if isinstance(arg, cst.Attribute):
                return []  # `.values()`, through which it may be written
    return found


def _goes_back(name: str, module: str, cls: cst.ClassDef, model: Model) -> bool:
    """Whether a class trains, or an attribute is called like one that is for others who do."""
    if _TO_RETURN_TO.search(name) or _TO_RETURN_TO.search(cls.name.value):
        return True
    methods = [each for each in model.tree.within(cls, cst.FunctionDef) if model.class_of(each) is cls]
    return any(event.what is What.STEP for method in methods for event in model.training_events(method))
