r"""`log` of `softmax` or `sigmoid` is minus infinity where `log_softmax` and `logsigmoid` are right.

Small probabilities are rounded to zero before the logarithm is taken. The value is then `-inf`, and the gradient NaN.
Adding a small number hides that and bounds the loss. It does no harm in an entropy, where the logarithm is multiplied
by the same small probability, nor in numbers that no gradient is taken of, as those of a matching under `no_grad`.

```diff run-differs
 import torch
 import torch.nn.functional as F

 x = torch.tensor([[0.0, 200.0]])
~a = torch.log(F.softmax(x, dim=1))
+a = F.log_softmax(x, dim=1)
~b = x.softmax(1).log()
+b = x.log_softmax(1)
~c = torch.log(torch.sigmoid(-x))
+c = F.logsigmoid(-x)
~d = torch.log(1 - torch.sigmoid(x))
+d = F.logsigmoid(-x)
!e = torch.log(torch.softmax(x, 1) + 1e-8)
 p = torch.softmax(x, dim=1)
!f = p.log()
~g = x.softmax(1).log_()
+g = x.log_softmax(1)
 eps = 1e-8
!h = torch.sigmoid(x).add(eps).log() + torch.log(eps + 1 - torch.sigmoid(x))
!i = p.gather(1, torch.tensor([[0]])).log()
```

Other things between the two, what numpy and `math` compute, and what is right already:

```diff
 import math

 import numpy as np
 import torch

 @torch.no_grad()
 def cost(x: torch.Tensor, classes):
     return -(x.sigmoid() + 1e-8).log()[:, classes]

 def entropy(x: torch.Tensor):
     p = torch.softmax(x, dim=1)
     mean = torch.log(p.mean(0))
     clamped = p.clamp(min=1e-6).log()
     mixed = torch.log(0.5 * p + 0.5 * p.flip(0))
     exact = -(p * torch.log(p + 1e-8)).sum(1) - ((1 - p) * (1e-8 + (1 - p)).log()).sum(1)
     divergence = (p * (torch.log(p + 1e-8) - torch.log(mean))).sum(1)
     log_p = torch.log(p + 1e-8)
     same = torch.mul(log_p, p) + log_p.mul(p) + (1 - p) * torch.log(1e-8 + 1 - p) + p * p.add(1e-8).log()
     return mean, clamped, mixed, exact, divergence, same, np.log(p.numpy()), math.log(p[0, 0]), torch.log(x)
```

## When the fix is unsafe

Always: numbers that were infinite are finite then, and others differ in their last digits.

`log_softmax`: <https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.log_softmax.html>.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import libcst as cst

from torchlint import edit
from torchlint.model import Model, Tri
from torchlint.model.activations import Activation, activation
from torchlint.model.syntax import call_of, ending_name, has_stars, without_brackets
from torchlint.rule import Finding, Fix, Group, Severity, all_of, any_of, on, pattern, word
from torchlint.rules.api import names
from torchlint.rules.shared import numbers

GROUP = Group.CORRECTNESS
SEVERITY = Severity.WARNING

_RISK = "results differ in the last digits, and where they were infinite"
_LOG = frozenset(("log",))
_INSTEAD = {
    "torch.softmax": "torch.log_softmax",
    "torch.nn.functional.softmax": "torch.nn.functional.log_softmax",
    "torch.sigmoid": "torch.nn.functional.logsigmoid",
    "torch.nn.functional.sigmoid": "torch.nn.functional.logsigmoid",
    "torch.special.expit": "torch.nn.functional.logsigmoid",
}


@on(
    cst.Call, trigger=any_of(pattern(r"\blog \("), pattern(r"\blog_ \("), all_of(word("log"), pattern(r"\blog\s+as\b")))
)
def check(node: cst.Call, model: Model) -> Finding | None:
    """Report logarithms of probabilities that were computed with exponentials."""
    place: cst.CSTNode
    match node.func:
        case cst.Attribute(value=inner, attr=cst.Name("log" | "log_") as place) if not node.args:
            pass
        case cst.Attribute() | cst.Name() as place if len(node.args) == 1 and _is_log(place, model):
            inner = node.args[0].value
        case _:
            return None
    factor, is_shifted = _without_shift(inner)
    if is_shifted and (model.grad_enabled(node) == Tri.NO or _is_multiplied_by(factor, node, model)):
        return None
    inner, flipped = factor
    found = model.ask(activation, inner)
    if found not in (Activation.SOFTMAX, Activation.SIGMOID) or (flipped and found is not Activation.SIGMOID):
        return None
    name = "log_softmax" if found is Activation.SOFTMAX else "logsigmoid"
    if is_shifted:
        said = f"the constant that is added hides that small probabilities round to zero; use `{name}`"
    else:
        said = f"this is minus infinity for small probabilities, and its gradient NaN; use `{name}`"
    return Finding(place, said, None if is_shifted else _fix(node, inner, model, is_flipped=flipped))


def _is_log(func: cst.BaseExpression, model: Model) -> bool:
    return names.is_called(func, _LOG, model) and model.qualified(func) == "torch.log"


class _Probability(NamedTuple):
    """An expression, or one minus it."""

    of: cst.BaseExpression
    is_flipped: bool


def _without_shift(node: cst.BaseExpression) -> tuple[_Probability, bool]:
    """What a logarithm is taken of, without a small number that is added, and whether there was one."""
    match node:
        case cst.BinaryOperation(left=left, operator=cst.Subtract(), right=right):
            rest = _shifted(left)
            if rest is not None and numbers.literal(rest) == 1:
                return _Probability(right, is_flipped=True), True
    rest = _shifted(node)
    return _probability(node if rest is None else rest), rest is not None


def _shifted(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """What a small number is added to."""
    match node:
        case cst.BinaryOperation(left=left, operator=cst.Add(), right=right):
            if _is_small(right):
                return left
            return right if _is_small(left) else None
        case cst.Call(func=cst.Attribute(value=left, attr=cst.Name("add")), args=[cst.Arg(value=right)]):
            return left if _is_small(right) else None
    return None


def _is_small(node: cst.BaseExpression) -> bool:
    """Whether a number only keeps the logarithm from becoming infinite: `log(1 + p)` is something else."""
    if isinstance(node, cst.Float):
        return float(node.evaluated_value) < _SMALL
    return "eps" in ending_name(node).lower()


_SMALL = 0.01


def _is_multiplied_by(factor: _Probability, node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression, or the sum that it stands in, is multiplied by another one wherever it is used."""
    sum_ = _sum_around(node, model)
    match model.tree.parent(sum_):
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name) as target)]):
            references = model.references(name, model.scopes.scope_of(target))
            uses = [_sum_around(use, model) for use in references if not model.is_target(use)]
            if not uses or len(model.bindings_of(name, target)) > 1:
                return False
        case _:
            uses = [sum_]
    return all(any(_is_same(other, factor, model) for other in _factors(use, model)) for use in uses)


