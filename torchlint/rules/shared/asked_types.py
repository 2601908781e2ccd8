"""Whether the class of `.data` is asked for."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Model


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
