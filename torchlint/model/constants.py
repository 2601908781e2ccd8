"""What conditions always are: literals, and names that are bound once, to a literal, in the file or in the project."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.bindings import all_assigned, owner
from torchlint.model.codebase.exports import setter
from torchlint.model.imports import only_import
from torchlint.model.syntax import literal_key

if TYPE_CHECKING:
    from torchlint.model.context import Context

Literal = str | int | bool | None

_WORDS = {"True": True, "False": False, "None": None}


def literal(node: cst.BaseExpression | None) -> tuple[bool, Literal]:
    """Whether an expression is a literal, and which."""
    if isinstance(node, cst.Name) and node.value in _WORDS:
        return True, _WORDS[node.value]
    key = None if node is None else literal_key(node)
    return key is not None, key


def truth(context: Context, test: cst.BaseExpression) -> bool | None:
    """Whether a condition holds in every run, or in none; None if that is not known."""
    match test:
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            found = truth(context, inner)
            return None if found is None else not found
        case cst.BooleanOperation(left=left, operator=operator, right=right):
            both = (truth(context, left), truth(context, right))
            ending = isinstance(operator, cst.Or)
            return ending if ending in both else None if None in both else not ending
        case cst.Name(value="TYPE_CHECKING") | cst.Attribute(attr=cst.Name("TYPE_CHECKING")):
            return False
        case cst.Name(value=name) if name not in _WORDS:
            return context.remember(_named, test)
    known, value = literal(test)
    return bool(value) if known else None


def _named(context: Context, name: cst.Name) -> bool | None:
    """What a name always is: in its scope, or in the file that it is imported from."""
    scope = owner(context, name)
    if scope is None:
        return None
    values = all_assigned(context, name.value, scope)
    if not values and isinstance(scope, cst.Module):
        return _imported(context, name.value)
    found = _of_one(values)
    if found is not None and isinstance(scope, cst.Module) and setter(context, name.value) is not None:
        return None
    return found


def _of_one(values: Sequence[cst.BaseExpression | None]) -> bool | None:
    known, value = literal(values[0]) if len(values) == 1 else (False, None)
    return bool(value) if known else None


def _imported(context: Context, name: str) -> bool | None:
    """What a name is that one import binds: the value that the other file begins with."""
    return _of_one(bound_elsewhere(context, name))


def bound_elsewhere(context: Context, name: str) -> Sequence[cst.BaseExpression | None]:
    """All that the other file binds to a name that one import binds here; None for what is no plain assignment."""
    path = only_import(context, name)
    found = context.codebase.definition(path, context) if path is not None else None
    if found is None or found[2]:
        return ()
    home, bound, _ = found
    values = all_assigned(home, bound, home.tree.module)
    context.codebase.remember_home((value for value in values if value is not None), home)
    return values
