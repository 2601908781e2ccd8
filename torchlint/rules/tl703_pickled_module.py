r"""A whole module is saved, not its weights.

`torch.save(model, path)` pickles the class by its name and place: the file can only be read where the code has not
moved, and since PyTorch 2.6 only with `weights_only=False`, which runs code from the file.

```diff
 import torch
 from torch import nn

 model = nn.Linear(2, 2)
!torch.save(model, "model.pt")
 torch.save(model.state_dict(), "model.pt")
 torch.save({"model": model.state_dict(), "epoch": 1}, "model.pt")
!torch.save({"model": model, "epoch": 1}, "checkpoint.pt")

 def f(thing):
     torch.save(thing, "thing.pt")
```

## When the fix is unsafe

There is no fix, neither a safe nor an unsafe one: whoever reads the file has to change, too.

Saving and loading: <https://docs.pytorch.org/docs/stable/notes/serialization.html>.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.model import Kind, Model
from torchlint.model.syntax import last_name
from torchlint.rule import Finding, Group, on, pattern
from torchlint.rules.api import names

GROUP = Group.SECURITY


@on(cst.Call, trigger=pattern(r"\bsave \("))
def check(node: cst.Call, model: Model) -> Iterator[Finding]:
    """Report modules among what is saved."""
    if last_name(node.func) != "save" or not node.args or node.args[0].star:
        return
    assert isinstance(node.func, (cst.Name, cst.Attribute))
    found = names.resolve(node.func, model)
    if found is None or "torch.save" not in found:
        return
    for value in _saved(node.args[0].value):
        if model.value(value).kind == Kind.MODULE:
            said = "this pickles the module with its class; save its `state_dict()`"
            yield Finding(value, said)


def _saved(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """What is saved: the expression, or the values of a literal dictionary."""
    match node:
        case cst.Dict(elements=elements):
            for element in elements:
                yield element.value
        case cst.Call(func=cst.Name("dict"), args=args):
            for arg in args:
                if arg.keyword is not None:
                    yield arg.value
        case _:
            yield node
