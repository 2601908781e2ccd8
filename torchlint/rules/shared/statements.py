"""What somebody waits for to raise: in a ``try``, or where a test says so."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Model
from torchlint.model.syntax import call_of, last_name

LEFT_BY_ERRORS = frozenset(("suppress", "raises", "assertRaises", "assertRaisesRegex"))
"""Contexts that wait for an exception: contextlib's, pytest's, unittest's."""
_EXPECTING = LEFT_BY_ERRORS | {"warns", "assertWarns", "assertWarnsRegex"}
"""The same, and those that wait for a warning."""


def is_probed(node: cst.CSTNode, model: Model) -> bool:
    """Whether a node stands where somebody waits for it to raise: in ``try`` with a handler, in ``raises``."""
    child = node
    for up in model.tree.ancestors(node):
        match up:
            case cst.FunctionDef() | cst.ClassDef():
                return False
            case cst.Try() if up.handlers and child is up.body:
                return True
        child = up
    return is_expected(node, model)


def is_expected(node: cst.CSTNode, model: Model) -> bool:
    """Whether a test waits for something to raise or warn: in a block, or as a function that it hands over or calls.

    So ``with pytest.raises(RuntimeError):``, ``assertRaises(RuntimeError, lambda: …)``, and with a name for the latter.
    """
    child = node
    for up in model.tree.ancestors(node):
        match up:
            case cst.ClassDef():
                return False
            case cst.FunctionDef():
                return model.remember(_is_run_to_raise, up)
            case cst.With() if child is up.body and any(_expects(item.item) for item in up.items):
                return True
            case cst.Lambda() if _is_handed_to_test(up, model):
                return True
        child = up
    return False


def _is_run_to_raise(model: Model, function: cst.FunctionDef) -> bool:
    """Whether a function is there for nothing but to see it raise."""
    owner = model.tree.enclosing(function, cst.FunctionDef, cst.ClassDef)
    if isinstance(owner, cst.ClassDef) or not model.remember(_mentions_expecting):
        return False
    uses = model.references(function.name.value, owner if isinstance(owner, cst.FunctionDef) else model.tree.module)
    is_used = False
    for use in uses:
        if use is function.name or model.is_target(use):
            continue
        if not _is_seen_to_raise(use, model):
            return False
        is_used = True
    return is_used


def _is_seen_to_raise(use: cst.Name, model: Model) -> bool:
    """Whether a function is handed to a test that waits for it to raise, or called in a block that does."""
    if _is_handed_to_test(use, model):
        return True
    return call_of(use, model.tree) is not None and is_expected(use, model)


def _is_handed_to_test(node: cst.CSTNode, model: Model) -> bool:
    arg = model.tree.parent(node)
    call = model.tree.parent(arg) if isinstance(arg, cst.Arg) else None
    return isinstance(call, cst.Call) and _expects(call.func)


def _mentions_expecting(model: Model) -> bool:
    return any(word in model.tree.source.text for word in ("raises", "Raises", "suppress", "warns", "Warns"))


def _expects(context: cst.BaseExpression) -> bool:
    while isinstance(context, cst.Call):
        context = context.func
    name = last_name(context)
    return name in _EXPECTING or name.startswith(("assertRaises", "raises"))
