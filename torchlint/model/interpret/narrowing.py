"""What conditions say about values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import libcst as cst

from torchlint.model.interpret.state import State
from torchlint.model.syntax import alternatives, dotted, integer
from torchlint.model.torch import returned
from torchlint.model.values import (
    NONE,
    UNKNOWN,
    Dtype,
    Kind,
    Ndim,
    Role,
    Strength,
    Tri,
    Value,
    container,
    held,
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
                self._narrow_tensor(value, grad=Tri.YES if truth else Tri.NO)
            case cst.Attribute(value=value, attr=cst.Name("is_leaf")):
                self._narrow_leaf(value, truth)
            case cst.Name(value=name) if name in self.tests:
                self._narrow_stored(self.tests[name], truth)

    def remember_test(self, target: cst.BaseExpression, test: cst.BaseExpression) -> None:
        """A name that a test of another name is bound to: ``is_tensor = isinstance(x, Tensor)``."""
        if not isinstance(target, cst.Name):
            return
        self.tests.pop(target.value, None)
        match test:
            case cst.Call(func=cst.Name("isinstance") | cst.Attribute(), args=[cst.Arg(value=cst.Name()), *_]):
                self.tests[target.value] = test

    def _narrow_stored(self, test: cst.Call, truth: bool) -> None:
        """Use a test that was made before, if what it tested is the same still."""
        place = test.args[0].value
        if self.eval_again(place) == self.values.get(id(place)):
            self._narrow_call(test.func, test.args, truth)

    def eval_again(self, place: cst.BaseExpression) -> Value | None:
        """What a name is now."""
        return self.env.get(place.value) if isinstance(place, cst.Name) else None

    def _narrow_tensor(
        self, place: cst.BaseExpression, *, grad: int = Tri.MAYBE, ndim: int = Ndim.ANY, dtype: int = Dtype.ANY
    ) -> None:
        """What a test says of a tensor, if it is one."""
        known = self.values.get(id(place), UNKNOWN)
        if not known.kind & Kind.TENSOR:
            return
        if not dtype & Dtype.FLOAT:
            grad = Tri.NO
        narrowed = replace(known, ndim=known.ndim & ndim or ndim, dtype=known.dtype & dtype or dtype)
        self.refine(place, narrowed if grad == Tri.MAYBE else replace(narrowed, grad=grad))

    def _narrow_leaf(self, place: cst.BaseExpression, is_leaf: bool) -> None:
        known = self.values.get(id(place), UNKNOWN)
        if known.kind & Kind.TENSOR:
            leaf = Tri.YES if is_leaf else Tri.NO
            self.refine(place, replace(known, leaf=leaf, grad=known.grad if is_leaf else Tri.YES))

    def _narrow_either(self, left: cst.BaseExpression, right: cst.BaseExpression) -> None:
        before = self.env
        ends = []
        for side in (left, right):
            self.env = before.branch()
            self.narrow(side, True)
            ends.append(self.env.changes(before))
        self.env = before
        before.meet(ends)

    # ------------------------------------------------------------------ comparisons

    def _narrow_comparison(
        self, left: cst.BaseExpression, op: cst.BaseCompOp, right: cst.BaseExpression, truth: bool
    ) -> None:
        is_same = isinstance(op, (cst.Is, cst.Equal))
        is_equality = is_same or isinstance(op, (cst.IsNot, cst.NotEqual))
        if is_equality and isinstance(right, cst.Name) and right.value == "None":
            self._narrow_none(left, truth is is_same)
        elif is_equality and (place := _typed(left)) is not None:
            made = self.class_instance(right) if truth is is_same else None
            if made is not None:
                self._narrow_to(place, made, True)
        elif (place := _measured(left)) is not None:
            self._narrow_ndim(place, op, integer(right), truth)
        elif isinstance(left, cst.Attribute) and left.attr.value == "dtype":
            self._narrow_dtype(left.value, op, right, truth)

    def _narrow_none(self, left: cst.BaseExpression, is_none: bool) -> None:
        known = self.values.get(id(left), UNKNOWN)
        if isinstance(left, cst.Attribute) and left.attr.value == "grad_fn":
            self._narrow_leaf(left.value, is_none)
        if is_none:
            self.refine(left, NONE)
        elif known.kind & Kind.NONE and known.kind != Kind.NONE:
            self.refine(left, replace(known, kind=known.kind & ~Kind.NONE))

    def _narrow_ndim(self, place: cst.BaseExpression, op: cst.BaseCompOp, number: int | None, truth: bool) -> None:
        if number is None or number < 0:
            return
        match op:
            case cst.Equal() | cst.NotEqual():
                is_equal = truth is isinstance(op, cst.Equal)
                ndim = (Ndim.MORE if number else Ndim.ZERO) if is_equal else (Ndim.ANY if number else Ndim.MORE)
            case cst.GreaterThan() | cst.GreaterThanEqual():
                least = number + isinstance(op, cst.GreaterThan)
                ndim = _more_if(least > 0) if truth else _zero_if(least <= 1)
            case cst.LessThan() | cst.LessThanEqual():
                least = number + isinstance(op, cst.LessThanEqual)
                ndim = _zero_if(least <= 1) if truth else _more_if(least > 0)
            case _:
                return
        if ndim != Ndim.ANY:
            self._narrow_tensor(place, ndim=ndim)

    def _narrow_dtype(
        self, place: cst.BaseExpression, op: cst.BaseCompOp, right: cst.BaseExpression, truth: bool
    ) -> None:
        """``x.dtype == torch.long``, ``x.dtype in (torch.half, torch.float)``."""
        if truth is not isinstance(op, (cst.Is, cst.Equal, cst.In)):
            return
        dtype = Dtype.NEITHER
        for node in alternatives(right):
            ref = self.model.reference(self.values.get(id(node))) or ""
            dtype |= returned.dtype_named(ref) if ref.startswith("torch.") else Dtype.ANY
        self._narrow_tensor(place, dtype=dtype)

    # ------------------------------------------------------------------ calls

    def _narrow_call(self, func: cst.BaseExpression, args: Sequence[cst.Arg], truth: bool) -> None:
        ref = self.model.reference(self.values.get(id(func)))
        match ref, args:
            case "torch.is_tensor" | "torch.overrides.is_tensor_like", [first, *_]:
                self._narrow_to(first.value, tensor(), truth)
            case "torch.is_floating_point", [first, *_]:
                self._narrow_floating(first.value, truth)
            case "builtins.isinstance", [first, second]:
                self._narrow_isinstance(first.value, second.value, truth)
            case "builtins.issubclass", [first, second] if (place := _typed(first.value)) is not None:
                self._narrow_isinstance(place, second.value, truth)
            case "builtins.hasattr", [first, cst.Arg(value=cst.SimpleString(raw_value=name))] if truth:
                self._narrow_having(first.value, str(name))
            case "builtins.all", [cst.Arg(value=cst.GeneratorExp() as every)] if truth:
                self._narrow_all(every)
            case _, []:
                if isinstance(func, cst.Attribute) and func.attr.value == "is_floating_point":
                    self._narrow_floating(func.value, truth)

    def _narrow_having(self, place: cst.BaseExpression, name: str) -> None:
        """``hasattr(x, "grad_fn")``"""
        known = self.values.get(id(place), UNKNOWN)
        if name in returned.tensor_only() and not known.kind & ~(Kind.UNKNOWN | Kind.TENSOR | Kind.NONE):
            narrowed = self.narrowed(known, tensor(), place)
            self.refine(place, narrowed.because(Strength.USE, f"it has `{name}`, as only tensors do", place))

    def _narrow_floating(self, place: cst.BaseExpression, truth: bool) -> None:
        if truth:
            self._narrow_tensor(place, dtype=Dtype.FLOAT)

    def _narrow_isinstance(self, place: cst.BaseExpression, classes: cst.BaseExpression, truth: bool) -> None:
        joined = self._instance_of_any(classes)
        if joined is not None:
            self._narrow_to(place, joined, truth)
        elif truth and dotted(place):
            value = self.values.get(id(place), UNKNOWN)
            if value.kind & Kind.TENSOR and value.kind & Kind.UNKNOWN:
                self.refine(place, unknown(("isinstance", id(classes))))

    def _instance_of_any(self, classes: cst.BaseExpression) -> Value | None:
        result: Value | None = None
        for cls in alternatives(classes):
            value = self.class_instance(cls)
            if value is None:
                return None
            result = value if result is None else join(result, value)
        return result

    def _narrow_all(self, every: cst.GeneratorExp) -> None:
        """``all(isinstance(x, Tensor) for x in xs)``."""
        match every:
            case cst.GeneratorExp(
                elt=cst.Call(args=[cst.Arg(value=cst.Name(value=tested)), *more]) as test,
                for_in=cst.CompFor(target=cst.Name(value=name), iter=place, ifs=[], inner_for_in=None),
            ) if tested == name:
                ref = self.model.reference(self.values.get(id(test.func)))
                made = tensor() if ref == "torch.is_tensor" else None
                if ref == "builtins.isinstance" and len(more) == 1:
                    made = self._instance_of_any(more[0].value)
                known = self.values.get(id(place), UNKNOWN)
                if made is not None and known.kind & (Kind.CONTAINER | Kind.UNKNOWN) and not known.is_mapping:
                    each = self.narrowed(held(known) or UNKNOWN, made, place)
                    self.refine(place, container(each))

    def _narrow_to(self, place: cst.BaseExpression, value: Value, truth: bool) -> None:
        known = self.values.get(id(place), UNKNOWN)
        if truth:
            self.refine(place, self.narrowed(known, value, place))
        elif known.kind & ~value.kind and not value.kind & Kind.CONTAINER:
            rest = known.kind & ~value.kind
            if rest != known.kind:
                kept = replace(known, kind=rest) if rest & Kind.TENSOR or not rest & Kind.UNKNOWN else Value(rest)
                self.refine(place, kept)

    def narrowed(self, known: Value, value: Value, place: cst.BaseExpression) -> Value:
        """A value that has turned out to be an instance of a class."""
        if known.kind & Kind.TENSOR and value.kind == Kind.TENSOR:
            role = value.role if value.role != Role.PLAIN else known.role
            result = replace(known, kind=Kind.TENSOR, role=role, symbols=())
        elif known.kind == value.kind and known.kind != Kind.TENSOR:
            result = known if known.ref or known.node or known.kind == Kind.CONTAINER else value
        else:
            result = value
        return result.because(Strength.ANNOTATION, "an isinstance check", place)

    def class_instance(self, node: cst.BaseExpression) -> Value | None:
        """An instance of the class that an expression names; None if it is not known."""
        value = self.values.get(id(node))
        if value is None:
            value = self.eval(node)
        return self.model.instance_of(value, node)


def _typed(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """``x`` of ``type(x)`` and of ``x.__class__``."""
    match node:
        case cst.Call(func=cst.Name("type"), args=[cst.Arg(value=value)]):
            return value
        case cst.Attribute(value=value, attr=cst.Name("__class__")):
            return value
    return None


def _measured(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """``x`` of ``x.ndim``, ``x.dim()``, ``len(x.shape)`` and ``len(x.size())``."""
    match node:
        case (
            cst.Call(func=cst.Attribute(value=value, attr=cst.Name("dim" | "ndimension")), args=[])
            | cst.Attribute(value=value, attr=cst.Name("ndim"))
            | cst.Call(
                func=cst.Name("len"),
                args=[
                    cst.Arg(
                        value=cst.Attribute(value=value, attr=cst.Name("shape"))
                        | cst.Call(func=cst.Attribute(value=value, attr=cst.Name("size")), args=[])
                    )
                ],
            )
        ):
            return value
    return None


def _more_if(condition: bool) -> int:
    return Ndim.MORE if condition else Ndim.ANY


def _zero_if(condition: bool) -> int:
    return Ndim.ZERO if condition else Ndim.ANY