def _sum_around(node: cst.CSTNode, model: Model) -> cst.CSTNode:
    """The outermost sum or difference that an expression is a term of, else that itself."""
    while isinstance(up := model.tree.parent(node), (cst.BinaryOperation, cst.UnaryOperation)):
        if isinstance(up, cst.BinaryOperation) and not isinstance(up.operator, (cst.Add, cst.Subtract)):
            break
        node = up
    return node


def _factors(node: cst.CSTNode, model: Model) -> list[cst.BaseExpression]:
    """What an expression is multiplied by: ``p`` of ``p * x``, ``p.mul(x)``, ``x.mul(p)`` and ``torch.mul(x, p)``."""
    match up := model.tree.parent(node):
        case cst.BinaryOperation(left=left, operator=cst.Multiply(), right=right):
            return [right if left is node else left]
        case cst.Attribute(attr=cst.Name("mul" | "multiply")) if call := call_of(up, model.tree):
            return [arg.value for arg in call.args]
        case cst.Arg():
            return _other_factors(node, model.tree.parent(up))
    return []


def _other_factors(node: cst.CSTNode, call: cst.CSTNode | None) -> list[cst.BaseExpression]:
    match call:
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name("mul" | "multiply")), args=args):
            return [owner, *(arg.value for arg in args if arg.value is not node)]
    return []


def _is_same(node: cst.BaseExpression, factor: _Probability, model: Model) -> bool:
    """Whether two expressions are written alike, but for a sign and brackets."""
    found = _probability(node.expression if isinstance(node, cst.UnaryOperation) else node)
    code = model.tree.code
    is_alike = code(without_brackets(found.of)) == code(without_brackets(factor.of))
    return is_alike and found.is_flipped == factor.is_flipped


def _probability(node: cst.BaseExpression) -> _Probability:
    """`p` of `1 - p`; all else as it is."""
    match node:
        case cst.BinaryOperation(left=left, operator=cst.Subtract(), right=right) if numbers.literal(left) == 1:
            return _Probability(right, is_flipped=True)
    return _Probability(node, is_flipped=False)


def _fix(node: cst.Call, inner: cst.BaseExpression, model: Model, *, is_flipped: bool) -> Fix | None:
    """One call in place of two, where both are in one expression."""
    if not isinstance(inner, cst.Call) or has_stars(inner.args) or node.lpar or inner.lpar:
        return None
    ref = model.qualified(inner.func) or ""
    if ref in _INSTEAD:
        if not inner.args or inner.args[0].keyword is not None:
            return None
        spelled = names.spell(_INSTEAD[ref], node, model)
        function, arguments = spelled[0] if spelled is not None else "", [model.tree.code(arg) for arg in inner.args]
    else:
        match inner.func:
            case cst.Attribute(value=owner, attr=cst.Name("softmax")) if not is_flipped:
                spelled, function = ("", ()), f"{model.tree.code(owner)}.log_softmax"
                arguments = [model.tree.code(arg) for arg in inner.args]
            case cst.Attribute(value=owner, attr=cst.Name("sigmoid")) if not inner.args:
                spelled = names.spell("torch.nn.functional.logsigmoid", node, model)
                function, arguments = spelled[0] if spelled is not None else "", [model.tree.code(owner)]
            case _:
                return None
    text = model.tree.code(node)
    if spelled is None or "#" in text or "\n" in text:
        return None
    if is_flipped:
        arguments[0] = _negated(arguments[0])
    edits = (edit.replace(node, f"{function}({', '.join(arguments)})"),)
    return Fix(f"Use `{function.rpartition('.')[2]}`", edits, imports=spelled[1]).doubted(_RISK)


def _negated(code: str) -> str:
    return f"-{code}" if _SIMPLE.fullmatch(code) else f"-({code})"


_SIMPLE = re.compile(r"[\w.]+(?:\[[^][]*\]|\([^()]*\))?")
"""What a sign can stand in front of."""
