"""Special methods: what operators, loops, indices, calls and ``with`` do to objects of the file's own classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import libcst as cst

from torchlint.model.interpret import loaders, structure
from torchlint.model.interpret.narrowing import Narrowing
from torchlint.model.interpret.state import is_opaque
from torchlint.model.syntax import dotted
from torchlint.model.torch.returned import Argument
from torchlint.model.values import MODULE, NDARRAY, Evidence, Kind, Ndim, Strength, Tri, Value, iterated, tensor

_OPERATORS: dict[type[cst.CSTNode], str] = {
    cst.Add: "add",
    cst.AddAssign: "add",
    cst.Subtract: "sub",
    cst.SubtractAssign: "sub",
    cst.Multiply: "mul",
    cst.MultiplyAssign: "mul",
    cst.MatrixMultiply: "matmul",
    cst.MatrixMultiplyAssign: "matmul",
    cst.Divide: "truediv",
    cst.DivideAssign: "truediv",
    cst.FloorDivide: "floordiv",
    cst.FloorDivideAssign: "floordiv",
    cst.Modulo: "mod",
    cst.ModuloAssign: "mod",
    cst.Power: "pow",
    cst.PowerAssign: "pow",
    cst.BitAnd: "and",
    cst.BitAndAssign: "and",
    cst.BitOr: "or",
    cst.BitOrAssign: "or",
    cst.BitXor: "xor",
    cst.BitXorAssign: "xor",
    cst.Minus: "neg",
    cst.Plus: "pos",
    cst.BitInvert: "invert",
}


LIKELY_ELEMENT = "likely element"
"""Begins the symbols of the elements of what is a tensor by convention."""


class Special(Narrowing):
    """What objects do where syntax calls a method of theirs."""

    def by_method(self, owner: Value, name: str, node: cst.CSTNode, given: Sequence[Value] = ()) -> Value | None:
        """What a special method of an object's class returns; None if it has none that is known."""
        if not owner.kind & (Kind.OBJECT | Kind.LOADER) or not isinstance(owner.node, cst.ClassDef):
            return None
        method = self.model.find_method(owner.node, f"__{name}__")
        if method is None:
            return None
        arguments = [Argument(None, value, cst.Name("_")) for value in given]
        value = self.model.call_function(method, owner, node, arguments, self)
        return value if value.kind != Kind.UNKNOWN else self.unknown((name, id(node)))

    def by_operator(self, node: cst.CSTNode, left: Value, right: Value) -> Value | None:
        """What an operator gives that one of its operands defines."""
        name = _OPERATORS.get(type(node.operator)) if isinstance(node, cst.BinaryOperation | cst.AugAssign) else None
        if name is None or not (left.kind | right.kind) & Kind.OBJECT:
            return None
        value = self.by_method(left, name, node, (right,))
        return value if value is not None else self.by_method(right, f"r{name}", node, (left,))

    def by_sign(self, node: cst.UnaryOperation, value: Value) -> Value | None:
        """What ``-x`` and ``~x`` give where the class of ``x`` defines it."""
        name = _OPERATORS.get(type(node.operator))
        return self.by_method(value, name, node) if name is not None else None

    # ------------------------------------------------------------------ loops

    def iterate(self, value: Value, node: cst.BaseExpression) -> Value:
        """What a loop over ``value`` binds."""
        item = iterated(value)
        if value.kind & Kind.CONTAINER and item is not None:
            return self._resolve(item)
        if value.kind & Kind.TENSOR:
            row = self.element(value, node)
            return self.likely(row, (LIKELY_ELEMENT, id(node))) if value.kind & Kind.UNKNOWN else row
        if (own := self._iterate_object(value, node)) is not None:
            return own
        if value.kind & Kind.LOADER:
            return self.batch(value, node)
        if value.kind & Kind.OBJECT and item is not None:
            return item
        if value.kind & Kind.MODULE:
            return structure.looped(value) or self.likely_module(node)
        if value.kind == Kind.NDARRAY:
            return replace(NDARRAY, kind=Kind.NDARRAY | Kind.NUMBER)
        if value.kind == Kind.STRING or is_opaque(value):
            return value
        if loaders.is_batch(value):
            return self.likely(loaders.part_of_batch(), ("element", id(node)))
        return self.unknown(("element", id(node)))

    def _iterate_object(self, value: Value, node: cst.BaseExpression) -> Value | None:
        """What an object yields by its own ``__iter__``, ``__next__`` or ``__getitem__``."""
        if (iterator := self.by_method(value, "iter", node)) is not None:
            following = self.by_method(iterator, "next", node)
            if following is not None:
                return following
            return self.iterate(iterator, node) if iterator.kind & (Kind.CONTAINER | Kind.TENSOR) else None
        following = self.by_method(value, "next", node)
        return following if following is not None else self.by_method(value, "getitem", node)

    def batch(self, loader: Value, node: cst.BaseExpression) -> Value:
        """What a data loader yields: no tensor in it carries a graph; what is not known in it may be one."""
        if loader.item is None:
            return self._resolve(replace(loaders.BATCH, symbols=(("batch", id(node)),)))
        return self._batched(loader.item, ("batch", id(node)))

    def _batched(self, part: Value, symbol: tuple[object, ...]) -> Value:
        if part.kind & Kind.CONTAINER:
            keys = part.keys
            if keys is not None:
                known = {key: self._batched(v, (*symbol, key)) for key, v in keys.known.items()}
                keys = replace(keys, known=known)
            items = part.items and tuple(self._batched(v, (*symbol, i)) for i, v in enumerate(part.items))
            item = part.item and self._batched(part.item, (*symbol, "[]"))
            return replace(part, item=item, items=items, keys=keys)
        return self.likely(loaders.part_of_batch(), symbol) if loaders.is_batch(part) else part

    def likely_module(self, node: cst.CSTNode) -> Value:
        """What indexing or iterating over a module gives."""
        return replace(MODULE, evidence=Evidence(Strength.CONVENTION, "a module of a container module", node))

    def element(self, base: Value, node: cst.CSTNode) -> Value:
        """An element or slice of a tensor: with ``None`` in the index at least one dimension is left."""
        ndim = Ndim.ANY
        if isinstance(node, cst.Subscript) and any(
            isinstance(e.slice, cst.Index) and isinstance(e.slice.value, cst.Name) and e.slice.value.value == "None"
            for e in node.slice
        ):
            ndim = Ndim.MORE
        leaf = Tri.NO if base.grad == self.grad == Tri.YES else Tri.MAYBE
        return tensor(base.grad, ndim, base.dtype, leaf=leaf, evidence=base.evidence)

    # ------------------------------------------------------------------ with

    def entered(self, value: Value, item: cst.WithItem) -> Value:
        """What ``with value as x`` binds."""
        call = item.item
        made = self.values.get(id(call.func)) if isinstance(call, cst.Call) else None
        if self.model.reference(made) == "contextlib.nullcontext":
            return value
        if made is not None and isinstance(made.node, cst.FunctionDef) and _is_context_manager(made.node):
            return iterated(value) or self.unknown(("with", id(item)))
        own = self.by_method(value, "enter", call)
        if own is not None:
            return own
        return value if value.kind & (Kind.OBJECT | Kind.MODULE) else self.unknown(("with", id(item)))


def _is_context_manager(function: cst.FunctionDef) -> bool:
    names = [(dotted(d.decorator) or "").rpartition(".")[2] for d in function.decorators]
    return "contextmanager" in names or "asynccontextmanager" in names
