"""What lambdas are given by who calls them: a hook that is one gets gradients."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Model
from torchlint.model.syntax import parameters


def is_given_to_lambda(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is made of what a lambda around it is called with."""
    given, up = set[str](), model.tree.enclosing(node, cst.Lambda)
    while isinstance(up, cst.Lambda):
        given |= {param.name.value for param in parameters(up)}
        up = model.tree.enclosing(up, cst.Lambda)
    return bool(given) and any(name.value in given for name in model.tree.within(node, cst.Name))
