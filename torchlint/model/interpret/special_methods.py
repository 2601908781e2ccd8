"""Special methods: what syntax that calls one gives of objects of the project's own classes."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from torchlint.model.classes import find_method
from torchlint.model.functions import call_function
from torchlint.model.interpret import learning
from torchlint.model.interpret.frame import Frame
from torchlint.model.possibilities import Kind
from torchlint.model.symbols import Origin, Symbol
from torchlint.model.values import Argument, Value

_BINARY = {
    "Add": "add",
    "Subtract": "sub",
    "Multiply": "mul",
    "MatrixMultiply": "matmul",
    "Divide": "truediv",
    "FloorDivide": "floordiv",
    "Modulo": "mod",
    "Power": "pow",
    "BitAnd": "and",
    "BitOr": "or",
    "BitXor": "xor",
    "LeftShift": "lshift",
    "RightShift": "rshift",
}
OPERATORS: dict[type[cst.CSTNode], str] = {
    **{getattr(cst, name + suffix): method for name, method in _BINARY.items() for suffix in ("", "Assign")},
    cst.Minus: "neg",
    cst.Plus: "pos",
    cst.BitInvert: "invert",
}
"""What the methods behind operators are called, without the underscores; for ``+=`` as for ``+``."""


def by_method(frame: Frame, owner: Value, name: str, node: cst.CSTNode, given: Sequence[Value] = ()) -> Value | None:
    """What a special method of an object's class returns; None if it has none that is known."""
    if not owner.kind & (Kind.OBJECT | Kind.LOADER) or not isinstance(owner.node, cst.ClassDef):
        return None
    method = find_method(frame.context, owner.node, f"__{name}__")
    if method is None:
        return None
    arguments = [Argument(None, value, cst.Name("_")) for value in given]
    value = call_function(frame.context, method, owner, node, arguments, frame)
    return value if value.kind != Kind.UNKNOWN else learning.unknown(frame, Symbol(Origin.METHOD, id(node), name))


def by_operator(frame: Frame, node: cst.CSTNode, left: Value, right: Value) -> Value | None:
    """What an operator gives that one of its operands defines."""
    name = OPERATORS.get(type(node.operator)) if isinstance(node, cst.BinaryOperation | cst.AugAssign) else None
    if name is None or not (left.kind | right.kind) & Kind.OBJECT:
        return None
    value = by_method(frame, left, name, node, (right,))
    return value if value is not None else by_method(frame, right, f"r{name}", node, (left,))


def by_sign(frame: Frame, node: cst.UnaryOperation, value: Value) -> Value | None:
    """What ``-x`` and ``~x`` give where the class of ``x`` defines it."""
    name = OPERATORS.get(type(node.operator))
    return by_method(frame, value, name, node) if name is not None else None
