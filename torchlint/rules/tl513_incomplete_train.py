r"""`train()` of a module sets the mode of all its children, and returns the module.

`eval()` is `train(False)`, so whoever overrides `train` decides about both. Without `return self`, `net = net.eval()`
is `None`, as it is where `eval` itself is overridden and returns nothing. If only `self.training` is set, dropout and
batch normalisation inside the module keep their mode.

```diff run-after
 import torch
 from torch import nn

 class Net(nn.Module):
     def __init__(self):
         super().__init__()
         self.norm = nn.BatchNorm1d(2)

-    def train(self, mode=True):
+    def train(self, mode=True):
         super().train(mode)
         self.norm.eval()
+        return self

 net = Net().eval()
 y = net.norm(torch.ones(3, 2))
```

```diff
 import torch
 from torch import nn

 class Forgets(nn.Module):
!    def train(self, mode: bool = True):
         self.training = mode
         return self

 class Evaluated(nn.Module):
-    def eval(self):
+    def eval(self):
         super().eval()
         self.memory = None
+        return self

 class Sometimes(nn.Module):
!    def train(self, mode=True):
         if mode:
             return super().train(mode)

 class Complete(nn.Module):
     def train(self, mode=True):
         self.training = mode
         for child in self.children():
             child.train(mode)
         return self

 class Frozen(nn.Module):
     def train(self, mode=True):
         return self

 class Agent(nn.Module):
     def train(self, batches, epochs=3):
         for batch in batches:
             self(batch)
     def eval(self):
         print(self(self.batches))

 class Abstract(nn.Module):
     def train(self, mode=True):
         raise NotImplementedError

 class Short(nn.Module):
-    def train(self, mode=True): super().train(mode)
+    def train(self, mode=True): super().train(mode); return self

 class Looping(nn.Module):
-    def train(self, mode=True):
+    def train(self, mode=True):
         while True:
             super().train(mode)
             break
+        return self

 class Defining(nn.Module):
-    def train(self, mode=True):
+    def train(self, mode=True):
         super().train(mode)
         def inner():
             return 3
+        return self
```

## When the fix is unsafe

Never: nothing was returned, and nobody can have used that. Where only some paths return something, and where children
are left out, there is no fix.

`Module.train`: <https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html>.
"""

from __future__ import annotations

import libcst as cst

from torchlint import edit
from torchlint.model import Model
from torchlint.model.syntax import decorator_names, is_stub, parameters
from torchlint.model.torch.arguments import literal_bool
from torchlint.rule import Finding, Fix, Group, Severity, on, pattern

GROUP = Group.CORRECTNESS
SEVERITY = Severity.ERROR

_GOING_ON = frozenset(("children", "modules", "named_children", "named_modules", "apply", "train", "eval", "_modules"))
"""What reaches the children of a module."""


@on(cst.FunctionDef, trigger=pattern(r"\bdef\s+(?:train|eval)\s*\("))
def check(node: cst.FunctionDef, model: Model) -> Finding | None:
    """Report a `train` or `eval` that does not do what callers expect of it."""
    name = node.name.value
    if name not in _SETTING or not _SETTING[name](node, model) or is_stub(node) or node.asynchronous is not None:
        return None
    cls = model.class_of(node)
    if cls is None or decorator_names(node) or model.class_kind(cls) != "module":
        return None
    if _forgets_children(node, model):
        return Finding(
            node.name, "`self.training` is set, and the mode of its children is not; call `super().train(mode)`"
        )
    returns = [each for each in model.tree.within(node.body, cst.Return) if model.scopes.scope_of(each) is node]
    if model.tree.within(node.body, cst.Yield) or not _may_end(node.body):
        if all(each.value is not None for each in returns):
            return None
    gives = any(each.value is not None for each in returns)
    fix = None if returns else _return_self(node, model)
    if gives:
        return Finding(node.name, f"not every path of `{name}` returns the module; add `return self`", fix)
    called = name if _is_overridden(cls, "eval") else "eval"
    return Finding(node.name, f"`{name}` returns nothing, so `net.{called}()` is None; add `return self`", fix)


