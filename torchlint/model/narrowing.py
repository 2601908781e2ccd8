"""What conditions say about values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import libcst as cst

from torchlint.model.scopes import dotted
from torchlint.model.state import State
from torchlint.model.syntax import (
    alternatives,
)
from torchlint.model.values import (
    NONE,
    UNKNOWN,
    Kind,
    Ndim,
    Role,
    Strength,
    Tri,
    Value,
    join,
    tensor,
    unknown,
)


class Narrowing(State):
    """Uses of a condition for what is known in its branches."""

    def narrow(self, test: cst.BaseExpression, truth: bool) -> None:
        """Use what a condition says about names and paths."""
        match test:
            case cst.UnaryOperation(operator=cst.Not(), expression=inner):
                self.narrow(inner, not truth)
            case cst.BooleanOperation(left=left, operator=cst.And(), right=right) if truth:
                self.narrow(left, True)
                self.narrow(right, True)
            case cst.BooleanOperation(left=left, operator=cst.Or(), right=right) if not truth:
                self.narrow(left, False)
                self.narrow(right, False)
            case cst.BooleanOperation(left=left, operator=cst.Or(), right=right) if truth:
                self._narrow_either(left, right)
            case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=op, comparator=right)]):
                self._narrow_comparison(left, op, right, truth)
            case cst.Call(func=func, args=args):
                self._narrow_call(func, args, truth)
            case cst.Attribute(value=value, attr=cst.Name("requires_grad")):
                known = self.values.get(id(value), UNKNOWN)
                if known.kind & Kind.TENSOR:
                    self._refine(value, replace(known, grad=Tri.YES if truth else Tri.NO))

    def _narrow_either(self, left: cst.BaseExpression, right: cst.BaseExpression) -> None:
        before = self.env
        ends = []
        for side in (left, right):
            self.env = before.branch()
            self.narrow(side, True)
            ends.append(self.env.changes(before))
        self.env = before
        before.meet(ends)

    def _narrow_comparison(
        self, left: cst.BaseExpression, op: cst.BaseCompOp, right: cst.BaseExpression, truth: bool
    ) -> None:
        known = self.values.get(id(left), UNKNOWN)
        match op, right:
            case (cst.Is() | cst.Equal(), cst.Name("None")) | (cst.IsNot() | cst.NotEqual(), cst.Name("None")):
                is_none = truth is isinstance(op, (cst.Is, cst.Equal))
                if is_none:
                    self._refine(left, NONE)
                elif known.kind & Kind.NONE and known.kind != Kind.NONE:
                    self._refine(left, replace(known, kind=known.kind & ~Kind.NONE))
            case (cst.Equal() | cst.NotEqual(), cst.Integer("0")) if truth is isinstance(op, cst.Equal):
                self._narrow_zero_dim(left)

    def _narrow_zero_dim(self, left: cst.BaseExpression) -> None:
        match left:
            case (
                cst.Call(func=cst.Attribute(value=value, attr=cst.Name("dim" | "ndimension")))
                | cst.Attribute(value=value, attr=cst.Name("ndim"))
            ):
                known = self.values.get(id(value), UNKNOWN)
                if known.kind & Kind.TENSOR:
                    self._refine(value, replace(known, ndim=Ndim.ZERO))

    def _narrow_call(self, func: cst.BaseExpression, args: Sequence[cst.Arg], truth: bool) -> None:
        ref = self.model.reference(self.values.get(id(func)))
        if ref in ("torch.is_tensor", "torch.overrides.is_tensor_like") and args:
            self._narrow_to(args[0].value, tensor(), truth)
        elif ref == "builtins.isinstance" and len(args) == 2:
            known = [self.class_instance(c) for c in alternatives(args[1].value)]
            if known and all(v is not None for v in known):
                joined = known[0]
                for value in known[1:]:
                    joined = join(joined, value)  # type: ignore[arg-type]
                self._narrow_to(args[0].value, joined, truth)  # type: ignore[arg-type]
            elif truth and dotted(args[0].value):
                value = self.values.get(id(args[0].value), UNKNOWN)
                if value.kind & Kind.TENSOR and value.kind & Kind.UNKNOWN:
                    self._refine(args[0].value, unknown(("isinstance", id(args[1]))))

    def _narrow_to(self, place: cst.BaseExpression, value: Value, truth: bool) -> None:
        known = self.values.get(id(place), UNKNOWN)
        if truth:
            if known.kind & Kind.TENSOR and value.kind == Kind.TENSOR:
                role = value.role if value.role != Role.PLAIN else known.role
                narrowed = replace(known, kind=Kind.TENSOR, role=role, symbols=frozenset())
            elif known.kind == value.kind and known.kind != Kind.TENSOR:
                narrowed = known if known.ref or known.node else value
            else:
                narrowed = value
            self._refine(place, narrowed.because(Strength.ANNOTATION, "an isinstance check", place))
        elif known.kind & ~value.kind and not value.kind & Kind.CONTAINER:
            rest = known.kind & ~value.kind
            if rest != known.kind:
                kept = Value(rest) if rest & Kind.UNKNOWN else replace(known, kind=rest)
                self._refine(place, kept)

    def class_instance(self, node: cst.BaseExpression) -> Value | None:
        """An instance of the class that an expression names; None if it is not known."""
        value = self.values.get(id(node))
        if value is None:
            value = self.eval(node)
        return self.model.instance_of(value, node)
