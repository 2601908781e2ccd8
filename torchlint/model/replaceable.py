"""Parts of objects that others may replace: a layer, a strategy, a function that an attribute holds.

What a class keeps in ``self.layer`` is not all there is where a file of the project writes ``net.layer = other``, or a
subclass has a layer of its own: nothing that is called there can be followed then, and no graph is cut for certain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.codebase.exports import is_put_elsewhere
from torchlint.model.doubts import leads_somewhere
from torchlint.model.overriding import is_bound_by_heirs
from torchlint.model.possibilities import Kind
from torchlint.model.values import UNKNOWN, Value, changed, held
from torchlint.system.records import replace

if TYPE_CHECKING:
    from torchlint.model.context import Context


def as_replaceable(context: Context, cls: cst.ClassDef, name: str, found: Value) -> Value:
    """An attribute that a class assigns, without what does not hold if others than the class assign it, too."""
    if leads_somewhere(found) and context.remember(_is_replaced, cls, name):
        return _without_definition(found)
    return found


def _is_replaced(context: Context, cls: cst.ClassDef, name: str) -> bool:
    elsewhere = is_put_elsewhere(context, name)
    if context.scopes.is_set_outside(cls, name) if elsewhere is None else elsewhere:
        return True
    return is_bound_by_heirs(context, cls, name)


def _without_definition(value: Value) -> Value:
    if held(value) is not None:
        return changed(value, _without_definition)
    if not leads_somewhere(value):
        return value
    if value.kind & Kind.MODULE:
        return replace(value, ref=None, node=None, choices=(), bound=None, inner=None, is_exact=False)
    return UNKNOWN
