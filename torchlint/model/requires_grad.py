"""Whether an expression requires grad: proved, expected, or no more than possible.

What is interpreted says what would be if autograd recorded (``Value.certainty``). Here two things are added that only
a rule's question is worth: whether it is shown that it records, and what ``backward()`` proves of what it is called on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from torchlint.file.tree.nodes import children
from torchlint.model.autograd import backpropagated, backward_calls
from torchlint.model.certainty import Certainty
from torchlint.model.expressions import value_of
from torchlint.model.modes import grad_enabled
from torchlint.model.names import LOSS_NAME, MODULE_NAME
from torchlint.model.possibilities import Dtype, Kind, Role, Tri
from torchlint.model.recording import goes_with, shows_recording
from torchlint.model.syntax import dotted, is_target, last_name, parameters
from torchlint.model.torch import library
from torchlint.model.torch.schema import TensorResult
from torchlint.model.values import Strength, Value, reference

if TYPE_CHECKING:
    from torchlint.model.context import Context

_FAR = 8
"""How many assignments to go back from a call of ``backward``."""
_METADATA = frozenset(("shape", "dtype", "device", "ndim", "data", "grad"))


def requires_grad(context: Context, node: cst.BaseExpression) -> Certainty | None:
    """How certain it is that an expression is a tensor that requires grad; None if it can't, or is none."""
    found = _certainty(context, node, value_of(context, node))
    if found != Certainty.SUPPOSED or (believed := of_callers(context, node)) is None:
        return found
    by_callers = _certainty(context, node, believed) or Certainty.SUPPOSED
    return min(by_callers, Certainty.EXPECTED)  # others may call it otherwise


def of_callers(context: Context, node: cst.BaseExpression) -> Value | None:
    """What an expression in a function is if its callers in the file are believed; None if they say nothing."""
    scope = context.scopes.scope_of(node)
    return context.interpreter.of_callers(context, node, scope) if isinstance(scope, cst.FunctionDef) else None


def _certainty(context: Context, node: cst.BaseExpression, value: Value) -> Certainty | None:
    """How certain that is if an expression has a value."""
    if value.grad == Tri.NO or not value.kind & (Kind.TENSOR | Kind.UNKNOWN):
        return None
    if value.may_be_tensor and not value.dtype & Dtype.FLOAT:
        return None
    if (proof := _backpropagated(context, node)) is not None:  # no number has `backward()`
        return proof
    if value.kind & Kind.NUMBER:
        return None
    if not value.may_be_tensor or not _is_trusted(value):
        return None
    if value.grad != Tri.YES or value.certainty == Certainty.SUPPOSED:
        return Certainty.SUPPOSED
    if is_leaf(value) or shows_recording(context, node):
        return value.certainty
    return Certainty.EXPECTED


def has_no_graph(context: Context, node: cst.BaseExpression, at: cst.CSTNode) -> bool:
    """Whether it is known that an expression is a tensor without a graph, or that nothing is recorded there."""
    value = value_of(context, node)
    return (value.is_tensor and value.grad == Tri.NO) or grad_enabled(context, at) == Tri.NO


def _is_trusted(value: Value) -> bool:
    """Whether it is a tensor, on more than its name."""
    return value.kind == Kind.TENSOR or (value.strength or Strength.NAME) >= Strength.CONVENTION


def is_leaf(value: Value) -> bool:
    """Whether it requires grad in whatever mode."""
    return value.role == Role.PARAMETER or value.leaf == Tri.YES


def _backpropagated(context: Context, node: cst.BaseExpression) -> Certainty | None:
    """How certain it is by calls of ``backward()`` on what an expression names, or on what is computed from that."""
    path = _followed(node)
    scope = context.scopes.scope_of(node)
    if path is None or not backward_calls(context, scope):
        return None
    if path.partition(".")[0] in _bound_by_comprehensions(context, node):
        return None
    proofs = context.remember(_proved, scope).get(path, ())
    found = (
        each.certainty
        for each in proofs
        if _binding(context, path, node) is each.binding and goes_with(context, each.call, node)
    )
    return max(found, default=None)


def _followed(node: cst.BaseExpression) -> str | None:
    """The name whose requiring grad an expression hands on: ``x`` of ``x[0].cpu().view(-1)``."""
    while (path := dotted(node)) is None or (isinstance(node, cst.Attribute) and node.attr.value in ("T", "mT")):
        match node:
            case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(name))) if _hands_on(name):
                node = inner
            case cst.Subscript(value=inner) | cst.UnaryOperation(expression=inner):
                node = inner
            case cst.Attribute(value=inner, attr=cst.Name("T" | "mT")):
                node = inner
            case _:
                return None
    return path


def _hands_on(name: str) -> bool:
    """Whether a method of a tensor gives one that requires grad if that does."""
    result = library.method(name)
    return isinstance(result, TensorResult) and result.grad in ("follow", "first") and result.dtype == "first"


def _bound_by_comprehensions(context: Context, node: cst.CSTNode) -> set[str]:
    """Names that comprehensions and lambdas around a node bind."""
    names = set[str]()
    for up in context.tree.ancestors(node):
        if isinstance(up, (cst.BaseComp, cst.Lambda)):
            names.update(name.value for name in context.tree.within(up, cst.Name) if is_target(context.tree, name))
        if isinstance(up, cst.BaseCompoundStatement):
            break
    return names


class _Proof(NamedTuple):
    """What a call of ``backward`` proves."""

    call: cst.Call
    binding: cst.CSTNode | None
    """The statement that binds what it proves something of."""
    certainty: Certainty


