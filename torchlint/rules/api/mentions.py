"""What a file only names and does not call, and what it puts in the place of torch's own.

A function that is saved, registered or handed on is the object that it is: another name is another object, by which
who gets it may tell. And what a file assigns, deletes or mocks is its own from then on, under that name alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import libcst as cst

from torchlint.model import Model
from torchlint.model.torch import library
from torchlint.rule import Applicability, Fix
from torchlint.rules.api import sites
from torchlint.rules.api.sites import Use
from torchlint.rules.api.table import Row


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
        name = sites.last(use.alias.asname.name if use.alias.asname is not None else use.alias.name)
        return model.remember(_are_used, name, model.scopes.scope_of(use.node), use.row)
    if isinstance(use.node, cst.Name):
        return model.remember(_are_used, use.node.value, model.tree.module, use.row)
    return _is_used(use.node, use.row, model)


def _are_used(model: Model, name: str, scope: cst.FunctionDef | cst.Module, row: Row) -> bool:
    users = [user for user in model.references(name, scope) if sites.is_read(user, model)]
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


def is_patched(row: Row, model: Model) -> bool:
    """Whether a file assigns, deletes or mocks what a row is about, or what it would be replaced by."""
    return any(is_replaced(name, model) for name in (row.name, row.replacement) if name)


def is_replaced(name: str, model: Model) -> bool:
    """Whether a file puts something of its own in the place of a name of torch."""
    return model.remember(_is_replaced, name)


def _is_replaced(model: Model, name: str) -> bool:
    last = name.rpartition(".")[2]
    if any(model.is_target(node) and _owns(node.value, name, model) for node in model.tree.attributes(last)):
        return True
    return any(_replaces(call, name, model) for call in model.remember(_patching))


_PATCHING = frozenset(("setattr", "delattr", "object", "multiple", "patch"))
"""Builtins, methods of pytest's ``monkeypatch`` and functions of ``mock`` that replace an attribute."""


def _patching(model: Model) -> list[cst.Call]:
    found = [
        up
        for word in sorted(_PATCHING)
        for node in model.tree.names(word)
        for up in (model.tree.parent(node), model.tree.parent(model.tree.parent(node) or node))
        if isinstance(up, cst.Call) and sites.last(up.func) == word and up.args
    ]
    return list({id(call): call for call in found}.values())


def _replaces(call: cst.Call, name: str, model: Model) -> bool:
    """Whether a call replaces an attribute of torch: ``setattr(F, "tanh", f)``, ``patch("torch.tanh")``."""
    owner, _, last = name.rpartition(".")
    first, *rest = call.args
    target = first.value
    if isinstance(target, cst.SimpleString):
        said = target.raw_value
        return library.canonical(said) == name or said == name or (said == owner and _is_keyword(rest, last))
    if not _owns(target, name, model):
        return False
    if sites.last(call.func) == "multiple":
        return _is_keyword(rest, last)
    match rest:
        case [cst.Arg(value=cst.SimpleString() as literal), *_]:
            return literal.raw_value == last
    return bool(rest)  # any name


def _is_keyword(args: Sequence[cst.Arg], name: str) -> bool:
    return sites.keyword(args, name) is not None or any(arg.star == "**" for arg in args)


def _owns(node: cst.BaseExpression, name: str, model: Model) -> bool:
    """Whether an expression is the module or class that a name is in."""
    return name in _spelled(node, name.rpartition(".")[2], model)


def _spelled(node: cst.BaseExpression, last: str, model: Model) -> Iterator[str]:
    found = sites.resolve(node, model) if isinstance(node, (cst.Name, cst.Attribute)) else None
    for owner in found or ():
        yield f"{owner}.{last}"
        yield library.canonical(f"{owner}.{last}")
