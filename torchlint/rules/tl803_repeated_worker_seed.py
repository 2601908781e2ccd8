r"""A `worker_init_fn` that seeds with constants makes all epochs the same.

Workers start anew in each epoch, and are seeded with the same numbers again: so each epoch has the augmentations of
the first one. torch has seeded the generators of numpy and Python in workers itself since 1.9, in each epoch
differently.

```diff run-differs
 import random

 import torch
 from torch.utils.data import DataLoader, Dataset

 class Noisy(Dataset):
     def __len__(self):
         return 1

     def __getitem__(self, index):
         return random.randrange(10**6)

 def seed(worker):
     random.seed(42 + worker)

 torch.manual_seed(0)
~loader = DataLoader(Noisy(), shuffle=True, num_workers=1, worker_init_fn=seed)
+loader = DataLoader(Noisy(), shuffle=True, num_workers=1)
 first, second = [int(batch) for epoch in range(2) for batch in loader]
 del loader, Noisy
```

Seeds that come from torch, from the system or from the epoch, workers that live on, none at all, and fixed order:

```diff
 import numpy as np
 import torch
 from torch.utils.data import DataLoader

 def seed_well(worker):
     np.random.seed(torch.initial_seed() % 2**32)

 def make(data):
     a = DataLoader(data, shuffle=True, num_workers=2, worker_init_fn=seed_well)
     b = DataLoader(data, shuffle=True, num_workers=2, worker_init_fn=lambda i: np.random.seed())
     c = DataLoader(
         data, shuffle=True, num_workers=2, worker_init_fn=lambda i: np.random.seed(i), persistent_workers=True
     )
     d = DataLoader(data, shuffle=True, num_workers=0, worker_init_fn=lambda i: np.random.seed(i))
     return a, b, c, d, DataLoader(data, num_workers=2, worker_init_fn=lambda i: np.random.seed(i))
```

## When the fix is unsafe

Always: epochs differ then. There is none where the function does anything else than seeding, or for PyTorch before 1.9.

Randomness in workers:
<https://docs.pytorch.org/docs/stable/notes/randomness.html#dataloader>.
"""

from __future__ import annotations

import re

import libcst as cst

from torchlint import edit
from torchlint.model import Model
from torchlint.model.syntax import assignment_of, dotted, has_stars, integer, is_label, keyword, last_name, parameters
from torchlint.rule import Applicability, Finding, Fix, Group, Severity, on, word
from torchlint.rules.api import names

GROUP = Group.CORRECTNESS
SEVERITY = Severity.ERROR

_LOADER = frozenset(("DataLoader",))
_SEEDS = frozenset(("numpy.random.seed", "random.seed"))
_OTHER_SEEDS = frozenset(("torch.manual_seed", "torch.random.manual_seed", "torch.cuda.manual_seed_all"))
_HARMLESS = frozenset(("builtins.int", "builtins.abs", "builtins.hash"))
_CHANGING = re.compile(r"epoch|time|random|step|iter|round", re.IGNORECASE)
"""What names are called that stand for something else in each epoch."""


@on(cst.Call, trigger=word("worker_init_fn"))
def check(node: cst.Call, model: Model) -> Finding | None:
    """Report workers that are seeded with the same in each epoch."""
    given = keyword(node.args, "worker_init_fn")
    if given is None or given.keyword is None or has_stars(node.args) or not _is_drawn_anew(node):
        return None
    if not names.is_called(node.func, _LOADER, model):
        return None
    if model.qualified(node.func) != "torch.utils.data.DataLoader":
        return None
    function = given.value if isinstance(given.value, cst.Lambda) else model.value(given.value).node
    if not isinstance(function, (cst.FunctionDef, cst.Lambda)) or not _repeats(function, model.home(function)):
        return None
    said = "workers get the same seed in each epoch, so augmentations repeat"
    if not model.target.has((1, 9)):
        return Finding(given.keyword, said)
    fix = Fix("Leave it to torch", (edit.remove_argument(node, given),), Applicability.UNSAFE)
    is_all = _only_seeds(function, model.home(function))
    return Finding(given.keyword, f"{said}; leave the seeding to torch", fix if is_all else None)


def _is_drawn_anew(node: cst.Call) -> bool:
    """Whether a loader shuffles, and starts its workers in each epoch."""
    workers, lives_on = keyword(node.args, "num_workers"), keyword(node.args, "persistent_workers")
    shuffled = keyword(node.args, "shuffle")
    if workers is None or integer(workers.value) == 0 or shuffled is None or last_name(shuffled.value) != "True":
        return False
    return lives_on is None or last_name(lives_on.value) == "False"


def _repeats(function: cst.FunctionDef | cst.Lambda, model: Model) -> bool:
    """Whether a function seeds numpy or Python with nothing but constants and the number of the worker."""
    seeds = False
    for call in model.tree.within(function.body, cst.Call):
        ref = model.qualified(call.func) or ""
        if ref in _SEEDS:
            if not call.args:
                return False
            seeds = True
        elif ref not in _OTHER_SEEDS and ref not in _HARMLESS:
            return False
    return seeds and all(_is_constant(each, function, model) for each in _read(function, model))


def _read(function: cst.FunctionDef | cst.Lambda, model: Model) -> list[cst.BaseExpression]:
    """The names and paths that a function reads, but for what it calls."""
    found: list[cst.BaseExpression] = []
    for node in model.tree.walk(function.body):
        parent = model.tree.parent(node)
        if not isinstance(node, (cst.Name, cst.Attribute)) or isinstance(parent, cst.Attribute):
            continue
        is_called = isinstance(parent, cst.Call) and parent.func is node
        if not is_called and not model.is_target(node) and not is_label(model.tree, node):
            found.append(node)
    return found


def _is_constant(node: cst.BaseExpression, function: cst.FunctionDef | cst.Lambda, model: Model) -> bool:
    """Whether a name is the worker's number, or stands for the same in each epoch."""
    path = dotted(node) or ""
    if not path or _CHANGING.search(path) is not None:
        return False
    own = {each.name.value for each in parameters(function)}
    if isinstance(function, cst.FunctionDef):
        own |= model.scopes.locals_of(function)
    if isinstance(node, cst.Name) and (path in own or path in ("True", "False", "None")):
        return True
    if "seed" in path.rpartition(".")[2].lower():
        return True
    bound = model.bindings_of(path, model.tree.module) if isinstance(node, cst.Name) else []
    assign = assignment_of(bound[0], model.tree) if len(bound) == 1 else None
    return assign is not None and isinstance(assign.value, cst.Integer)


def _only_seeds(function: cst.FunctionDef | cst.Lambda, model: Model) -> bool:
    """Whether a function does nothing else than seeding numpy and Python."""
    calls = model.tree.within(function.body, cst.Call)
    if any(model.qualified(call.func) in _OTHER_SEEDS for call in calls):
        return False
    kinds = (cst.AugAssign, cst.Global, cst.Del, cst.Raise, cst.Import, cst.ImportFrom)
    return not any(model.tree.within(function.body, kind) for kind in kinds)
