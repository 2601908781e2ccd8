"""Who calls a function of the project: this file, and all of those that import from it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from torchlint.model.classes import class_kind, class_of
from torchlint.model.expressions import value_of
from torchlint.model.imports import imported_path
from torchlint.model.module_uses import names_of_modules
from torchlint.model.overriding import heirs
from torchlint.model.possibilities import Kind
from torchlint.model.reexports import is_taken
from torchlint.model.replaced import is_replaced
from torchlint.model.running import may_run
from torchlint.model.standing import stands
from torchlint.model.syntax import last_name, root

if TYPE_CHECKING:
    from torchlint.model.context import Context


_DECIDING = (cst.FunctionDef, cst.ClassDef, cst.Lambda, cst.If, cst.Try)
"""What is around a function that may be another one by that name."""
_LIBRARIES = ("torch.", "numpy.")
"""Where a name that no file of the project binds is no function of it."""
_MOST_FILES = 16
_AWAITING = re.compile("raises|suppress", re.IGNORECASE)
"""What context managers are called that let errors pass."""


class CallSite(NamedTuple):
    """A call, in the context of the whole file that it is in."""

    context: Context
    call: cst.Call


class _Wanted(NamedTuple):
    """A function or class whose calls are looked for."""

    home: Context
    node: cst.FunctionDef | cst.ClassDef
    name: str
    """What it is called by."""
    needs_arguments: bool


def call_sites(context: Context, function: cst.FunctionDef, *, needs_arguments: bool = True) -> list[CallSite]:
    """The calls of a function that are seen, those with arguments or all: of a constructor those of its class.

    Files of the project are opened for it, those that import from this one and call something of that name. Questions
    about what stands there are put while they are asked about (:func:`asking`).
    """
    cls, name = class_of(context, function), function.name.value
    if cls is not None and name == "__init__":
        return makings(context, context, cls, needs_arguments=needs_arguments)
    if not _is_at_top(context, cls or function):
        return []
    wanted = _Wanted(context, function, name, needs_arguments)
    found = list(_calls_in(context, wanted))
    if not stands(context, function) or not (cls is None or stands(context, cls)):
        return [site for site in found if cls is None and isinstance(context.scopes.scope_of(site.call), cst.Module)]
    imported = name if cls is None else cls.name.value
    paths = dict.fromkeys(context.codebase.importing(context, imported, name, with_torch=needs_arguments))
    if cls is not None and not needs_arguments:
        for home, heir in heirs(context, cls):  # a file that has an object of one of these may import nothing from here
            paths.update(dict.fromkeys(home.codebase.importing(home, heir.name.value, name, with_torch=False)))
    found += _calls_in_files(context, paths, wanted)
    if cls is not None and name == "forward" and class_kind(context, cls) == "module":
        found += _calls_of_modules_elsewhere(context, cls)
    return found


def makings(asker: Context, context: Context, cls: cst.ClassDef, *, needs_arguments: bool = True) -> list[CallSite]:
    """The calls of a class that are seen. ``asker``: the file that is asked about, which may be another one."""
    constructor = context.scopes.info(cls).methods.get("__init__")
    if not _is_at_top(context, cls) or not stands(context, cls):
        return []
    if constructor is not None and not stands(context, constructor):
        return []
    wanted = _Wanted(context, cls, cls.name.value, needs_arguments)
    paths = dict.fromkeys(context.codebase.importing(context, cls.name.value, cls.name.value))
    if not context.is_part:
        return [*_calls_in(context, wanted), *_calls_in_files(asker, paths, wanted)]
    own = {context.path: None} if context.path is not None else {}  # only some of its statements are in the context
    return list(_calls_in_files(asker, own | paths, wanted))


def _calls_in_files(asker: Context, paths: Iterable[str], wanted: _Wanted) -> Iterator[CallSite]:
    home = wanted.home
    for path in paths:
        if path == home.path and not home.is_part:
            continue  # it has been looked at as the file that it is
        other = asker if path == asker.path and not asker.is_part else home.codebase.whole(path, asker)
        if other is not None:
            with asking(other):
                yield from list(_calls_in(other, wanted))


def _calls_of_modules_elsewhere(context: Context, cls: cst.ClassDef) -> Iterator[CallSite]:
    """Where other files that make modules of a class call these: ``criterion(a, b)``."""
    for path in context.codebase.importing(context, cls.name.value, cls.name.value):
        other = context.codebase.whole(path, context)
        if other is not None:
            with asking(other):
                for name in dict.fromkeys(names_of_modules(other, cls)):
                    yield from _calls_of_module(other, context, cls, name)


def _calls_of_module(caller: Context, home: Context, cls: cst.ClassDef, name: str) -> Iterator[CallSite]:
    for func in sorted((*caller.tree.names(name), *caller.tree.attributes(name)), key=caller.tree.order):
        call = caller.tree.parent(func)
        if isinstance(call, cst.Call) and call.func is func and call.args:
            value = value_of(caller, func)
            is_one = value.kind == Kind.MODULE and not value.choices and value.node is not None
            if is_one and is_same(caller, value.node, home, cls):
                if not _is_awaited(caller, call) and may_run(caller, call):
                    yield CallSite(caller, call)


def uses_elsewhere(context: Context, cls: cst.ClassDef, attribute: str) -> Iterator[cst.Attribute]:
    """Where other files that may import a class name an attribute that its objects have, of whatever object."""
    for path in context.codebase.naming(context, cls.name.value, attribute):
        other = context.codebase.whole(path, context)
        if other is not None:
            uses = other.tree.attributes(attribute)
            context.codebase.remember_home(uses, other)
            with asking(other):
                yield from uses


def files_with(context: Context, pattern: re.Pattern[bytes]) -> Iterator[cst.Module]:
    """Those other files of the project in whose code something matches: the first of them, if there are many."""
    for path in context.codebase.matching(context, pattern)[:_MOST_FILES]:
        other = context.codebase.whole(path, context)
        if other is not None:
            context.codebase.remember_home((other.tree.module,), other)
            with asking(other):
                yield other.tree.module


@contextmanager
def asking(context: Context) -> Iterator[None]:
    """While questions about a file are put that may not be the one being checked."""
    if context.is_checked:
        yield
    else:
        with context.codebase.queries.about(context):
            yield


def _is_at_top(context: Context, node: cst.CSTNode) -> bool:
    """Whether others can import a function or class, and nothing decides if they do."""
    return not any(isinstance(up, _DECIDING) for up in context.tree.ancestors(node))


def _calls_in(caller: Context, wanted: _Wanted) -> Iterator[CallSite]:
    home, name = wanted.home, wanted.name
    if is_replaced(caller, name) or is_replaced(home, name):
        return
    for func in sorted((*caller.tree.names(name), *caller.tree.attributes(name)), key=caller.tree.order):
        call = caller.tree.parent(func)
        if not isinstance(call, cst.Call) or call.func is not func or (wanted.needs_arguments and not call.args):
            continue
        if _may_be_called(caller, call, home, name) and _is_called(caller, call, home, wanted.node):
            if not _is_awaited(caller, call) and may_run(caller, call):
                yield CallSite(caller, call)


def _is_awaited(caller: Context, call: cst.Call) -> bool:
    """Whether somebody waits for the error that a call ends in: ``with pytest.raises(…):``, or a handler."""
    for up in caller.tree.ancestors(call):
        if isinstance(up, (cst.FunctionDef, cst.Lambda)):
            return False
        if isinstance(up, cst.Try) and up.handlers:
            return True
        if isinstance(up, cst.With):
            managers = (item.item.func for item in up.items if isinstance(item.item, cst.Call))
            if any(_AWAITING.search(last_name(manager)) for manager in managers):
                return True
    return False


def _may_be_called(caller: Context, call: cst.Call, home: Context, name: str) -> bool:
    """Whether a call can be one of what a file has under a name, as far as the imports of the caller tell.

    Asked first, for it takes no interpretation.
    """
    path = imported_path(caller, call.func)
    if path is None:
        return True
    found, has_other = caller.codebase.definition(path, caller), is_taken(caller, root(call.func))
    if found is None and not has_other and path.startswith(_LIBRARIES):
        return False
    if caller is home or not isinstance(call.func, cst.Name):
        return True
    if has_other:
        return False  # which of two imports stands for it, their order says
    return found is None or (found[0].path == home.path and found[1] == name) or bool(found[2])


def _is_called(caller: Context, call: cst.Call, home: Context, wanted: cst.FunctionDef | cst.ClassDef) -> bool:
    """Whether a call is one of a function; statements of its file are read anew for others, so names are compared."""
    value = value_of(caller, call.func)
    if value.node is None:
        return False
    is_named = bool(value.kind & (Kind.FUNCTION | Kind.REFERENCE | Kind.UNKNOWN))
    return value.node is wanted or (is_named and is_same(caller, value.node, home, wanted))


def is_same(caller: Context, node: cst.CSTNode | None, home: Context, wanted: cst.CSTNode) -> bool:
    """Whether a function or class is another one, which may have been read twice."""
    if node is wanted:
        return True
    if node is None or not isinstance(node, type(wanted)):
        return False
    other = caller.home(node)
    is_read_twice = (other.is_part or home.is_part) and other.path == home.path
    return is_read_twice and _names(other, node) == _names(home, wanted)


def _names(context: Context, node: cst.CSTNode) -> list[str]:
    """The name of a function or class, and of the class that it is in."""
    assert isinstance(node, (cst.FunctionDef, cst.ClassDef))
    cls = class_of(context, node)
    return [each.name.value for each in (node, cls) if each is not None]
