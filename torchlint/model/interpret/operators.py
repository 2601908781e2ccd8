"""The values of operators, of those that write in place and of comparisons too."""

from __future__ import annotations

import libcst as cst

from torchlint.model.interpret import containers, learning, narrowing, places, special_methods
from torchlint.model.interpret.frame import Frame
from torchlint.model.possibilities import Dtype, Kind, Tri
from torchlint.model.symbols import Origin, Symbol
from torchlint.model.syntax import chained, dotted
from torchlint.model.torch import library, transfer
from torchlint.model.torch.ndims import broadcast
from torchlint.model.torch.schema import TensorResult
from torchlint.model.values import (
    NDARRAY,
    NUMBER,
    OBJECT,
    STRING,
    Argument,
    Evidence,
    Strength,
    Value,
    is_opaque,
    join,
    tensor,
)
from torchlint.system.records import replace

_ANY = cst.Name("_")


def binary(frame: Frame, node: cst.BinaryOperation) -> Value:
    """``a + b``, and what else has two operands."""
    return arithmetic(frame, node, frame.value(node.left), frame.value(node.right))


def arithmetic(frame: Frame, node: cst.CSTNode, left: Value, right: Value) -> Value:
    """A binary operation of two values."""
    if Kind.STRING in (left.kind, right.kind):
        return STRING
    if (own := special_methods.by_operator(frame, node, left, right)) is not None:
        return own
    tensors = [v for v in (left, right) if v.kind & Kind.TENSOR]
    if tensors:
        certain = [v for v in tensors if not v.kind & Kind.UNKNOWN]
        best = max(certain or tensors, key=lambda v: v.evidence.strength if v.evidence else 0)
        evidence = best.evidence or Evidence(Strength.USE, "arithmetic with a tensor", node)
        value = _operation(frame, node, left, right, evidence)
        if not certain:
            return learning.likely(frame, value, Symbol(Origin.OPERATION, id(node)))
        return value
    if Kind.NDARRAY in (left.kind, right.kind):
        return NDARRAY
    if left.kind & Kind.CONTAINER and right.kind & Kind.CONTAINER:
        return containers.concatenated(left, right)
    if left.kind == Kind.CONTAINER and right.kind == Kind.NUMBER:
        return containers.part(left)
    if left.kind == Kind.NUMBER and right.kind == Kind.NUMBER:
        return NUMBER
    if is_opaque(left) and (is_opaque(right) or right.kind == Kind.NUMBER):
        return OBJECT
    return learning.unknown(frame, Symbol(Origin.OPERATION, id(node)))


def _operation(frame: Frame, node: cst.CSTNode, left: Value, right: Value, evidence: Evidence) -> Value:
    """What torch does for a binary operator; the augmented ones write to a tensor on their left."""
    match node:
        case (
            cst.BinaryOperation(left=a, operator=operator, right=b)
            | cst.AugAssign(target=a, operator=operator, value=b)
        ):
            method = special_methods.OPERATORS[type(operator)]
        case _:
            return transfer.apply(TensorResult(), left, [Argument(None, right, _ANY)], frame.grad, evidence)
    if isinstance(node, cst.AugAssign) and left.kind == Kind.TENSOR and method != "matmul":
        result = library.operator(f"__i{method}__") or TensorResult(ndim="keep", is_input=True)
        return transfer.apply(result, left, [Argument(None, right, b)], frame.grad, evidence)
    operands = [Argument(None, left, a), Argument(None, right, b)]
    return transfer.apply(library.operator(f"__{method}__"), None, operands, frame.grad, evidence)


def write_through(frame: Frame, node: cst.BaseExpression, flows: Tri) -> None:
    """``c[1:].add_(w)``: what is written to a view is written to its base."""
    is_view = False
    while (base := frame.env.get(dotted(node) or "")) is None:
        match node:
            case cst.Subscript(value=inner):
                node = inner
            case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(name))) if library.is_view(name):
                node = inner
            case cst.Attribute(value=inner, attr=cst.Name("T" | "mT" | "H" | "mH" | "real" | "imag")):
                node = inner
            case _:
                return
        is_view = True
    if is_view and base.kind & Kind.TENSOR:
        written = transfer.written(base, TensorResult(), flows, base.ndim, frame.grad)
        places.refine(frame, node, replace(written, kind=base.kind))


def comparison(frame: Frame, node: cst.Comparison) -> Value:
    """``a < b < c``; identity and membership are numbers, whatever is compared."""
    values = [frame.value(node.left), *(frame.value(t.comparator) for t in node.comparisons)]
    identity = (cst.Is, cst.IsNot, cst.In, cst.NotIn)
    if any(isinstance(t.operator, identity) for t in node.comparisons):
        return NUMBER
    if any(v.kind & Kind.TENSOR and not v.kind & Kind.UNKNOWN for v in values):
        evidence = Evidence(Strength.SIGNATURE, "a comparison of tensors", node)
        return tensor(Tri.NO, broadcast(values), Dtype.BOOL, evidence=evidence)
    if any(v.kind & Kind.NDARRAY for v in values):
        return NDARRAY
    if any(v.kind & Kind.UNKNOWN for v in values):
        return learning.unknown(frame, Symbol(Origin.OPERATION, id(node)))
    return NUMBER


def unary(frame: Frame, node: cst.UnaryOperation) -> Value:
    """``-x``, ``~x``, ``not x``."""
    value = frame.value(node.expression)
    if isinstance(node.operator, cst.Not):
        return NUMBER
    if (own := special_methods.by_sign(frame, node, value)) is not None:
        return own
    if value.kind & Kind.TENSOR:
        evidence = value.evidence or Evidence(Strength.USE, "arithmetic with a tensor", node)
        operator = library.operator(f"__{special_methods.OPERATORS[type(node.operator)]}__")
        result = transfer.apply(operator, value, (), frame.grad, evidence)
        return (
            learning.likely(frame, result, Symbol(Origin.OPERATION, id(node))) if value.kind & Kind.UNKNOWN else result
        )
    return learning.unknown(frame, Symbol(Origin.OPERATION, id(node))) if value.kind & Kind.UNKNOWN else value


def boolean(frame: Frame, node: cst.BooleanOperation) -> Value:
    """``a or b or c``: each operand is evaluated with what all those before it say, the whole chain at once."""
    chain, is_and = chained(node), isinstance(node.operator, cst.And)
    frame.budget.used += len(chain) - 1
    tested = chain[0].left
    result = frame.value(tested)
    before = frame.env
    frame.env = narrowed = before.branch()
    for each in chain:
        narrowing.narrow(frame, tested, is_and)
        tested = each.right
        frame.env = narrowed.branch()
        right = frame.value(tested)
        frame.env = narrowed
        if not is_and and result.kind & Kind.NONE and result.kind != Kind.NONE:
            result = replace(result, kind=result.kind & ~Kind.NONE)
        result = frame.values[id(each)] = join(result, right)
    frame.env = before
    return result
