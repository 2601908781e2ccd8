"""What is a list, tuple, set or dict by how it is written, before the model is asked."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Model
from torchlint.model.syntax import assignment_of, parameters
from torchlint.rules.api import names

_DISPLAYS = (cst.List, cst.Tuple, cst.Set, cst.Dict, cst.BaseComp)
_MAKERS = ("list", "tuple", "set", "frozenset", "dict")


def is_display(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is one, or a local name that is bound once, to one."""
    return _is_written(node, model) or (isinstance(node, cst.Name) and _is_bound_to_one(node, model))


def _is_written(node: cst.BaseExpression, model: Model) -> bool:
    match node:
        case cst.Call(func=cst.Name(value=name)) if name in _MAKERS:
            return not names.is_bound(name, model)
    return isinstance(node, _DISPLAYS)


def _is_bound_to_one(name: cst.Name, model: Model) -> bool:
    scope = model.scopes.scope_of(name)
    if isinstance(scope, cst.FunctionDef) and any(each.name.value == name.value for each in parameters(scope)):
        return False
    bound = model.targets(name.value, scope)
    assign = assignment_of(bound[0], model.tree) if len(bound) == 1 else None
    return assign is not None and _is_written(assign.value, model)
