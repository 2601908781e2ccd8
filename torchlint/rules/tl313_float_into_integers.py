r"""A fraction does not fit into a tensor of integers.

An operation in place keeps the dtype of its tensor. Since PyTorch 1.5 one whose result would be a float raises on
integers: `ids /= 2` as much as `ids.clamp_(0, 2.5)`. Until then the fraction was cut off.

```diff run-after
 import torch

 ids = torch.arange(6)
~ids /= 2
+ids //= 2
~ids.div_(2)
+ids.div_(2, rounding_mode="floor")
 ids += 1
 ids.clamp_(0, 5)
 ids.div_(2, rounding_mode="trunc")
```

```diff
 import torch

 def boxes(gain: torch.Tensor):
     rows = torch.zeros(3, dtype=torch.long)
     size = torch.ones(7)
!    rows.clamp_(0, size[2] - 1)
!    rows *= 0.5
     rows -= 1
!    torch.div(rows, 3, out=rows)
!    rows.sqrt_()
     rows.copy_(size[:3])
     rows.fill_(1.5)
     rows = rows / 2
     rows /= 2
     rows.clamp_(0, gain[2] - 1)
     return rows
```

## When the fix is unsafe

Always: for negative numbers `//` rounds down, and what was meant may be a float. Where nothing is divided there is no
fix: write `x = x * 0.5`, or round what is put in.

In-place semantics and type promotion: <https://docs.pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc>.
"""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from torchlint import edit
from torchlint.model import Dtype, Kind, Model
from torchlint.model.syntax import has_stars, keyword
from torchlint.rule import Anchor, Applicability, Edit, Finding, Fix, Group, Severity, any_of, on, pattern
from torchlint.rules.api import guards
from torchlint.rules.shared.statements import is_probed
from torchlint.versions import Version

GROUP = Group.MIGRATION
SEVERITY = Severity.ERROR

_SINCE: Version = (1, 5)
_SAID = "the result is a float, which raises for a tensor of integers since PyTorch 1.5"
_RISK = "quotients below zero are rounded down, and `/` once rounded them towards zero"
_DIVIDING = frozenset(("div_", "divide_", "true_divide_"))
_FLOATING = frozenset(
    """
    sqrt_ rsqrt_ exp_ exp2_ expm1_ log_ log2_ log10_ log1p_ sigmoid_ tanh_ sin_ cos_ tan_ asin_ acos_ atan_ sinh_ cosh_
    erf_ erfc_ reciprocal_
    """.split()  # noqa: SIM905
)
"""What gives fractions of integers."""
_PROMOTING = frozenset(
    """
    add_ sub_ subtract_ mul_ multiply_ pow_ clamp_ clip_ clamp_min_ clamp_max_ remainder_ fmod_ lerp_
    """.split()  # noqa: SIM905
)
"""What gives a float if one of its arguments is one."""
_OPERATORS = (
    cst.AddAssign,
    cst.SubtractAssign,
    cst.MultiplyAssign,
    cst.PowerAssign,
    cst.ModuloAssign,
    cst.FloorDivideAssign,
)


@on(
    cst.AugAssign,
    trigger=any_of(
        pattern(r"(?<!/)/=(?!=)"),
        pattern(r"[-+*%/]=[\s\\(]*-?[\s\\(]*(?:[\d_]+\.|\.\d|[\d_]+[eE])"),
    ),
)
def check_augmented(node: cst.AugAssign, model: Model) -> Finding | None:
    """Report `ids /= 2` and `ids *= 0.5`; of other operands but literals nobody asks, for they are everywhere."""
    is_division = isinstance(node.operator, cst.DivideAssign)
    if not is_division and not isinstance(node.operator, _OPERATORS):
        return None
    if not is_division and not _is_fraction(node.value):
        return None
    if not isinstance(node.target, (cst.Name, cst.Attribute)) or not _is_of_integers(node.target, model):
        return None
    fix = None
    if is_division and not _is_float(node.value, model):
        change = (Edit(Anchor(node.target, True), Anchor(node.value, False), " //= "),)
        fix = Fix("Use `//=`", change, Applicability.UNSAFE, risk=_RISK)
    return _finding(node, node.target, fix, model)


@on(
    cst.Call,
    trigger=any_of(
        pattern(
            r"\b(?:true_divide|divide|div|sqrt|rsqrt|exp|expm1|exp2|log|log2|log10|log1p|sigmoid|tanh|sin|cos|tan|asin|acos"
            r"|atan|sinh|cosh|erf|erfc|reciprocal|add|sub|subtract|mul|multiply|pow|clamp|clip|clamp_min|clamp_max"
            r"|remainder|fmod|lerp)_ \("
        ),
        pattern(r"\b(?:true_divide|true_div|divide|div) \((?:(?!\n\n)[\s\S]){0,500}?\bout ="),
    ),
)
def check_call(node: cst.Call, model: Model) -> Finding | None:
    """Report `ids.div_(2)`, `ids.clamp_(0, 2.5)`, `torch.div(ids, 2, out=ids)`."""
    if not isinstance(node.func, cst.Attribute) or has_stars(node.args):
        return None
    name, tensor = node.func.attr.value, node.func.value
    out = keyword(node.args, "out")
    is_rounded = keyword(node.args, "rounding_mode") is not None
    if out is not None:
        if name not in ("div", "divide", "true_divide") or is_rounded or not _is_of_integers(out.value, model):
            return None
        return _finding(node, out.value, None, model) if model.qualified(node.func) == f"torch.{name}" else None
    is_division = name in _DIVIDING and not is_rounded and bool(node.args)
    if not is_division and name not in _FLOATING and not (name in _PROMOTING and _any_float(node.args, model)):
        return None
    if not isinstance(tensor, (cst.Name, cst.Attribute)) or not _is_of_integers(tensor, model):
        return None
    fix = None
    if is_division and name == "div_" and not _any_float(node.args, model):
        change = (edit.add_argument(node, 'rounding_mode="floor"'),)
        fix = Fix("Round down", change, Applicability.UNSAFE, risk=_RISK)
    return _finding(node, tensor, fix, model)


def _finding(
    node: cst.Call | cst.AugAssign, tensor: cst.BaseExpression, fix: Fix | None, model: Model
) -> Finding | None:
    if not model.target.reaches(_SINCE) or is_probed(node, model) or guards.is_guarded(node, model):
        return None
    return Finding(node, _SAID, fix, receiver=tensor)


def _is_of_integers(node: cst.BaseExpression, model: Model) -> bool:
    value = model.value(node)
    return value.kind == Kind.TENSOR and value.dtype == Dtype.INT


def _any_float(args: Iterable[cst.Arg], model: Model) -> bool:
    return any(_is_float(arg.value, model) for arg in args)


def _is_float(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is a literal with a point, or a tensor that is known to be one of floats."""
    value = model.value(node)
    return _is_fraction(node) or (value.kind == Kind.TENSOR and value.dtype == Dtype.FLOAT)


def _is_fraction(node: cst.BaseExpression) -> bool:
    """Whether an expression is a literal with a point or an exponent."""
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        node = node.expression
    return isinstance(node, cst.Float)
