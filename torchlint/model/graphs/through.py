"""Whether gradients that are sent back go through a value on every path: nothing on the way may cut or choose.

What is not seen, a function of the project or a module of another library, may detach what it is given; a branch may
leave it out. Then the graph of the value has not been freed, and somebody may still send gradients back through it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import libcst as cst

from torchlint.model.branches import excludes
from torchlint.model.context import Context
from torchlint.model.expressions import qualified, value_of
from torchlint.model.graphs.backward import Sending, reached
from torchlint.model.graphs.flow import Event, Flow, flow_of
from torchlint.model.possibilities import Kind
from torchlint.model.syntax import dotted
from torchlint.model.torch import library
from torchlint.model.torch.schema import TensorResult, TorchResult

_ADDING = (cst.AddAssign, cst.SubtractAssign, cst.MultiplyAssign, cst.DivideAssign)


def is_same_binding(context: Context, flow: Flow, sending: Sending, node: cst.BaseExpression) -> bool:
    """Whether a name stands for the same value wherever it is kept and where it is sent back."""
    path, assign = dotted(node), context.tree.parent(sending.node)
    if path is None:
        return True
    bound = [event for event in flow.reaching(node) if event.path == path]
    own = {id(event) for event in bound}
    if sending.results and isinstance(assign, cst.Assign) and own <= {id(event) for event in flow.events_at(assign)}:
        return True
    sent = {id(event) for event in reached(context, sending) if event.path == path}
    return own == sent and not _is_bound_between(context, bound, node, sending)


def _is_bound_between(context: Context, events: Iterable[Event], node: cst.CSTNode, sending: Sending) -> bool:
    """Whether a name is bound anew on the way from where it is kept to where it is sent back, or the other way."""
    tree = context.tree
    first, last = sorted((tree.order(node), tree.order(sending.node)))
    between = (event.node for event in events if first < tree.order(event.node) < last)
    return any(not excludes(context, each, node) and not tree.is_inside(each, sending.node) for each in between)


def goes_through(context: Context, sending: Sending, node: cst.BaseExpression) -> bool:
    """Whether gradients that are sent back always reach what a name or path stands for, if it is kept there."""
    return sending.is_whole and _Way(context, sending, node).is_reached()


class _Way:
    """The way back from what is sent to a value, through all that the names on it may stand for."""

    def __init__(self, context: Context, sending: Sending, node: cst.BaseExpression) -> None:
        self._context, self._sending, self._node = context, sending, node
        self._flow = flow_of(context, context.scopes.scope_of(sending.node))
        self._bound = [event for event in self._flow.reaching(node) if event.path == dotted(node)]
        self._wanted = {id(event) for event in self._bound}
        self._met = set[int]()
        self._asked = set[int]()

    def is_reached(self) -> bool:
        """Whether each way leads to the value, and all that it may be is on one."""
        if not self._bound or _is_bound_between(self._context, self._bound, self._node, self._sending):
            return False
        return self._leads_any(self._sending.given) and self._wanted <= self._met

    def _leads_any(self, expressions: Sequence[cst.BaseExpression]) -> bool:
        ways = [self._leads(each) for each in expressions]  # all of them, for what they meet
        return any(ways)

    def _leads(self, expression: cst.BaseExpression) -> bool:
        path = dotted(expression)
        if path is None:
            return self._leads_any(_operands(self._context, expression))
        events = [event for event in self._flow.reaching(expression) if event.path == path]
        events = [event for event in events if not excludes(self._context, event.node, self._node)]
        ways = [self._comes_from(event) for event in events]
        return bool(ways) and all(ways)

    def _comes_from(self, event: Event) -> bool:
        if id(event) in self._wanted:
            self._met.add(id(event))
            return True
        if id(event) in self._asked:
            return False
        self._asked.add(id(event))
        return self._leads_any(_assigned(event.node, event.path))


def _assigned(statement: cst.CSTNode, path: str) -> list[cst.BaseExpression]:
    """What a statement binds a path to, and nothing that it takes apart."""
    match statement:
        case cst.Assign(targets=targets, value=value) if all(dotted(each.target) is not None for each in targets):
            return [value]
        case cst.AnnAssign(value=value) | cst.NamedExpr(value=value) if value is not None:
            return [value]
        case cst.AugAssign(target=target, operator=operator, value=value) if isinstance(operator, _ADDING):
            return [target, value] if dotted(target) == path else []
    return []


def _operands(context: Context, node: cst.BaseExpression) -> list[cst.BaseExpression]:
    """The operands through all of which gradients go that are sent back through an expression."""
    match node:
        case cst.BinaryOperation(left=left, right=right):
            return [left, right]
        case cst.UnaryOperation(operator=cst.Minus(), expression=inner):
            return [inner]
        case cst.List(elements=elements) | cst.Tuple(elements=elements):
            return [each.value for each in elements]
        case cst.Subscript(value=inner) if value_of(context, inner).is_tensor:
            return [inner]
        case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(name)), args=args) if _hands_on(
            library.method(name)
        ) and not value_of(context, inner).kind & ~(Kind.TENSOR | Kind.UNKNOWN):
            return [inner, *(arg.value for arg in args)]
        case cst.Call(func=func, args=args) if _is_differentiable(context, func):
            return [arg.value for arg in args]
    return []


def _is_differentiable(context: Context, function: cst.BaseExpression) -> bool:
    """Whether a function, or a module of torch without others in it, hands gradients to all that it is given."""
    value = value_of(context, function)
    if value.kind == Kind.MODULE:
        info = library.module_info(value.ref)
        return info is not None and _hands_on(info.output)
    name = qualified(context, function)
    return name in ("sum", "builtins.sum") or _hands_on(library.function(name))


def _hands_on(result: TorchResult | None) -> bool:
    return isinstance(result, TensorResult) and result.grad in ("follow", "first")
