"""What of torch a file has from other files of the project: ``from common import *``, ``from common import torch, nn``.

Other files are only asked for what a module of torch is usually called, for what a star may bring, and for a name that
somebody wants to know the meaning of.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.file.text.tokens import MODULES
from torchlint.model.definitions import definition, is_ours, usual
from torchlint.model.imports import binds, is_bound_here, module_of
from torchlint.model.names import PACKAGES
from torchlint.model.syntax import bound_name, dotted
from torchlint.model.values import reference

if TYPE_CHECKING:
    from torchlint.model.context import Context


def imported(context: Context) -> Mapping[str, frozenset[str]]:
    """The names that imports from what may be files of the project bind, with the paths that they are imported by."""
    return context.remember(_imported)


def stars(context: Context) -> tuple[str, ...]:
    """The modules that may be files of the project and whose names are imported with a star."""
    return context.remember(_stars)


def path_of(context: Context, name: str) -> str | None:
    """The path in torch of what a name of this file stands for, if it comes from another file of the project."""
    return context.remember(_path_of, name)


def module_named(context: Context, name: str) -> str | None:
    """The same for the name of a module: of what is imported by its name, only what modules of torch are called is."""
    paths = imported(context).get(name)
    if paths is not None and MODULES.isdisjoint(path.rpartition(".")[2] for path in paths):
        return None
    return path_of(context, name)


def qualified(context: Context, node: cst.CSTNode, path: str) -> str | None:
    """The name in torch of what is reached by a module that another file has: ``torch.load``, ``common.torch.load``.

    ``path`` is what the expression stands for by the imports of this file.
    """
    first, *more = (dotted(node) or "").split(".")
    if not _is_of_project(path) or (MODULES.isdisjoint(more[:-1]) and module_named(context, first) is None):
        return None
    value = definition(context, path)
    return reference(value) if value is not None else None


def is_taken(context: Context, name: str) -> bool:
    """Whether a star brings something of that name, whatever it is."""
    return any(definition(context, f"{module}.{name}") is not None for module in stars(context))


def is_bound_anew(context: Context, name: str) -> bool:
    """Whether a star behind the import of a name brings something that is not of torch's under it."""
    return bool(stars(context)) and context.remember(_is_bound_anew, name)


def _is_bound_anew(context: Context, name: str) -> bool:
    tree = context.tree
    bound = [tree.order(node) for node in tree.names(name) if is_bound_here(tree, node)]
    for node in tree.all(cst.ImportFrom):
        if isinstance(node.names, cst.ImportStar) and bound and tree.order(node) > max(bound):
            module = module_of(context, node)
            brought = definition(context, f"{module}.{name}") if module in stars(context) else None
            is_torch = (reference(brought) or "").partition(".")[0] in PACKAGES if brought is not None else True
            if not is_torch and context.codebase.exports(module, name, context):
                return True
    return False


def _imported(context: Context) -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for node in context.tree.all(cst.Import):
        for alias in node.names:
            path = dotted(alias.name) or ""
            found.setdefault(bound_name(alias), set()).add(path if alias.asname else path.partition(".")[0])
    for from_ in context.tree.all(cst.ImportFrom):
        if not isinstance(from_.names, cst.ImportStar):
            module = module_of(context, from_) if _may_be_ours(from_) else ""
            for alias in from_.names:
                found.setdefault(bound_name(alias), set()).add(f"{module}.{dotted(alias.name)}")
    return {name: frozenset(paths) for name, paths in found.items() if all(map(_is_of_project, paths))}


def _stars(context: Context) -> tuple[str, ...]:
    nodes = (each for each in context.tree.all(cst.ImportFrom) if isinstance(each.names, cst.ImportStar))
    modules = [module_of(context, node) for node in nodes if _may_be_ours(node)]
    return tuple(dict.fromkeys(module for module in modules if _is_of_project(module)))


def _may_be_ours(node: cst.ImportFrom) -> bool:
    return bool(node.relative) or _is_of_project(dotted(node.module) or "" if node.module is not None else "")


def _is_of_project(path: str) -> bool:
    return is_ours(path) and path.partition(".")[0] not in PACKAGES


def _path_of(context: Context, name: str) -> str | None:
    paths = imported(context).get(name)
    if paths is None:
        if not stars(context) or (binds(context.tree, name) and name not in MODULES):
            return None
        paths = frozenset(f"{module}.{name}" for module in stars(context))
    values = (definition(context, path) for path in paths)
    found = {reference(value) for value in values if value is not None}
    path = found.pop() if len(found) == 1 else None if found else usual(context, name)
    return path if path is not None and path.partition(".")[0] in PACKAGES else None
