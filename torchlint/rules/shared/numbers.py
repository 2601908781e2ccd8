"""Numbers that are written in a file, by a name too: ``DROPOUT = 0.5``."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Model, bindings
from torchlint.model.syntax import integer


def number(node: cst.BaseExpression, model: Model) -> float | None:
    """The number that an expression is, as it is written, or as the one thing that its name is ever bound to."""
    written = literal(node)
    if written is not None:
        return written
    match node:
        case cst.Name(value=name):
            scope = model.ask(bindings.owner, node)
            bound = model.ask(bindings.all_assigned, name, scope) if scope is not None else ()
            return literal(bound[0]) if len(bound) == 1 and bound[0] is not None else None
        case cst.Attribute(value=cst.Name("self")):
            made = model.ask(bindings.made, node)
            is_here = made is not None and model.scopes.scope_of(made) is model.scopes.scope_of(node)
            return literal(made) if made is not None and is_here else None
    return None


def literal(node: cst.BaseExpression) -> float | None:
    """The value of a number that is written out; None for all else."""
    if isinstance(node, cst.Float):
        return float(node.value.replace("_", ""))
    return integer(node)
