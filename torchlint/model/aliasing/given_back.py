"""What functions of other files give back and write to in place, too: ``self._h.add_(1); return self._h``.

A generator writes to what it has given while nobody looks, a property whenever it is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.context import at_home
from torchlint.model.expressions import value_of
from torchlint.model.imports import imported_path
from torchlint.model.lineage import lineage_of
from torchlint.model.possibilities import Role
from torchlint.model.syntax import dotted, last_name

if TYPE_CHECKING:
    from torchlint.model.context import Context

IsWritten = Callable[["Context", cst.BaseExpression], bool]
"""Whether what an expression holds is written in place in its file."""


def functions(context: Context, node: cst.BaseExpression) -> Iterator[cst.FunctionDef]:
    """The functions of other files that an expression calls, by whatever syntax: a property, ``[]``, a call."""
    match node:
        case cst.Call(func=func):
            called = value_of(context, func).node
            function = _method(context, called, "__call__") if isinstance(called, cst.ClassDef) else called
        case cst.Attribute(value=owner, attr=cst.Name(value=name)):
            function = _method(context, value_of(context, owner).node, name)
            function = function if function is not None and function.decorators else None
        case cst.Subscript(value=owner):
            function = _method(context, value_of(context, owner).node, "__getitem__")
        case _:
            return
    if isinstance(function, cst.FunctionDef) and context.home(function) is not context:
        yield function


_PASSING_ON = ("enumerate", "zip", "iter", "reversed", "tqdm", "islice")
_ITERATING = ("__iter__", "__next__", "__getitem__")


def functions_binding(context: Context, target: cst.CSTNode) -> Iterator[cst.FunctionDef]:
    """The methods of classes of other files that a name is bound by: in a loop, by ``next(it)``, in a block."""
    up = context.tree.parent(target)
    while isinstance(up, (cst.Element, cst.Tuple, cst.List)):
        up = context.tree.parent(up)
    taken: cst.BaseExpression | None
    match up:
        case cst.For(iter=iterated) | cst.CompFor(iter=iterated):
            taken = iterated
            names: tuple[str, ...] = _ITERATING
        case cst.AsName():
            item = context.tree.parent(up)
            taken, names = (item.item if isinstance(item, cst.WithItem) else None), ("__enter__",)
        case cst.AssignTarget():
            assign = context.tree.parent(up)
            taken, names = (assign.value if isinstance(assign, cst.Assign) else None), ("__next__",)
            if not isinstance(taken, cst.Call) or dotted(taken.func) != "next":
                return
        case _:
            return
    is_passed_on = isinstance(taken, cst.Call) and last_name(taken.func) in (*_PASSING_ON, "next")
    objects = [arg.value for arg in taken.args] if is_passed_on and isinstance(taken, cst.Call) else [taken]
    for each in objects:
        cls = value_of(context, each).node if each is not None else None
        for name in names:
            function = _method(context, cls, name)
            if function is not None and context.home(function) is not context:
                yield function


def _method(context: Context, cls: cst.CSTNode | None, name: str) -> cst.FunctionDef | None:
    if not isinstance(cls, cst.ClassDef):
        return None
    found = (home.scopes.info(each).methods.get(name) for home, each in lineage_of(context, cls).classes())
    return next((method for method in found if method is not None), None)


@at_home
def gives_written(context: Context, function: cst.FunctionDef, is_written: IsWritten) -> bool:
    """Whether a function gives back what lives on, and what its file writes to in place."""
    known = context.memo.table(gives_written)
    if id(function) not in known:
        known[id(function)] = False  # of one that comes round to itself
        known[id(function)] = _gives_written(context, function, is_written)
    return known[id(function)]


def _gives_written(context: Context, function: cst.FunctionDef, is_written: IsWritten) -> bool:
    given: list[cst.Return | cst.Yield] = [*context.tree.within(function, cst.Return)]
    for each in (*given, *context.tree.within(function, cst.Yield)):
        if not isinstance(each.value, cst.BaseExpression) or context.scopes.scope_of(each) is not function:
            continue
        if value_of(context, each.value).role & (Role.PARAMETER | Role.GRADIENT):
            continue  # what an optimizer does is not asked
        if isinstance(each, cst.Yield) or any(map(_lives_on, context.tree.within(each.value, cst.Attribute))):
            if is_written(context, each.value):
                return True
        elif isinstance(each.value, cst.Name) and each.value.value not in context.scopes.locals_of(function):
            if _is_global_written(context, each.value.value, is_written):
                return True
    return False


def _lives_on(attribute: cst.Attribute) -> bool:
    return dotted(attribute) is not None


def is_global_written(context: Context, node: cst.Attribute, is_written: IsWritten) -> bool:
    """Whether an attribute is a global of another file, ``state.H``, which that writes to in place."""
    module = imported_path(context, node.value)
    found = context.codebase.definition(f"{module}.{node.attr.value}", context) if module is not None else None
    return found is not None and not found[2] and _is_global_written(found[0], found[1], is_written)


def _is_global_written(context: Context, name: str, is_written: IsWritten) -> bool:
    """Whether a file writes in place to what one of its globals holds, which may be read in part only."""
    whole = context.codebase.whole(context.path, context) if context.is_part and context.path is not None else context
    if whole is None:
        return True
    uses = (each for each in whole.tree.names(name) if each.value == name)
    return any(is_written(whole, each) for each in uses)
