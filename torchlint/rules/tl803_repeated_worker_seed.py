r"""A `worker_init_fn` that seeds with constants makes all epochs the same.

Workers start anew in each epoch, and are seeded with the same numbers again: so each epoch has the augmentations of
the first one. torch seeds the generators of torch and Python in workers itself, in each epoch differently, and
since 1.9 that of numpy, too.

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
 from functools import partial

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

 def seed_with(worker, k):
     np.random.seed(k + worker)

 def run(data, args, n):
     for epoch in range(n):
         seed = args.seed + epoch
         a = DataLoader(data, shuffle=True, num_workers=2, worker_init_fn=lambda w: np.random.seed(seed + w))
     for r in range(n):
         b = DataLoader(data, shuffle=True, num_workers=2, worker_init_fn=lambda w, s=r: np.random.seed(s + w))
         c = DataLoader(data, shuffle=True, num_workers=2, worker_init_fn=partial(seed_with, k=r * 5))
         d = renewed(data, r)
     return a, b, c, d

 def renewed(data, seed):
     return DataLoader(data, shuffle=True, num_workers=2, worker_init_fn=lambda w: np.random.seed(seed + w))

 class Data:
     def __init__(self, seed):
         self.seed = seed

     def loader(self, data):
         self.seed += 1
         return DataLoader(data, shuffle=True, num_workers=2, worker_init_fn=lambda w: np.random.seed(self.seed + w))
```

Constants by way of names, defaults, `partial` and what a worker is told of itself:

```diff
 from functools import partial

 import numpy as np
 from torch.utils.data import DataLoader, get_worker_info

 def seed_with(worker, k):
     np.random.seed(k + worker)

 def seed_here(worker):
     import random

     random.seed(1 + worker)

 def seed_by_number(worker):
     np.random.seed(get_worker_info().id + 10)

 def make(data, args):
     base = args.seed
~    a = DataLoader(data, 8, True, num_workers=2, worker_init_fn=partial(seed_with, k=base * 5))
+    a = DataLoader(data, 8, True, num_workers=2)
!    b = DataLoader(data, 8, True, num_workers=2, worker_init_fn=seed_here)
~    c = DataLoader(data, shuffle=True, num_workers=2, worker_init_fn=seed_by_number)
+    c = DataLoader(data, shuffle=True, num_workers=2)
~    d = DataLoader(data, shuffle=True, num_workers=2, worker_init_fn=lambda w, s=base: np.random.seed(s + w))
+    d = DataLoader(data, shuffle=True, num_workers=2)
     return a, b, c, d
```

## When the fix is unsafe

Always: epochs differ then. There is none where the function does anything else than seeding, or for PyTorch before 1.9.

Randomness in workers:
<https://docs.pytorch.org/docs/stable/notes/randomness.html#dataloader>.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import libcst as cst

from torchlint import edit
from torchlint.model import Model, bindings
from torchlint.model.syntax import (
    call_of,
    dotted,
    has_stars,
    integer,
    is_label,
    keyword,
    last_name,
    parameters,
    positional,
)
from torchlint.rule import Finding, Fix, Group, Severity, on, word
from torchlint.rules.api import names
from torchlint.rules.shared import order

GROUP = Group.REPRODUCIBILITY
SEVERITY = Severity.ERROR

_LOADER = frozenset(("DataLoader",))
_SEEDS = frozenset(("numpy.random.seed", "random.seed"))
_OTHER_SEEDS = frozenset(("torch.manual_seed", "torch.random.manual_seed", "torch.cuda.manual_seed_all"))
_WORKER_INFO = "torch.utils.data.get_worker_info"
_HARMLESS = frozenset(("builtins.int", "builtins.abs", "builtins.hash", _WORKER_INFO))
_OF_WORKER = frozenset(("id", "num_workers"))
"""What a worker is told of itself that is the same in each epoch."""
_CHANGING = re.compile(r"epoch|time|random|step|iter|round", re.IGNORECASE)
"""What names are called that stand for something else in each epoch."""
_STAYING = re.compile(r"seed|rank|worker", re.IGNORECASE)
"""What names are called that stand for the same in each epoch, as long as nothing else is seen of them."""
_FAR = 4
"""How many names are gone back."""


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
    if not all(_stays(each, model) for each in _handed_on(given.value, model)):
        return None
    said = "workers get the same seed in each epoch, so augmentations repeat"
    if not model.target.has((1, 9)):
        return Finding(given.keyword, said)
    fix = Fix("Leave it to torch", (edit.remove_argument(node, given),)).doubted(
        "workers draw other random numbers, and others in each epoch"
    )
    is_all = _only_seeds(function, model.home(function))
    return Finding(given.keyword, f"{said}; leave the seeding to torch", fix if is_all else None)


def _is_drawn_anew(node: cst.Call) -> bool:
    """Whether a loader shuffles, and starts its workers in each epoch."""
    lives_on = keyword(node.args, "persistent_workers")
    shuffled = keyword(node.args, "shuffle") or positional(node.args, 2)
    workers = keyword(node.args, "num_workers") or positional(node.args, 5)
    if workers is None or integer(workers.value) == 0 or shuffled is None or last_name(shuffled.value) != "True":
        return False
    return lives_on is None or last_name(lives_on.value) == "False"


def _handed_on(node: cst.BaseExpression, model: Model) -> list[cst.BaseExpression]:
    """What a function is given with `partial`."""
    made = model.ask(bindings.made, node) or node
    if not isinstance(made, cst.Call) or model.qualified(made.func) != "functools.partial":
        return []
    return [arg.value for arg in made.args[1:]]


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
    return seeds and all(_is_constant(each, function, model) for each in _read(function.body, model))


def _read(area: cst.CSTNode, model: Model) -> Iterator[cst.BaseExpression]:
    """The names and paths that are read, but for what is called."""
    for node in (area, *model.tree.walk(area)):
        parent = model.tree.parent(node)
        if not isinstance(node, (cst.Name, cst.Attribute)) or isinstance(parent, (cst.Attribute, cst.ImportAlias)):
            continue
        if call_of(node, model.tree) is None and not model.is_target(node) and not is_label(model.tree, node):
            yield node


def _is_constant(node: cst.BaseExpression, function: cst.FunctionDef | cst.Lambda, model: Model) -> bool:
    """Whether something that a function reads is the worker's number, or the same in each epoch."""
    given = {each.name.value: each.default for each in parameters(function)}
    own = model.scopes.locals_of(function) if isinstance(function, cst.FunctionDef) else given
    match node:
        case cst.Attribute(value=cst.Call(), attr=cst.Name(value=name)):
            return name in _OF_WORKER
        case cst.Attribute(value=cst.Name(value=owner), attr=cst.Name(value=name)) if owner in own:
            return name in _OF_WORKER
        case cst.Name(value=name) if name in given:
            default = given[name]
            return _CHANGING.search(name) is None and (default is None or _stays(default, model))
        case cst.Name(value=name) if name in own:
            return _CHANGING.search(name) is None
    return _stays(node, model)


