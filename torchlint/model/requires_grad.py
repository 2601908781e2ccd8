"""Whether an expression requires grad: proved, expected, or no more than possible.

What is interpreted says what would be if autograd recorded (``Value.certainty``). Here two things are added that only
a rule's question is worth: whether it is shown that it records, and what ``backward()`` proves of what it is called on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from torchlint.file.tree.nodes import children
from torchlint.model.autograd import backpropagated, backward_calls
from torchlint.model.branches import branches
from torchlint.model.certainty import Certainty
from torchlint.model.expressions import value_of
from torchlint.model.keyed import may_change, unkeyed
from torchlint.model.modes import grad_enabled
from torchlint.model.names import LOSS_NAME, MODULE_NAME
from torchlint.model.possibilities import Dtype, Kind, Role, Tri
from torchlint.model.recording import goes_with, shows_recording
from torchlint.model.results import CallResult, result_requires_grad
from torchlint.model.syntax import dotted, is_target, last_name, parameters
from torchlint.model.torch import library
from torchlint.model.torch.schema import TensorResult, TorchResult
from torchlint.model.values import Strength, Value, reference

if TYPE_CHECKING:
    from torchlint.model.context import Context

_FAR = 8
"""How many assignments to go back from a call of ``backward``."""
_PARTS = 100
"""How many parts of an expression to look at."""
_TURNED = ("T", "mT")
_ARITHMETIC = (cst.Add, cst.Subtract, cst.Multiply, cst.Divide, cst.Power, cst.MatrixMultiply)
_FLOATING = frozenset(("first", "tensors", "promote", "count", "float", "mixed", "arg"))
"""What the dtype of a result can follow so that it is one of floats where the first tensor's is."""
_METADATA = frozenset(("shape", "dtype", "device", "ndim", "data", "grad"))


def requires_grad(context: Context, node: cst.BaseExpression) -> Certainty | None:
    """How certain it is that an expression is a tensor that requires grad; None if it can't, or is none."""
    value = value_of(context, node)
    found = _certainty(context, node, value)
    if found:
        return found
    if found is not None and (believed := of_callers(context, node)) is not None:
        by_callers = _certainty(context, node, believed) or Certainty.SUPPOSED
        found = min(by_callers, Certainty.EXPECTED)  # others may call it otherwise
    if not found and value.grad != Tri.NO and value.kind & (Kind.TENSOR | Kind.UNKNOWN):
        by_results = max(map(partial(result_requires_grad, context), _results(context, node)), default=found)
        found = by_results or found
    return found


def _results(context: Context, node: cst.BaseExpression) -> Iterator[CallResult]:
    """The calls of the project's functions by whose results an expression requires grad, if one of these does."""
    waiting, far = [node], 0
    for at, path in _parts(waiting):
        if isinstance(at, cst.Call) and isinstance(value_of(context, at.func).node, cst.FunctionDef):
            yield CallResult(at, None)
        elif isinstance(at, cst.Subscript) and (taken := _taken_out(context, at)) is not None:
            yield taken
        elif path is None:
            waiting += operands(context, at)
        elif far < _FAR and path.partition(".")[0] not in _bound_by_comprehensions(context, at):
            far += 1
            binding = _binding(context, path, at)
            if not isinstance(binding, cst.Assign) or not _is_on_the_way(context, binding, at):
                continue
            if _binds_only(binding, path):
                waiting.append(binding.value)
            elif isinstance(binding.value, cst.Call):
                yield from _taken_apart(binding, binding.value, path)


def _taken_out(context: Context, node: cst.Subscript) -> CallResult | None:
    """The result that is behind a literal text: ``step(net)["loss"]``, or ``out["loss"]`` of ``out = step(net)``."""
    match unkeyed(node):
        case [cst.Call() as call, [str() as key]]:
            return CallResult(call, key)
        case [cst.Name() as name, [str() as key]]:
            binding = _binding(context, name.value, name)
            if not isinstance(binding, cst.Assign) or not isinstance(binding.value, cst.Call):
                return None
            if not _binds_only(binding, name.value) or not _is_on_the_way(context, binding, name):
                return None
            return None if may_change(context, name) else CallResult(binding.value, key)
    return None


def _parts(waiting: list[cst.BaseExpression]) -> Iterator[tuple[cst.BaseExpression, str | None]]:
    """What waits to be looked at, with its name or path, while more is added to it; of very much not all."""
    for _ in range(_PARTS):
        if not waiting:
            return
        at = waiting.pop()
        yield at, _path(at)


def _taken_apart(binding: cst.Assign, call: cst.Call, path: str) -> Iterator[CallResult]:
    """The result that a name is bound to where those of a call are taken apart: ``y, loss = step(net, x)``."""
    match binding.targets:
        case [cst.AssignTarget(target=(cst.Tuple(elements=elements) | cst.List(elements=elements)))]:
            if not any(isinstance(each, cst.StarredElement) for each in elements):
                yield from (
                    CallResult(call, index) for index, each in enumerate(elements) if dotted(each.value) == path
                )


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
    """How certain it is by calls of ``backward()`` on what an expression is computed of, or on what is of the same."""
    scope = context.scopes.scope_of(node)
    if not backward_calls(context, scope):
        return None
    proofs = context.remember(_proved, scope)
    brought = _brought(context, node, proofs) if proofs else frozenset()
    found = (
        proof.certainty
        for path, _ in brought
        for proof in proofs.get(path, ())
        if proof.carriers <= brought and goes_with(context, proof.call, node)
    )
    return max(found, default=None)


