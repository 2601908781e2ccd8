r"""`log(1 + x)`, `exp(x) - 1` and `log(sum(exp(x)))` have functions of their own that are more precise.

For a small `x`, `1 + x` has lost most digits of `x` before the logarithm is taken, and `exp(x) - 1` loses them
afterwards; `exp` of a large one is infinite. `torch.log1p`, `torch.expm1` and `torch.logsumexp` are neither. Where
values are known to be harmless it makes no difference, so this rule is off unless it is selected
(`--extend-select TL801`).

```diff
 import torch

 x = torch.rand(3, 4)
~a = torch.log(1 + x)
+a = torch.log1p(x)
~b = (x * x + 1.0).log()
+b = (x * x).log1p()
~c = torch.exp(x) - 1
+c = torch.expm1(x)
~d = -1 + (x + x).exp()
+d = (x + x).expm1()
~e = torch.log(torch.sum(torch.exp(x - 2), dim=1, keepdim=True))
+e = torch.logsumexp(x - 2, dim=1, keepdim=True)
~f = x.exp().sum(1).log()
+f = x.logsumexp(1)
!g = torch.log(x.exp().sum(-1))
 h = torch.log(2 + x)
 i = torch.log(torch.exp(x).sum())
 j = torch.log(torch.sum(torch.exp(x) + 1, 1))
 k = torch.exp(x) - 2
 l = torch.log(1 + x, out=a)
```

```diff
 import math
 import numpy as np

 n = math.log(1 + 1e-9)
 m = np.exp(0.1) - 1

 def f(model):
     return model.exp() - 1
```

## When the fix is unsafe

Always: the numbers differ, for the better. Where functions and methods are mixed there is no fix, and nothing is
reported about a sum over all dimensions: `logsumexp` has to be told which.

`torch.logsumexp`: <https://docs.pytorch.org/docs/stable/generated/torch.logsumexp.html>.
"""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from torchlint import edit
from torchlint.model import Model
from torchlint.model.syntax import has_stars, last_name
from torchlint.rule import Anchor, Applicability, Edit, Finding, Fix, Group, on, pattern
from torchlint.rules.api import names

BY_DEFAULT = False
GROUP = Group.CORRECTNESS


_RISK = "results differ in the last digits, and where they were infinite"


@on(cst.Call, trigger=pattern(r"\blog \("))
def check_log(node: cst.Call, model: Model) -> Finding | None:
    """Report `log(1 + x)` and `log(sum(exp(x), dim))`."""
    inner = _operand(node, "log", model)
    if inner is None or inner[1]:
        return None
    at = inner[0]
    if isinstance(at, cst.BinaryOperation) and isinstance(at.operator, cst.Add):
        left, right = at.left, at.right
        x = right if _is_one(left) else left if _is_one(right) else None
        if x is None or isinstance(x, (cst.Integer, cst.Float)):
            return None
        return _finding(node, "log1p", "`log(1 + x)`", (*_rename(node, "log1p", model), *_only(at, x)))
    return _logsumexp(node, at, model)


@on(cst.BinaryOperation, trigger=pattern(r"\bexp \("))
def check_exp(node: cst.BinaryOperation, model: Model) -> Finding | None:
    """Report `exp(x) - 1`, and `-1 + exp(x)`."""
    match node:
        case cst.BinaryOperation(left=cst.Call() as call, operator=cst.Subtract(), right=one) if _is_one(one):
            pass
        case cst.BinaryOperation(
            left=cst.UnaryOperation(operator=cst.Minus(), expression=one), operator=cst.Add(), right=cst.Call() as call
        ) if _is_one(one):
            pass
        case _:
            return None
    inner = _operand(call, "exp", model)
    if inner is None or inner[1]:
        return None
    return _finding(call, "expm1", "`exp(x) - 1`", (*_rename(call, "expm1", model), *_only(node, call, keep=True)))


