r"""`F.dropout(x)` drops in evaluation, too: it does not know the mode of the module.

The function has `training=True` as its default and looks at no module, so predictions differ from call to call after
`net.eval()`. A layer that is made in `forward` is in training mode each time.

```diff run-differs
 import torch
 import torch.nn.functional as F
 from torch import nn

 class Net(nn.Module):
     def forward(self, x):
         x = self.mix(x)
~        x = nn.Dropout(0.5)(x)
+        x = F.dropout(x, 0.5, self.training)
~        return F.dropout(x, 0.5)
+        return F.dropout(x, 0.5, training=self.training)

     def mix(self, x):
~        return F.dropout2d(x)
+        return F.dropout2d(x, training=self.training)

 torch.manual_seed(0)
 y = Net().eval()(torch.ones(1, 8, 4, 4))
```

Where the mode is asked, the argument given, or nothing is dropped, all is well; so it is outside of `forward` and what
that calls:

```diff
 import torch
 import torch.nn.functional as F
 from torch import nn

 class Net(nn.Module):
     def __init__(self):
         super().__init__()
         self.drop = nn.Dropout(0.5)

     def forward(self, x):
         x = F.dropout(x, 0.5, self.training)
         x = F.dropout(x, p=0.5, training=True)
         x = F.dropout(x, p=0.0)
         x = F.alpha_dropout(x)
         if self.training:
             x = F.dropout(x)
         return self.drop(F.dropout(x) if self.training else x)

     def sample(self, x):
         return F.dropout(x, 0.5)

 class Prenet(nn.Module):
     def forward(self, x):
         return F.dropout(x, 0.5)

 def augment(x):
     return F.dropout(x, 0.1)
```

Methods without the module know no mode to pass on, and layers may be made among others:

```diff
 import torch.nn.functional as F
 from torch import nn

 class Attention(nn.Module):
     @staticmethod
     def attend(q, k, p):
!        return F.dropout(F.softmax(q @ k, -1), p)

     @classmethod
     def mix(cls, x):
!        return F.dropout(x, 0.1)

     def forward(this, x):
!        head = nn.Sequential(nn.ReLU(), nn.Dropout(0.5))
!        x = nn.Dropout(0.5).to(x.device)(x)
         quiet = nn.Sequential(nn.Dropout(0.5)).eval()
         tail = nn.Sequential(nn.ReLU(), nn.Dropout(0.5))
         tail.train(this.training)
         return head(quiet(tail(x)))

     def scale(self, x):
         def drop(self):
!            return F.dropout(self, 0.1)
         return drop(self.attend(x, x, 0.1)) + self.mix(x)

 class Scaled(Attention):
     def forward(self, x):
~        return F.dropout(self.scale(x))
+        return F.dropout(self.scale(x), training=self.training)
```

## When the fix is unsafe

Always: after `eval()` the module computes something else, which is what `eval()` is for. Dropout that is to stay on
(Monte Carlo dropout) is written `training=True`.

`torch.nn.functional.dropout`: <https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.dropout.html>.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import libcst as cst

from torchlint import edit
from torchlint.model import Model
from torchlint.model.names import MODULE_METHODS
from torchlint.model.syntax import (
    decorator_names,
    has_stars,
    keyword,
    last_name,
    parameters,
    positional,
    positional_parameters,
)
from torchlint.rule import Applicability, Edit, Finding, Fix, Group, Severity, all_of, any_of, on, pattern, word
from torchlint.rules.api import names
from torchlint.rules.shared import numbers
from torchlint.rules.shared.own_calls import called_by

GROUP = Group.CORRECTNESS
SEVERITY = Severity.ERROR

_FUNCTIONS = frozenset(f"torch.nn.functional.dropout{kind}" for kind in ("", "1d", "2d", "3d"))
_LAYERS = {f"torch.nn.Dropout{kind}": f"torch.nn.functional.dropout{kind}" for kind in ("", "1d", "2d", "3d")}
_LAST_NAMES = frozenset(name.rpartition(".")[2] for name in (*_FUNCTIONS, *_LAYERS))

_TRAINING = re.compile(r"train", re.IGNORECASE)
"""What asks for the mode."""
_MODE = frozenset(("train", "eval", "training"))
"""What sets the mode of a layer."""


@on(
    cst.Call,
    trigger=any_of(
        pattern(r"\bdropout\b(?<!self\.dropout) \((?![^\n]{0,500}[tT]rain)"),
        pattern(r"\bdropout1d\b(?<!self\.dropout1d) \((?![^\n]{0,500}[tT]rain)"),
        pattern(r"\bdropout2d\b(?<!self\.dropout2d) \((?![^\n]{0,500}[tT]rain)"),
        pattern(r"\bdropout3d\b(?<!self\.dropout3d) \((?![^\n]{0,500}[tT]rain)"),
        pattern(r"Dropout(?:[123]d)? \([^()]{0,200}(?:\([^()]{0,200}\)[^()]{0,200}){0,5}\) \("),
        pattern(r"(?m)^[\t\x20]*(?!self\b)\w+ = (?:\w+ \. )*Dropout(?:[123]d)? \("),
        pattern(r"Dropout(?:[123]d)? \([^()]{0,200}\) \. \w+ \("),
        all_of(word("Sequential"), pattern(r"\bDropout(?:[123]d)? \(")),
        all_of(word("dropout"), pattern(r"\bdropout\s+as\b")),
        all_of(word("Dropout"), pattern(r"\bDropout\s+as\b")),
    ),
)
def check(node: cst.Call, model: Model) -> Finding | None:
    """Report dropout in `forward` that does not follow the mode."""
    if not isinstance(node.func, (cst.Name, cst.Attribute)) or not names.is_called(node.func, _LAST_NAMES, model):
        return None
    method = _method(node, model)
    if method is None or _TRAINING.search(model.tree.code(model.tree.statement(node))):
        return None
    ref = model.qualified(node.func)
    if ref in _FUNCTIONS:
        if has_stars(node.args) or positional(node.args, 2) is not None or _drops_nothing(node.args, 1):
            return None
        made, fix = f"`{ref.rpartition('.')[2]}` drops in `eval()`, too", _pass_mode(node, method, model)
    elif ref in _LAYERS:
        if _drops_nothing(node.args, 0) or not _is_used_here(node, model):
            return None
        made, fix = "a layer made in `forward` drops in `eval()`, too", _as_function(node, _LAYERS[ref], method, model)
    else:
        return None
    if not _runs_in_forward(method, model) or _asks_for_mode(node, method, model):
        return None
    return Finding(node.func, f"{made}; pass `training=self.training`", fix)


def _method(node: cst.CSTNode, model: Model) -> cst.FunctionDef | None:
    """The method around a node, through functions inside of it."""
    function = model.tree.enclosing(node, cst.FunctionDef)
    while isinstance(function, cst.FunctionDef) and model.class_of(function) is None:
        function = model.tree.enclosing(function, cst.FunctionDef)
    return function if isinstance(function, cst.FunctionDef) and function.name.value != "__init__" else None


def _drops_nothing(args: Iterable[cst.Arg], at: int) -> bool:
    given = tuple(args)
    arg = keyword(given, "p") or positional(given, at)
    return arg is not None and numbers.literal(arg.value) == 0


def _is_used_here(node: cst.Call, model: Model) -> bool:
    """Whether a layer is called on the spot, or bound to a local name, alone or with others."""
    whole = _whole(node, model)
    match model.tree.parent(whole):
        case cst.Call(func=func):
            return func is whole and not any(model.tree.within(call, cst.Call)[2:] for call in _calls_in(node, model))
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name())]) as assign:
            line = model.tree.parent(assign)
            return isinstance(line, cst.SimpleStatementLine) and line.body[0] is assign and not _is_set(assign, model)
    return False


def _whole(node: cst.Call, model: Model) -> cst.Call:
    """A layer with what moves it and `nn.Sequential` around it."""
    while True:
        outer: cst.CSTNode | None = None
        match up := model.tree.parent(node):
            case cst.Attribute(attr=cst.Name(value=name)) if name not in _MODE and MODULE_METHODS.get(name) == "self":
                outer = model.tree.parent(up)
            case cst.Arg():
                outer = model.tree.parent(up)
                if not isinstance(outer, cst.Call) or model.qualified(outer.func) != "torch.nn.Sequential":
                    return node
        if not isinstance(outer, cst.Call):
            return node
        node = outer


def _is_set(assign: cst.Assign, model: Model) -> bool:
    """Whether the mode of a layer that has a local name is set: `drop.train(self.training)`."""
    target = assign.targets[0].target
    if not isinstance(target, cst.Name):
        return False
    uses = model.references(target.value, model.scopes.scope_of(target))
    parents = (model.tree.parent(use) for use in uses)
    return any(isinstance(each, cst.Attribute) and each.attr.value in _MODE for each in parents)


def _calls_in(node: cst.Call, model: Model) -> list[cst.Call]:
    """The calls among the arguments of a call."""
    return [each for arg in node.args for each in model.tree.within(arg, cst.Call)]


def _runs_in_forward(method: cst.FunctionDef, model: Model) -> bool:
    """Whether a method of a module is its `forward`, or one that this calls."""
    cls = model.class_of(method)
    if cls is None or cls.name.value.endswith("Prenet") or model.class_kind(cls) != "module":
        return False
    name = method.name.value
    if name == "forward" or name in called_by(cls, "forward", model):
        return True
    return id(method) in model.remember(_run_by_subclasses)


def _run_by_subclasses(model: Model) -> frozenset[int]:
    """The methods that the `forward` of a class of this file runs and that a base of it has."""
    found: set[int] = set()
    classes = {cls.name.value for cls in model.scopes.all_classes()}
    for cls in model.scopes.all_classes():
        is_subclass = any(last_name(base.value) in classes for base in cls.bases)
        if is_subclass and "forward" in model.scopes.info(cls).methods:
            methods = (model.find_method(cls, name) for name in called_by(cls, "forward", model))
            found.update(id(each) for each in methods if each is not None and model.class_of(each) is not cls)
    return frozenset(found)


def _asks_for_mode(node: cst.CSTNode, method: cst.FunctionDef, model: Model) -> bool:
    """Whether a condition around a node, a way out before it, or what it is given depends on the mode."""
    tree = model.tree
    for up in tree.ancestors(node):
        if up is method:
            break
        if isinstance(up, (cst.If, cst.IfExp, cst.BooleanOperation, cst.While)):
            tested = up.left if isinstance(up, cst.BooleanOperation) else up.test
            if _TRAINING.search(tree.code(tested)):
                return True
    for branch in tree.within(method.body, cst.If):
        if tree.order(branch) < tree.order(node) and _TRAINING.search(tree.code(branch.test)):
            if tree.within(branch.body, cst.Return):
                return True
    return any(_is_of_mode(name, method, model) for name in tree.within(node, cst.Name))


def _is_of_mode(name: cst.Name, method: cst.FunctionDef, model: Model) -> bool:
    """Whether a name is assigned something that depends on the mode."""
    for target in model.references(name.value, method):
        assign = model.tree.enclosing(target, cst.Assign) if model.is_target(target) else None
        if isinstance(assign, cst.Assign):
            branch = model.tree.enclosing(assign, cst.If, cst.FunctionDef)
            depends_on = branch.test if isinstance(branch, cst.If) else assign.value
            if _TRAINING.search(model.tree.code(assign.value)) or _TRAINING.search(model.tree.code(depends_on)):
                return True
    return False


def _own_name(node: cst.CSTNode, method: cst.FunctionDef, model: Model) -> str | None:
    """What the module is called at a place in a method; None where it is not known there."""
    given = positional_parameters(method)
    if not given or not _WITHOUT_MODULE.isdisjoint(decorator_names(method)):
        return None
    name = given[0].name.value
    for up in model.tree.ancestors(node):
        if up is method:
            break
        if isinstance(up, cst.Lambda) and any(each.name.value == name for each in parameters(up)):
            return None
        if isinstance(up, cst.FunctionDef) and name in model.scopes.locals_of(up):
            return None
    return name if not model.targets(name, method) else None


_WITHOUT_MODULE = frozenset(("staticmethod", "classmethod"))
_RISK = "after `eval()` nothing is dropped any more, so results change there"


def _pass_mode(node: cst.Call, method: cst.FunctionDef, model: Model) -> Fix | None:
    own = _own_name(node, method, model)
    if own is None:
        return None
    edits = (edit.add_argument(node, f"training={own}.training"),)
    return Fix("Pass the mode of the module", edits, Applicability.UNSAFE, risk=_RISK)


def _as_function(node: cst.Call, function: str, method: cst.FunctionDef, model: Model) -> Fix | None:
    """`F.dropout(x, p, self.training)` for `nn.Dropout(p)(x)`."""
    outer, own = model.tree.parent(node), _own_name(node, method, model)
    if own is None:
        return None
    if not isinstance(outer, cst.Call) or outer.func is not node or len(outer.args) != 1 or outer.args[0].star:
        return None
    if len(node.args) > 1 or node.lpar or outer.args[0].keyword is not None or has_stars(node.args):
        return None
    if node.args and node.args[0].keyword is not None and node.args[0].keyword.value != "p":
        return None
    spelled = names.spell(function, node, model)
    if spelled is None:
        return None
    p = model.tree.code(node.args[0].value) if node.args else "0.5"
    edits: tuple[Edit, ...] = (
        edit.replace_before(outer, outer.args[0].value, f"{spelled[0]}("),
        edit.replace_after(outer.args[0].value, outer, f", {p}, {own}.training)"),
    )
    return Fix("Use the function, which is told the mode", edits, imports=spelled[1]).doubted(_RISK)
