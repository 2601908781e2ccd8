"""A copy of what an expression gives: `copy.deepcopy(…)` around it, as the file writes that."""

from __future__ import annotations

import libcst as cst

from torchlint import edit
from torchlint.model import Model, reexports
from torchlint.model.imports import path_bound
from torchlint.model.names import PACKAGES
from torchlint.model.syntax import bound_name, dotted, last_name
from torchlint.rule import Fix
from torchlint.rules.api import names

_RISK = "the copy takes memory, and later changes of what it was made of do not reach it"


def copied(node: cst.BaseExpression, model: Model) -> Fix | None:
    """`copy.deepcopy(…)` around it."""
    spelled = _spelled(node, model)
    if spelled is None:
        return None
    name, imports = spelled
    edits = (edit.insert_before(node, f"{name}("), edit.insert_after(node, ")"))
    return Fix("Keep a copy", edits, imports=imports).doubted(_RISK)


def _imported_copies(model: Model) -> dict[tuple[str, str], int]:
    """The names that the module has for it from a place on, and how each spells `copy.deepcopy`, with that place."""
    bound: list[tuple[str, str, str]] = []
    for each in model.tree.all(cst.ImportFrom):
        if names.module_of(each) == "copy" and not isinstance(each.names, cst.ImportStar):
            functions = (bound_name(alias) for alias in each.names if last_name(alias.name) == "deepcopy")
            bound += [(name, "copy.deepcopy", name) for name in functions]
    for plain in model.tree.all(cst.Import):
        modules = (bound_name(alias) for alias in plain.names if dotted(alias.name) == "copy")
        bound += [(name, "copy", f"{name}.deepcopy") for name in modules]
    places = {(name, spelled): _place(name, path, model) for name, path, spelled in dict.fromkeys(bound)}
    return {key: place for key, place in places.items() if place is not None}


def _place(name: str, path: str, model: Model) -> int | None:
    """Where a statement of the module imports a path by a name, under no condition, if nothing else has the name."""
    tree, found = model.tree, _imports_of(name, path, model) or ()
    places = (tree.order(each) for each in found if tree.parent(tree.parent(each) or each) is tree.module)
    return min(places, default=None)


def _spelled(node: cst.BaseExpression, model: Model) -> tuple[str, tuple[str, ...]] | None:
    """How the file writes `copy.deepcopy`, and what it has to import for that; None if it cannot be named there."""
    for (name, spelled), place in model.remember(_imported_copies).items():
        if place < model.tree.order(node) and not names.is_shadowed(name, node, model):
            return spelled, ()
    if names.is_shadowed("copy", node, model) or not model.remember(_can_be_imported):
        return None
    return "copy.deepcopy", ("copy",)


def _can_be_imported(model: Model) -> bool:
    """Whether an import of `copy` at the top of the file is what the name means from then on."""
    return _imports_of("copy", "copy", model) is not None and not model.remember(_stars)


def _imports_of(name: str, path: str, model: Model) -> list[cst.CSTNode] | None:
    """The imports of the module that bind a name to a path; None if it may be bound to anything else there."""
    tree, found = model.tree, list[cst.CSTNode]()
    for node in names.bound_at_top(name, model):
        statement = tree.enclosing(node, cst.Import, cst.ImportFrom)
        if statement is None or model.ask(path_bound, node) != path:
            return None
        found.append(statement)
    last = max(map(tree.order, model.remember(_stars)), default=-1)
    return None if any(tree.order(each) < last for each in found) else found


def _stars(model: Model) -> tuple[cst.ImportFrom, ...]:
    """The imports of everything from somewhere, which may be `copy` as well, but for that of torch."""
    stars = (each for each in model.tree.all(cst.ImportFrom) if isinstance(each.names, cst.ImportStar))
    return tuple(each for each in stars if not _has_no_copy(names.module_of(each), model))


def _has_no_copy(module: str, model: Model) -> bool:
    """Whether a module is one of torch, or of the project, and has nothing called `copy`."""
    if module.partition(".")[0] in PACKAGES:
        return True
    return module in model.ask(reexports.stars) and not model.ask(reexports.is_taken, "copy")
