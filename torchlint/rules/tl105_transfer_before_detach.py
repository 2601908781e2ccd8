r"""Transferring a tensor before detaching it records the transfer in the graph.

`x.cpu().detach()` records the copy for autograd and discards the record; `x.detach().cpu()` only copies.

```diff run
 import torch

 w = torch.ones(3, requires_grad=True)
-a = w.cpu().detach()
+a = w.detach().cpu()
-b = w.to("cpu").detach().numpy()
+b = w.detach().to("cpu").numpy()
-c = (w * 2).cpu().data
+c = (w * 2).detach().cpu()
-d = w.to("cpu", torch.float64).cpu().detach()
+d = w.detach().to("cpu", torch.float64).cpu()
-f = (w.cpu()).detach()
+f = (w.detach().cpu())
-g = w.cpu().clamp(0, 1).data[0].numpy()
+g = w.detach().cpu().clamp(0, 1)[0].numpy()
-h = w.to("cpu").float().detach()
+h = w.detach().to("cpu").float()
 e = w.detach().cpu()
```

Where it is known that there is no graph, the order makes no difference, and nothing is said: integers and comparisons,
batches of a loader, what is made without asking for gradients, all under `no_grad`, and what calls
give there. `.data` goes where it is known:

```diff run
 import torch

 w = torch.ones(3, requires_grad=True)
 a = w.argmax().cpu().detach()
 b = (w > 0).cpu().detach()
 c = torch.zeros(3).cpu().detach()
 with torch.no_grad():
     d = (w * 2).cpu().detach()
 x = torch.arange(3.0)
-y = x.cpu().data.numpy()
+y = x.cpu().numpy()
```

## When the fix is unsafe

For `.data` on a transferred tensor that is written to, or may be, later: on the same device the transfer is the tensor
itself, and `.detach()` shares its version counter.

```diff
 import torch

 w = torch.ones(3, requires_grad=True)
~x = w.cpu().data
+x = w.detach().cpu()
 x[0] = 1.0
```

Detaching: <https://docs.pytorch.org/docs/stable/generated/torch.Tensor.detach.html>.
"""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from torchlint import edit
from torchlint.model import Evidence, Kind, Model, Strength, Tri, Usage
from torchlint.model.aliasing.here import usage_here
from torchlint.model.codebase.exports import is_unwrapped_by
from torchlint.model.interpret.loaders import is_from_loader
from torchlint.model.syntax import call_of
from torchlint.rule import Applicability, Finding, Fix, Group, all_of, any_of, attribute, on, pattern
from torchlint.rules.shared import data_sites, identity, integers, memory, readers, taken_for_granted
from torchlint.rules.shared.volatile import blocks
from torchlint.rules.shared.without_graph import stays_without_graph

GROUP = Group.PERFORMANCE

_TRIGGER = any_of(
    attribute("data"),
    all_of(
        pattern(r"\) \. detach\b"),
        attribute("detach"),
        any_of(attribute("cpu"), attribute("cuda"), attribute("to")),
    ),
)
"""The latter is of a call, whatever brackets there are."""


@on(cst.Attribute, trigger=_TRIGGER)
def check(node: cst.Attribute, model: Model) -> Finding | None:
    """Report `.detach()` or `.data` on the result of a transfer."""
    if node.attr.value == "data":
        finding = _check_data(node, model)
        if finding is None or finding.fix is None:
            return finding
        return replace(finding, fix=blocks.waiting(finding.fix, node, model))
    if node.attr.value != "detach" or not isinstance(node.value, cst.Call):
        return None
    call = call_of(node, model.tree)
    if call is None or call.args or node.lpar:
        return None
    source = memory.before_transfers(node.value, model)
    if source is node.value or readers.reading(call, model) is not None:
        return None
    if model.has_no_graph(source, node):
        return None
    value = model.value(source)
    if value.kind & ~(Kind.TENSOR | Kind.UNKNOWN | Kind.NUMBER | Kind.NONE) or not _is_tensor(node, model):
        return None
    if not model.may_record(node) or taken_for_granted.is_without_graph(source, model):
        return None
    evidence = value.evidence or Evidence(Strength.USE, "`.detach` is called on it, which only tensors have", node)
    return _finding(node, call, source, evidence, end=call, risk=_risk(source, node.value, model))


