"""Whether several elements are meant where a value may have none but one, for all that is known of its dimensions."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Model
from torchlint.model.syntax import integer, last_name
from torchlint.model.torch import library


def is_meant(node: cst.BaseExpression, model: Model) -> bool:
    """Whether who computed a value expects several elements, though it may have none but one.

    The last dimension is called by that name, or the loss is asked for of each sample.
    """
    match node:
        case cst.Name():
            bound = [model.tree.parent(model.tree.parent(at) or at) for at in model.bindings_of(node.value, node)]
            values = [assign.value for assign in bound if isinstance(assign, cst.Assign)]
            return bool(bound) and len(values) == len(bound) and all(is_meant(v, model) for v in values)
        case cst.Call(func=func, args=args):
            given = [(arg.keyword.value if arg.keyword is not None else None, arg.value) for arg in args]
            if any(name in (None, "dim", "axis") and integer(value) == -1 for name, value in given):
                return last_name(func) in library.reductions()
            given += [(made.keyword, made.node) for made in model.value(func).bound or ()]
            return any(map(_asks_for_each, given))
    return False


def _asks_for_each(argument: tuple[str | None, cst.BaseExpression]) -> bool:
    match argument:
        case "reduction", cst.SimpleString() as word:
            return word.raw_value == "none"
        case "reduce", cst.Name("False"):
            return True
    return False
