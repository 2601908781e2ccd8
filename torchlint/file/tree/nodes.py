"""libcst's nodes: which of their fields are syntax, in the order of the text."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any

import libcst as cst

_TRIVIA = (
    "whitespace",
    "lpar",
    "rpar",
    "lbracket",
    "rbracket",
    "lbrace",
    "rbrace",
    "leading_lines",
    "lines_after",
    "header",
    "footer",
    "trailing",
    "semicolon",
    "comma",
    "dot",
    "colon",
    "equal",
    "indent",
)


def is_trivia(field: str) -> bool:
    """Whether fields of that name hold white space, comments, brackets or commas."""
    return "whitespace" in field or field.startswith("_") or field.startswith(_TRIVIA)


_SCALARS = {
    "value": (cst.Name, cst.Integer, cst.Float, cst.Imaginary, cst.SimpleString, cst.FormattedStringText, cst.NotEqual),
    "start": (cst.FormattedString,),
    "end": (cst.FormattedString,),
    "conversion": (cst.FormattedStringExpression,),
    "star": (cst.Index,),
}
"""Fields that hold no nodes, of classes that there are many of; of others that is seen when they are looked at."""


_ORDER: dict[type[cst.CSTNode], tuple[str, ...]] = {
    cst.IfExp: ("body", "test", "orelse"),
    cst.FunctionDef: ("decorators", "asynchronous", "name", "type_parameters", "params", "returns", "body"),
    cst.ClassDef: ("decorators", "name", "type_parameters", "bases", "keywords", "body"),
    cst.CompFor: ("asynchronous", "target", "iter", "ifs", "inner_for_in"),
    cst.ListComp: ("elt", "for_in"),
    cst.SetComp: ("elt", "for_in"),
    cst.GeneratorExp: ("elt", "for_in"),
    cst.DictComp: ("key", "value", "for_in"),
    cst.Parameters: ("posonly_params", "posonly_ind", "params", "star_arg", "kwonly_params", "star_kwarg"),
    cst.Param: ("name", "annotation", "default"),
    cst.ExceptHandler: ("type", "name", "body"),
    cst.ExceptStarHandler: ("type", "name", "body"),
    cst.ImportFrom: ("module", "names"),
    cst.Slice: ("lower", "upper", "step"),
    cst.For: ("asynchronous", "target", "iter", "body", "orelse"),
    cst.With: ("asynchronous", "items", "body"),
    cst.Arg: ("keyword", "value"),
}
"""The fields of those classes that libcst lists in another order than they stand in the text."""


@functools.cache
def syntax_fields(cls: type[cst.CSTNode]) -> tuple[str, ...]:
    """Names of the fields of ``cls`` that can hold syntax nodes, in document order."""
    if cls in _ORDER:
        return _ORDER[cls]
    fields = (f.name for f in dataclasses.fields(cls) if not is_trivia(f.name))
    return tuple(name for name in fields if cls not in _SCALARS.get(name, ()))


@functools.cache
def last_fields_first(cls: type[cst.CSTNode]) -> Callable[[cst.CSTNode], tuple[Any, ...]]:
    """What gives the values of those fields of a node in one step, in the opposite order."""
    names = syntax_fields(cls)[::-1]
    if len(names) == 1:  # of one name `attrgetter` gives no tuple
        return lambda node: (getattr(node, names[0]),)
    return attrgetter(*names) if names else lambda node: ()


NO_NODES = frozenset((str, bool, type(None), cst.MaybeSentinel))
"""Classes of field values that are no nodes. (`isinstance` of an abstract base class is slow.)"""


def children(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The syntax children of ``node`` in document order (no whitespace, brackets or commas)."""
    cls = type(node)
    for name in syntax_fields(cls):
        value = getattr(node, name)
        kind = value.__class__
        if kind is tuple or kind is list:
            yield from value
        elif kind not in NO_NODES:
            yield value


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """``node`` and all below it, in document order."""
    stack = [node]
    while stack:
        at = stack.pop()
        yield at
        stack.extend(list(children(at))[::-1])


def last_child(node: cst.CSTNode) -> cst.CSTNode | None:
    """The last of the syntax children of a node; None if it has none."""
    for value in last_fields_first(type(node))(node):
        kind = value.__class__
        if kind is tuple or kind is list:
            if value:
                return value[-1]  # type: ignore[no-any-return]
        elif kind not in NO_NODES:
            return value  # type: ignore[no-any-return]
    return None
