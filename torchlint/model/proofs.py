"""What calls of ``backward()`` prove of the names in their scope: they raise for what does not require grad."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from torchlint.file.tree.nodes import children
from torchlint.model.autograd import backpropagated, backward_calls
from torchlint.model.branches import branches
from torchlint.model.certainty import Certainty
from torchlint.model.expressions import value_of
from torchlint.model.modes import grad_enabled
from torchlint.model.names import LOSS_NAME, MODULE_NAME
from torchlint.model.possibilities import Dtype, Kind, Tri
from torchlint.model.recording import goes_with
from torchlint.model.syntax import dotted, is_target, last_name, parameters
from torchlint.model.torch import library
from torchlint.model.torch.schema import TensorResult, TorchResult
from torchlint.model.values import reference

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


def parts(waiting: list[cst.BaseExpression]) -> Iterator[tuple[cst.BaseExpression, str | None]]:
    """What waits to be looked at, with its name or path, while more is added to it; of very much not all."""
    for _ in range(_PARTS):
        if not waiting:
            return
        at = waiting.pop()
        yield at, path_of(at)


def by_backward(context: Context, node: cst.BaseExpression) -> Certainty | None:
    """How certain it is that an expression requires grad, by calls of ``backward()`` in its scope.

    They are on what it is computed of, or on what is computed of the same.
    """
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


def is_sent_back(context: Context, path: str, binding: cst.CSTNode) -> bool:
    """Whether gradients are sent back from what a statement binds to a name or path, or from what is made of that."""
    found = context.remember(_proved, context.scopes.scope_of(binding)).get(path, ())
    return any(proof.carriers == {(path, id(binding))} for proof in found)


def brought_by(context: Context, node: cst.BaseExpression, names: set[str]) -> frozenset[_Carrier]:
    """What an expression requires grad for if one of it does; the names given are not followed any further."""
    return _brought(context, node, dict.fromkeys(names, ()))


_Carrier = tuple[str, int | None]
"""A name or path, and the ``id`` of the statement that binds it."""


def _brought(context: Context, node: cst.BaseExpression, proofs: Mapping[str, Sequence[_Proof]]) -> frozenset[_Carrier]:
    """What an expression requires grad for if one of it does: ``x`` and ``y`` of ``(x[0] - y).abs().cpu()``.

    A name of which nothing is proved stands for what it is bound to, if that is on every way to it.
    """
    unseen = bound_by_comprehensions(context, node)
    found = set[_Carrier]()
    waiting, far = [node], 0
    for at, path in parts(waiting):
        if path is None:
            waiting += operands(context, at)
        elif path.partition(".")[0] not in unseen:
            binding = binding_before(context, path, at)
            found.add((path, id(binding)))
            far += 1
            if path not in proofs and far < _FAR and isinstance(binding, cst.Assign):
                if binds_only(binding, path) and is_on_the_way(context, binding, at):
                    waiting.append(binding.value)
    return frozenset(found)


def path_of(node: cst.BaseExpression) -> str | None:
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


def binds_only(binding: cst.Assign, path: str) -> bool:
    """Whether a statement binds nothing but a name or path."""
    return len(binding.targets) == 1 and dotted(binding.targets[0].target) == path


def is_on_the_way(context: Context, binding: cst.CSTNode, node: cst.CSTNode) -> bool:
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


def bound_by_comprehensions(context: Context, node: cst.CSTNode) -> set[str]:
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
            bindings = {path: binding_before(context, path, place) for path, place in carriers.paths.items()}
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
            source = binding.value if isinstance(binding, cst.Assign) and binds_only(binding, path) else None
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
                if not _is_loss(context, node.func):
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
    """Whether what a call gives requires grad only because of what it is given.

    A module of the project is known by the class of torch that it derives from, and may have parameters all the same;
    so may what holds other modules, of which nothing is said about what it gives.
    """
    value = value_of(context, function)
    if value.kind == Kind.MODULE:
        info = library.module_info(value.ref) if value.node is None else None
        return info is not None and info.trainable is False and info.output is not None
    return (reference(value) or "").startswith(("torch.", "builtins."))


def _is_loss(context: Context, function: cst.BaseExpression) -> bool:
    """Whether something that is called is a loss by its name, or by that of its class."""
    made = value_of(context, function).node
    names = (last_name(function), made.name.value if isinstance(made, cst.ClassDef) else "")
    return any(LOSS_NAME.search(name) for name in names)


def binding_before(context: Context, path: str, node: cst.CSTNode) -> cst.CSTNode | None:
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
