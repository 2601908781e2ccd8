r"""Masks are boolean since PyTorch 1.2.

Indexing with a `uint8` mask warns, `masked_fill`, `masked_select` and `masked_scatter` refuse it. A comparison gives a
boolean tensor, so `.byte()` after it only does harm, and `1 - mask` raises: write `~mask`.

```diff run
 import torch

 x = torch.rand(3, 4)
-a = x[(x > 0.5).byte()]
+a = x[(x > 0.5)]
 mask = x > 0.5
-b = torch.where(mask.byte(), x, x * 2)
+b = torch.where(mask, x, x * 2)
 c = x[mask]
 d = mask.byte()
```

```diff run-after
 import torch

 x = torch.rand(3, 4)
 mask = x > 0.5
-a = x.masked_fill(mask.byte(), 0.0)
+a = x.masked_fill(mask, 0.0)
-b = 1 - mask
+b = ~mask
-c = -(x > 0)
+c = ~(x > 0)
 d = 1 - x
```

```diff
 import torch

 def f(x: torch.Tensor, mask):
     inverse = 1 - mask
~    large = (x > 0.9).byte()
+    large = (x > 0.9)
     y = x[large]
!    both = (x > 0.9).byte()
     z = x[both], both.sum() + 255
     count = (x > 0.9).byte()
     n = count.sum()
~    return x[mask.byte()]
+    return x[mask.bool()]
```

A tensor that is made of bytes and used as a mask, by other names or after some logic:

```diff
 import torch

 x = torch.rand(3)
~kept = torch.ones(3, dtype=torch.uint8)
+kept = torch.ones(3, dtype=torch.bool)
 y = x.masked_fill(kept, 0.0), x[kept]
!first = torch.zeros(3, dtype=torch.uint8)
 first.fill_(3)
 z = x[first]
 picture = torch.zeros(3, dtype=torch.uint8)
 picture[0] = 255
~low = (x < 0.5).byte()
+low = (x < 0.5)
~dark = low ^ (x > 0.9).to(torch.uint8)
+dark = low ^ (x > 0.9)
 x.masked_fill_(dark, 0.0)
```

## When the fix is unsafe

It is safe where the mask is known to be boolean and used on the spot; that of one with names, of which all uses are
masks, changes what the names hold, and what `~` makes of it. What is used as something else as well has no fix. Where
the dtype is not known, `.bool()` instead of `.byte()` is the right form, and unsafe: they differ for 0.5 and for 256.

Release notes of 1.2: <https://github.com/pytorch/pytorch/releases/tag/v1.2.0>.
"""

from __future__ import annotations

import libcst as cst

from torchlint import edit
from torchlint.model import Dtype, Kind, Model
from torchlint.model.overriding import is_set_by_others
from torchlint.model.syntax import assigned_value, calls_method, keyword, last_name
from torchlint.model.torch import library
from torchlint.model.torch.schema import TensorResult
from torchlint.rule import Applicability, Finding, Fix, Group, Severity, any_of, attribute, on, pattern, word
from torchlint.rules.shared import masks
from torchlint.versions import Version

GROUP = Group.MIGRATION

_SINCE: Version = (1, 2)
_SAID = "masks are boolean since PyTorch 1.2; one of bytes is deprecated"
_COMPARING = frozenset(
    """
    eq ne lt le gt ge bool isnan isinf isfinite isclose logical_not logical_and logical_or logical_xor
    """.split()  # noqa: SIM905
)
"""Functions and methods that give booleans."""


@on(cst.Call, trigger=any_of(attribute("byte"), word("uint8")))
def check_mask(node: cst.Call, model: Model) -> Finding | None:
    """Report a tensor that is made one of bytes and used as a mask, on the spot or by other names."""
    bytes_ = _bytes(node, model)
    if bytes_ is None or not model.target.reaches(_SINCE):
        return None
    found = masks.uses(node, model)
    if not found.as_mask:
        return None
    if found.otherwise:
        return Finding(bytes_, _SAID)
    return Finding(bytes_, _SAID, _fix(node, bytes_, model))


def _bytes(node: cst.Call, model: Model) -> cst.BaseExpression | None:
    """What of a call says that its result is one of bytes: the method `byte`, `torch.uint8`."""
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name("byte") as method), args=[]):
            return method
        case cst.Call(func=cst.Attribute(attr=cst.Name("to" | "type")), args=[cst.Arg(value=dtype)]):
            is_cast = True
        case _:
            given = keyword(node.args, "dtype")
            if given is None:
                return None
            dtype, is_cast = given.value, False
    if last_name(dtype) != "uint8" or model.qualified(dtype) != "torch.uint8":
        return None
    if is_cast:
        return dtype if model.qualified(node.func) is None else None
    made = library.function(model.qualified(node.func))
    return dtype if isinstance(made, TensorResult) and made.grad == "factory" else None


_RISK = "`~`, `+` and `-` of it do something else with `bool` than with `uint8`"
_RISK_OF_NUMBERS = "0.5 and 256 become True and not 0, and `~`, `+` and `-` do something else"


def _fix(node: cst.Call, bytes_: cst.BaseExpression, model: Model) -> Fix | None:
    """What keeps or makes it boolean."""
    match node:
        case cst.Call(func=cst.Attribute(value=made, attr=method), args=args) if _is_boolean(made, model):
            fix = Fix(f"Remove `.{method.value}({'…' if args else ''})`", (edit.replace_after(made, node),))
            return fix if masks.is_mask(node, model) else fix.doubted(_RISK)
    if not model.target.has(_SINCE):
        return None
    if isinstance(bytes_, cst.Attribute):
        return Fix("Use `torch.bool`", (edit.replace(bytes_.attr, "bool"),)).doubted(_RISK_OF_NUMBERS)
    is_method = bytes_ is getattr(node.func, "attr", None)
    return Fix("Use `.bool()`", (edit.replace(bytes_, "bool"),)).doubted(_RISK_OF_NUMBERS) if is_method else None


