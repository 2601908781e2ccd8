"""Statements that only evaluate an expression, and those of them that do it to see whether it raises."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Model
from torchlint.model.syntax import last_name

_EXPECTING = frozenset(
    ("raises", "warns", "suppress", "assertRaises", "assertRaisesRegex", "assertWarns", "assertWarnsRegex")
)
"""Contexts that wait for an exception or a warning: pytest's, unittest's, contextlib's."""


def is_probed(node: cst.CSTNode, model: Model) -> bool:
    """Whether a node stands where somebody waits for it to raise: in ``try`` with a handler, in ``raises``."""
    child = node
    for up in model.tree.ancestors(node):
        match up:
            case cst.FunctionDef() | cst.ClassDef():
                return False
            case cst.Try() if up.handlers and child is up.body:
                return True
            case cst.With() if child is up.body and any(_expects(item.item) for item in up.items):
                return True
        child = up
    return False


def _expects(context: cst.BaseExpression) -> bool:
    while isinstance(context, cst.Call):
        context = context.func
    name = last_name(context)
    return name in _EXPECTING or name.startswith(("assertRaises", "raises"))
