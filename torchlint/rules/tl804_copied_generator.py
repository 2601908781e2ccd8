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

A generator by another name, chosen, given, inherited or handed on, and one that is seeded for each index:

```diff
 import random

 import numpy as np
 from torch.utils.data import Dataset

 def jitter(x, rng):
     return x + rng.normal()

 class Base(Dataset):
     def __init__(self, data, rng: np.random.Generator, seed=None):
         self.data = data
         self.given = rng
         self.rng = np.random.default_rng(seed) if seed is not None else np.random.default_rng()
         self.python: random.Random = random.Random(seed)
         self.seeded = random.Random()

     @property
     def weight(self):
!        return self.rng.beta(0.2, 0.2)

 class Noisy(Base):
     def __getitem__(self, index):
         rng = self.rng
!        x = self.data[index] + rng.normal() * self.weight
!        x = jitter(x, self.rng) * self.python.random()
!        x = x + self.given.normal()
         self.seeded.seed(index)
         return x * self.seeded.random()
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
from torchlint.model.bindings import last_assigned
from torchlint.model.lineage import lineage_of
from torchlint.model.syntax import parameters, positional_parameters
from torchlint.rule import Finding, Group, Severity, all_of, any_of, on, word
from torchlint.rules.shared.own_calls import called_by

GROUP = Group.REPRODUCIBILITY
SEVERITY = Severity.ERROR

_GENERATORS = frozenset(
    ("numpy.random.default_rng", "numpy.random.Generator", "numpy.random.RandomState", "random.Random")
)
_SEEDING = frozenset(("seed", "set_state", "setstate", "bit_generator"))
"""What gives a generator another state."""
_STATE = _SEEDING | {"get_state", "getstate", "spawn"}
"""What does not draw."""


@on(
    cst.Call,
    trigger=all_of(
        word("__getitem__"), any_of(word("default_rng"), word("Generator"), word("RandomState"), word("Random"))
    ),
)
def check(node: cst.Call, model: Model) -> Finding | None:
    """Report numbers of which all workers draw the same."""
    function = model.tree.enclosing(node, cst.FunctionDef)
    cls = model.class_of(function) if isinstance(function, cst.FunctionDef) else None
    if cls is None or not isinstance(function, cst.FunctionDef):
        return None
    name = _drawn_from(node, model) or _handed_on(node, cls, model)
    if name is None or not model.remember(_is_generator, cls, name):
        return None
    if model.class_kind(cls) != "dataset" or model.mentions(_TELLS_APART):
        return None
    if not any(_is_drawn(function, each, name, model) for each in model.remember(_subclasses).get(cls, ())):
        return None
    said = f"each worker has a copy of `{name}` and draws the same numbers; make one for each index or worker"
    return Finding(node.func, said)


def _own(node: cst.BaseExpression, model: Model) -> str | None:
    """The attribute of its object that an expression is, also by a name for it."""
    if isinstance(node, cst.Name):
        node = model.ask(last_assigned, node) or node
    match node:
        case cst.Attribute(value=cst.Name("self"), attr=cst.Name(value=name)):
            return name
    return None


def _drawn_from(node: cst.Call, model: Model) -> str | None:
    """The attribute that a method is called on that may draw."""
    match node.func:
        case cst.Attribute(value=owner, attr=cst.Name(value=method)) if method not in _STATE:
            return _own(owner, model)
    return None


def _handed_on(node: cst.Call, cls: cst.ClassDef, model: Model) -> str | None:
    """The attribute that a function of the project is given, and draws from."""
    for arg in node.args:
        name = _own(arg.value, model)
        if name is not None and not arg.star and model.remember(_is_generator, cls, name):
            function = model.value(node.func).node
            if isinstance(function, cst.FunctionDef) and _draws(function, node, arg, model):
                return name
    return None


def _draws(function: cst.FunctionDef, call: cst.Call, arg: cst.Arg, model: Model) -> bool:
    """Whether a function calls a method that may draw on what it is given as an argument."""
    home = model.home(function)
    given = positional_parameters(function)[home.class_of(function) is not None :]
    if arg.keyword is not None:
        name = arg.keyword.value
    else:
        at = next(index for index, each in enumerate(call.args) if each is arg)
        name = given[at].name.value if at < len(given) else ""
    calls = (each.func for each in home.tree.within(function.body, cst.Call))
    return any(
        isinstance(func, cst.Attribute)
        and isinstance(func.value, cst.Name)
        and func.value.value == name
        and func.attr.value not in _STATE
        for func in calls
    )


def _is_drawn(function: cst.FunctionDef, cls: cst.ClassDef, name: str, model: Model) -> bool:
    """Whether an object of a class draws in that method when it is asked for an item, in the state it was made with."""
    methods = {"__getitem__", *called_by(cls, "__getitem__", model)}
    if model.find_method(cls, function.name.value) is not function or function.name.value not in methods:
        return False
    found = (model.find_method(cls, method) for method in methods)
    return not any(each is not None and _is_seeded(each, name, model) for each in found)


def _is_seeded(method: cst.FunctionDef, name: str, model: Model) -> bool:
    """Whether a method gives a generator another state, or makes it anew."""
    home = model.home(method)
    for use in home.tree.within(method.body, cst.Attribute):
        if use.attr.value in _SEEDING and _own(use.value, home) == name:
            return True
        if use.attr.value == name and _own(use, home) == name and home.is_target(use):
            return True
    return False


def _subclasses(model: Model) -> dict[cst.CSTNode, list[cst.ClassDef]]:
    """Each class that one of this file is or derives from, with all of these."""
    found: dict[cst.CSTNode, list[cst.ClassDef]] = {}
    for cls in model.scopes.all_classes():
        for base in dict.fromkeys((cls, *(base for _, base in model.ask(lineage_of, cls).classes()))):
            found.setdefault(base, []).append(cls)
    return found


def _is_generator(model: Model, cls: cst.ClassDef, name: str) -> bool:
    """Whether an attribute is set in constructors of a class of this file, or its bases, and is a generator."""
    assigned = [
        target
        for home, each in model.ask(lineage_of, cls).classes()
        if home is model.context
        for target in home.scopes.attribute(each, name).assigned
    ]
    return bool(assigned) and all(_is_bound_to_generator(each, model) for each in assigned)


def _is_bound_to_generator(target: cst.CSTNode, model: Model) -> bool:
    bound = model.tree.parent(target)
    bound = model.tree.parent(bound) if isinstance(bound, cst.AssignTarget) else bound
    method = model.tree.enclosing(target, cst.FunctionDef)
    if not isinstance(method, cst.FunctionDef) or method.name.value != "__init__":
        return False
    if not isinstance(bound, (cst.Assign, cst.AnnAssign)) or bound.value is None:
        return False
    return _gives_generator(bound.value, method, model)


def _gives_generator(value: cst.BaseExpression, method: cst.FunctionDef, model: Model) -> bool:
    """Whether a constructor makes a generator, or is given one by what it says of its parameter."""
    match value:
        case cst.Call(func=func):
            return model.qualified(func) in _GENERATORS
        case cst.IfExp(body=one, orelse=other):
            return any(_gives_generator(each, method, model) for each in (one, other))
        case cst.BooleanOperation(operator=cst.Or(), right=right):
            return _gives_generator(right, method, model)
        case cst.Name(value=name):
            given = [each.annotation for each in parameters(method) if each.name.value == name]
            return any(each is not None and _is_annotated(each, model) for each in given)
    return False


def _is_annotated(annotation: cst.Annotation, model: Model) -> bool:
    """Whether an annotation names a generator, alone or among others."""
    named = (*model.tree.within(annotation, cst.Name), *model.tree.within(annotation, cst.Attribute))
    return any(model.qualified(each) in _GENERATORS for each in named)


_TELLS_APART = re.compile(r"get_worker_info|worker_init")
"""What tells workers apart, or seeds them."""
