r"""A detach that does nothing.

`item()` and `tolist()` give Python numbers, which never carry a graph; detaching twice is detaching once.

```diff run
 import torch

 w = torch.ones(3, requires_grad=True)
 loss = (w * 2).sum()
-a = loss.detach().item()
+a = loss.item()
-b = loss.detach().cpu().item()
+b = loss.cpu().item()
-c = w.detach().tolist()
+c = w.tolist()
-d = loss.data.item()
+d = loss.item()
-e = w.data.detach()
+e = w.detach()
-f = w.detach().data
+f = w.detach()
-g = w.detach().detach()
+g = w.detach()
 h = w.detach().cpu().numpy()
 i = loss.cpu().item()
```

Nor does `tolist()` need NumPy to leave the graph and come to the host:

```diff run
 import torch

 w = torch.ones(3, requires_grad=True)
-a = w.detach().cpu().numpy().tolist()
+a = w.tolist()
-b = (w > 0).cpu().numpy().tolist()
+b = (w > 0).tolist()
 c = w.detach().numpy()
```

## When the fix is unsafe

For `x.detach().data` that is written to, or may be, later: `.data` has a version counter of its own. And where a name
or `numpy()` is all that says that there is a tensor of PyTorch.

`Tensor.item`: <https://docs.pytorch.org/docs/stable/generated/torch.Tensor.item.html>.
"""

from __future__ import annotations

import libcst as cst

from torchlint import edit
from torchlint.model import Evidence, Kind, Model, Strength
from torchlint.model.syntax import call_of, chain
from torchlint.rule import Applicability, Finding, Fix, on
from torchlint.rules.shared import data_sites, memory


@on(cst.Attribute, needle=(".data", r"re:\. detach \( \) \. (?:detach|cpu|cuda|to|numpy|item|tolist)\b"))
def check(node: cst.Attribute, model: Model) -> Finding | None:
    """Report a `.detach()` or `.data` whose effect nothing sees."""
    if node.attr.value == "data":
        return _needless_data(node, model)
    if node.attr.value != "detach":
        return None
    call = call_of(node, model.tree)
    if call is None or call.args or node.lpar:
        return None
    reason = _reason(node, call, model)
    if reason is None:
        return None
    value = model.value(node.value)
    if value.kind & ~(Kind.TENSOR | Kind.UNKNOWN | Kind.NUMBER | Kind.NONE):
        return None
    evidence = value.evidence or Evidence(Strength.USE, "`.detach` is called on it, which only tensors have", node)
    detour = _numpy_detour(call, model)
    if detour is None and any(name == "numpy" for name, _ in chain(call, model.tree)):
        return None  # NumPy needs the detach
    fix = Fix("Remove `.detach()`", (edit.replace_after(node.value, detour or call),))
    return Finding(node.attr, f"needless `.detach()`: {reason}", fix, call, evidence, receiver=node.value)


def _reason(node: cst.Attribute, call: cst.Call, model: Model) -> str | None:
    match node.value:
        case cst.Call(func=cst.Attribute(attr=cst.Name("detach")), args=[]):
            return "it is detached already"
    for name, outer in chain(call, model.tree):
        if not isinstance(outer, cst.Call):
            return None
        if name in data_sites.READERS:
            return f"`{name}()` gives Python numbers"
        if name not in memory.TRANSFERS and name != "numpy":
            return None
    return None


def _numpy_detour(node: cst.CSTNode, model: Model) -> cst.Call | None:
    """The ``numpy()`` call of ``x.cpu().numpy().tolist()``, from ``x`` on; None if there is none."""
    through: cst.Call | None = None
    for name, outer in chain(node, model.tree):
        if not isinstance(outer, cst.Call):
            return None
        if name == "tolist":
            return through
        if name == "numpy" and not outer.args:
            through = outer
        elif name != "cpu":
            return None
    return None


@on(cst.Attribute, needle=r"re:\. numpy \( \) \. tolist\b")
def check_detour(node: cst.Attribute, model: Model) -> Finding | None:
    """Report ``x.cpu().numpy().tolist()``."""
    if node.attr.value != "tolist" or not isinstance(node.value, cst.Call):
        return None
    source: cst.BaseExpression = node.value
    names = []
    while isinstance(source, cst.Call) and isinstance(source.func, cst.Attribute) and not source.args:
        if source.func.attr.value not in ("cpu", "numpy"):
            break
        names.append(source.func.attr)
        source = source.func.value
    if not names or names[0].value != "numpy" or _is_cut(source):
        return None
    value = model.value(source)
    if not value.kind & Kind.TENSOR or value.kind & ~(Kind.TENSOR | Kind.UNKNOWN | Kind.NUMBER | Kind.NONE):
        return None
    if len(names) == 1 and (value.strength or Strength.NAME) < Strength.CONVENTION:
        return None  # other libraries' arrays have `numpy()` too
    # `cpu()` and `numpy()` are known of other libraries' tensors, which have no `tolist()`
    applicability = Applicability.SAFE if (value.strength or 0) > Strength.USE else Applicability.UNSAFE
    fix = Fix("Call `tolist()` on the tensor", (edit.replace_after(source, node.value),), applicability)
    message = "needless detour: `tolist()` of a tensor leaves the graph and comes to the host by itself"
    return Finding(names[-1], message, fix, node.value, receiver=source)


def _is_cut(node: cst.BaseExpression) -> bool:
    """Whether a `.detach()` or `.data` stands before the detour: that is where the finding stands then."""
    match node:
        case cst.Attribute(attr=cst.Name("data")) | cst.Call(func=cst.Attribute(attr=cst.Name("detach"))):
            return True
    return False


def _needless_data(node: cst.Attribute, model: Model) -> Finding | None:
    found = data_sites.at(node, data_sites.Site.REDUNDANT, model)
    if found is None:
        return None
    doubtful = data_sites.is_doubtful(*found) or not data_sites.is_left_alone(node, model)
    applicability = Applicability.UNSAFE if doubtful else Applicability.SAFE
    fix = Fix("Remove `.data`", (edit.replace_after(node.value, node),), applicability)
    return Finding(node.attr, "needless `.data`: nothing sees its effect", fix, evidence=found[1], receiver=node.value)
