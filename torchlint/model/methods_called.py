"""What is called on something, in the function or the class around it: the sign by which unknown objects are told."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.syntax import call_of, dotted

if TYPE_CHECKING:
    from torchlint.model.context import Context


def calls_on(context: Context, node: cst.BaseExpression, methods: Collection[str]) -> bool:
    """Whether one of some methods is called on what a name, or a path like ``self.net``, stands for.

    Of a path that begins with ``self`` the whole class counts, of others the function.
    """
    path = dotted(node)
    if path is None:
        return False
    place = _place(context, node, path)
    return any((path, place) in context.remember(_receivers, method) for method in methods)


def _receivers(context: Context, method: str) -> frozenset[tuple[str, int]]:
    """The paths that a method is called on, each with the function or class it is in."""
    found = set[tuple[str, int]]()
    for node in context.tree.attributes(method):
        path = dotted(node.value) if call_of(node, context.tree) is not None else None
        if path is not None:
            found.add((path, _place(context, node, path)))
    return frozenset(found)


def _place(context: Context, node: cst.CSTNode, path: str) -> int:
    if path.startswith("self."):
        cls = context.tree.enclosing(node, cst.ClassDef)
        if cls is not None:
            return id(cls)
    return id(context.scopes.scope_of(node))
