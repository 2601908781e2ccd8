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

Also a batch that is taken once, in one of the rounds, and a loader that is changed for each:

```diff
 import torch
 from torch.utils.data import DataLoader, TensorDataset
 from torch.utils.data.distributed import DistributedSampler

 def train(loader: DataLoader, val: DataLoader, data, log):
     fixed, is_logged = None, False
     for step, x in enumerate(loader):
         if fixed is None:
             fixed = next(iter(val))
         if step == 0:
             log(next(iter(val)))
         if not is_logged:
             log(next(iter(val)))
             is_logged = True
         first = next(iter(val)) if step == 0 else first
     while True:
         try:
             x = next(iter(val))
             break
         except RuntimeError:
             continue
     sampler = DistributedSampler(data)
     sharded = DataLoader(data, sampler=sampler)
     for epoch in range(3):
         sampler.set_epoch(epoch)
         x = next(iter(sharded))
         loader.dataset.size = epoch
         x = next(iter(loader))
     return fixed, first, x
```

And a loader whose batch is the whole data set:

```diff
 import torch
 from torch.utils.data import DataLoader, TensorDataset

 def run(train, x, y, rounds):
     test = TensorDataset(x, y)
     whole = DataLoader(test, batch_size=len(test))
     same = DataLoader(test, batch_size=test.tensors[0].shape[0])
     some = DataLoader(test, batch_size=8)
     for step in range(rounds):
         train()
         a = next(iter(whole))
         b = next(iter(same))
!        c = next(iter(some))
     return a, b, c
```

Of a dictionary of loaders, in other words, and in some of the rounds:

```diff
 from torch.utils.data import DataLoader

 def run(train, val, rounds):
     loaders = {"train": DataLoader(train, 4, shuffle=True), "val": DataLoader(val, 4)}
     lowest = 1.0
     for step in range(rounds):
!        x = next(iter(loaders["train"]))
         if step % 10 == 0:
!            y = iter(loaders["val"]).__next__()
         if x.mean() < lowest:
             lowest = x.mean()
!            _, z = next(enumerate(loaders["val"]))
     buffer = []
     while rounds:
         if not buffer:
!            buffer = list(next(iter(loaders["train"])))
         rounds -= buffer.pop()
     return x, y, z
```

## When the fix is unsafe

There is none: the iterator is made before the loop, and made again when it is at its end.

`DataLoader`: <https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader>.
"""

from __future__ import annotations

import libcst as cst

from torchlint.model import Kind, Model
from torchlint.model.syntax import dotted, has_stars, keyword, last_statement, literal_key, root
from torchlint.rule import Finding, Group, Severity, all_of, any_of, attribute, on, pattern
from torchlint.rules.shared import first_round, order
from torchlint.rules.shared.made_of import made

GROUP = Group.PERFORMANCE
SEVERITY = Severity.WARNING


@on(
    cst.Call,
    trigger=any_of(
        pattern(r"\bnext \( iter \("),
        pattern(r"\bnext \( enumerate \("),
        all_of(attribute("__next__"), pattern(r"\biter \(")),
    ),
)
def check(node: cst.Call, model: Model) -> Finding | None:
    """Report loaders that are started in each round of a loop."""
    taken = _taken(node)
    if taken is None:
        return None
    func, loader = taken
    loop, path = _comprehension(node, model) or order.loop_of(node, model), _path(loader, model)
    if loop is None or path is None or model.value(loader).kind != Kind.LOADER:
        return None
    if isinstance(func, cst.Name) and func.value == "next" and model.qualified(func) != "builtins.next":
        return None
    if _leaves_at_once(loop) or order.leaves(node, loop, model) or first_round.is_taken_once(node, loop, model):
        return None
    call = made(loader, model)
    if _changes(loader, path, call, loop, model) or (isinstance(call, cst.Call) and _gives_all_at_once(call, model)):
        return None
    is_seen = isinstance(call, cst.Call) and model.qualified(call.func) == "torch.utils.data.DataLoader"
    is_same = isinstance(call, cst.Call) and is_seen and not has_stars(call.args) and not _may_shuffle(call)
    what = "and gives the first batch" if is_same else "as do its workers"
    said = f"the loader restarts in each iteration, {what}; make the iterator before the loop"
    return Finding(func, said, severity=Severity.ERROR if is_same else Severity.WARNING)


def _taken(node: cst.Call) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """What is called to take the first batch of a loader, and the loader."""
    match node:
        case cst.Call(
            func=cst.Name("next") as func,
            args=[cst.Arg(value=cst.Call(func=cst.Name("iter" | "enumerate"), args=[cst.Arg(value=loader), *_])), *_],
        ):
            return func, loader
        case cst.Call(
            func=cst.Attribute(
                value=cst.Call(func=cst.Name("iter"), args=[cst.Arg(value=loader)]), attr=cst.Name("__next__") as func
            )
        ):
            return func, loader
    return None


def _path(node: cst.BaseExpression, model: Model) -> str | None:
    """How a loader is named: a path, or one of a dictionary by its key."""
    match node:
        case cst.Subscript(value=owner, slice=[cst.SubscriptElement(slice=cst.Index(value=key))]):
            is_fixed = literal_key(key) is not None and dotted(owner) is not None
            return model.tree.code(node) if is_fixed else None
    return dotted(node)


def _changes(
    loader: cst.BaseExpression,
    path: str,
    call: cst.BaseExpression | None,
    loop: cst.For | cst.While | cst.BaseComp,
    model: Model,
) -> bool:
    """Whether a loop binds a loader anew, or changes it or what it is made of: `sampler.set_epoch(epoch)`."""
    bound = model.remember(_bound, loop)
    if not bound.isdisjoint((path, root(loader))):
        return True
    given = [dotted(arg.value) for arg in call.args] if isinstance(call, cst.Call) else []
    parts = tuple(f"{each}." for each in (path, *given) if each is not None)
    if any(each.startswith(parts) for each in bound):
        return True
    called = (dotted(each.func) or "" for each in model.tree.within(loop, cst.Call))
    return any(each.startswith(parts) and _sets(each, path) for each in called)


def _sets(called: str, path: str) -> bool:
    """Whether a method by its path changes a loader, its data set or sampler."""
    is_of_part = called.startswith(f"{path}.") and "." in called.removeprefix(f"{path}.")
    return is_of_part or called.rpartition(".")[2].startswith("set_")


def _gives_all_at_once(call: cst.Call, model: Model) -> bool:
    """Whether a loader is made with a batch as large as its data set: the first one is all of it."""
    data = keyword(call.args, "dataset") or next((arg for arg in call.args[:1] if arg.keyword is None), None)
    size = keyword(call.args, "batch_size") or next((arg for arg in call.args[1:2] if arg.keyword is None), None)
    if data is None or size is None or dotted(data.value) is None:
        return False
    value = made(size.value, model) if isinstance(size.value, cst.Name) else size.value
    match value:
        case cst.Call(func=cst.Name("len"), args=[cst.Arg(value=counted)]):
            return dotted(counted) == dotted(data.value)
        case cst.Subscript(
            value=cst.Attribute(value=counted, attr=cst.Name("shape")),
            slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Integer(value="0")))],
        ):
            return isinstance(data.value, cst.Name) and root(counted) == data.value.value
    return False


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
