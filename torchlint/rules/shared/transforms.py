"""Transforms of functions, of which ``.data`` and autograd cut different things."""

from __future__ import annotations

import re
from dataclasses import replace

import libcst as cst

from torchlint.model import Model, Tri
from torchlint.rule import Applicability, Fix

_TANGENTS = re.compile(r"\b(?:jvp|jacfwd|hessian|linearize)\s*\(|\bforward_ad\b")
"""What computes derivatives forwards."""
_FUNCTIONAL = re.compile(r"\btorch\.func\b|\bfunctorch\b")
_ONE = r"(?:grad|jacrev|jacfwd|jvp|vjp|grad_and_value)"
_IN_EACH_OTHER = re.compile(rf"\bhessian\s*\(|\b{_ONE}\s*\(\s*(?:\w+\.)*{_ONE}\b")
_RISK = "of transforms in each other, `.data` cuts the derivatives of the inner one alone, and `.detach()` those of all"


def records_nothing(node: cst.CSTNode, model: Model) -> bool:
    """Whether no derivative is computed of what is computed there.

    ``no_grad`` stops the graph alone; tangents of forward-mode differentiation pass it, and `.data` stops them. Other
    files that compute them with functions of this one are not asked.
    https://docs.pytorch.org/docs/stable/generated/torch.no_grad.html
    """
    return model.grad_enabled(node) == Tri.NO and not model.remember(_may_have_tangents)


def _may_have_tangents(model: Model) -> bool:
    return _TANGENTS.search(model.tree.source.text) is not None


def doubted(fix: Fix, model: Model) -> Fix:
    """A fix that writes `.detach()`, which is not safe where a file has transforms in each other."""
    if fix.applicability is not Applicability.SAFE or not any(each.text for each in fix.edits):
        return fix
    if not model.remember(_are_in_each_other):
        return fix
    return replace(fix, applicability=Applicability.UNSAFE, risk=_RISK)


def _are_in_each_other(model: Model) -> bool:
    text = model.tree.source.text
    return _FUNCTIONAL.search(text) is not None and _IN_EACH_OTHER.search(text) is not None
