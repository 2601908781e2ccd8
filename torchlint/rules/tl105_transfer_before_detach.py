r"""Transferring a tensor before detaching it records the transfer in the graph.

`x.cpu().detach()` copies with autograd watching and then throws the record away; `x.detach().cpu()` only copies.

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
 e = w.detach().cpu()
```

Where it is known that there is no graph, the order makes no difference, and nothing is said: integers and comparisons,
batches of a loader, what is made without asking for gradients, and all under `no_grad`.

```diff run
 import torch

 w = torch.ones(3, requires_grad=True)
 a = w.argmax().cpu().detach()
 b = (w > 0).cpu().detach()
 c = torch.zeros(3).cpu().detach()
 with torch.no_grad():
     d = (w * 2).cpu().detach()
```

## When the fix is unsafe

For `.data` on a transferred tensor that is written to, or may be, later: on the same device the transfer is the tensor
itself, and `.detach()` shares its version counter.

Detaching: <https://docs.pytorch.org/docs/stable/generated/torch.Tensor.detach.html>.
"""

from __future__ import annotations

import libcst as cst

from torchlint import edit
from torchlint.model import Evidence, Kind, Model, Strength
from torchlint.model.syntax import call_of
from torchlint.rule import Applicability, Finding, Fix, all_of, any_of, attribute, on, pattern
from torchlint.rules.shared import data_sites, memory, readers

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
        found = data_sites.at(node, data_sites.Site.TRANSFER, model)
        if found is None:
            return None
        # a transfer can return the tensor itself: who writes to the result must not be counted on it
        doubtful = data_sites.is_doubtful(*found) or not data_sites.is_left_alone(node, model)
        return _finding(node, node, node.attr, found[1], doubtful=doubtful)
    if node.attr.value != "detach" or not isinstance(node.value, cst.Call):
        return None
    call = call_of(node, model.tree)
    if call is None or call.args or node.lpar:
        return None
    source = _before_transfers(node.value)
    if source is node.value or readers.reading(call, model) is not None:
        return None
    if model.has_no_graph(source, node):
        return None
    value = model.value(source)
    if value.kind & ~(Kind.TENSOR | Kind.UNKNOWN | Kind.NUMBER | Kind.NONE) or not _is_tensor(node, model):
        return None
    evidence = value.evidence or Evidence(Strength.USE, "`.detach` is called on it, which only tensors have", node)
    return _finding(node, call, node.attr, evidence, end=call)


def _is_tensor(node: cst.Attribute, model: Model) -> bool:
    value = model.value(node.value)
    return bool(value.kind & Kind.TENSOR) or value.kind == Kind.UNKNOWN


def _before_transfers(node: cst.BaseExpression) -> cst.BaseExpression:
    """``x`` of ``x.cuda().cpu()``."""
    while (
        isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in memory.TRANSFERS
    ):
        node = node.func.value
    return node


def _finding(
    node: cst.Attribute,
    outer: cst.CSTNode,
    name: cst.Name,
    evidence: Evidence,
    *,
    end: cst.CSTNode | None = None,
    doubtful: bool = False,
) -> Finding:
    source = _before_transfers(node.value)
    edits = (edit.insert_after(source, ".detach()"), edit.replace_after(node.value, outer))
    fix = Fix("Detach first, then transfer", edits, Applicability.UNSAFE if doubtful else Applicability.SAFE)
    return Finding(
        name,
        "detach before the transfer: where there is a graph, autograd records it only to throw it away",
        fix,
        end,
        evidence,
        receiver=source,
    )
