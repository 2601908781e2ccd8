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
from torchlint.model.syntax import bound_name, parameters, root

if TYPE_CHECKING:
    from torchlint.model.context import Context

_OF_OBJECTS = ("self", "cls")
"""What an attribute is of that is no function of a module."""
_MOST = 8
"""How many calls are looked at, and how many files."""


def given_everywhere(context: Context, function: cst.FunctionDef, name: str) -> Iterator[cst.BaseExpression | None]:
    """The arguments that a parameter is ever given, each while questions about its file may be put.

    None where that is not known: the function is a method, is handed on, or is mentioned in a text.
    """
    sites = _sites(context, function) if _is_plain(context, function, name) else []
    if not sites or len(sites) > _MOST:
        yield None
    for caller, call in sites[:_MOST]:
        with asking(caller):
            given = [arg for arg in call.args if name in bound_to(function, arg, call, context, caller)]
            argument = given[0].value if len(given) == 1 and not given[0].star else None
            if argument is not None:
                context.codebase.remember_home((argument,), caller)
            yield argument


def _is_plain(context: Context, function: cst.FunctionDef, name: str) -> bool:
    if function.decorators or class_of(context, function) is not None:
        return False
    return any(each.name.value == name and not each.star for each in parameters(function))


def _sites(context: Context, function: cst.FunctionDef) -> list[CallSite]:
    """All the calls of a function; none where it has other uses, or may have."""
    others, name = context.codebase.others(context), function.name.value
    if others is None or not others.is_known or is_mentioned(context, rf"[\"']{name}[\"']"):
        return []
    found = call_sites(context, function)
    if not found:
        return []
    called = {id(call.func) for _, call in found}
    files = context.codebase.matching(context, re.compile(rf"\b{name}\b".encode()))
    contexts = [context.codebase.whole(path, context) for path in files[:_MOST]]
    is_all = len(files) <= _MOST and all(
        each is not None and _only_calls(each, context, function, called) for each in contexts
    )
    return found if is_all and _only_calls(context, context, function, called) else []


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
