"""Which branches of ``if``, ``match`` and ``try`` something is in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

if TYPE_CHECKING:
    from torchlint.model.context import Context

_CHOOSING = (cst.If, cst.IfExp, cst.Match)
_BRANCHING = (*_CHOOSING, cst.Try, cst.ExceptHandler, cst.MatchCase)
"""With those that may run several of their parts one after the other: the body of a ``try``, and a handler."""


def excludes(context: Context, one: cst.CSTNode, other: cst.CSTNode) -> bool:
    """Whether two nodes are in different branches of one statement, so that one pass runs only one of them."""
    of_one, of_other = branches(context, one, _CHOOSING), branches(context, other, _CHOOSING)
    return any(of_one[key] != of_other[key] for key in of_one.keys() & of_other.keys())


def branches(context: Context, node: cst.CSTNode, kinds: tuple[type[cst.CSTNode], ...] = _BRANCHING) -> dict[int, int]:
    """The branches around a node in its function: of each statement the part that it is in."""
    found: dict[int, int] = {}
    child = node
    for up in context.tree.ancestors(node):
        if isinstance(up, (cst.FunctionDef, cst.Lambda)):
            break
        if isinstance(up, kinds):
            found[id(up)] = id(child)
        child = up
    return found
