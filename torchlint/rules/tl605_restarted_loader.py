r"""`next(iter(loader))` in a loop restarts the loader in each iteration.

Workers are started, fill their queues, and are thrown away after one batch. Without `shuffle=True` it is the same batch
each time, so a model sees the first one and no other.

```diff run
 import torch
 from torch.utils.data import DataLoader, TensorDataset

 loader = DataLoader(TensorDataset(torch.arange(6)), batch_size=2)
 seen = []
 for step in range(3):
!    (batch,) = next(iter(loader))
     seen.append(batch.tolist())
```

One batch outside of loops, an iterator that is kept, loops over loaders, ones that leave in the first round, and what
is no loader:

```diff
 import torch
 from torch.utils.data import DataLoader, TensorDataset

 loader = DataLoader(TensorDataset(torch.arange(6)), batch_size=2)
 first = next(iter(loader))
 batches = iter(loader)
 for step in range(3):
     batch = next(batches)
 for each in (loader, DataLoader(TensorDataset(torch.arange(3)))):
     shape = next(iter(each))[0].shape
 while True:
     batch = next(iter(loader))
     break
 for step in range(3):
     key = next(iter({"a": 1}))
```

## When the fix is unsafe

There is none: the iterator is made before the loop, and made again when it is at its end.

`DataLoader`: <https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader>.
"""

from __future__ import annotations

import libcst as cst

from torchlint.model import Kind, Model
from torchlint.model.syntax import dotted, has_stars, keyword, last_statement
from torchlint.rule import Finding, Group, Severity, on, pattern
from torchlint.rules.shared import order
from torchlint.rules.shared.made_of import made

GROUP = Group.PERFORMANCE
SEVERITY = Severity.WARNING


@on(cst.Call, trigger=pattern(r"\bnext \( iter \("))
def check(node: cst.Call, model: Model) -> Finding | None:
    """Report loaders that are started in each round of a loop."""
    match node:
        case cst.Call(
            func=cst.Name("next") as func,
            args=[cst.Arg(value=cst.Call(func=cst.Name("iter"), args=[cst.Arg(value=loader)])), *_],
        ):
            pass
        case _:
            return None
    loop, path = _comprehension(node, model) or order.loop_of(node, model), dotted(loader)
    if loop is None or path is None or model.value(loader).kind != Kind.LOADER:
        return None
    if model.qualified(func) != "builtins.next" or _leaves_at_once(loop):
        return None
    if not model.remember(_bound, loop).isdisjoint((path, path.partition(".")[0])):
        return None
    call = made(loader, model)
    is_seen = isinstance(call, cst.Call) and model.qualified(call.func) == "torch.utils.data.DataLoader"
    is_same = isinstance(call, cst.Call) and is_seen and not has_stars(call.args) and not _may_shuffle(call)
    what = "and gives the first batch" if is_same else "as do its workers"
    said = f"the loader restarts in each iteration, {what}; make the iterator before the loop"
    return Finding(func, said, severity=Severity.ERROR if is_same else Severity.WARNING)


def _comprehension(node: cst.Call, model: Model) -> cst.BaseComp | None:
    """The list or the like of which each element is made with a call; what it goes over first is made once."""
    around = model.tree.enclosing(node, cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp, cst.Lambda)
    if not isinstance(around, cst.BaseComp):
        return None
    first = around.for_in.iter
    return None if node is first or model.tree.is_inside(node, first) else around


def _bound(model: Model, loop: cst.For | cst.While | cst.BaseComp) -> frozenset[str]:
    """The names and paths that a loop binds in its header or its body."""
    found: set[str | None] = set()
    for node in model.tree.walk(loop):
        if isinstance(node, (cst.Name, cst.Attribute)) and model.is_target(node):
            found.add(dotted(node))
    return frozenset(each for each in found if each is not None)


def _leaves_at_once(loop: cst.For | cst.While | cst.BaseComp) -> bool:
    """Whether a loop ends in its first round."""
    if isinstance(loop, cst.BaseComp):
        return False
    return isinstance(last_statement(loop.body), (cst.Break, cst.Return, cst.Raise))


def _may_shuffle(call: cst.Call) -> bool:
    """Whether a loader may give its batches in another order each time."""
    if len(call.args) > 2 and call.args[2].keyword is None:
        return True
    if any(keyword(call.args, name) is not None for name in ("sampler", "batch_sampler")):
        return True
    shuffled = keyword(call.args, "shuffle")
    return shuffled is not None and not (isinstance(shuffled.value, cst.Name) and shuffled.value.value == "False")
