r"""A tensor is made with one dtype and copied to another, where it could be made with that.

`torch.zeros(n).long()` fills a tensor of floats and copies it. `dtype=` makes the right one. This rule is off by
default, and speaks only where the numbers are the same.

```diff run
 import torch
 from torch import arange

-a = torch.zeros(2, 3).long()
+a = torch.zeros(2, 3, dtype=torch.long)
-b = arange(6).float()
+b = arange(6, dtype=torch.float)
-c = torch.tensor([1, 2]).double()
+c = torch.tensor([1, 2], dtype=torch.double)
-d = torch.eye(2).to(torch.bool)
+d = torch.eye(2, dtype=torch.bool)
-e = torch.ones(3, requires_grad=False).half()
+e = torch.ones(3, requires_grad=False, dtype=torch.half)
-f = torch.zeros(3).float()
+f = torch.zeros(3, dtype=torch.float)
```

Fractions, numbers that another dtype does not hold, random ones, and tensors that are there:

```diff
 import torch

 x = torch.ones(2, dtype=torch.half)
 a = torch.tensor([0.1, 0.2]).double()
 b = torch.tensor([0.5, 1.5]).long()
 c = torch.arange(3, 10**5, 7).half()
 d = torch.arange(0, 1, 0.1).double()
 e = torch.rand(3).double()
 f = x.float()
 g = torch.ones(2, dtype=torch.half).float()
 h = torch.arange(10**10, 10**10 + 2).int()
 i = torch.ones(2, requires_grad=True).double()
```

## When the fix is unsafe

For ranges of `torch.float` that may have more than 16 million numbers: they are rounded in another way.

```diff
 import torch

~x = torch.arange(20_000_000).float()
+x = torch.arange(20_000_000, dtype=torch.float)
```

Creation of tensors: <https://docs.pytorch.org/docs/stable/torch.html#creation-ops>.
"""

from __future__ import annotations

import libcst as cst

from torchlint import edit
from torchlint.model import Model
from torchlint.model.possibilities import Dtype
from torchlint.model.syntax import integer, keyword
from torchlint.model.torch import library
from torchlint.rule import Edit, Finding, Fix, Group, Severity, any_of, on, pattern
from torchlint.rules.api import names
from torchlint.rules.shared.factories import factory, is_leaf_to_train

BY_DEFAULT = False
GROUP = Group.PERFORMANCE
SEVERITY = Severity.WARNING

_CONSTANT = frozenset(("zeros", "ones", "eye"))
_FACTORIES = _CONSTANT | {"arange", "tensor"}
_CASTS = frozenset(("long", "int", "float", "double", "bool", "half", "bfloat16"))
_SAME = {"int64": "long", "int32": "int", "float32": "float", "float64": "double", "float16": "half"}
"""Other names of dtypes."""
_HOLDING = frozenset(("long", "float", "double"))
"""Dtypes to which integers are cast as they are made with them."""

_EXACT = 2**24
"""Up to where single precision holds all integers."""


@on(
    cst.Call,
    trigger=any_of(
        pattern(r"\) \. (?:long|int|float|double|bool|half|bfloat16) \( \)"),
        pattern(r"\) \. to \("),
    ),
)
def check(node: cst.Call, model: Model) -> Finding | None:
    """Report new tensors that are cast on the spot."""
    match node.func:
        case cst.Attribute(value=cst.Call() as made, attr=method):
            pass
        case _:
            return None
    dtype = _dtype(node, method.value, model)
    name = factory(made, _FACTORIES, model) if dtype is not None else None
    if dtype is None or name is None or is_leaf_to_train(made) or keyword(made.args, "dtype") is not None:
        return None
    if not _is_same(name, made, _SAME.get(dtype, dtype), model):
        return None
    spelled = names.spell(f"torch.{dtype}", node, model)
    if spelled is None:
        return None
    edits: tuple[Edit, ...] = (edit.add_argument(made, f"dtype={spelled[0]}"), edit.replace_after(made, node))
    is_it_already = _SAME.get(dtype, dtype) == "float" and model.value(made).dtype == Dtype.FLOAT
    why = "has that dtype by default" if is_it_already else "is made with one dtype and copied to another"
    said = f"this {why}; make it with `dtype=`"
    fix = Fix("Make it with the dtype", edits, imports=spelled[1])
    if not _is_exact(name, made, dtype):
        fix = fix.doubted("large numbers of the range may be rounded in another way")
    return Finding(method, said, fix)


def _dtype(node: cst.Call, method: str, model: Model) -> str | None:
    """The dtype that a call casts to, by the name it has in torch."""
    if method in _CASTS:
        return method if not node.args else None
    if method != "to" or len(node.args) != 1 or node.args[0].star:
        return None
    arg = node.args[0]
    ref = model.qualified(arg.value) or ""
    if (
        not ref.startswith("torch.")
        or not library.is_dtype(ref)
        or (arg.keyword is not None and arg.keyword.value != "dtype")
    ):
        return None
    name = ref.removeprefix("torch.")
    return name if _SAME.get(name, name) in _CASTS else None


def _is_same(name: str, made: cst.Call, dtype: str, model: Model) -> bool:
    """Whether a tensor that is made with a dtype has the numbers of one that is cast to it."""
    if name in _CONSTANT:
        return True
    if name == "arange":
        return dtype in _HOLDING and model.value(made).dtype == Dtype.INT
    if not made.args or made.args[0].keyword is not None:
        return False
    numbers = _numbers(made.args[0].value)
    if numbers is None:
        return False
    return dtype == "float" or (dtype in _HOLDING and all(integer(each) is not None for each in numbers))


def _is_exact(name: str, made: cst.Call, dtype: str) -> bool:
    """Whether it is seen that no number is rounded: a long range of `torch.float` is rounded as it is made."""
    if name != "arange" or _SAME.get(dtype, dtype) != "float":
        return True
    given = [integer(arg.value) for arg in made.args]
    return all(each is not None and abs(each) <= _EXACT for each in given)


def _numbers(node: cst.BaseExpression) -> list[cst.BaseExpression] | None:
    """The numbers that a literal is made of; None if it is made of anything else."""
    found: list[cst.BaseExpression] = []
    waiting = [node]
    while waiting:
        each = waiting.pop()
        match each:
            case cst.List(elements=elements) | cst.Tuple(elements=elements):
                waiting += [element.value for element in elements]
            case cst.UnaryOperation(operator=cst.Minus(), expression=cst.Float()) | cst.Float():
                found.append(each)
            case _ if integer(each) is not None:
                found.append(each)
            case _:
                return None
    return found
