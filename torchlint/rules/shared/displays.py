"""What is a list, tuple, set or dict by how it is written, before the model is asked."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.model import Model
from torchlint.model.syntax import assigned_value, parameters
from torchlint.rules.api import names

_DISPLAYS = (cst.List, cst.Tuple, cst.Set, cst.Dict, cst.BaseComp)
_CONCATENATED = (cst.List, cst.Tuple, cst.BaseComp, cst.BinaryOperation)
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
    value = assigned_value(bound[0], model.tree) if len(bound) == 1 else None
    return value is not None and _is_written(value, model)


def is_written(node: cst.BaseExpression) -> bool:
    """Whether an expression writes out what is in a container, in a display, a comprehension or a sum of them."""
    return isinstance(node, (*_DISPLAYS, cst.BinaryOperation)) and next(elements(node), None) is not None


def elements(value: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """What is put into a display or comprehension, or into one of those that are put together."""
    match value:
        case cst.List(elements=parts) | cst.Tuple(elements=parts) | cst.Dict(elements=parts):
            yield from (each.value for each in parts)
        case cst.ListComp(elt=element) | cst.GeneratorExp(elt=element):
            yield element
        case cst.DictComp(value=element):
            yield element
        case cst.BinaryOperation(left=left, operator=cst.Add(), right=right):
            if isinstance(left, _CONCATENATED) and isinstance(right, _CONCATENATED):
                yield from elements(left)
                yield from elements(right)
        case cst.Call(func=cst.Name("list" | "tuple"), args=[cst.Arg(value=cst.GeneratorExp(elt=element))]):
            yield element
        case cst.Call(func=cst.Name("dict"), args=args):
            yield from (each.value for each in args if each.keyword is not None)
