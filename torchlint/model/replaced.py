"""Names that a file binds to something else by their text, or as attributes: ``mock.patch("plots.show")``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.names import REPLACING
from torchlint.model.syntax import is_given_plainly, root

if TYPE_CHECKING:
    from torchlint.model.context import Context

_OWN = ("self", "cls")


def is_replaced(context: Context, name: str) -> bool:
    """Whether a file puts something in the place of what is called so, in whatever module or object that is."""
    return name in context.remember(_replaced)


def _replaced(context: Context) -> frozenset[str]:
    return frozenset((*_as_attributes(context), *_by_text(context), *_in_globals(context)))


def _as_attributes(context: Context) -> Iterator[str]:
    """``plots.show = quiet``."""
    for each in context.tree.all(cst.AssignTarget):
        if isinstance(each.target, cst.Attribute) and root(each.target) not in _OWN:
            if is_given_plainly(context.tree, each.target):
                continue
            yield each.target.attr.value


def _by_text(context: Context) -> Iterator[str]:
    """``mock.patch("plots.show")``, ``monkeypatch.setattr(plots, "show", quiet)``."""
    for name in REPLACING:
        for func in (*context.tree.names(name), *context.tree.attributes(name)):
            call = context.tree.parent(func)
            for arg in call.args[:2] if isinstance(call, cst.Call) and call.func is func else ():
                if isinstance(arg.value, cst.SimpleString):
                    yield str(arg.value.evaluated_value).rpartition(".")[2]


def _in_globals(context: Context) -> Iterator[str]:
    """``globals()["show"] = quiet``."""
    for func in context.tree.names("globals"):
        call = context.tree.parent(func)
        match context.tree.parent(call) if call is not None else None:
            case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as key))]) as item:
                if isinstance(context.tree.parent(item), cst.AssignTarget):
                    yield str(key.evaluated_value)
