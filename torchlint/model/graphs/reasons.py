"""Why a tensor requires grad, and who decides whether autograd records where it is made: for people to read."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst

from torchlint.file.tree.nodes import children
from torchlint.model.context import Context
from torchlint.model.expressions import value_of
from torchlint.model.graphs.flow import flow_of
from torchlint.model.modes import grad_enabled
from torchlint.model.possibilities import Kind, Role, Tri
from torchlint.model.recording import callers_of
from torchlint.model.syntax import assigned_value

_MANY = 4
"""How many reasons are enough."""
_FAR = 50
"""How many assignments to go back for them."""


class Caller(NamedTuple):
    """A call of the function that an expression is in, and whether autograd records there."""

    call: cst.Call
    mode: Tri


def grad_sources(context: Context, node: cst.BaseExpression) -> list[str]:
    """What a tensor has its graph from: the modules whose parameters it was computed with, and leaves, as written."""
    value = assigned_value(node, context.tree)
    made = node if value is None else value
    found = (source for expression in (made, *_behind(context, made)) for source in _sources(context, expression))
    return list(itertools.islice(dict.fromkeys(found), _MANY))


def _behind(context: Context, node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """What the names in an expression were assigned, and what is behind that."""
    flow = flow_of(context, context.scopes.scope_of(node))
    waiting, asked = flow.reaching(node), set[int]()
    while waiting and len(asked) < _FAR:
        event = waiting.pop()
        if id(event) not in asked:
            asked.add(id(event))
            waiting += event.sources
            if isinstance(event.node, cst.Assign):
                yield event.node.value


def _sources(context: Context, expression: cst.CSTNode) -> Iterator[str]:
    waiting = [expression]
    while waiting:
        node = waiting.pop()
        if isinstance(node, cst.Call) and value_of(context, node.func).kind == Kind.MODULE:
            yield f"parameters of `{context.tree.code(node.func)}`"
        elif isinstance(node, (cst.Name, cst.Attribute)):
            value = value_of(context, node)
            if value.role == Role.PARAMETER or (value.kind == Kind.TENSOR and value.leaf == value.grad == Tri.YES):
                yield f"`{context.tree.code(node)}`"
                continue
        waiting += children(node)


def mode_callers(context: Context, node: cst.CSTNode) -> list[Caller]:
    """The calls in this file of the function that an expression is in, each with the mode that it is made in."""
    function = context.scopes.scope_of(node)
    if not isinstance(function, cst.FunctionDef):
        return []
    return [Caller(call, grad_enabled(context, call)) for call in callers_of(context, function)]
