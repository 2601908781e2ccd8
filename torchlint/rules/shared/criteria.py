"""Whether the criterion that a loss is computed with may be another one, which gives the loss of each sample.

What is a number by the criterion that is seen is none then: it was set from outside, by a subclass, or asked for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

import libcst as cst

from torchlint.model import Kind, Model, bindings
from torchlint.model.codebase.exports import is_mentioned
from torchlint.model.overriding import is_bound_by_unknown_heir
from torchlint.model.syntax import assigned_value, keyword, last_name

_CONFIGURED = (
    r"""(?<!\bself)\.reduc(?:tion|e)\s*=(?!=|\s*["'](?:mean|sum)\b)|attr\s*\([^\n]{0,100}["']reduc(?:tion|e)["']"""
    r"""|(?:crit\w*|loss\w*)\.register_forward_(?:pre_)?hook\s*\("""
)
"""How a criterion is asked for another reduction after it was made, or gives something else."""
_BY_NAME = (
    r"(?:(?:attr(?:__)?|object|(?:add|register)_module)\s*\([^\n]{0,100}"
    r"|(?:_modules|__dict__|vars\([^()\n]{1,50}\))\s*\[\s*)(?<![^,(\[\s])"
)
"""What stands before the name of an attribute that is set by a text: ``m.add_module("embed", …)``."""
_COMPUTED = r"[\s\S]{0,400}?\bsetattr\s*\((?!self\b)[^,\n]{1,100},\s*[A-Za-z_]"
"""What stands behind it where a loop sets several: ``for name in ("embed", "head"): setattr(m, name, …)``."""
_MOST_HEIRS = 8
_MOST_ADDED = 8
"""How many additions to one total are looked at."""
_FAR = 3
"""How many names are gone back to what a value was computed with."""


def may_be_another(node: cst.BaseExpression, model: Model) -> bool:
    """Whether a value may be computed with a criterion that is not the one which is seen."""
    called = list(_called(node, model, _FAR))
    if not called:
        return False
    if model.remember(_is_configured):
        return True
    return any(
        model.remember(is_set_elsewhere, name, _class_around(func, model))
        for func, name in called
        if isinstance(func, cst.Attribute) or isinstance(model.ask(bindings.owner, func), cst.Module)
    )


def _is_configured(model: Model) -> bool:
    return model.ask(is_mentioned, _CONFIGURED)


def _class_around(node: cst.CSTNode, model: Model) -> cst.ClassDef | None:
    found = model.tree.enclosing(node, cst.ClassDef)
    return found if isinstance(found, cst.ClassDef) else None


def _called(node: cst.BaseExpression, model: Model, far: int) -> Iterator[tuple[cst.Name | cst.Attribute, str]]:
    """The criteria that a value is computed with: what is called that is no function of torch, with its name."""
    match node:
        case cst.Name(value=name) if far:
            for target in model.bindings_of(name, node):
                value = assigned_value(target, model.tree)
                if value is not None:
                    yield from _called(value, model, far - 1)
            for added in islice(_added(name, node, model), _MOST_ADDED):
                yield from _called(added, model, far - 1)
        case cst.Attribute(value=inner, attr=cst.Name("data")):
            yield from _called(inner, model, far)
        case cst.BinaryOperation(left=left, right=right):
            yield from _called(left, model, far)
            yield from _called(right, model, far)
        case cst.Call(func=cst.Name() | cst.Attribute() as func):
            called = model.value(func)
            if called.kind == Kind.MODULE and (called.ref or "").endswith("Loss"):  # a network is no criterion
                yield func, last_name(func)
            elif isinstance(func, cst.Attribute):
                yield from _called(func.value, model, far)


def _added(name: str, node: cst.Name, model: Model) -> Iterator[cst.BaseExpression]:
    """What is added to a total: ``total += loss.data``."""
    for target in model.targets(name, model.scopes.scope_of(node)):
        statement = model.tree.parent(target)
        if isinstance(statement, cst.AugAssign):
            yield statement.value


def is_set_elsewhere(model: Model, name: str, cls: cst.ClassDef | None, kind: str = r"\w+") -> bool:
    """Whether something else than a plain loss of torch may be assigned to what has that name, outside of a class.

    What that class itself assigns is known; so is what is assigned to a name in this file. ``kind`` is a pattern of
    what may be assigned instead of a loss.
    """
    names = {name, *(_makers(name, model) if cls is not None else ())}
    for attribute in (each for name in names for each in model.tree.attributes(name)):
        if _is_set(attribute, model) and not _is_plain(attribute, kind, model):
            if _class_around(attribute, model) is not cls or last_name(attribute.value) != "self":
                return True
    for each in names:
        bodies = (model.tree.parent(use) for use in model.tree.names(each))
        for target in bodies:
            if isinstance(target, cst.AssignTarget) and isinstance(model.scopes.scope_of(target), cst.Module):
                around = _class_around(target, model)
                if around is not None and around is not cls and not _is_plain(target.target, kind, model):
                    return True
    if cls is not None and any(model.ask(is_bound_by_unknown_heir, cls, each) for each in names):
        return True
    return _is_set_in_other_file(names, cls, kind, model)


def _makers(name: str, model: Model) -> Iterator[str]:
    """The attributes that are called for what is assigned to one: ``self.criterion = self.criterion_cls()``."""
    for attribute in model.tree.attributes(name):
        match assigned_value(attribute, model.tree):
            case cst.Call(func=cst.Attribute(value=cst.Name("self"), attr=cst.Name(value=maker))):
                yield maker


def _is_set(node: cst.CSTNode, model: Model) -> bool:
    return isinstance(model.tree.parent(node), cst.AssignTarget)


def _is_plain(target: cst.CSTNode, kind: str, model: Model) -> bool:
    """Whether what is assigned is a loss of torch that gives a number, or another module of that kind, or None."""
    match assigned_value(target, model.tree):
        case cst.Name("None"):
            return True
        case cst.Call(func=func, args=args):
            is_of_torch = re.fullmatch(rf"torch\.nn\.(?:\w+\.)*(?:{kind})", model.qualified(func) or "") is not None
            is_reduced = keyword(args, "reduction") is None and keyword(args, "reduce") is None
            return is_of_torch and is_reduced and not any(arg.star for arg in args)
    return False


def _is_set_in_other_file(names: set[str], cls: cst.ClassDef | None, kind: str, model: Model) -> bool:
    """Whether another file assigns an attribute of that name of any object, or a class that derives from one does."""
    either = "|".join(map(re.escape, sorted(names)))
    plain = rf"(?:None|(?:torch\.)?nn\.(?:{kind})\((?![^\n]*(?:\breduc|\*)))"
    outside = rf"(?<!\bself)\.(?:{either})\s*(?:=(?!=)\s*(?!{plain})|[,:][^=\n()]{{0,200}}=(?!=))"
    context = model.context
    if context.codebase.matching(context, re.compile(outside.encode())):
        return True
    named = rf"[\"'](?:{either})[\"']"
    if model.ask(is_mentioned, rf"{_BY_NAME}{named}|{named}{_COMPUTED}|\)\.update\([^\n]{{0,100}}\b(?:{either})="):
        return True
    heirs = context.codebase.heirs(context, cls.name.value, _MOST_HEIRS) if cls is not None else []
    inside = re.compile(
        rf"(?:\bself\.|^[ \t]+)(?:{either})\s*=(?!=)\s*(?!{plain})|\bdef\s+(?:{either})\b".encode(), re.MULTILINE
    )
    paths = {heir.path for heir in heirs} - {context.path}
    return bool(paths) and not paths.isdisjoint(context.codebase.matching(context, inside))
