"""Methods of the project's own classes that are called like a tensor's: what has them need not be a tensor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.definitions import imported_classes
from torchlint.model.values import Evidence, Strength

if TYPE_CHECKING:
    from torchlint.model.context import Context
    from torchlint.model.facade import Model


def is_shared(evidence: Evidence, model: Model) -> bool:
    """Whether all that makes a value a tensor is a method that a class has that is defined or imported here."""
    if evidence.strength > Strength.USE or not isinstance(evidence.node, cst.Attribute):
        return False
    name = evidence.node.attr.value
    return f"`.{name}`" in evidence.text and name in model.context.remember(_own_methods)


def has_own(context: Context, method: str) -> bool:
    """Whether a class that is defined or imported here has a method of that name."""
    return method in context.remember(_own_methods)


def _own_methods(context: Context) -> frozenset[str]:
    return frozenset(name for cls in classes_here(context) for name in context.home(cls).scopes.info(cls).methods)


def classes_here(context: Context) -> Iterator[cst.ClassDef]:
    """The classes that are defined in a file or imported into it."""
    yield from context.scopes.all_classes()
    yield from imported_classes(context)
