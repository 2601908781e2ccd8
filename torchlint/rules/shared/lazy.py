"""Parameters of lazy modules, which before the first batch refuse nearly everything that their `.data` does."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from torchlint.model import Model, Value
from torchlint.model.codebase.exports import is_mentioned
from torchlint.model.syntax import chain, is_none
from torchlint.rule import Applicability, Fix
from torchlint.rules.shared import data_sites, gradients

_LAZY = (
    r"\bUninitialized(?:Parameter|Buffer)\b|\bLazyModuleMixin\b"
    r"|\bLazy(?:Linear|(?:Conv(?:Transpose)?|(?:Batch|Instance)Norm)[123]d)\b"
)
_METHODS = frozenset(("size", "get_device", "is_floating_point", "is_complex"))
"""What a parameter answers that has no shape yet."""
_RISK = "a parameter of a lazy module refuses this before the first batch, its `.data` does not"


def doubted(fix: Fix, node: cst.Attribute, value: Value, model: Model) -> Fix:
    """A fix that is not safe where a parameter may be one of a lazy module."""
    if fix.applicability is not Applicability.SAFE or not data_sites.is_kept(node, value):
        return fix
    if gradients.is_gradient(value, node.value, model) or _is_answered(node, fix, model):
        return fix
    if not model.remember(_are_there) or _has_gradient(node, model):
        return fix
    return replace(fix, applicability=Applicability.UNSAFE, risk=_RISK)


def _has_gradient(node: cst.Attribute, model: Model) -> bool:
    """Whether the function asks for the gradient of a parameter as well, which it has after the first batch."""
    scope, code = model.scopes.scope_of(node), model.tree.code(node.value)
    asked = (each for each in model.tree.attributes("grad") if model.scopes.scope_of(each) is scope)
    return isinstance(scope, cst.FunctionDef) and any(model.tree.code(each.value) == code for each in asked)


def _are_there(model: Model) -> bool:
    return model.ask(is_mentioned, _LAZY)


def _is_answered(node: cst.Attribute, fix: Fix, model: Model) -> bool:
    """Whether only that is read of a parameter which it has from the beginning: its device, whether it is None."""
    if fix.edits[0].text:
        return False
    match model.tree.parent(node):
        case cst.Comparison(comparisons=[cst.ComparisonTarget(comparator=other), *_]):
            return is_none(other)
    for name, outer in chain(node, model.tree):
        return name in _METHODS if isinstance(outer, cst.Call) else name not in ("shape", "[]")
    return False
