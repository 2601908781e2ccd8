r"""A tensor cannot be written as JSON; full reductions and elements are tensors since PyTorch 0.4.

`json` raises a `TypeError` for it, and for a dictionary or list that holds one.

```diff run-after
 import json

 import torch

 w = torch.ones(3, requires_grad=True)
 loss = w.sum()
-a = json.dumps(loss)
+a = json.dumps(loss.item())
-b = json.dumps({"loss": loss, "steps": [1, w[0] * 2]})
+b = json.dumps({"loss": loss.item(), "steps": [1, (w[0] * 2).item()]})
-c = json.dumps([w, 1])
+c = json.dumps([w.tolist(), 1])
```

```diff
 import json

 import torch

 def f(x: torch.Tensor, file, encode, other):
     record = {"mean": x.mean(), "rows": len(x)}
!    json.dump(record, file)
     json.dump({"mean": x.mean()}, file, default=encode)
     json.dump({"mean": x.mean().item(), "other": other}, file)
```

What only an annotation of a dictionary says to be a tensor is left alone: `dict[str, Tensor]` is also said of batches
with lists of names in them.

## When the fix is unsafe

Never: it raises. What a name stands for may be used elsewhere as well, and has no fix.

`Tensor.tolist`: <https://docs.pytorch.org/docs/stable/generated/torch.Tensor.tolist.html>.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint import edit
from torchlint.model import Kind, Model, Ndim, Strength
from torchlint.model.annotations import is_of_entries
from torchlint.model.bindings import last_assigned
from torchlint.model.codebase.exports import is_mentioned
from torchlint.model.imports import imported_path
from torchlint.model.syntax import positional
from torchlint.rule import Finding, Fix, Group, Severity, all_of, any_of, on, word
from torchlint.rules.api import names
from torchlint.rules.shared.statements import is_probed

GROUP = Group.MIGRATION
SEVERITY = Severity.ERROR

_WRITING = frozenset(("json.dump", "json.dumps"))
_LAST_NAMES = frozenset(name.rpartition(".")[2] for name in _WRITING)
_OTHERWISE = frozenset(("default", "cls", "skipkeys"))
"""Arguments that may say what becomes of other objects."""
_ENCODER = r"\bJSONEncoder(?:\.default\s*=(?!=)|\s*,\s*[\"']default\b)|\b_default_encoder\b"
"""What replaces that of all: ``json.JSONEncoder.default = encode``, ``mock.patch.object(JSONEncoder, "default")``."""


@on(cst.Call, trigger=all_of(any_of(word("dump"), word("dumps")), word("json")))
def check(node: cst.Call, model: Model) -> Iterator[Finding]:
    """Report `json.dumps({"loss": loss})`."""
    given = positional(node.args, 0)
    if given is None or not names.may_be_called(node.func, _LAST_NAMES, model):
        return
    if model.qualified(node.func) not in _WRITING:
        return
    if any(arg.star or (arg.keyword is not None and arg.keyword.value in _OTHERWISE) for arg in node.args):
        return
    if is_probed(node, model) or model.remember(_writes_otherwise):
        return
    for each in _values(given.value):
        if _is_tensor(each, model):
            method = "item" if model.value(each).ndim == Ndim.ZERO else "tolist"
            said = f"a tensor cannot be written as JSON: this raises; add `.{method}()`"
            yield Finding(each, said, Fix(f"Add `.{method}()`", edit.append(each, f".{method}()")), receiver=each)
    record = model.ask(last_assigned, given.value) if isinstance(given.value, cst.Name) else None
    for each in _values(record) if isinstance(record, (cst.Dict, cst.List, cst.Tuple)) else ():
        if _is_tensor(each, model):
            said = "it holds tensors, which cannot be written as JSON: this raises; put numbers or lists into it"
            yield Finding(given.value, said, receiver=each)
            return


def _writes_otherwise(model: Model) -> bool:
    """Whether the project tells the encoder of `json` what to do with other objects."""
    return model.ask(is_mentioned, _ENCODER)


def _values(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """The expressions in displays, one in the other."""
    match node:
        case cst.Dict(elements=elements) | cst.List(elements=elements) | cst.Tuple(elements=elements):
            for element in elements:
                if isinstance(element, (cst.DictElement, cst.Element)):
                    yield from _values(element.value)
        case _:
            yield node


def _is_read(source: cst.BaseExpression | None, model: Model) -> bool:
    """Whether something comes from JSON itself, which has no tensors."""
    path = model.ask(imported_path, source.func) if isinstance(source, cst.Call) else None
    return path is not None and path.startswith("json.")


def _is_tensor(node: cst.BaseExpression, model: Model) -> bool:
    source = model.ask(last_assigned, node) if isinstance(node, cst.Name) else node
    if isinstance(source, (cst.BaseString, cst.BaseNumber, cst.Dict, cst.List, cst.Tuple)) or _is_read(source, model):
        return False
    value = model.value(node)
    if value.kind != Kind.TENSOR or (value.strength or 0) <= Strength.CONVENTION:
        return False
    return _is_given_by_tensor(source, model) or not is_of_entries(value.evidence)


def _is_given_by_tensor(source: cst.BaseExpression | None, model: Model) -> bool:
    """Whether a method gives something that lists and strings do not have: ``batch["image"].mean()``."""
    func = source.func if isinstance(source, cst.Call) else None
    return isinstance(func, cst.Attribute) and model.value(func.value).kind == Kind.TENSOR
