"""What a file only names and does not call.

A function that is saved, registered or handed on is the object that it is: another name is another object, by which
who gets it may tell.
"""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from torchlint.diagnostic import Applicability
from torchlint.model import Model
from torchlint.model.syntax import last_name
from torchlint.rule import Fix
from torchlint.rules.api import names
from torchlint.rules.api.table import Row
from torchlint.rules.api.uses import Use


def judged(fix: Fix, use: Use, model: Model) -> Fix:
    """A fix for a place where a row is named: unsafe where the new name is given to somebody who may tell.

    What raises where it is named is not told from anything.
    """
    row = use.row
    if row.fix != "rename" or row.kind not in ("function", "class") or row.same or row.is_removed(model.target):
        return fix
    return fix if _is_called(use, model) else replace(fix, applicability=Applicability.UNSAFE)


def _is_called(use: Use, model: Model) -> bool:
    """Whether what a fix is about is used and not handed on; of an imported name all uses, as the import goes along."""
    if use.alias is not None:
        name = last_name(use.alias.asname.name if use.alias.asname is not None else use.alias.name)
        return model.remember(_are_used, name, model.scopes.scope_of(use.node), use.row)
    if isinstance(use.node, cst.Name):
        return model.remember(_are_used, use.node.value, model.tree.module, use.row)
    return _is_used(use.node, use.row, model)


def _are_used(model: Model, name: str, scope: cst.FunctionDef | cst.Module, row: Row) -> bool:
    users = [user for user in model.references(name, scope) if names.is_read(user, model)]
    return all(_is_used(user, row, model) for user in users)


def _is_used(node: cst.CSTNode, row: Row, model: Model) -> bool:
    """Whether what a name stands for is called on the spot, or said to be a type, and not handed on.

    Of a class its members may be asked for.
    """
    literal = isinstance(node, cst.SimpleString)
    child = model.tree.enclosing(node, cst.Call) if literal else node  # the call of `getattr`
    assert child is not None
    for up in model.tree.ancestors(child):
        match up:
            case cst.Call():
                return up.func is child
            case cst.Decorator() | cst.Annotation():
                return True
            case cst.Attribute():
                return row.kind == "class" and not model.is_target(up)
            case cst.IfExp() if child is not up.test:
                child = up
            case _:
                return False
    return False
