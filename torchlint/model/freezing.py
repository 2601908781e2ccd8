"""Which modules and tensors may be frozen: what a file does so that they no longer require grad, itself or elsewhere.

Only syntax is looked at, so that the answers don't depend on how far the interpretation has come.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model import reexports
from torchlint.model.definitions import MAX_REEXPORTS
from torchlint.model.imports import only_import
from torchlint.model.syntax import dotted, last_name, parameters

if TYPE_CHECKING:
    from torchlint.model.context import Context

FREEZING = re.compile(r"requires_grad|freeze|toggle_grad", re.IGNORECASE)
"""What a file has to hold in which something is frozen."""
_FREEZER = re.compile(r"(?<!un)freeze|requires_grad(?!_$)|toggle_grad", re.IGNORECASE)
"""Names of functions that may freeze what they are given."""
_ITERATING = frozenset(("parameters", "named_parameters", "modules", "named_modules", "children", "named_children"))
_FAR = 3
"""How many functions may hand on to each other what one of them freezes."""
_ANY = "*"
"""Stands for every module."""


def is_frozen(context: Context, module: cst.CSTNode) -> bool:
    """Whether something in this file may have frozen the module that an expression names."""
    found = context.remember(frozen)
    path = dotted(module)
    if found and (path is None or _ANY in found or not found.isdisjoint(path.split("."))):
        return True
    return path is not None and any(context.remember(_is_frozen_elsewhere, name) for name in path.split("."))


def _is_frozen_elsewhere(context: Context, name: str, far: int = _FAR) -> bool:
    """Whether what a name stands for is given to a function of another file that freezes what it is given."""
    calls = context.remember(given_elsewhere).get(name, ()) if far else ()
    return any(context.remember(_freezes_given, function, far) for function in calls)


def given_elsewhere(context: Context) -> dict[str, list[str]]:
    """By name, the functions of other files that are called with it, or with a display that it is in.

    Also those that it is asked to apply, `net.apply(off)`. Of a part of a file, the functions of its other parts count.
    """
    found: dict[str, list[str]] = {}
    imported = reexports.imported(context)
    for call in context.tree.within(context.tree.module, cst.Call) if imported or context.is_part else ():
        given = [each for arg in call.args for each in _parts_of(arg.value)]
        called: list[cst.CSTNode] = [call.func]
        if isinstance(call.func, cst.Attribute) and call.func.attr.value == "apply":
            called, given = given, [call.func.value]
        for function in called:
            path = dotted(function) or ""
            if context.is_part or path.partition(".")[0] in imported:
                for each in given:
                    found.setdefault(last_name(each), []).append(path)
    return found


def _parts_of(node: cst.BaseExpression) -> list[cst.CSTNode]:
    """What an argument gives to a function: itself, the elements of a display, what is iterated over in it."""
    match node:
        case cst.List(elements=elements) | cst.Tuple(elements=elements) | cst.Dict(elements=elements):
            return [each.value for each in elements]
        case cst.Call(func=cst.Attribute(value=inner)):
            return [_looped(node), *_parts_of(inner)]
    return [_looped(node)]


def _freezes_given(context: Context, function: str, far: int) -> bool:
    """Whether a function that is defined elsewhere, under the name it has here, freezes what it is given."""
    home = home_of(context, function)
    if home is None:
        return False
    if _ANY in home.remember(frozen):
        return True
    given = {each.name.value for node in home.tree.all(cst.FunctionDef) for each in parameters(node)}
    return any(home.remember(_is_frozen_elsewhere, name, far - 1) for name in given)


def home_of(context: Context, function: str) -> Context | None:
    """The part of a file that defines what a name or path stands for here."""
    first, dot, rest = function.partition(".")
    paths: Collection[str] = reexports.imported(context).get(first, ())
    if not paths and context.is_part and context.path is not None:
        member = context.codebase.member(context.path, first, context)
        paths = reexports.imported(member).get(first, ()) if member is not None else ()
        if member is None or not paths:
            return None if rest else member
        context = member
    for path in paths:
        home, whole = context, f"{path}{dot}{rest}"
        for _ in range(MAX_REEXPORTS):
            found = home.codebase.definition(whole, home)
            if found is None or found[2]:
                break
            home, name, _ = found
            handed_on = home.remember(only_import, name) if home.is_part else None
            if handed_on is None:
                return home
            whole = handed_on
    return None


def frozen(context: Context) -> frozenset[str]:
    """The last names of all that a file may freeze; of what it doesn't name, ``*``."""
    if not FREEZING.search(context.tree.source.text):
        return frozenset()
    return frozenset(_name_of(context, owner) for owner in _freezing(context))


def _freezing(context: Context) -> Iterator[cst.CSTNode]:
    """All that is asked not to require grad, or not literally to do so."""
    tree = context.tree
    for node in tree.attributes("requires_grad_"):
        call = tree.parent(node)
        if isinstance(call, cst.Call) and call.args and not _is_true(call.args[0].value):
            yield node.value
    for node in tree.attributes("requires_grad"):
        target = tree.parent(node)
        assigned = tree.parent(target) if isinstance(target, cst.AssignTarget) else None
        if isinstance(assigned, cst.Assign) and not _is_true(assigned.value):
            yield node.value
    for call in tree.within(tree.module, cst.Call):
        if _FREEZER.search(last_name(call.func)):
            yield from (arg.value for arg in call.args)
            if isinstance(call.func, cst.Attribute):
                yield call.func.value


def _is_true(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and node.value == "True"


def _name_of(context: Context, owner: cst.CSTNode) -> str:
    """The last name of the module whose parameters these are; ``*`` if that is given to a function from outside."""
    if isinstance(owner, cst.Name):
        for up in context.tree.ancestors(owner):
            if isinstance(up, (cst.For, cst.CompFor)) and owner.value in _names(up.target):
                owner = _looped(up.iter)
                break
    path = dotted(owner)
    assigned = context.tree.enclosing(owner, cst.Assign) if path is None else None
    if isinstance(assigned, cst.Assign) and len(assigned.targets) == 1:  # x = Net().requires_grad_(False)
        path = dotted(assigned.targets[0].target)
    if path is None:
        return _ANY
    root, _, rest = path.partition(".")
    function = context.scopes.scope_of(owner)
    given = {p.name.value for p in parameters(function)} if isinstance(function, cst.FunctionDef) else set()
    if root in given and not (root == "self" and rest):
        return _ANY
    return path.rpartition(".")[2]


def _looped(iterated: cst.BaseExpression) -> cst.CSTNode:
    """The module of ``module.parameters()``, wherever in what is iterated over; else that itself."""
    match iterated:
        case cst.Call(func=cst.Attribute(value=module, attr=cst.Name(name))) if name in _ITERATING:
            return module
        case cst.Call(args=[cst.Arg(value=first), *_]):
            return _looped(first)
    return iterated


def _names(node: cst.CSTNode) -> set[str]:
    match node:
        case cst.Name(value=name):
            return {name}
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            return set().union(*(_names(element.value) for element in elements))
    return set()
