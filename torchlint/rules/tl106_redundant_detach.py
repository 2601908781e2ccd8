r"""A detach that does nothing.

`item()` and `tolist()` give Python numbers, which never carry a graph; detaching twice is detaching once.

```diff run
 import torch

 w = torch.ones(3, requires_grad=True)
 loss = (w * 2).sum()
-a = loss.detach().item()
+a = loss.item()
-b = loss.detach().cpu().item()
+b = loss.item()
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

Where these are called, NumPy is not needed either; a detour over it that detaches nothing is left alone:

```diff run
 import torch

 w = torch.ones(3, requires_grad=True)
-a = w.detach().cpu().numpy().tolist()
+a = w.tolist()
-d = w.sum().detach().cpu().numpy().item()
+d = w.sum().item()
 b = (w > 0).cpu().numpy().tolist()
 c = w.detach().numpy()
```

## When the fix is unsafe

For `x.detach().data` that is written to, or may be, later: `.data` has a version counter of its own. And where a name
is all that says that there is a tensor of PyTorch.

```diff
 import torch

 w = torch.ones(3, requires_grad=True)
~x = w.detach().data
+x = w.detach()
 x[0] = 1.0
```

`Tensor.item`: <https://docs.pytorch.org/docs/stable/generated/torch.Tensor.item.html>.
"""

from __future__ import annotations

import libcst as cst

from torchlint import edit
from torchlint.model import Evidence, Kind, Model, Strength
from torchlint.model.codebase.namesakes import classes_here
from torchlint.model.syntax import call_of
from torchlint.rule import Applicability, Finding, Fix, Group, Severity, any_of, attribute, on, pattern
from torchlint.rules.shared import data_sites, memory, readers

GROUP = Group.PERFORMANCE
SEVERITY = Severity.INFO


@on(
    cst.Attribute,
    trigger=any_of(attribute("data"), pattern(r"\. detach \( \) \. (?:detach|cpu|cuda|to|numpy|item|tolist)\b")),
)
def check(node: cst.Attribute, model: Model) -> Finding | None:
    """Report a `.detach()` or `.data` whose effect nothing sees."""
    if node.attr.value == "data":
        return _needless_data(node, model)
    if node.attr.value != "detach":
        return None
    call = call_of(node, model.tree)
    if call is None or call.args or node.lpar:
        return None
    reading = readers.reading(call, model)
    if reading is not None and model.remember(_is_replaced, reading.name):
        return None
    is_cut = isinstance(node.value, cst.Call) and memory.is_detach(node.value)
    if (reading is None and not is_cut) or (not is_cut and model.has_no_graph(node.value, node)):
        return None
    value = model.value(node.value)
    if value.kind & ~(Kind.TENSOR | Kind.UNKNOWN | Kind.NUMBER | Kind.NONE):
        return None
    evidence = value.evidence or Evidence(Strength.USE, "`.detach` is called on it, which only tensors have", node)
    reason = (
        "the tensor is detached already" if is_cut or reading is None else f"`{reading.name}()` gives Python numbers"
    )
    last = call if reading is None else reading.needless
    fix = Fix("Remove `.detach()`", (edit.replace_after(node.value, last),))
    return Finding(
        node.attr, f"`.detach()` has no effect: {reason}; remove it", fix, call, evidence, receiver=node.value
    )


def _is_replaced(model: Model, method: str) -> bool:
    """Whether a tensor of the file may have another method of that name, by which it is not read as a plain one is.

    A class of tensors that is defined or imported here has it, or an object is given one: `x.tolist = …`.
    """
    if any(model.is_target(each) for each in model.tree.attributes(method)):
        return True
    classes = model.ask(classes_here)
    return any(model.class_kind(cls) in _OF_TENSORS and model.find_method(cls, method) is not None for cls in classes)


_OF_TENSORS = ("tensor", "tensorlike", "parameter")


def _needless_data(node: cst.Attribute, model: Model) -> Finding | None:
    found = data_sites.at(node, data_sites.Site.REDUNDANT, model)
    if found is None:
        return None
    doubtful = data_sites.is_doubtful(*found, model) or not data_sites.is_left_alone(node, model)
    applicability = Applicability.UNSAFE if doubtful else Applicability.SAFE
    reading = readers.reading(node, model)
    if reading is not None and model.remember(_is_replaced, reading.name):
        return None
    last = node if reading is None else reading.needless
    if memory.is_detach(node.value):  # a detach behind it is as needless
        while (call := _detached(last, model)) is not None:
            last = call
    risk = data_sites.risk(node, *found, model) if doubtful else ""
    fix = Fix("Remove `.data`", (edit.replace_after(node.value, last),), applicability, risk=risk)
    said = "`.data` has no effect here; remove it"
    half = data_sites.half_of(node, model)
    return Finding(node.attr, said, fix, evidence=found[1], receiver=node.value, half_of=half)


def _detached(node: cst.CSTNode, model: Model) -> cst.Call | None:
    """The ``x.detach()`` that ``x`` is the receiver of."""
    parent = model.tree.parent(node)
    call = call_of(parent, model.tree) if isinstance(parent, cst.Attribute) else None
    return call if call is not None and memory.is_detach(call) else None
