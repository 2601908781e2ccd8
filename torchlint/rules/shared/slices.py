"""How the elements of a slice lie in memory, by how it is written."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Model
from torchlint.model.bindings import last_assigned
from torchlint.model.syntax import dotted, integer


def gaps(node: cst.Subscript, single: frozenset[int] = frozenset()) -> int:
    """Between how many neighbouring dimensions of a slice at least there are gaps in memory: one for ``x[:, 1:]``.

    Dimensions are taken to have more than one element but for those in ``single``, and slices that leave out nothing
    not to be written.
    """
    found = 0
    is_first, is_apart = True, False
    for dimension, element in enumerate(node.slice):
        match element.slice:
            case cst.Slice() if dimension in single:
                continue
            case cst.Index(value=value) if (at := integer(value)) is not None:
                is_apart |= at not in (0, -1)  # else the dimension may have one element, which leaves no gap
            case cst.Slice() as taken if (index := only(taken)) is not None:
                is_apart |= index not in (0, -1)
            case cst.Slice() as taken:
                found += not is_first and (is_apart or _leaves_out(taken))
                is_first, is_apart = False, taken.step is not None and integer(taken.step) != 1
            case _:
                return 0  # `...`, None, and what copies: lists and masks
    return found


def only(taken: cst.Slice) -> int | None:
    """The index that is the only one of a slice: 0 for ``:1``."""
    lower = 0 if taken.lower is None else integer(taken.lower)
    upper = None if taken.upper is None else integer(taken.upper)
    if lower == -1 and taken.upper is None:
        return -1
    return lower if lower is not None and upper == lower + 1 else None


def _leaves_out(taken: cst.Slice) -> bool:
    """Whether a slice is written so that it leaves out something: ``1:``, ``:-1``, ``:4``, ``::2``."""
    lower, upper, step = (None if each is None else integer(each) for each in (taken.lower, taken.upper, taken.step))
    return lower not in (None, 0) or upper is not None or step not in (None, 1)


def is_last_size(node: cst.BaseExpression, taken: cst.Subscript, model: Model) -> bool:
    """Whether an expression is the size of the last dimension of what a slice is one of, which is left as it is."""
    if isinstance(node, cst.Name):
        assigned = model.ask(last_assigned, node)
        if assigned is None:
            return False
        node = assigned
    match node:
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name("size")), args=[cst.Arg(value=at)]):
            pass
        case cst.Subscript(
            value=cst.Attribute(value=owner, attr=cst.Name("shape")),
            slice=[cst.SubscriptElement(slice=cst.Index(value=at))],
        ):
            pass
        case _:
            return False
    if dotted(owner) is None or dotted(owner) != dotted(taken.value):
        return False
    last = len(taken.slice) - 1
    is_whole = isinstance(end := taken.slice[last].slice, cst.Slice) and end.lower is None and end.upper is None
    return integer(at) == -1 or (integer(at) or 0) > last or (integer(at) == last and is_whole)