def _is_overridden(cls: cst.ClassDef, name: str) -> bool:
    return any(isinstance(each, cst.FunctionDef) and each.name.value == name for each in cls.body.body)


def _sets_mode(node: cst.FunctionDef, _model: Model) -> bool:
    """Whether a function is called like `Module.train`, with the mode and no more."""
    given = parameters(node)
    if len(given) != 2 or any(isinstance(each.star, str) and each.star for each in given):
        return False
    mode = given[1]
    return mode.name.value == "mode" or (mode.default is not None and literal_bool(mode.default) is not None)


def _ends_training(node: cst.FunctionDef, model: Model) -> bool:
    """Whether a function is called like `Module.eval`, and calls that: others of the name evaluate a network."""
    given = parameters(node)
    return len(given) == 1 and any(
        _is_of_base(call, given[0].name.value) for call in model.tree.within(node.body, cst.Call)
    )


def _is_of_base(call: cst.Call, own: str) -> bool:
    """``super().eval()``, ``nn.Linear.eval(self)``."""
    match call:
        case cst.Call(func=cst.Attribute(value=cst.Call(func=cst.Name("super")), attr=cst.Name("eval"))):
            return True
        case cst.Call(func=cst.Attribute(attr=cst.Name("eval")), args=[cst.Arg(value=cst.Name(value=name))]):
            return name == own
    return False


_SETTING = {"train": _sets_mode, "eval": _ends_training}


def _forgets_children(node: cst.FunctionDef, model: Model) -> bool:
    own = node.params.params[0].name.value if node.params.params else "self"
    is_set = False
    for attribute in model.tree.within(node.body, cst.Attribute):
        if attribute.attr.value in _GOING_ON:
            return False
        is_own = isinstance(attribute.value, cst.Name) and attribute.value.value == own
        is_set |= is_own and attribute.attr.value == "training" and model.is_target(attribute)
    return is_set


def _may_end(suite: cst.BaseSuite) -> bool:
    """Whether the end of a suite can be reached."""
    last = suite.body[-1]
    if isinstance(last, cst.SimpleStatementLine):
        return not isinstance(last.body[-1], (cst.Return, cst.Raise))
    match last:
        case cst.Return() | cst.Raise():
            return False
        case cst.If(body=body, orelse=cst.Else(body=other)):
            return _may_end(body) or _may_end(other)
        case cst.If(body=body, orelse=cst.If() as other):
            return _may_end(body) or _may_end(cst.IndentedBlock([other]))
        case cst.With(body=body):
            return _may_end(body)
        case cst.Try(body=body, handlers=handlers, orelse=None, finalbody=final):
            is_passed = _may_end(body) or any(_may_end(each.body) for each in handlers)
            return is_passed and (final is None or _may_end(final.body))
    return True


def _return_self(node: cst.FunctionDef, model: Model) -> Fix | None:
    """`return self` on a line behind the last one, or on that of the definition."""
    said = f"return {node.params.params[0].name.value}"
    if isinstance(node.body, cst.SimpleStatementSuite):
        return Fix("Return the module", (edit.insert_after(node.body.body[-1], f"; {said}"),))
    last = node.body.body[-1]
    while isinstance(last, _BLOCKS) and isinstance(last.body, cst.IndentedBlock):
        if getattr(last, "orelse", None) is not None:
            return None
        last = last.body.body[-1]
    insert = edit.insert_line(model.tree, last, said, beside=node.body.body[0])
    return Fix("Return the module", (edit.insert_before(node.name, ""), insert)) if insert is not None else None


_BLOCKS = (cst.If, cst.With, cst.For, cst.While, cst.FunctionDef)
"""Statements behind whose last line another one can stand."""
