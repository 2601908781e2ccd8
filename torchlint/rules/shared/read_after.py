"""Whether anything reads a name behind a statement: else it makes no difference to assign it there."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

import libcst as cst

from torchlint.model import Model
from torchlint.rules.shared.order import loops_around


def is_read_after(name: cst.Name, model: Model) -> bool:
    """Whether anything reads a name behind a statement, so that it makes a difference to assign it there.

    What a loop binds anew in each round is read in that round, or not at all.
    """
    scope, order = model.scopes.scope_of(name), model.tree.order
    reads = model.remember(_reads, name.value, scope)
    behind = reads[bisect_right(reads, order(name), key=order) :][:1]
    loops = loops_around(name, model)
    binding = next((each for each in loops if isinstance(each, cst.For) and _binds(each, name, model)), None)
    if binding is not None:
        return any(model.tree.is_inside(each, binding.body) for each in behind)
    if isinstance(scope, cst.Module):
        return True  # what others import
    if behind or not loops:
        return bool(behind)
    first = reads[bisect_left(reads, order(loops[-1]), key=order)]  # of the outermost loop; there is this one
    return first is not name


def _reads(model: Model, name: str, scope: cst.FunctionDef | cst.Module) -> list[cst.Name]:
    """Where a name of a scope is read, in document order."""
    return sorted((each for each in model.references(name, scope) if not model.is_target(each)), key=model.tree.order)


def _binds(loop: cst.For, name: cst.Name, model: Model) -> bool:
    return any(each.value == name.value for each in model.tree.within(loop.target, cst.Name))