def _stays(node: cst.BaseExpression, model: Model, far: int = _FAR) -> bool:
    """Whether an expression gives the same in each epoch, as far as is seen."""
    calls = [node] if isinstance(node, cst.Call) else []
    if any(model.qualified(call.func) not in _HARMLESS for call in (*calls, *model.tree.within(node, cst.Call))):
        return False
    return bool(far) and all(_path_stays(each, model, far) for each in _read(node, model))


def _path_stays(node: cst.BaseExpression, model: Model, far: int) -> bool:
    path = dotted(node) or ""
    if not path or _CHANGING.search(path) is not None:
        return False
    if isinstance(node, cst.Name):
        return node.value in ("True", "False", "None") or _name_stays(node, model, far)
    if _STAYING.search(last_name(node)) is None:
        return False
    return not model.remember(_is_set_again, path, model.tree.enclosing(node, cst.ClassDef))


def _name_stays(name: cst.Name, model: Model, far: int) -> bool:
    """Whether all that a name is bound to is the same in each epoch: nothing that a loop counts, nothing added."""
    scope = model.scopes.owner(name.value, name)
    targets = [each for each in model.targets(name.value, scope) if model.scopes.scope_of(each) is scope]
    values = [bindings.bound_value(each, model.tree) for each in targets]
    if isinstance(scope, cst.FunctionDef) and any(each.name.value == name.value for each in parameters(scope)):
        if _STAYING.search(name.value) is None or _is_called_with_others(scope, model):
            return False
    elif not values:
        return _STAYING.search(name.value) is not None
    if _STAYING.search(name.value) is not None:
        return all(each is not None and _is_of_one_epoch(each, model, far) for each in values)
    return all(each is not None and _stays(each, model, far - 1) for each in values)


def _is_of_one_epoch(value: cst.BaseExpression, model: Model, far: int) -> bool:
    """Whether what is called a seed is made once, or of what stays: a number that is drawn before all epochs is one."""
    if order.loop_of(value, model) is None and model.tree.enclosing(value, cst.FunctionDef) is None:
        return True
    return _stays(value, model, far - 1)


def _is_called_with_others(function: cst.FunctionDef, model: Model) -> bool:
    """Whether a function is called in a loop, or given what changes."""
    calls = (call_of(each, model.tree) for each in model.all_called(function.name.value))
    return any(
        call is not None and (order.loop_of(call, model) or _is_given_changing(call.args, model)) for call in calls
    )


def _is_given_changing(args: Sequence[cst.Arg], model: Model) -> bool:
    return any(_CHANGING.search(model.tree.code(arg)) is not None for arg in args)


def _is_set_again(model: Model, path: str, cls: cst.CSTNode | None) -> bool:
    """Whether an attribute is counted on, or set by its object outside of the constructor."""
    for each in model.tree.attributes(path.rpartition(".")[2], cls):
        if dotted(each) != path or not model.is_target(each) or model.tree.enclosing(each, cst.ClassDef) is not cls:
            continue
        method = model.tree.enclosing(each, cst.FunctionDef)
        is_made = isinstance(method, cst.FunctionDef) and method.name.value == "__init__"
        if isinstance(model.tree.parent(each), cst.AugAssign) or (path.startswith("self.") and not is_made):
            return True
    return False


def _only_seeds(function: cst.FunctionDef | cst.Lambda, model: Model) -> bool:
    """Whether a function does nothing else than seeding numpy and Python."""
    calls = model.tree.within(function.body, cst.Call)
    if any(model.qualified(call.func) in _OTHER_SEEDS for call in calls):
        return False
    kinds = (cst.AugAssign, cst.Global, cst.Del, cst.Raise, cst.Import, cst.ImportFrom)
    return not any(model.tree.within(function.body, kind) for kind in kinds)
