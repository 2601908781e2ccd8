"""Calls that clip gradients."""

from __future__ import annotations

import re

import libcst as cst

from torchlint.model import Model

_INFINITE = re.compile(r"\binf\b|[\"']inf")


def only_measures(call: cst.Call, model: Model) -> bool:
    """Whether infinity is given, so that nothing is clipped: the norm of the gradients is what is wanted."""
    return any(_INFINITE.search(model.tree.code(arg)) for arg in call.args)
