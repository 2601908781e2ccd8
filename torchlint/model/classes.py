"""What the classes of a project are, and where their methods are."""

from __future__ import annotations

import libcst as cst

from torchlint.model.context import Context, at_home
from torchlint.model.lineage import Lineage, lineage_of


def class_of(context: Context, function: cst.CSTNode) -> cst.ClassDef | None:
    """The class whose method a function is."""
    for up in context.tree.ancestors(function):
        if isinstance(up, cst.ClassDef):
            return up
        if isinstance(up, (cst.FunctionDef, cst.Lambda)):
            return None
    return None


_OF_A_TENSOR = frozenset(("data", "grad", "detach", "numpy", "item", "cpu", "cuda", "to"))
"""What rules take to be torch's own wherever a tensor has it."""


def _redefines(lineage: Lineage) -> bool:
    infos = (home.scopes.info(cls) for home, cls in lineage.classes())
    return any(not _OF_A_TENSOR.isdisjoint((*info.methods, *info.assigned)) for info in infos)


@at_home
def class_kind(context: Context, cls: cst.ClassDef) -> str:
    """``module``, ``optimizer``, ``function`` (of autograd), ``tensor``, …, ``unknown`` or ``other``.

    ``tensorlike`` is a class of tensors whose ``data``, ``detach`` or the like are its own: nothing is known of them.
    """
    lineage = lineage_of(context, cls)
    if lineage.kind in ("tensor", "parameter") and _redefines(lineage):
        return "tensorlike"
    if lineage.kind is None and lineage.has_unknown:
        return "module" if lineage.has_forward else "unknown"
    return lineage.kind or "other"


def find_method(context: Context, cls: cst.ClassDef, name: str) -> cst.FunctionDef | None:
    """A method of a class or of its bases in this file."""
    for home, each in lineage_of(context, cls).classes():
        method = home.scopes.info(each).methods.get(name)
        if method is not None:
            return method
    return None
