r"""`sum`, `max`, `min`, `any` and `all` of Python go through a tensor element by element.

Each element becomes a tensor of its own, and is added or compared by itself. On a GPU, each comparison waits for it.
The methods of the tensor do it in one step.

```diff run
 import torch

 x = torch.tensor([3.0, 1.0, 2.0])
~total = sum(x)
+total = x.sum()
~largest = max(x)
+largest = x.max()
~is_there = any(x > 2)
+is_there = (x > 2).any().item()
!rows = sum(torch.ones(2, 3))
!row = max(torch.ones(1, 3))
 kind = type(max(x.tolist())) is float
 steps = len(list(x))
```

Lists and generators of tensors, two arguments, arrays, a key, entries of dictionaries that are only said to hold
tensors, and names that are not Python's:

```diff
 import numpy as np
 import torch

 def f(x: torch.Tensor, y: torch.Tensor, xs: list[torch.Tensor], outputs):
     a = sum(xs) + sum(t.sum() for t in x)
     b = max(x, y) + max(x, key=abs) + max(x, default=0)
     return a, b, sum(np.ones(3)), any(outputs), sum(x.tolist()), sum(x.shape), sum(x, y)

 def h(batch: dict[str, torch.Tensor]):
     sizes = batch["sizes"]
     return sum(sizes), max(batch.get("lengths", [1]))

 def g(x: torch.Tensor):
     from torch import sum

     return sum(x)
```

What is compared with a tensor gives one, on whichever side it stands, and so does what is compared with the largest
entries of what a network gives:

```diff
 from torch import nn
 from torch.utils.data import DataLoader

 def accuracy(net: nn.Module, loader: DataLoader, device):
     right = seen = 0
     for x, y in loader:
         guess = net(x).argmax(1)
!        right += sum(guess == y.to(device))
!        seen += sum((guess > 0) & (y > 0))
     return right / seen

 def count(guess, labels, names: list[str], probabilities):
     return sum(guess == labels), any(name == "a" for name in names), max(probabilities.numpy() == labels)
```

What differs is what torch computes with: small integers add up to a large one, and what is not a number is the largest
and the smallest.

```diff run-differs
 import torch

 pixels = torch.tensor([200, 100], dtype=torch.uint8)
~total = sum(pixels)
+total = pixels.sum()
 gaps = torch.tensor([1.0, float("nan")])
~largest = max(gaps)
+largest = gaps.max()
```

## When the fix is unsafe

Always: sums may differ in their last digits, of integers in their dtype (`int64`, where those of Python are cut off to
that of the elements) and of nothing in their type (a tensor, where Python gives `0`); `max` and `min` give NaN if one
is there, a copy and no view of the element, equal ones a part of the gradient each, and another error for nothing.
There is none for `sum`, `max` and `min` of what may have several dimensions: Python adds and compares rows there, and
the methods take single elements.

`torch.sum`: <https://docs.pytorch.org/docs/stable/generated/torch.sum.html>.
"""

from __future__ import annotations

import libcst as cst

from torchlint import edit
from torchlint.model import Kind, Model, Ndim, Strength, Value
from torchlint.model.interpret.loaders import is_from_loader
from torchlint.model.syntax import integer, literal_key
from torchlint.rule import Applicability, Edit, Finding, Fix, Group, Severity, any_of, on, pattern
from torchlint.rules.shared.displays import is_display
from torchlint.rules.shared.made_of import made

GROUP = Group.PERFORMANCE
SEVERITY = Severity.WARNING

_NAN = "NaN is the result if one is there, equal ones share the gradient, and what is given is a copy"
_ROWS = "rows of several elements raise today, and all of their elements are looked at then"
_RISKS = {
    "any": _ROWS,
    "all": _ROWS,
    "sum": "the last digits may differ, and small integers are added up in `int64`",
    "max": _NAN,
    "min": _NAN,
}
_OTHERS = Kind.NDARRAY | Kind.CONTAINER | Kind.STRING
"""What compares in other ways, or element by element as well."""
_FLAT = frozenset(("flatten", "ravel", "flat"))
_SIZED = frozenset(f"torch.{name}" for name in ("zeros", "ones", "rand", "randn", "empty"))
_RANGES = frozenset(f"torch.{name}" for name in ("arange", "linspace", "logspace", "randperm"))


