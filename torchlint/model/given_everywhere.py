"""What all calls of a function in a project give one of its parameters, where they are all the uses it has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.aliasing.calls import bound_to
from torchlint.model.calls_elsewhere import CallSite, asking, call_sites, is_same
from torchlint.model.classes import class_of
from torchlint.model.codebase.exports import is_mentioned
from torchlint.model.expressions import value_of
from torchlint.model.lineage import bases_of, lineage_of
from torchlint.model.syntax import bound_name, parameters, root
from torchlint.model.values import reference

if TYPE_CHECKING:
    from torchlint.model.context import Context

_OF_OBJECTS = ("self", "cls")
"""What an attribute is of that is no function of a module."""
_MOST = 8
"""How many calls are looked at, and how many files."""


def given_everywhere(context: Context, function: cst.FunctionDef, name: str) -> Iterator[cst.BaseExpression | None]:
    """The arguments that a parameter is ever given, each while questions about its file may be put.

    None where that is not known: the function is handed on, or mentioned in a text, or others may call the method.
    """
    sites = context.remember(_sites, function) if _is_plain(context, function, name) else []
    if not sites or len(sites) > _MOST:
        yield None
    for caller, call in sites[:_MOST]:
        with asking(caller):
            given = [arg for arg in call.args if name in bound_to(function, arg, call, context, caller)]
            argument = given[0].value if len(given) == 1 and not given[0].star else None
            if argument is not None:
                context.codebase.remember_home((argument,), caller)
            yield argument


def is_never_given(context: Context, function: cst.FunctionDef, name: str) -> bool:
    """Whether all calls of a function are seen, there is one, and none of them gives it a parameter."""
    if not _is_plain(context, function, name):
        return False
    sites = context.remember(_sites, function)
    given = (name in bound_to(function, arg, call, context, caller) for caller, call in sites for arg in call.args)
    return bool(sites) and not any(given)


def are_calls_known(context: Context, function: cst.FunctionDef) -> bool:
    """Whether all calls of a function are seen, and there is one."""
    return not function.decorators and bool(context.remember(_sites, function))


def _is_plain(context: Context, function: cst.FunctionDef, name: str) -> bool:
    if function.decorators:
        return False
    given = parameters(function)[1:] if class_of(context, function) is not None else parameters(function)
    return any(each.name.value == name and not each.star for each in given)


def _sites(context: Context, function: cst.FunctionDef) -> list[CallSite]:
    """All the calls of a function; none where it has other uses, or may have."""
    others, name = context.codebase.others(context), function.name.value
    if others is None or not others.is_known or is_mentioned(context, rf"[\"']{name}[\"']"):
        return []
    cls = class_of(context, function)
    if cls is not None:
        is_own = _is_called_by_nobody_else(context, cls, name)
        return _calls_by_name(context, name) if is_own else []
    found = call_sites(context, function)
    if not found:
        return []
    called = {id(call.func) for _, call in found}
    files = _files(context, name)
    return found if files and all(_only_calls(each, context, function, called) for each in files) else []


def _files(context: Context, name: str) -> list[Context]:
    """A file and the others that have a name in their code; none if these are many, or one cannot be read."""
    paths = context.codebase.matching(context, re.compile(rf"\b{name}\b".encode()))
    others = [context.codebase.whole(path, context) for path in paths[:_MOST]]
    found = [each for each in others if each is not None]
    return [context, *found] if len(found) == len(paths) else []


_CALLED_BY_TORCH = re.compile("_|forward$")
"""What methods of its modules torch may call."""


def _is_called_by_nobody_else(context: Context, cls: cst.ClassDef, name: str) -> bool:
    """Whether no library can call a method of a class: all that it derives from is of the project, or is a module."""
    if name.startswith("__"):
        return False
    for home, each in lineage_of(context, cls).classes():
        for base in bases_of(home, each):
            ref = "" if isinstance(base.node, cst.ClassDef) else reference(base)
            if ref is None or (ref and not (ref in _PLAIN_BASES or _is_module_without(ref, name))):
                return False
    return True


_PLAIN_BASES = ("builtins.object", "abc.ABC")


def _is_module_without(ref: str, name: str) -> bool:
    return ref == "torch.nn.Module" and _CALLED_BY_TORCH.match(name) is None


def _calls_by_name(context: Context, name: str) -> list[CallSite]:
    """The calls of methods of a name in the project, of whatever object; none if one is more than called, or hidden."""
    found = []
    for each in _files(context, name):
        for use in each.tree.attributes(name):
            call = each.tree.parent(use)
            if not isinstance(call, cst.Call) or call.func is not use:
                return []
            found.append(CallSite(each, call))
        if any(isinstance(_around(each, use), cst.ClassDef) for use in each.tree.names(name)):
            return []  # in the body of its class, it can be given another name
    return found


def _around(context: Context, use: cst.CSTNode) -> cst.CSTNode | None:
    """The class or function in which a name stands that is not the name of one."""
    if isinstance(context.tree.parent(use), cst.FunctionDef):
        return None
    return context.tree.enclosing(use, cst.ClassDef, cst.FunctionDef, cst.Lambda)


def _only_calls(context: Context, home: Context, function: cst.FunctionDef, called: set[int]) -> bool:
    """Whether a function is nothing in a file but imported, defined and called; others may have its name there."""
    name, imported = function.name.value, context.remember(_imported)
    uses: list[cst.CSTNode] = [use for use in context.tree.attributes(name) if root(use) not in _OF_OBJECTS]
    if context is home or name in imported or "*" in imported:
        uses += context.tree.names(name)
    others = [use for use in uses if id(use) not in called and not _is_import(context, use)]
    return all(_is_another(context, use, home, function) for use in others)


def _is_another(context: Context, use: cst.CSTNode, home: Context, function: cst.FunctionDef) -> bool:
    with asking(context):
        node = value_of(context, use).node
    return isinstance(node, cst.FunctionDef) and not is_same(context, node, home, function)


def _imported(context: Context) -> frozenset[str]:
    """The names that the imports of a file bind, with ``*`` if there is such a one."""
    aliases = context.tree.all(cst.ImportAlias)
    stars = ["*" for each in context.tree.all(cst.ImportFrom) if isinstance(each.names, cst.ImportStar)]
    return frozenset([*stars, *(bound_name(alias) for alias in aliases), *(root(alias.name) for alias in aliases)])


def _is_import(context: Context, use: cst.CSTNode) -> bool:
    parent = context.tree.parent(use)
    if isinstance(parent, cst.FunctionDef):
        return True
    return isinstance(parent, cst.ImportAlias) and parent.asname is None
