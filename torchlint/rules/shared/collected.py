"""Whether somebody collects the parameters by hand of what a module keeps in a list, which is no part of it.

An optimizer that is given those of the module as well has them twice once the list is part of it.
"""

from __future__ import annotations

import libcst as cst

from torchlint.model import Model
from torchlint.model.calls_elsewhere import uses_elsewhere
from torchlint.model.syntax import last_name, root

_COLLECTING = ("parameters", "named_parameters")
_ADDING = ("extend", "add_param_group", "chain", "update")
"""What is given parameters beside others."""


def is_by_hand(value: cst.BaseExpression, of: str, model: Model) -> bool:
    """Whether what an attribute of a class is assigned holds parameters that are collected here or in another file.

    They are those of what is in it, or that itself: ``of`` is ``Module`` or ``Parameter``.
    """
    statement, cls = model.tree.enclosing(value, cst.Assign, cst.AnnAssign), model.tree.enclosing(value, cst.ClassDef)
    target = statement.target if isinstance(statement, cst.AnnAssign) else None
    target = statement.targets[0].target if isinstance(statement, cst.Assign) else target
    if not isinstance(target, cst.Attribute) or not isinstance(cls, cst.ClassDef):
        return False
    name = target.attr.value
    if model.remember(_is_collected_here, name, of):
        return True
    return any(_is_collected(use, of, model.home(use)) for use in model.ask(uses_elsewhere, cls, name))


def _is_collected_here(model: Model, name: str, of: str) -> bool:
    return any(_is_collected(use, of, model) for use in model.tree.attributes(name))


def _is_collected(use: cst.Attribute, of: str, model: Model) -> bool:
    child: cst.CSTNode = use
    for up in model.tree.ancestors(use):
        if _adds(up, child, model) if of == "Parameter" else _asks(up, child, model):
            return True
        if isinstance(up, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
            return False
        child = up
    return False


def _asks(up: cst.CSTNode, child: cst.CSTNode, model: Model) -> bool:
    """Whether parameters are asked for of an expression, or of what a loop takes out of it."""
    match up:
        case cst.Attribute(value=owner, attr=cst.Name(value=name)):
            return owner is child and name in _COLLECTING
        case cst.For(target=target, iter=iterated) if iterated is child:
            return _asks_each(target, up.body, model)
        case cst.CompFor(target=target, iter=iterated) if iterated is child:
            around = model.tree.enclosing(up, cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)
            return around is not None and _asks_each(target, around, model)
    return False


def _asks_each(target: cst.CSTNode, area: cst.CSTNode, model: Model) -> bool:
    bound = {name.value for name in model.tree.within(target, cst.Name)}
    asked = (node for name in _COLLECTING for node in model.tree.attributes(name, area))
    return any(root(node.value) in bound for node in asked)


def _adds(up: cst.CSTNode, child: cst.CSTNode, model: Model) -> bool:
    """Whether parameters are put beside others."""
    match up:
        case cst.AugAssign(value=added):
            return added is child
        case cst.Call(func=func):
            return func is not child and last_name(func) in _ADDING
        case cst.List():
            return any(model.tree.attributes(name, up) for name in _COLLECTING)
    return False
