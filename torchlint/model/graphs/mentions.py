"""Which names the graph of an expression comes from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from torchlint.file.tree.nodes import children
from torchlint.model.interpreted import seen
from torchlint.model.possibilities import Kind, Tri
from torchlint.model.scopes import target_names
from torchlint.model.syntax import dotted, last_name, loops_of
from torchlint.model.values import Value

if TYPE_CHECKING:
    from torchlint.model.context import Context

CUTTING = frozenset(
    (
        *("item", "detach", "detach_", "data", "tolist", "numpy", "shape", "size", "dim", "ndim", "numel", "dtype"),
        *("device", "requires_grad", "argmax", "argmin", "argsort", "keys", "format", "backward", "zero_grad"),
        *("is_cuda", "is_leaf", "grad_fn", "data_ptr"),
    )
)
"""Attributes and methods of tensors and containers whose results have no graph."""
CUTTING_FUNCTIONS = frozenset(
    ("float", "int", "bool", "str", "repr", "format", "len", "round", "isinstance", "type", "id", "range", "print")
)
_CARRIERS = Kind.TENSOR | Kind.UNKNOWN | Kind.CONTAINER | Kind.OBJECT


class Mention(NamedTuple):
    """A name or path that brings a graph into an expression, and where it is written."""

    path: str
    node: cst.CSTNode


def mentions(context: Context, expression: cst.CSTNode) -> Iterator[Mention]:
    """The names and paths that an expression can have its graph from: ``a`` and ``b.c`` of ``a * 2 + f(b.c[0])``."""
    waiting: list[cst.CSTNode] = [expression]
    while waiting:
        node = waiting.pop()
        match node:
            case cst.Name() | cst.Attribute():
                path = dotted(node)
                if last_name(node) in CUTTING and isinstance(node, cst.Attribute):
                    continue
                if path is None:
                    waiting += [node.value] if isinstance(node, cst.Attribute) else []
                elif may_carry(context, node):
                    yield Mention(path, node)
            case cst.Call() if _holds_no_graph(seen(context, node)):
                continue
            case cst.Call(func=func, args=args):
                if isinstance(func, cst.Attribute):
                    if func.attr.value in CUTTING:
                        continue
                    waiting.append(func.value)
                elif last_name(func) in CUTTING_FUNCTIONS:
                    continue
                elif seen(context, func).kind == Kind.OBJECT:  # what its class does when it is called
                    waiting.append(func)
                waiting += [arg.value for arg in args]
            case cst.Subscript(value=inner) | cst.UnaryOperation(expression=inner):
                waiting.append(inner)
            case cst.IfExp(body=body, orelse=orelse):
                waiting += [body, orelse]
            case cst.Comparison() | cst.BaseString() | cst.BaseNumber():
                continue
            case cst.BaseComp():
                yield from _of_comprehension(context, node)
            case _:
                waiting += children(node)


def _of_comprehension(context: Context, node: cst.BaseComp) -> Iterator[Mention]:
    """Those of its elements; what a loop of it binds stands for what it iterates over."""
    sources: dict[str, cst.BaseExpression] = {}
    for loop in loops_of(node):
        sources |= dict.fromkeys(target_names(loop.target), loop.iter)
    elements = (node.key, node.value) if isinstance(node, cst.DictComp) else (node.elt,)  # type: ignore[attr-defined]
    waiting = [mention for element in elements for mention in mentions(context, element)]
    asked = set[str]()
    while waiting:
        mention = waiting.pop()
        first = mention.path.partition(".")[0]
        if first not in sources:
            yield mention
        elif first not in asked:
            asked.add(first)
            waiting += mentions(context, sources[first])


def may_carry(context: Context, node: cst.CSTNode) -> bool:
    """Whether what a name stands for can have a graph, or hold something that has one."""
    value = seen(context, node)
    if not value.kind & _CARRIERS:
        return False
    return value.kind != Kind.TENSOR or bool(value.grad & Tri.YES)


def _holds_no_graph(made: Value) -> bool:
    """Whether what a call has made is a number or a list of numbers, whatever it was given: ``x.tolist()[0]``."""
    if made.kind & ~(Kind.NUMBER | Kind.CONTAINER):
        return False
    return not made.kind & Kind.CONTAINER or (made.item is not None and _holds_no_graph(made.item))


def owner(node: cst.BaseExpression) -> cst.BaseExpression:
    """What is written to by ``a.b[k] = …``, ``a.b[k].append(…)`` or ``a.b.setdefault(k, []).append(…)``: ``a.b``."""
    while True:
        match node:
            case cst.Subscript(value=inner):
                node = inner
            case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name("setdefault" | "get"))):
                node = inner
            case _:
                return node


def is_below(path: str, owner_path: str) -> bool:
    """Whether a path is another one, or one of its attributes."""
    return path == owner_path or path.startswith(f"{owner_path}.")
