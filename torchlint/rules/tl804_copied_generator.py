r"""A generator of a data set is copied to each worker, and all of them draw the same numbers.

Workers of a loader get a copy of the data set, with the generator in the state it has. So each of them gives the same
augmentations, and each epoch begins with these again.

```diff run
 import numpy as np
 import torch
 from torch.utils.data import DataLoader, Dataset

 class Noisy(Dataset):
     def __init__(self):
         self.rng = np.random.default_rng(0)

     def __len__(self):
         return 4

     def __getitem__(self, index):
!        return torch.tensor(self.rng.integers(10**6))

 drawn = torch.cat([each[None] for each in DataLoader(Noisy(), batch_size=None, num_workers=2)])
 is_same = bool(drawn[0] == drawn[1])
 del Noisy
```

What is drawn when the data set is made, a generator that is made for an index or a worker, and what is no data set:

```diff
 import random

 import numpy as np
 from torch.utils.data import Dataset, Sampler

 class Fixed(Dataset):
     def __init__(self, size):
         self.rng = random.Random(0)
         self.order = [self.rng.random() for _ in range(size)]

     def __getitem__(self, index):
         rng = np.random.default_rng(index)
         return self.order[index], rng.normal()

 class Shuffled(Sampler):
     def __init__(self, size):
         self.rng = np.random.RandomState(0)
         self.size = size

     def __getitem__(self, index):
         return self.rng.permutation(self.size)[index]
```

## When the fix is unsafe

There is none: a generator can be made of the index, or in `worker_init_fn` of `torch.initial_seed()`.

Randomness in workers:
<https://docs.pytorch.org/docs/stable/notes/randomness.html#dataloader>.
"""

from __future__ import annotations

import re

import libcst as cst

from torchlint.model import Model
from torchlint.model.syntax import assignment_of
from torchlint.rule import Finding, Group, Severity, all_of, any_of, on, word
from torchlint.rules.shared.own_calls import called_by

GROUP = Group.CORRECTNESS
SEVERITY = Severity.ERROR

_GENERATORS = frozenset(
    ("numpy.random.default_rng", "numpy.random.Generator", "numpy.random.RandomState", "random.Random")
)
_STATE = frozenset(("seed", "get_state", "set_state", "getstate", "setstate", "spawn", "bit_generator"))
"""What does not draw."""


@on(
    cst.Call,
    trigger=all_of(
        word("__getitem__"), any_of(word("default_rng"), word("Generator"), word("RandomState"), word("Random"))
    ),
)
def check(node: cst.Call, model: Model) -> Finding | None:
    """Report numbers of which all workers draw the same."""
    match node.func:
        case cst.Attribute(
            value=cst.Attribute(value=cst.Name("self"), attr=cst.Name(value=name)), attr=cst.Name(value=method)
        ) if method not in _STATE:
            pass
        case _:
            return None
    function = model.tree.enclosing(node, cst.FunctionDef)
    cls = model.class_of(function) if isinstance(function, cst.FunctionDef) else None
    if cls is None or not isinstance(function, cst.FunctionDef) or not _is_generator(cls, name, model):
        return None
    if model.class_kind(cls) != "dataset" or model.mentions(_TELLS_APART):
        return None
    if function.name.value != "__getitem__" and function.name.value not in called_by(cls, "__getitem__", model):
        return None
    said = f"each worker has a copy of `{name}` and draws the same numbers; make one for each index or worker"
    return Finding(node.func, said)


def _is_generator(cls: cst.ClassDef, name: str, model: Model) -> bool:
    """Whether an attribute is made in the constructor, and is a generator that is not given."""
    assigned = model.scopes.attribute(cls, name).assigned
    assign = assignment_of(assigned[0], model.tree) if len(assigned) == 1 else None
    if assign is None or not isinstance(assign.value, cst.Call):
        return False
    method = model.tree.enclosing(assign, cst.FunctionDef)
    is_made = isinstance(method, cst.FunctionDef) and method.name.value == "__init__"
    return is_made and model.qualified(assign.value.func) in _GENERATORS


_TELLS_APART = re.compile(r"get_worker_info|worker_init")
"""What tells workers apart, or seeds them."""
