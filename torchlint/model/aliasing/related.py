"""The classes that an object may be of, and where those of other files name an attribute of it.

A base class writes ``self.state = state`` for a class that has made its state without a graph, a subclass has another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.bindings import all_called
from torchlint.model.lineage import lineage_of
from torchlint.model.overriding import heirs

if TYPE_CHECKING:
    from torchlint.model.context import Context


def homes_writing(context: Context, cls: cst.ClassDef, name: str) -> tuple[Context, ...]:
    """The contexts of classes of other files that an object of a class may be of, too, if they name an attribute."""
    homes = {id(home): home for home, _ in context.remember(relatives, cls) if home is not context}
    return tuple(home for home in homes.values() if attributes_called(home, name))


def attributes_called(context: Context, name: str) -> list[cst.BaseExpression]:
    """The attributes of a name, and the names in bodies of classes that are such."""
    return [each for each in all_called(context, name) if _is_attribute(context, each)]


def _is_attribute(context: Context, node: cst.BaseExpression) -> bool:
    around = context.tree.enclosing(node, cst.ClassDef, cst.FunctionDef, cst.Lambda)
    return isinstance(node, cst.Attribute) or isinstance(around, cst.ClassDef)


def relatives(context: Context, cls: cst.ClassDef) -> tuple[tuple[Context, cst.ClassDef], ...]:
    """The classes that an object of a class may be of: it, those it derives from, those that derive from it."""
    home = context.home(cls)
    found: dict[int, tuple[Context, cst.ClassDef]] = {}
    for at, each in ((home, cls), *heirs(home, cls)):
        found.update({id(other): (there, other) for there, other in lineage_of(at, each).classes()})
    return tuple(found.values())
