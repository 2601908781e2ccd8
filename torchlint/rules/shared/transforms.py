"""Transforms of functions, of which ``.data`` and autograd cut different things."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from torchlint.model import Model, Tri
from torchlint.model.codebase.exports import is_mentioned
from torchlint.rule import Applicability, Fix

_TANGENTS = r"\b(?:jvp|jacfwd|hessian|linearize|forward_ad)\b"
"""What computes derivatives forwards."""
_FUNCTIONAL = r"\btorch\.func\b|\bfunctorch\b"
_IN_EACH_OTHER = (
    r"\bhessian\b|\b(?:grad|jacrev|jacfwd|jvp|vjp)\s*\(\s*(?:\w+\.)*(?:grad|jacrev|jacfwd|jvp|vjp|grad_and_value)\b"
)
_RISK = "of transforms in each other, `.data` cuts the derivatives of the inner one alone, and `.detach()` those of all"


def records_nothing(node: cst.CSTNode, model: Model) -> bool:
    """Whether no derivative is computed of what is computed there.

    ``no_grad`` stops the graph alone; tangents of forward-mode differentiation pass it, and `.data` stops them.
    https://docs.pytorch.org/docs/stable/generated/torch.no_grad.html
    """
    return model.grad_enabled(node) == Tri.NO and not model.remember(_may_have_tangents)


def _may_have_tangents(model: Model) -> bool:
    return model.ask(is_mentioned, _TANGENTS)


def doubted(fix: Fix, model: Model) -> Fix:
    """A fix that writes `.detach()`, which is not safe where the project has transforms in each other."""
    if fix.applicability is not Applicability.SAFE or not any(each.text for each in fix.edits):
        return fix
    if not model.remember(_are_in_each_other):
        return fix
    return replace(fix, applicability=Applicability.UNSAFE, risk=_RISK)


def _are_in_each_other(model: Model) -> bool:
    return model.ask(is_mentioned, _FUNCTIONAL) and model.ask(is_mentioned, _IN_EACH_OTHER)
