"""Gradients that may be sparse: what is written to the `.data` of one does not reach it, and to itself it does."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from torchlint.model import Model, Value
from torchlint.model.codebase.exports import is_mentioned
from torchlint.rule import Applicability, Fix
from torchlint.rules.shared import gradients

_ASKED = (
    r"\bsparse(?:_grad)?\s*=\s*True\b|\b[Ee]mbedding(?:Bag|_bag)?\([^\n]*\bsparse\s*=\s*(?!False\b)|\bto_sparse\w*\("
)
"""How an embedding is asked for sparse gradients, and what else is sparse."""
_RISK = "a sparse gradient is not changed by way of `.data`, and is changed now"


def doubted(fix: Fix, node: cst.Attribute, value: Value, model: Model) -> Fix:
    """A fix of what writes to a gradient, which is not safe where the project has sparse ones."""
    if fix.applicability is not Applicability.SAFE or not gradients.is_gradient(value, node.value, model):
        return fix
    return replace(fix, applicability=Applicability.UNSAFE, risk=_RISK) if model.remember(_are_there) else fix


def _are_there(model: Model) -> bool:
    return model.ask(is_mentioned, _ASKED)
