"""Whether the class of `.data` is asked for, or its dtype and device by what may be no tensor."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Kind, Model
from torchlint.model.codebase.exports import is_mentioned


def is_asked(node: cst.Attribute, model: Model) -> bool:
    """Whether the class of `.data` is asked for, ``type(x.data)``, which told the dtype before PyTorch 0.4.

    Where it is compared with another one's, ``type(w.data) is type(x)``, there may be classes of tensors of one's own.
    """
    arg = model.tree.parent(node)
    call = model.tree.parent(arg) if isinstance(arg, cst.Arg) else None
    if call is None or not _is_call_of_type(call, model):
        return False
    at = model.tree.parent(call)
    comparison = model.tree.parent(at) if isinstance(at, cst.ComparisonTarget) else at
    if not isinstance(comparison, cst.Comparison):
        return True
    compared = (comparison.left, *(each.comparator for each in comparison.comparisons))
    return sum(_is_call_of_type(each, model) for each in compared) == 1


def _is_call_of_type(node: cst.CSTNode, model: Model) -> bool:
    return isinstance(node, cst.Call) and len(node.args) == 1 and model.qualified(node.func) == "builtins.type"


def is_moved_to(node: cst.Attribute, model: Model) -> bool:
    """Whether something of which nothing is known is brought to the dtype and device of `.data`: ``x.to(w.data)``.

    Where the project has a method ``to`` of its own, that may do anything.
    """
    arg = model.tree.parent(node)
    match model.tree.parent(arg) if isinstance(arg, cst.Arg) else None:
        case cst.Call(func=cst.Attribute(value=moved, attr=cst.Name("to")), args=[_]) as call:
            is_unknown = bool(model.value(moved).kind & Kind.UNKNOWN) and model.value(call.func).node is None
            return is_unknown and not model.ask(is_mentioned, r"\bdef\s+to\b")
    return False