def _check_data(node: cst.Attribute, model: Model) -> Finding | None:
    """Report `.data` of the result of a transfer."""
    found = data_sites.at(node, data_sites.Site.TRANSFER, model)
    if found is None:
        return None
    half = data_sites.half_of(node, model)
    # a transfer can return the tensor itself: who writes to the result must not be counted on it
    doubtful = data_sites.is_doubtful(*found, model) and not integers.are_given(node.value, model)
    doubtful = doubtful or not data_sites.is_left_alone(node, model)
    if _is_never_recorded(node, model) or (not doubtful and _carries_no_graph(node, model)):
        risk = data_sites.risk(node, *found, model) if doubtful else ""
        safe = Applicability.UNSAFE if doubtful else Applicability.SAFE
        drop = edit.replace_after(node.value, node)
        fix = Fix("Remove `.data`: the tensor has no graph", (drop,), safe, risk=risk)
        said = "`.data` has no effect: the tensor has no graph; remove it"
        return Finding(node.attr, said, fix, None, found[1], half_of=half)
    source = memory.before_transfers(node.value, model)
    risk = data_sites.risk(node, *found, model) if doubtful else ""
    if doubtful and data_sites.is_computed_without_graph(node, source, model):
        drop = edit.replace_after(node.value, node)
        fix = Fix("Remove `.data`: autograd does not record here", (drop,), Applicability.UNSAFE, risk=risk)
        return Finding(node.attr, "`.data` has no effect here; remove it", fix, None, found[1], half_of=half)
    if doubtful and _has_no_graph(node, model):
        drop = edit.replace_after(node.value, node)
        fix = Fix("Remove `.data`: the tensor has no graph", (drop,), Applicability.UNSAFE, risk=risk)
        said = "`.data` has no effect: the tensor has no graph; remove it"
        return Finding(node.attr, said, fix, None, found[1], half_of=half)
    risk = risk or _risk(source, node.value, model)
    is_recorded = model.grad_enabled(node) != Tri.NO and not taken_for_granted.is_without_graph(source, model)
    return replace(_finding(node, node, source, found[1], risk=risk, is_recorded=is_recorded), half_of=half)


def _is_never_recorded(node: cst.Attribute, model: Model) -> bool:
    """Whether `.data` is taken from what a comparison gave, or from integers."""
    source = memory.before_transfers(node.value, model)
    return memory.is_compared(source, model) or integers.are_certain(node, model)


def _carries_no_graph(node: cst.Attribute, model: Model) -> bool:
    """Whether what `.data` is taken from has no graph, and nothing can tell it from what `.data` gives."""
    value = model.value(node.value)
    if not (value.is_tensor or is_from_loader(value)) or not stays_without_graph(node.value, model):
        return False
    if model.ask(usage_here, node) <= Usage.READ and not identity.is_changed(node.value, model):
        return True  # what only reads it has no second one to tell it from
    return identity.may_be_one(node, node.value, model)


def _has_no_graph(node: cst.Attribute, model: Model) -> bool:
    """Whether what `.data` is taken from has no graph, and who is given it can be given the tensor itself."""
    is_of_tensor = not model.value(node.value).kind & ~(Kind.TENSOR | Kind.UNKNOWN)
    has_no_graph = is_of_tensor and stays_without_graph(node.value, model)
    return has_no_graph and model.usage(node) is not Usage.WRITTEN and not identity.are_told_apart(model)


def _is_tensor(node: cst.Attribute, model: Model) -> bool:
    value = model.value(node.value)
    return bool(value.kind & Kind.TENSOR) or value.kind == Kind.UNKNOWN


def _risk(source: cst.BaseExpression, moved: cst.BaseExpression, model: Model) -> str:
    """What is moved may be an object of which its own method makes a tensor, where nothing proves that it is one."""
    value = model.value(source)
    if value.is_tensor and (value.strength or Strength.USE) > Strength.USE:
        return ""
    at = moved
    while at is not source and isinstance(at, cst.Call) and isinstance(at.func, cst.Attribute):
        if model.ask(is_unwrapped_by, at.func.attr.value):
            return "a class of the project has such a method, too, whose objects are no tensors"
        at = at.func.value
    return ""


def _finding(
    node: cst.Attribute,
    outer: cst.CSTNode,
    source: cst.BaseExpression,
    evidence: Evidence,
    *,
    end: cst.CSTNode | None = None,
    risk: str = "",
    is_recorded: bool = True,
) -> Finding:
    edits = (edit.insert_after(source, ".detach()"), edit.replace_after(node.value, outer))
    written = ".data" if node.attr.value == "data" else ".detach()"
    fix = Fix("Detach first, then transfer", edits, Applicability.UNSAFE if risk else Applicability.SAFE, risk=risk)
    advice = ", so autograd records a copy that nothing needs; detach first" if is_recorded else "; detach before it"
    said = f"`{written}` comes after the transfer{advice}"
    return Finding(node.attr, said, fix, end, evidence, receiver=source)