_MINUS_TRIGGER = any_of(
    pattern(r"1(?<![\w.]1) - [A-Za-z_][\w.]*(?!\w|[\t\x20]*[.(\[])"),
    pattern(
        r"1(?<![\w.]1) - [A-Za-z_][^\n]{0,200}?(?:\b|_)"
        r"(?:eq|ne|lt|le|gt|ge|bool|isnan|isinf|isfinite|isclose|logical_not|logical_and|logical_or|logical_xor) \("
    ),
    pattern(r"1(?<![\w.]1) - \( (?:[^\n]{0,200}[<>!=](?![^()\n]{0,200}\)[\t\x20]*[.(\[])|[^)\n]{0,200}\n)"),
    pattern(r"\) - \( (?:[^\n]{0,200}[<>!=](?![^()\n]{0,200}\)[\t\x20]*[.(\[])|[^)\n]{0,200}\n)"),
)
"""Behind a minus, a name or what compares, as far as nothing is done to that on its line."""
_UNARY_TRIGGER = pattern(
    r"-(?<![\d)\]}'\x22]-)(?<![\d)\]}'\x22]\s-) \( "
    r"(?:[^\n]{0,200}[<>!=](?![^()\n]{0,200}\)[\t\x20]*[.(\[])|[^)\n]{0,200}\n)"
)
"""The same behind a minus that nothing stands before."""


@on(cst.BinaryOperation, trigger=_MINUS_TRIGGER)
def check_inverse(node: cst.BinaryOperation, model: Model) -> Finding | None:
    """Report `1 - mask`."""
    match node:
        case cst.BinaryOperation(left=cst.Integer("1"), operator=cst.Subtract(), right=mask):
            if not model.target.reaches(_SINCE) or not _looks_boolean(mask, model) or not _is_boolean(mask, model):
                return None
            is_safe = not _is_set_by_others(mask, model)
            applicability = Applicability.SAFE if is_safe else Applicability.UNSAFE
            risk = "" if is_safe else "the attribute is set elsewhere, too, and need not be boolean then"
            fix = Fix("Use `~`", (edit.replace_before(node, mask, "~"),), applicability, risk=risk)
            said = "`1 - mask` raises since PyTorch 1.2: masks are boolean; use `~mask`"
            return Finding(node, said, fix, severity=Severity.ERROR)
        case cst.BinaryOperation(left=left, operator=cst.Subtract(), right=right):
            if not model.target.reaches(_SINCE) or not isinstance(left, cst.Comparison):
                return None
            if isinstance(right, cst.Comparison) and _is_boolean(left, model) and _is_boolean(right, model):
                said = "masks cannot be subtracted since PyTorch 1.2; use `a ^ b`, or `a & ~b`"
                return Finding(node, said, severity=Severity.ERROR)
    return None


@on(cst.UnaryOperation, trigger=_UNARY_TRIGGER)
def check_negative(node: cst.UnaryOperation, model: Model) -> Finding | None:
    """Report `-mask`."""
    if not isinstance(node.operator, cst.Minus) or not model.target.reaches(_SINCE):
        return None
    if not isinstance(node.expression, cst.Comparison) or not _is_boolean(node.expression, model):
        return None
    fix = Fix("Use `~`", (edit.replace_before(node, node.expression, "~"),))
    return Finding(
        node, "`-mask` raises since PyTorch 1.2: masks are boolean; use `~mask`", fix, severity=Severity.ERROR
    )


def _is_set_by_others(mask: cst.BaseExpression, model: Model) -> bool:
    """Whether a mask is an attribute that others than its class set, to what need not be boolean."""
    cls = model.value(mask.value).node if isinstance(mask, cst.Attribute) else None
    return (
        isinstance(mask, cst.Attribute)
        and isinstance(cls, cst.ClassDef)
        and model.home(cls).ask(is_set_by_others, cls, mask.attr.value)
    )


def _looks_boolean(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is written as a mask: it compares, is called one, or is assigned what compares."""
    match node:
        case cst.Comparison():
            return True
        case cst.Call():
            return calls_method(node, _COMPARING)
        case cst.Name(value=name):
            return "mask" in name or model.remember(_is_assigned_comparison, name, model.scopes.scope_of(node))
        case cst.Attribute(attr=cst.Name(value=name)):
            return "mask" in name or model.remember(_is_kept_comparison, name)
    return False


def _is_assigned_comparison(model: Model, name: str, scope: cst.FunctionDef | cst.Module) -> bool:
    return any(_compares(target, model) for target in model.targets(name, scope))


def _is_kept_comparison(model: Model, name: str) -> bool:
    return any(_compares(use, model) for use in model.tree.attributes(name))


def _compares(target: cst.BaseExpression, model: Model) -> bool:
    """Whether what is assigned to a target compares anything, or makes it boolean."""
    value = assigned_value(target, model.tree)
    if value is None:
        return False
    calls = model.tree.within(value, cst.Call)
    return (
        any(True for _ in model.tree.within(value, cst.Comparison))
        or any(last_name(call.func) in _COMPARING for call in calls)
        or any(node.attr.value == "bool" for node in model.tree.within(value, cst.Attribute))
    )


def _is_boolean(node: cst.BaseExpression, model: Model) -> bool:
    value = model.value(node)
    return value.kind == Kind.TENSOR and value.dtype == Dtype.BOOL
