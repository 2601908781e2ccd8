"""What a file only names and does not call.

A function that is saved, registered or handed on is the object that it is: another name is another object, by which
who gets it may tell. What is made of a class is of that class, and not of the one that replaces it.
"""

from __future__ import annotations

import libcst as cst

from torchlint.model import Model
from torchlint.model.codebase.exports import teller
from torchlint.model.syntax import last_name
from torchlint.rule import Fix
from torchlint.rules.api import names, uses
from torchlint.rules.api.table import Row
from torchlint.rules.api.uses import Use

_OTHER_CLASS = "the project asks if something is of the old class, which what the new one makes is not"
_HANDED_ON = "code that it is passed to may compare it with the old one"


def judged(fix: Fix, use: Use, model: Model) -> Fix:
    """A fix for a place where a row is named: unsafe where the new name is given to somebody who may tell.

    What raises where it is named is not told from anything.
    """
    row = use.row
    if _is_asked_for(row, model):
        return fix.doubted(_OTHER_CLASS)
    if row.fix != "rename" or row.kind not in ("function", "class") or row.same or row.is_removed(model.target):
        return fix
    return fix if _is_called(use, model) else fix.doubted(_HANDED_ON)


def _is_asked_for(row: Row, model: Model) -> bool:
    """Whether the project may ask if something is of the class that a row is about: `isinstance(x, GradScaler)`.

    What a class of tensors makes is a tensor like any other.
    """
    if row.kind != "class" or row.same or row.is_removed(model.target) or row.last.endswith("Tensor"):
        return False
    return model.remember(_is_named, row) or model.ask(teller, row.name) is not None


def _is_named(model: Model, row: Row) -> bool:
    """Whether a file names a class and neither calls it nor says by it what something is to be."""
    found = (use.node for use in uses.of_row(row, model) if use.alias is None)
    return any(_chooses(node, model) or not (_is_used(node, row, model) or _is_base(node, model)) for node in found)


def _chooses(node: cst.CSTNode, model: Model) -> bool:
    """Whether a function is chosen by what its argument is said to be, which `singledispatch` does."""
    function = model.tree.enclosing(node, cst.FunctionDef)
    if not isinstance(function, cst.FunctionDef) or model.tree.enclosing(node, cst.Annotation) is None:
        return False
    return any(last_name(each.decorator) == "register" for each in function.decorators)


def _is_base(node: cst.CSTNode, model: Model) -> bool:
    arg = model.tree.parent(node)
    return isinstance(arg, cst.Arg) and isinstance(model.tree.parent(arg), cst.ClassDef)


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
