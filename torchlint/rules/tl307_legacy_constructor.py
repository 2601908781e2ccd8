r"""Constructors from before PyTorch 0.4.

`torch.FloatTensor(3)` has three elements and no values, `torch.FloatTensor([3])` has one, and it is a 3. `torch.tensor`
takes data, `torch.empty` and its kin take sizes; both know `dtype=` and `device=`, and obey the default device.

The old constructors work as ever and do not warn, and in code that works they are seldom what is wrong with it: so this
rule is off unless it is selected (`--extend-select TL307`). What warns is TL302 and on: `torch.set_default_tensor_type`
and the constructors of `torch.sparse`.

```diff run
 import torch

-a = torch.FloatTensor([1, 2])
+a = torch.tensor([1, 2], dtype=torch.float32)
-b = torch.LongTensor([[1], [2]])
+b = torch.tensor([[1], [2]], dtype=torch.int64)
-c = torch.Tensor([1.5, 2])
+c = torch.tensor([1.5, 2])
-d = torch.Tensor([1, 2])
+d = torch.tensor([1, 2], dtype=torch.get_default_dtype())
-e = torch.FloatTensor(2, 3).zero_()
+e = torch.empty(2, 3, dtype=torch.float32).zero_()
-f = a.new([3.0])
+f = a.new_tensor([3.0])
-g = a.new(2, 2).fill_(1)
+g = a.new_empty(2, 2).fill_(1)
-h = c.new(b.size()).zero_()
+h = c.new_empty(b.size()).zero_()
 i = torch.tensor([1.0])
```

```diff
 import torch

 def f(values, nhid, x: torch.FloatTensor) -> torch.LongTensor:
~    w = torch.nn.Parameter(torch.Tensor(nhid))
+    w = torch.nn.Parameter(torch.empty(nhid))
~    noise = torch.Tensor(nhid).uniform_()
+    noise = torch.empty(nhid).uniform_()
!    unknown = torch.Tensor(nhid)
!    a = torch.FloatTensor(values)
     return isinstance(a, torch.FloatTensor)

 class Factory:
     def new(self, size): ...

 b = Factory().new(3)
!c = torch.cuda.FloatTensor([1.0])
```

## When the fix is unsafe

A fix is safe where the argument is a literal list of numbers, or the arguments are sizes. What a name holds cannot be
told apart: a size, a list, an array, whose memory the old constructor may share. So there the message says what to
write. `torch.empty` obeys `torch.set_default_device`, which the old constructors do not: where the file or the project
sets one, the fix is unsafe. So it is where a single argument is a size by nothing but its name, and by what is done
with the tensor: it becomes a parameter, or is overwritten on the spot.

`torch.Tensor`: <https://docs.pytorch.org/docs/stable/tensors.html>.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from torchlint import edit
from torchlint.model import Dtype, Kind, Model
from torchlint.model.expressions import own_value
from torchlint.model.syntax import call_of, last_name
from torchlint.rule import Finding, Fix, Group, Severity, listed, on
from torchlint.rules.api import findings, methods, names, namespaces, patches, places, uses
from torchlint.rules.api.table import Row
from torchlint.rules.api.uses import Use

BY_DEFAULT = False
GROUP = Group.MIGRATION
SEVERITY = Severity.INFO

_RANGES = {"ByteTensor": (0, 255), "CharTensor": (-128, 127), "ShortTensor": (-(2**15), 2**15 - 1)}
_SIZE_NAME = re.compile(
    r"(?!.*(?:sizes|dims|lens|lengths|numbers)$)"
    r".*(size|dim|num|hid|feature|channel|(^|_)n(_|$)|^n[a-z]{1,4}$|(^|_)len|width|height)"
)
"""Names of numbers that say how large something is; not those of several of them."""
_OVERWRITES = frozenset(("fill_", "zero_", "normal_", "uniform_", "random_", "bernoulli_", "copy_", "exponential_"))
_INTEGERS = frozenset(("ByteTensor", "CharTensor", "ShortTensor", "IntTensor", "LongTensor", "BoolTensor"))


@on(cst.Module, trigger=listed("TL307"))
def check(node: cst.Module, model: Model) -> Iterator[Finding]:
    """Report calls of the old constructors; their names are types as well, and those stay."""
    for use in uses.of_rule(model, "TL307"):
        call = call_of(use.node, model.tree)
        if call is None:
            continue
        fix = _fix(use, call, model) if use.row.is_fixable(model.target) else None
        yield Finding(use.node, _said(use.row), _as_torch_has(fix, use.row, model))
    for attribute, row in methods.uses(model, "TL307"):
        call = call_of(attribute, model.tree)
        if call is not None:
            fix = _new(attribute, call, model) if row.is_fixable(model.target) else None
            yield Finding(attribute.attr, _said(row), _as_torch_has(fix, row, model), receiver=attribute.value)


def _as_torch_has(fix: Fix | None, row: Row, model: Model) -> Fix | None:
    if fix is None or patches.is_replaced(row.name, model):
        return None
    return namespaces.as_torch_has(fix, (row.name,), model)


def _said(row: Row) -> str:
    return f"`{findings.short(row.name)}` is a legacy constructor since PyTorch 0.4; use {row.advice}"


def _fix(use: Use, call: cst.Call, model: Model) -> Fix | None:
    row = use.row
    if row.fix != "constructor" or any(arg.keyword is not None for arg in call.args):
        return None
    name = row.last
    if len(call.args) == 1 and not call.args[0].star and (kind := numbers(call.args[0].value)) is not None:
        if not _fits(name, kind):
            return None
        dtype = row.text if name != "Tensor" else "" if kind.has_float else "torch.get_default_dtype()"
        return _written("torch.tensor", dtype, call, row, model)
    if call.args and all(_is_size(arg, len(call.args), model) for arg in call.args):
        fix = _written("torch.empty", row.text if name != "Tensor" else "", call, row, model)
        return _as_unsafe(fix) if len(call.args) == 1 and _is_by_callers(call.args[0], model) else fix
    if len(call.args) == 1 and not call.args[0].star and _is_by_name_a_size(call, model):
        return _as_unsafe(_written("torch.empty", row.text if name != "Tensor" else "", call, row, model))
    return None


def _as_unsafe(fix: Fix | None) -> Fix | None:
    return fix.doubted("of a list of numbers the old constructor makes a tensor of these values") if fix else None


def _is_by_callers(arg: cst.Arg, model: Model) -> bool:
    """Whether only the calls that are seen say that an argument is a size: others may give a list of numbers."""
    return bool(model.ask(own_value, arg.value).kind & Kind.UNKNOWN)


def _is_by_name_a_size(call: cst.Call, model: Model) -> bool:
    """Whether an argument is called a size, and the tensor is used as one without values: as a parameter, or filled."""
    if _SIZE_NAME.match(last_name(call.args[0].value)) is None:
        return False
    match model.tree.parent(call):
        case cst.Attribute(attr=cst.Name(value=name)) as attribute:
            return name in _OVERWRITES and call_of(attribute, model.tree) is not None
        case cst.Arg() as arg:
            outer = model.tree.parent(arg)
            return isinstance(outer, cst.Call) and last_name(outer.func) == "Parameter"
    return False


def _written(function: str, dtype: str, call: cst.Call, row: Row, model: Model) -> Fix | None:
    spelled = names.spell(function, call, model)
    typed = names.spell_all(f"dtype={dtype}", call, model) if dtype else ("", ())
    if spelled is None or typed is None:
        return None
    edits = [edit.replace(call.func, spelled[0])]
    if dtype:
        edits.append(edit.add_argument(call, typed[0]))
    fix = Fix(f"Use `{function}`", tuple(edits), row.applicability, (*spelled[1], *typed[1]))
    if places.may_be_default(call, model):
        return fix.doubted("it is made on the default device, which the old constructor ignores")
    return fix


class Numbers:
    """What numbers a literal list holds."""

    def __init__(self) -> None:
        self.has_float = False
        self.values: list[int] = []
        self.depths: set[int] = set()


def numbers(node: cst.BaseExpression) -> Numbers | None:
    """The numbers in a literal list of numbers, or of such lists; None if it is none."""
    found = Numbers()
    return found if isinstance(node, cst.List) and _collect(node, found) else None


def _collect(node: cst.BaseExpression, found: Numbers) -> bool:
    match node:
        case cst.Float():
            found.has_float = True
            return True
        case cst.Integer(value=value) if value.isdecimal():
            found.values.append(int(value))
            return True
        case cst.UnaryOperation(operator=cst.Minus(), expression=cst.Integer(value=value)) if value.isdecimal():
            found.values.append(-int(value))
            return True
        case cst.UnaryOperation(operator=cst.Minus(), expression=cst.Float()):
            found.has_float = True
            return True
        case cst.List(elements=elements) | cst.Tuple(elements=elements):
            return all(isinstance(e, cst.Element) and _collect(e.value, found) for e in elements)
    return False


def _fits(name: str, found: Numbers) -> bool:
    """Whether both constructors take the numbers, and make the same of them."""
    if name in _INTEGERS and found.has_float:
        return False
    if name == "BoolTensor":
        return all(value in (0, 1) for value in found.values)
    low, high = _RANGES.get(name, (-(2**31), 2**31 - 1))
    return all(low <= value <= high for value in found.values)


def _is_size(arg: cst.Arg, count: int, model: Model) -> bool:
    """Whether an argument is a size: where there are several, all are."""
    if arg.star:
        return False
    if isinstance(arg.value, cst.Integer):
        return True
    value = model.value(arg.value)
    return value.kind == Kind.NUMBER or (count > 1 and not value.kind & (Kind.TENSOR | Kind.CONTAINER | Kind.NDARRAY))


def _new(attribute: cst.Attribute, call: cst.Call, model: Model) -> Fix | None:
    """`x.new(…)` by what it is given."""
    args = call.args
    if any(arg.keyword is not None or arg.star == "**" for arg in args):
        return None
    if len(args) == 1 and not args[0].star and (written := numbers(args[0].value)) is not None:
        if model.value(attribute.value).dtype & (Dtype.INT | Dtype.BOOL) and written.has_float:
            return None
        return Fix("Use `.new_tensor(…)`", (edit.replace(attribute.attr, "new_tensor"),))
    if not args:
        found = (edit.replace(attribute.attr, "new_empty"), edit.add_argument(call, "0"))
        return Fix("Use `.new_empty(0)`", found)
    sizes = [arg for arg in args if _is_size(arg, len(args), model)]
    if len(sizes) == len(args) or (len(args) == 1 and _is_shape(args[0], model)):
        fix = Fix("Use `.new_empty(…)`", (edit.replace(attribute.attr, "new_empty"),))
        return _as_unsafe(fix) if len(sizes) == 1 == len(args) and _is_by_callers(args[0], model) else fix
    return None


def _is_shape(arg: cst.Arg, model: Model) -> bool:
    """Whether an argument is the size of a tensor, `y.size()` or `y.shape`, starred or not."""
    match arg.value:
        case cst.Call(func=cst.Attribute(value=base, attr=cst.Name("size")), args=[]):
            return model.is_tensor(base)
        case cst.Attribute(value=base, attr=cst.Name("shape")):
            return model.is_tensor(base)
    return False
