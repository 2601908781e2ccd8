"""A copy of what an expression gives: `copy.deepcopy(…)` around it, as the file writes that."""

from __future__ import annotations

import libcst as cst

from torchlint import edit
from torchlint.model import Model, reexports
from torchlint.model.imports import path_bound
from torchlint.model.names import PACKAGES
from torchlint.model.syntax import bound_name, dotted, last_name
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


def _imported_copies(model: Model) -> list[tuple[str, str, str]]:
    """The names that statements of the module import for it: each with its path, and how it spells `copy.deepcopy`."""
    found = []
    for each in model.tree.all(cst.ImportFrom):
        if names.module_of(each) != "copy" or isinstance(each.names, cst.ImportStar):
            continue
        functions = (bound_name(alias) for alias in each.names if last_name(alias.name) == "deepcopy")
        found += [(name, "copy.deepcopy", name) for name in functions]
    for plain in model.tree.all(cst.Import):
        modules = [bound_name(alias) for alias in plain.names if dotted(alias.name) == "copy"]
        found += [(name, "copy", f"{name}.deepcopy") for name in modules]
    return found


def _spelled(node: cst.BaseExpression, model: Model) -> tuple[str, tuple[str, ...]] | None:
    """How the file writes `copy.deepcopy`, and what it has to import for that; None if it cannot be named there."""
    for name, path, spelled in model.remember(_imported_copies):
        if not names.is_shadowed(name, node, model):
            imported = model.remember(_imports_of, name, path)
            if imported is not None and any(_has_run(each, node, model) for each in imported):
                return spelled, ()
    is_taken = names.is_shadowed("copy", node, model) or model.remember(_imports_of, "copy", "copy") is None
    return None if is_taken or model.remember(_stars) else ("copy.deepcopy", ("copy",))


def _imports_of(model: Model, name: str, path: str) -> tuple[cst.CSTNode, ...] | None:
    """The imports of the module that bind a name to a path; None if it may be bound to anything else there."""
    tree, found = model.tree, list[cst.CSTNode]()
    for node in names.bound_at_top(name, model):
        statement = tree.enclosing(node, cst.Import, cst.ImportFrom)
        if statement is None or model.ask(path_bound, node) != path:
            return None
        found.append(statement)
    if any(tree.order(star) > tree.order(each) for star in model.remember(_stars) for each in found):
        return None
    return tuple(found)


def _stars(model: Model) -> tuple[cst.ImportFrom, ...]:
    """The imports of everything from somewhere, which may be `copy` as well, but for that of torch."""
    stars = (each for each in model.tree.all(cst.ImportFrom) if isinstance(each.names, cst.ImportStar))
    return tuple(each for each in stars if not _has_no_copy(names.module_of(each), model))


def _has_no_copy(module: str, model: Model) -> bool:
    """Whether a module is one of torch, or of the project, and has nothing called `copy`."""
    if module.partition(".")[0] in PACKAGES:
        return True
    return module in model.ask(reexports.stars) and not model.ask(reexports.is_taken, "copy")


def _has_run(statement: cst.CSTNode, node: cst.CSTNode, model: Model) -> bool:
    """Whether an import of the module has run wherever a node runs: it stands before that, under no condition."""
    line = model.tree.parent(statement)
    is_of_module = line is not None and model.tree.parent(line) is model.tree.module
    return is_of_module and model.tree.order(statement) < model.tree.order(node)
