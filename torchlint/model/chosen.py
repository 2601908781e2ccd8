"""What a function or class may be that only the running program chooses: ``getattr(models, name)``, ``MODELS[name]``.

It is told where each candidate makes a module; if one of them gives something else, or can't be seen, nothing is known.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import reduce
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.classes import class_kind, find_method
from torchlint.model.codebase.tables import Defined
from torchlint.model.definitions import MAX_REEXPORTS, follow, is_ours
from torchlint.model.imports import only_import
from torchlint.model.interpreted import bound_in, interpreted
from torchlint.model.possibilities import Kind
from torchlint.model.syntax import is_stub
from torchlint.model.values import MAX_CHOICES, Value, join, reference

if TYPE_CHECKING:
    from torchlint.model.context import Context

OWN = ""
"""What the module is called in which something is asked: ``globals()[name]``."""
_MANY = 64
"""Of more names than these none is looked at."""
_NO_NETWORK = Kind.NONE | Kind.NUMBER | Kind.STRING | Kind.TENSOR | Kind.NDARRAY | Kind.CONTAINER
"""What other functions beside networks give: nobody calls that."""


def of_module(context: Context, module: str | None, node: cst.CSTNode) -> Value | None:
    """What has a name of a module of the project, or of this one (``OWN``); None if nothing is known of that."""
    if module is None or not (module == OWN or is_ours(module)):
        return None
    places = context.codebase.defined(context, module)
    return None if places is None else _one_of(context, places, node)


def of_table(context: Context, table: Value, node: cst.BaseExpression) -> Value | None:
    """What is behind a key of a table or registry that is filled where it is seen: ``@register("name")``."""
    place = _place(context, table, node)
    places = None if place is None else context.codebase.collected(context, place)
    return None if places is None else _one_of(context, places, node)


def _place(context: Context, table: Value, node: cst.BaseExpression) -> Defined | None:
    """Where a table is defined, in another file or by the module."""
    if (ref := reference(table)) is not None:
        return _place_of(context, ref)
    is_global = isinstance(node, cst.Name) and context.scopes.owner(node.value, node) is context.tree.module
    return Defined(context.path, node.value) if isinstance(node, cst.Name) and is_global and context.path else None


def _place_of(context: Context, ref: str) -> Defined | None:
    """Where something of another file is defined, which may have reached this one by way of others."""
    asker = context
    for _ in range(MAX_REEXPORTS if is_ours(ref) else 0):
        found = asker.codebase.definition(ref, asker)
        if found is None or found[2] or found[0].path is None:
            return None
        asker, name, _ = found
        handed_on = asker.remember(only_import, name) if asker.is_part else None
        if handed_on is None:
            return Defined(found[0].path, name)
        ref = handed_on
    return None


def _one_of(context: Context, places: Collection[Defined], asked_in: cst.CSTNode) -> Value | None:
    """What one of several things is, but for the functions that choose it."""
    around = {id(each) for each in context.tree.ancestors(asked_in)}
    candidates: list[Value] = []
    if len(places) > _MANY:
        return None
    for place in places:
        value = _at(context, place)
        if value is not None and id(value.node) in around:
            continue
        is_candidate = value is None or _makes_module(context, value)
        if is_candidate is None:
            return None
        if value is not None and is_candidate and all(value.node is not each.node for each in candidates):
            candidates.append(value)
    return reduce(join, candidates) if 0 < len(candidates) <= MAX_CHOICES else None


def _at(context: Context, place: Defined) -> Value | None:
    """The function or class of the project that is defined in a place, or that this imports; None of anything else."""
    home: Context | None = context
    if context.is_part or context.path != place.path:
        home = context.codebase.member(place.path, place.name, context)
        if home is None and (found := context.codebase.through_stars(place.path, (place.name,), context)) is not None:
            home = found[0]
    value = None if home is None else bound_in(home, home.tree.module).get(place.name)
    value = None if value is None or home is None else follow(home, value)
    return value if value is not None and isinstance(value.node, (cst.ClassDef, cst.FunctionDef)) else None


def _makes_module(context: Context, value: Value) -> bool | None:
    """Whether calling something makes a module; False of what nobody chooses, None if it may give another thing."""
    if isinstance(value.node, cst.ClassDef):
        if class_kind(context, value.node) != "module":
            return None
        forward = find_method(context, value.node, "forward")
        return forward is not None and not is_stub(forward)
    assert isinstance(value.node, cst.FunctionDef)
    home = context.home(value.node)
    if not any(each.value is not None for each in home.tree.within(value.node.body, cst.Return)):
        return False
    made = interpreted(home, value.node)
    if made is None:
        return None
    if made.returns is None or not made.returns.kind & ~_NO_NETWORK:
        return False
    return True if made.returns.kind == Kind.MODULE else None
