"""Where a tensor of indices or a mask has to stand: integers and booleans, which have no graph."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Model
from torchlint.model.bindings import declares
from torchlint.model.syntax import chain, has_stars
from torchlint.model.torch import library
from torchlint.rules.shared import memory

_TAKING_INDEX = frozenset(
    (
        *("gather", "scatter", "scatter_", "scatter_add", "scatter_add_", "index_select", "index_add", "index_add_"),
        *("index_copy", "index_copy_", "index_fill", "index_fill_"),
    )
)
"""Methods of which the second argument is a tensor of indices."""
TAKING_MASK = frozenset(("masked_fill", "masked_fill_", "masked_select", "masked_scatter", "masked_scatter_"))
"""Methods of which the first argument is a tensor of booleans."""


def taker(node: cst.BaseExpression, model: Model) -> str | None:
    """The method that takes a tensor (``x.data``), a view or copy of it, as indices or as a mask; None if none does."""
    whole: cst.CSTNode = node
    for name, whole in chain(node, model.tree):
        if name != "[]" and name not in memory.TRANSFERS and not memory.shares(name, whole):
            return None
    if _is_between_brackets(whole, model):
        return "__getitem__"
    arg = model.tree.parent(whole)
    match model.tree.parent(arg) if isinstance(arg, cst.Arg) and arg.keyword is None else None:
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value=name)), args=args):
            taken = args[1:2] if name in _TAKING_INDEX else args[:1] if name in TAKING_MASK else ()
            is_taken = any(each is arg for each in taken) and not has_stars(args)
            return name if is_taken and model.value(owner).may_be_tensor else None
    return None


def takes_only(node: cst.BaseExpression, model: Model) -> bool:
    """Whether a tensor is nothing but the indices or the mask that a method of torch takes: so it has no graph."""
    name = taker(node, model)
    if name is None or name == "__getitem__" or model.ask(declares, name):
        return False
    return name in library.tensor_only() and isinstance(model.tree.parent(node), cst.Arg)


def _is_between_brackets(node: cst.CSTNode, model: Model) -> bool:
    """Whether an expression stands between the brackets of what is no mapping: ``x[i.data]``, ``x[[0], i.data]``."""
    index = model.tree.parent(node)
    element = model.tree.parent(index) if isinstance(index, cst.Index) else None
    subscript = model.tree.parent(element) if element is not None else None
    if not isinstance(subscript, cst.Subscript):
        return False
    others = (each.slice for each in subscript.slice if each is not element)
    return any(map(_is_no_key, others)) or model.value(subscript.value).is_tensor


def _is_no_key(index: cst.BaseSlice) -> bool:
    """Whether what stands between brackets cannot be part of a key."""
    return isinstance(index, cst.Slice) or (
        isinstance(index, cst.Index) and isinstance(index.value, (cst.List, cst.ListComp, cst.Ellipsis))
    )
