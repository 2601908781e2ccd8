"""What is put into what a name or attribute holds, and what else holds that: lists, dictionaries, globals, attributes.

The interpreter follows what a scope puts into its own containers. What other functions do with them, it does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.aliasing.calls import bound_to
from torchlint.model.aliasing.origins import bound_to_target
from torchlint.model.expressions import value_of
from torchlint.model.names import GROWING
from torchlint.model.possibilities import Dtype, Kind, Tri
from torchlint.model.syntax import is_target
from torchlint.model.values import Value

if TYPE_CHECKING:
    from torchlint.model.context import Context

_REGISTERING = ("register_buffer", "setattr")


def put_in(context: Context, use: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """What is assigned to a name or attribute where it stands, or to an element of it, or is put into it."""
    whole: cst.CSTNode = use
    while isinstance(parent := context.tree.parent(whole), cst.Subscript) and parent.value is whole:
        whole = parent
    match parent:
        case cst.AugAssign(target=target, value=value) if target is whole:
            yield value
        case cst.Attribute(attr=cst.Name(value=method)) if method in GROWING:
            call = context.tree.parent(parent)
            if isinstance(call, cst.Call) and call.func is parent:
                yield from (arg.value for arg in call.args)
        case _ if is_target(context.tree, whole):
            yield from bound_to_target(context, whole)


def registered(context: Context, name: str) -> Iterator[cst.BaseExpression]:
    """What attributes of a name are given by a text: ``self.register_buffer("h", x)``, ``setattr(self, "h", x)``."""
    for function in _REGISTERING:
        for node in context.tree.names(function):
            call = context.tree.enclosing(node, cst.Call)
            if isinstance(call, cst.Call) and any(_is_text(arg.value, name) for arg in call.args[:-1]):
                yield call.args[-1].value


def _is_text(node: cst.BaseExpression, text: str) -> bool:
    return isinstance(node, cst.SimpleString) and node.raw_value == text


def handed_to(context: Context, use: cst.BaseExpression) -> Iterator[tuple[Context, str, cst.FunctionDef]]:
    """The parameters of functions of the project that a name or attribute is given to where it stands."""
    arg = context.tree.parent(use)
    call = context.tree.parent(arg) if isinstance(arg, cst.Arg) else None
    if not isinstance(arg, cst.Arg) or not isinstance(call, cst.Call):
        return
    function = value_of(context, call.func).node
    if isinstance(function, cst.FunctionDef):
        home = context.home(function)
        yield from ((home, name, function) for name in bound_to(function, arg, call, home, context))


def may_carry(context: Context, node: cst.BaseExpression) -> bool:
    """Whether an expression may have a graph, or hold something that has one."""
    match node:
        case cst.List(elements=elements) | cst.Tuple(elements=elements):
            return any(may_carry(context, element.value) for element in elements)
        case cst.Dict(elements=entries):
            return any(may_carry(context, entry.value) for entry in entries)
    return _value_may_carry(value_of(context, node))


def _value_may_carry(value: Value) -> bool:
    if value.kind & (Kind.TENSOR | Kind.UNKNOWN):
        return value.grad != Tri.NO and bool(value.dtype & Dtype.FLOAT or value.kind & Kind.UNKNOWN)
    if not value.kind & Kind.CONTAINER:
        return False
    held = value.items if value.items is not None else (value.item,) if value.item is not None else ()
    return any(map(_value_may_carry, held))