@on(
    cst.Call,
    trigger=any_of(
        pattern(r"\bsum\b(?<!\.sum) \((?![^\n,)]{0,300}\bfor\b)"),
        pattern(r"\bmax\b(?<!\.max) \((?![^\n,)]{0,300}\bfor\b)"),
        pattern(r"\bmin\b(?<!\.min) \((?![^\n,)]{0,300}\bfor\b)"),
        pattern(r"\bany\b(?<!\.any) \((?![^\n,)]{0,300}\bfor\b)"),
        pattern(r"\ball\b(?<!\.all) \((?![^\n,)]{0,300}\bfor\b)"),
    ),
)
def check(node: cst.Call, model: Model) -> Finding | None:
    """Report reductions that Python does with a tensor."""
    match node:
        case cst.Call(
            func=cst.Name(value="sum" | "max" | "min" | "any" | "all" as name) as func,
            args=[cst.Arg(value=given, keyword=None, star="")],
        ):
            pass
        case _:
            return None
    if is_display(given, model) or not _is_tensor(given, model):
        return None
    if model.qualified(func) != f"builtins.{name}":
        return None
    said = f"`{name}` of Python goes through the tensor element by element; call its method"
    return Finding(func, said, _fix(node, given, name, model))


def _is_tensor(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is a tensor by an annotation or a signature of torch: its methods are those of others."""
    if isinstance(node, cst.Comparison):
        return _is_elementwise([node.left, *(each.comparator for each in node.comparisons)], model)
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, (cst.BitAnd, cst.BitOr)):
        return _is_elementwise([node.left, node.right], model)
    value = model.value(node)
    call = made(node, model) if isinstance(node, cst.Name) else node
    function = model.value(call.func).node if isinstance(call, cst.Call) else None
    if isinstance(function, cst.FunctionDef) and function.decorators:
        return False  # which may return something else
    if _is_of_object(call, model):
        return False
    enough = Strength.SIGNATURE if _is_entry(call) else Strength.ANNOTATION
    return value.kind == Kind.TENSOR and (value.strength or Strength.NAME) >= enough


def _is_elementwise(compared: list[cst.BaseExpression], model: Model) -> bool:
    """Whether a comparison is one of tensors: Python goes through it, so of arrays or tensors, and one is a tensor.

    By convention is enough for that: what networks give and loaders yield.
    """
    values = [model.value(each) for each in compared]
    if any(value.kind & _OTHERS for value in values):
        return False
    return any(_is_tensor(each, model) or _is_conventional(model.value(each)) for each in compared)


def _is_of_object(node: cst.BaseExpression | None, model: Model) -> bool:
    """Whether a method of what may be something else than a tensor gives it: of a class that has the same methods."""
    while isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        node = node.func.value
        if model.value(node).kind & Kind.OBJECT:
            return True
    return False


def _is_conventional(value: Value) -> bool:
    if is_from_loader(value):
        return True
    return value.may_be_tensor and (value.strength or Strength.NAME) >= Strength.CONVENTION


def _is_entry(node: cst.BaseExpression | None) -> bool:
    """Whether an expression is an entry of a dictionary: `dict[str, Tensor]` is also said of lists in batches."""
    match node:
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=key))]):
            return isinstance(literal_key(key), str)
        case cst.Call(func=cst.Attribute(attr=cst.Name("get" | "pop")), args=[cst.Arg(value=key), *_]):
            return isinstance(literal_key(key), str)
    return False


def _fix(node: cst.Call, given: cst.BaseExpression, name: str, model: Model) -> Fix | None:
    """`x.sum()`, of one dimension; `any` and `all` of several raise, or are asked of rows of one element."""
    if name not in ("any", "all") and not _is_flat(given, model):
        return None
    is_simple = isinstance(given, (cst.Name, cst.Attribute, cst.Call, cst.Subscript)) or bool(given.lpar)
    ending = ".item()" if name in ("any", "all") else ""
    edits: tuple[Edit, ...] = (
        edit.replace_before(node, given, "" if is_simple else "("),
        edit.replace_after(given, node, f"{'' if is_simple else ')'}.{name}(){ending}"),
    )
    return Fix(f"Call `.{name}()`", edits, Applicability.UNSAFE, risk=_RISKS[name])


def _is_flat(node: cst.BaseExpression, model: Model) -> bool:
    """Whether a tensor is seen to have one dimension."""
    value = model.value(node)
    if value.kind == Kind.TENSOR and value.ndim == Ndim.ONE:
        return True
    call = made(node, model) if isinstance(node, cst.Name) else node
    if not isinstance(call, cst.Call):
        return False
    match call:
        case cst.Call(func=cst.Attribute(attr=cst.Name("view" | "reshape")), args=[cst.Arg(value=size)]):
            return integer(size) == -1
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=method)), args=[]) if method in _FLAT:
            return True
    ref = model.qualified(call.func) or ""
    if ref in _RANGES:
        return True
    first = call.args[0].value if call.args else None
    if ref in _SIZED:
        others = [arg for arg in call.args[1:] if arg.keyword is None]
        return first is not None and integer(first) is not None and not others
    if ref == "torch.tensor" and isinstance(first, cst.List):
        return all(isinstance(_unsigned(each.value), (cst.Integer, cst.Float)) for each in first.elements)
    return False


def _unsigned(node: cst.BaseExpression) -> cst.BaseExpression:
    return node.expression if isinstance(node, cst.UnaryOperation) else node
