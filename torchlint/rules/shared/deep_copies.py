"""A copy of what an expression gives: `copy.deepcopy(…)` around it, as the file writes that."""

from __future__ import annotations

import libcst as cst

from torchlint import edit
from torchlint.model import Model
from torchlint.model.syntax import bound_name, dotted, is_global, last_name
from torchlint.rule import Applicability, Fix
from torchlint.rules.api import names


def copied(node: cst.BaseExpression, model: Model) -> Fix | None:
    """`copy.deepcopy(…)` around it."""
    spelled = _spelled(node, model)
    if spelled is None:
        return None
    name, imports = spelled
    edits = (edit.insert_before(node, f"{name}("), edit.insert_after(node, ")"))
    return Fix("Keep a copy", edits, Applicability.UNSAFE, imports=imports)


def _imported_copies(model: Model) -> list[tuple[str, str]]:
    """The names that imports at the top of the file bind for it, and how each spells `copy.deepcopy`."""
    found = []
    for each in model.tree.all(cst.ImportFrom):
        if names.module_of(each) != "copy" or isinstance(each.names, cst.ImportStar) or not is_global(each, model.tree):
            continue
        functions = (bound_name(alias) for alias in each.names if last_name(alias.name) == "deepcopy")
        found += [(name, name) for name in functions]
    for plain in model.tree.all(cst.Import):
        modules = [bound_name(alias) for alias in plain.names if dotted(alias.name) == "copy"]
        found += [(name, f"{name}.deepcopy") for name in modules if is_global(plain, model.tree)]
    return found


def _spelled(node: cst.BaseExpression, model: Model) -> tuple[str, tuple[str, ...]] | None:
    """How the file writes `copy.deepcopy`, and what it has to import for that; None if it cannot be named there."""
    for name, spelled in model.remember(_imported_copies):
        if not names.is_shadowed(name, node, model):
            return spelled, ()
    is_taken = names.is_shadowed("copy", node, model) or names.is_bound("copy", model)
    return None if is_taken else ("copy.deepcopy", ("copy",))