_Carrier = tuple[str, int | None]
"""A name or path, and the ``id`` of the statement that binds it."""


def _brought(context: Context, node: cst.BaseExpression, proofs: Mapping[str, Sequence[_Proof]]) -> frozenset[_Carrier]:
    """What an expression requires grad for if one of it does: ``x`` and ``y`` of ``(x[0] - y).abs().cpu()``.

    A name of which nothing is proved stands for what it is bound to, if that is on every way to it.
    """
    unseen = _bound_by_comprehensions(context, node)
    found = set[_Carrier]()
    waiting, far = [node], 0
    for at, path in _parts(waiting):
        if path is None:
            waiting += operands(context, at)
        elif path.partition(".")[0] not in unseen:
            binding = _binding(context, path, at)
            found.add((path, id(binding)))
            far += 1
            if path not in proofs and far < _FAR and isinstance(binding, cst.Assign):
                if _binds_only(binding, path) and _is_on_the_way(context, binding, at):
                    waiting.append(binding.value)
    return frozenset(found)


def _path(node: cst.BaseExpression) -> str | None:
    """The name or path of an expression, where it is none of a transposed tensor."""
    is_turned = isinstance(node, cst.Attribute) and node.attr.value in _TURNED
    return None if is_turned else dotted(node)


def operands(context: Context, node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """The parts of an expression each of which makes it require grad, if that does."""
    value = value_of(context, node)
    if value.grad == Tri.NO or (value.may_be_tensor and not value.dtype & Dtype.FLOAT):
        return
    match node:
        case cst.Call(func=(cst.Name() | cst.Attribute()) as function):
            if (name := reference(value_of(context, function)) or "").startswith("torch."):
                if _hands_on(library.function(name)):
                    yield from (arg.value for arg in node.args[:1] if not arg.star and arg.keyword is None)
            elif isinstance(function, cst.Attribute) and _hands_on(library.method(function.attr.value)):
                yield function.value
        case cst.Subscript(value=inner) | cst.UnaryOperation(expression=inner, operator=cst.Minus() | cst.Plus()):
            yield inner
        case cst.Attribute(value=inner, attr=cst.Name("T" | "mT")):
            yield inner
        case cst.BinaryOperation(left=left, right=right, operator=operator) if isinstance(operator, _ARITHMETIC):
            yield left
            yield right


def _binds_only(binding: cst.Assign, path: str) -> bool:
    return len(binding.targets) == 1 and dotted(binding.targets[0].target) == path


def _is_on_the_way(context: Context, binding: cst.CSTNode, node: cst.CSTNode) -> bool:
    """Whether a statement is run on every way to what comes after it, and autograd records there."""
    if grad_enabled(context, binding) != Tri.YES:
        return False
    if not branches(context, binding).items() <= branches(context, node).items():
        return False
    loop = context.tree.enclosing(binding, cst.For, cst.While, cst.Try, cst.FunctionDef)
    return loop is None or isinstance(loop, cst.FunctionDef) or context.tree.is_inside(node, loop)


def _hands_on(result: TorchResult | None) -> bool:
    """Whether what a method or function gives requires grad if the first tensor does."""
    return isinstance(result, TensorResult) and result.grad in ("follow", "first") and result.dtype in _FLOATING


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
    carriers: frozenset[_Carrier]
    """What it proves it of: at least one of them requires grad."""
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
            is_one = carriers.is_known and len(carriers.paths) == 1
            certainty = Certainty.PROVED if carriers.is_known else Certainty.EXPECTED
            bindings = {path: _binding(context, path, place) for path, place in carriers.paths.items()}
            proof = _Proof(call, frozenset((path, id(binding)) for path, binding in bindings.items()), certainty)
            for path in bindings:
                found.setdefault(path, []).append(proof)
            if not is_one:
                computed = _computed(context, bindings, scope)
                if computed is not None:
                    carrier = (computed, id(bindings[computed]))
                    found[computed].append(_Proof(call, frozenset((carrier,)), Certainty.EXPECTED))
                break
            path, binding = bindings.popitem()
            source = binding.value if isinstance(binding, cst.Assign) and _binds_only(binding, path) else None
    return found


def _computed(
    context: Context, bindings: Mapping[str, cst.CSTNode | None], scope: cst.FunctionDef | cst.Module
) -> str | None:
    """The one of several names that is bound to what a network gives, if the others are what the function is given."""
    given = {each.name.value for each in parameters(scope)} if isinstance(scope, cst.FunctionDef) else set[str]()
    found: list[str] = []
    for path, binding in bindings.items():
        match binding:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name())], value=cst.Call(func=func)) if dotted(
                func
            ) is not None and MODULE_NAME.search(last_name(func)):
                found.append(path)
            case cst.For():
                pass
            case _ if binding is not None or path not in given:
                return None
    return found[0] if len(found) == 1 else None


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
            if value_of(context, node).grad == Tri.NO:
                continue
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
