r"""A `DataLoader` without workers loads each batch while the training waits.

With `num_workers=0`, which is the default, batches are read, decoded and collated by the training process itself. Where
reading takes time, workers do it meanwhile. For a data set in memory they cost more than they save, and how many are
right depends on the machine: so this rule is off unless it is selected (`--extend-select TL601`).

```diff
 import torch
 from torch.utils.data import DataLoader

 data = torch.ones(8, 2)
!slow = DataLoader(data, batch_size=2)
!same = torch.utils.data.DataLoader(data, num_workers=0)
!by_position = DataLoader(data, 2, False, None, None, 0)
 fast = DataLoader(data, batch_size=2, num_workers=4)
 fast = DataLoader(data, 2, False, None, None, 2)
 counted = DataLoader(data, batch_size=2)
 steps = len(counted)
!used = DataLoader(data, batch_size=2)
 print(len(used))
 for x in used:
     pass

 def f(workers, **options):
     return DataLoader(data, num_workers=workers), DataLoader(data, **options)
```

## When the fix is unsafe

There is no fix, neither a safe nor an unsafe one: the number of workers depends on the machine.

`DataLoader`: <https://docs.pytorch.org/docs/stable/data.html>.
"""

from __future__ import annotations

import libcst as cst

from torchlint.model import Model
from torchlint.model.syntax import has_stars, keyword, positional
from torchlint.rule import Finding, Group, on, word
from torchlint.rules.api import names

BY_DEFAULT = False
GROUP = Group.PERFORMANCE

_NAME = "torch.utils.data.DataLoader"
_POSITION = 5


@on(cst.Call, trigger=word("DataLoader"))
def check(node: cst.Call, model: Model) -> Finding | None:
    """Report loaders that load by themselves."""
    if not isinstance(node.func, (cst.Name, cst.Attribute)) or has_stars(node.args):
        return None
    found = names.resolve(node.func, model)
    if found is None or found[1] != _NAME:
        return None
    given = keyword(node.args, "num_workers") or positional(node.args, _POSITION)
    if given is not None and not (isinstance(given.value, cst.Integer) and given.value.value == "0"):
        return None
    if _is_only_counted(node, model):
        return None
    return Finding(node.func, "the training waits while this loads a batch; give `num_workers=`")


def _is_only_counted(node: cst.Call, model: Model) -> bool:
    """Whether a loader is made to ask how many batches it has: none of them is loaded."""
    match model.tree.parent(node):
        case (
            cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name) as target)])
            | cst.NamedExpr(target=cst.Name(value=name) as target)
        ):
            uses = [use for use in model.references(name, model.scopes.scope_of(node)) if use is not target]
            return bool(uses) and all(_is_counted(use, model) for use in uses)
    return False


def _is_counted(use: cst.Name, model: Model) -> bool:
    match model.tree.parent(model.tree.parent(use) or use):
        case cst.Call(func=cst.Name("len")):
            return True
    return False