def _proved(context: Context, scope: cst.FunctionDef | cst.Module) -> dict[str, list[_Proof]]:
    """Names and paths in a scope that must require grad, as ``backward()`` is called."""
    found: dict[str, list[_Proof]] = {}
    for call in backward_calls(context, scope):
        source = backpropagated(call) if grad_enabled(context, call) == Tri.YES else None
        for _ in range(_FAR):
            carriers = _carriers(context, source) if source is not None else None
            if carriers is None or not carriers.paths:
                break
            is_proof = carriers.is_known and len(carriers.paths) == 1
            certainty = Certainty.PROVED if is_proof else Certainty.EXPECTED
            path, place = carriers.paths.popitem() if is_proof else _computed(context, carriers.paths)
            if place is None:
                break
            binding = _binding(context, path, place)
            found.setdefault(path, []).append(_Proof(call, binding, certainty))
            if certainty == Certainty.EXPECTED:
                break
            source = binding.value if isinstance(binding, cst.Assign) and len(binding.targets) == 1 else None
            if isinstance(binding, cst.Assign) and dotted(binding.targets[0].target) != path:
                break
    return found


def _computed(context: Context, carriers: dict[str, cst.CSTNode]) -> tuple[str, cst.CSTNode | None]:
    """The one of several names that is bound to what a network gives, if the others are what the function is given."""
    found: list[str] = []
    for path, place in carriers.items():
        match _binding(context, path, place):
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name())], value=cst.Call(func=func)) if dotted(
                func
            ) is not None and MODULE_NAME.search(last_name(func)):
                found.append(path)
            case cst.For():
                pass
            case binding:
                scope = context.scopes.scope_of(place)
                given = {each.name.value for each in parameters(scope)} if isinstance(scope, cst.FunctionDef) else set()
                if binding is not None or path not in given:
                    return "", None
    return (found[0], carriers[found[0]]) if len(found) == 1 else ("", None)


class _Carriers(NamedTuple):
    """The names in an expression that can have brought a graph into it, each with its place."""

    paths: dict[str, cst.CSTNode]
    is_known: bool
    """Whether nothing else can have; else there is a loss of which only the name is known."""


def _carriers(context: Context, source: cst.BaseExpression) -> _Carriers | None:
    """The names in an expression that can have brought a graph into it; None if anything else can."""
    found: dict[str, cst.CSTNode] = {}
    is_known = True
    waiting: list[cst.CSTNode] = [source]
    while waiting:
        node = waiting.pop()
        path = dotted(node)
        if path is not None:
            value = value_of(context, node)
            if value.grad != Tri.NO and value.kind & (Kind.TENSOR | Kind.UNKNOWN | Kind.CONTAINER):
                found[path] = node
        elif isinstance(node, cst.Call):
            if isinstance(node.func, cst.Attribute) and library.method(node.func.attr.value) is not None:
                waiting.append(node.func.value)
            elif not _is_known(context, node.func):
                if not LOSS_NAME.search(last_name(node.func)):
                    return None
                is_known = False
            waiting += [arg.value for arg in node.args]
        elif isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Divide):
            is_open = value_of(context, node.right).kind == Kind.UNKNOWN  # how many there are, as a rule
            waiting += [node.left] if is_open else [node.left, node.right]
        elif isinstance(node, cst.Attribute):
            if node.attr.value not in _METADATA:
                waiting.append(node.value)
        elif isinstance(node, (cst.Lambda, cst.BaseComp)):
            return None
        else:
            waiting += children(node)
    return _Carriers(found, is_known)


def _is_known(context: Context, function: cst.BaseExpression) -> bool:
    """Whether what a call gives requires grad only because of what it is given."""
    value = value_of(context, function)
    if value.kind == Kind.MODULE:
        info = library.module_info(value.ref)
        return info is not None and info.trainable is False
    return (reference(value) or "").startswith(("torch.", "builtins."))


def _binding(context: Context, path: str, node: cst.CSTNode) -> cst.CSTNode | None:
    """The last statement before a node that binds a name or path in its scope; None if none does."""
    order = context.tree.order(node)
    found: cst.CSTNode | None = None
    for statement in context.remember(_bindings, context.scopes.scope_of(node)).get(path, ()):
        body = statement.body if isinstance(statement, cst.For) else None
        is_inside = context.tree.is_inside(node, statement)
        if context.tree.order(statement) < order and (not is_inside or (body and context.tree.is_inside(node, body))):
            found = statement
    return found


def _bindings(context: Context, scope: cst.FunctionDef | cst.Module) -> dict[str, list[cst.CSTNode]]:
    """The statements of a scope that bind each name or path."""
    tree = context.tree
    found: dict[str, list[cst.CSTNode]] = {}
    for cls in (cst.Assign, cst.AugAssign, cst.AnnAssign, cst.For, cst.WithItem, cst.NamedExpr):
        for statement in tree.within(scope, cls):
            if context.scopes.scope_of(statement) is scope:
                for path in _bound(statement):
                    found.setdefault(path, []).append(statement)
    for statements in found.values():
        statements.sort(key=tree.order)
    return found


def _bound(statement: cst.CSTNode) -> list[str]:
    match statement:
        case cst.Assign(targets=targets):
            waiting: list[cst.CSTNode] = [target.target for target in targets]
        case cst.WithItem(asname=cst.AsName(name=target)):
            waiting = [target]
        case cst.AugAssign(target=target) | cst.AnnAssign(target=target) | cst.For(target=target):
            waiting = [target]
        case cst.NamedExpr(target=target):
            waiting = [target]
        case _:
            return []
    found = []
    while waiting:
        node = waiting.pop()
        if isinstance(node, (cst.Tuple, cst.List)):
            waiting += [element.value for element in node.elements]
        elif (path := dotted(node)) is not None:
            found.append(path)
    return found