def _logsumexp(node: cst.Call, at: cst.BaseExpression, model: Model) -> Finding | None:
    summed = _operand(at, "sum", model)
    if summed is None or not isinstance(at, cst.Call) or not _is_over_some(summed[1]):
        return None
    inner = _operand(summed[0], "exp", model)
    if inner is None or inner[1] or not isinstance(summed[0], cst.Call):
        return None
    calls = (node, at, summed[0])
    methods = [_is_method(call, model) for call in calls]
    edits: tuple[Edit, ...] = ()
    if all(methods):
        assert isinstance(at.func, cst.Attribute)
        edits = (
            Edit(Anchor(inner[0], True), Anchor(at.func.attr, True), ".logsumexp"),
            edit.replace_after(at, node),
        )
    elif not any(methods) and (spelled := names.spell("torch.logsumexp", node, model)) is not None and not spelled[1]:
        edits = (
            edit.replace_before(node, inner[0], f"{spelled[0]}("),
            edit.replace_after(inner[0], summed[0]),
            edit.replace_after(at, node),
        )
    return _finding(node, "logsumexp", "`log(sum(exp(x)))`", edits)


def _finding(call: cst.Call, name: str, what: str, edits: Sequence[Edit]) -> Finding:
    fix = Fix(f"Use `{name}`", tuple(edits), Applicability.UNSAFE, risk=_RISK) if edits else None
    at = call.func.attr if isinstance(call.func, cst.Attribute) else call.func
    return Finding(at, f"{what} loses digits, or is infinite; use `{name}`", fix)


def _operand(node: cst.BaseExpression, name: str, model: Model) -> tuple[cst.BaseExpression, Sequence[cst.Arg]] | None:
    """What `torch.name(x, …)` or `x.name(…)` is done to, and the other arguments."""
    if not isinstance(node, cst.Call) or last_name(node.func) != name or has_stars(node.args):
        return None
    if not _is_method(node, model):
        found = names.resolve(node.func, model) if isinstance(node.func, (cst.Name, cst.Attribute)) else None
        if found is None or found[1] != f"torch.{name}" or not node.args or node.args[0].keyword is not None:
            return None
        return node.args[0].value, node.args[1:]
    assert isinstance(node.func, cst.Attribute)
    return (node.func.value, node.args) if model.is_tensor(node.func.value) else None


def _is_method(call: cst.Call, model: Model) -> bool:
    func = call.func
    return isinstance(func, cst.Attribute) and names.resolve(func, model) is None


def _is_over_some(args: Sequence[cst.Arg]) -> bool:
    """Whether the arguments of a sum are a dimension, and perhaps `keepdim`."""
    if not args:
        return False
    first, *rest = args
    name = first.keyword.value if first.keyword is not None else "dim"
    if isinstance(first.value, cst.Name) and first.value.value == "None":
        return False
    return name == "dim" and all(arg.keyword is not None and arg.keyword.value == "keepdim" for arg in rest)


def _is_one(node: cst.BaseExpression) -> bool:
    return isinstance(node, (cst.Integer, cst.Float)) and node.value in ("1", "1.0", "1.")


def _rename(call: cst.Call, name: str, model: Model) -> tuple[Edit, ...]:
    """Edits that give what is called another name."""
    if isinstance(call.func, cst.Attribute):
        return (edit.replace(call.func.attr, name),)
    spelled = names.spell(f"torch.{name}", call, model)
    return (edit.replace(call.func, spelled[0]),) if spelled is not None and not spelled[1] else ()


def _only(outer: cst.BaseExpression, inner: cst.BaseExpression, *, keep: bool = False) -> tuple[Edit, ...]:
    """Edits that leave nothing but a part of an expression; its brackets only around what needs them."""
    inside = keep or not isinstance(inner, (cst.Name, cst.Attribute, cst.Call, cst.Subscript))
    before = Edit(Anchor(outer, False, inside=inside), Anchor(inner, False), "")
    after = Edit(Anchor(inner, True), Anchor(outer, True, inside=inside), "")
    binary = outer if isinstance(outer, cst.BinaryOperation) else None
    return (
        (after,) if binary is not None and binary.left is inner and inside else (before,) if inside else (before, after)
    )
