"""What conditions say about values."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from torchlint.model.annotations import instance_of
from torchlint.model.certainty import Certainty
from torchlint.model.interpret import places
from torchlint.model.interpret.frame import Frame
from torchlint.model.possibilities import Dtype, Kind, Ndim, Role, Tri
from torchlint.model.symbols import Origin, Symbol
from torchlint.model.syntax import alternatives, chained, dotted, integer
from torchlint.model.torch import library
from torchlint.model.torch.dtypes import dtype_named
from torchlint.model.torch.ndims import ndim_by
from torchlint.model.values import NONE, UNKNOWN, Strength, Value, container, held, join, reference, tensor, unknown
from torchlint.system.records import replace


def narrow(frame: Frame, test: cst.BaseExpression, truth: bool) -> None:
    """Use what a condition says about names and paths."""
    match test:
        case cst.Name(value=name):
            if name in frame.tests:
                _narrow_stored(frame, frame.tests[name], truth)
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=op, comparator=right)]):
            _narrow_comparison(frame, left, op, right, truth)
        case cst.Call(func=func, args=args):
            _narrow_call(frame, func, args, truth)
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            narrow(frame, inner, not truth)
        case cst.BooleanOperation(left=left, operator=cst.And(), right=right) if truth:
            narrow(frame, left, True)
            narrow(frame, right, True)
        case cst.BooleanOperation(left=left, operator=cst.Or(), right=right) if not truth:
            narrow(frame, left, False)
            narrow(frame, right, False)
        case cst.BooleanOperation(operator=cst.Or()) if truth:
            chain = chained(test)
            _narrow_any(frame, [chain[0].left, *(each.right for each in chain)])
        case cst.Attribute(value=value, attr=cst.Name("requires_grad")):
            _narrow_tensor(frame, value, grad=Tri.YES if truth else Tri.NO)
        case cst.Attribute(value=value, attr=cst.Name("is_leaf")):
            _narrow_leaf(frame, value, truth)


def remember_test(frame: Frame, target: cst.BaseExpression, test: cst.BaseExpression) -> None:
    """A name that a test of another name is bound to: ``is_tensor = isinstance(x, Tensor)``."""
    if not isinstance(target, cst.Name):
        return
    frame.tests.pop(target.value, None)
    match test:
        case cst.Call(func=cst.Name("isinstance") | cst.Attribute(), args=[cst.Arg(value=cst.Name()), *_]):
            frame.tests[target.value] = test


def _narrow_stored(frame: Frame, test: cst.Call, truth: bool) -> None:
    """Use a test that was made before, if what it tested is the same still."""
    place = test.args[0].value
    if _now(frame, place) == frame.values.get(id(place)):
        _narrow_call(frame, test.func, test.args, truth)


def _now(frame: Frame, place: cst.BaseExpression) -> Value | None:
    """What a name is now."""
    return frame.env.get(place.value) if isinstance(place, cst.Name) else None


def _narrow_tensor(
    frame: Frame, place: cst.BaseExpression, *, grad: Tri = Tri.MAYBE, ndim: Ndim = Ndim.ANY, dtype: Dtype = Dtype.ANY
) -> None:
    """What a test says of a tensor, if it is one."""
    known = frame.values.get(id(place), UNKNOWN)
    if not known.kind & Kind.TENSOR:
        return
    if not dtype & Dtype.FLOAT:
        grad = Tri.NO
    narrowed = replace(known, ndim=known.ndim & ndim or ndim, dtype=known.dtype & dtype or dtype)
    if grad != Tri.MAYBE:
        narrowed = replace(narrowed, grad=grad, certainty=Certainty.PROVED)
    places.refine(frame, place, narrowed)


def _narrow_leaf(frame: Frame, place: cst.BaseExpression, is_leaf: bool) -> None:
    known = frame.values.get(id(place), UNKNOWN)
    if known.kind & Kind.TENSOR:
        leaf = Tri.YES if is_leaf else Tri.NO
        known = known if is_leaf else replace(known, grad=Tri.YES, certainty=Certainty.PROVED)
        places.refine(frame, place, replace(known, leaf=leaf))


def _narrow_any(frame: Frame, tests: Sequence[cst.BaseExpression]) -> None:
    before = frame.env
    ends = []
    for test in tests:
        frame.env = before.branch()
        narrow(frame, test, True)
        ends.append(frame.env.changes(before))
    frame.env = before
    before.meet(ends)


def _narrow_comparison(
    frame: Frame, left: cst.BaseExpression, op: cst.BaseCompOp, right: cst.BaseExpression, truth: bool
) -> None:
    is_same = isinstance(op, (cst.Is, cst.Equal))
    is_equality = is_same or isinstance(op, (cst.IsNot, cst.NotEqual))
    if is_equality and isinstance(right, cst.Name) and right.value == "None":
        _narrow_none(frame, left, truth is is_same)
    elif is_equality and (place := _typed(left)) is not None:
        made = class_instance(frame, right) if truth is is_same else None
        if made is not None:
            _narrow_to(frame, place, made, True)
    elif (place := _measured(left)) is not None:
        _narrow_ndim(frame, place, op, integer(right), truth)
    elif isinstance(left, cst.Attribute) and left.attr.value == "dtype":
        _narrow_dtype(frame, left.value, op, right, truth)


def _narrow_none(frame: Frame, left: cst.BaseExpression, is_none: bool) -> None:
    known = frame.values.get(id(left), UNKNOWN)
    if isinstance(left, cst.Attribute) and left.attr.value == "grad_fn":
        _narrow_leaf(frame, left.value, is_none)
    if is_none:
        places.refine(frame, left, NONE)
    elif known.kind & Kind.NONE and known.kind != Kind.NONE:
        places.refine(frame, left, replace(known, kind=known.kind & ~Kind.NONE))


def _narrow_ndim(frame: Frame, place: cst.BaseExpression, op: cst.BaseCompOp, number: int | None, truth: bool) -> None:
    if number is None or number < 0:
        return
    match op:
        case cst.Equal() | cst.NotEqual():
            is_equal = truth is isinstance(op, cst.Equal)
            ndim = ndim_by(number) if is_equal else (Ndim.ANY if number else Ndim.MORE)
        case cst.GreaterThan() | cst.GreaterThanEqual():
            least = number + isinstance(op, cst.GreaterThan)
            ndim = _more_if(least > 0) if truth else _zero_if(least <= 1)
        case cst.LessThan() | cst.LessThanEqual():
            least = number + isinstance(op, cst.LessThanEqual)
            ndim = _zero_if(least <= 1) if truth else _more_if(least > 0)
        case _:
            return
    if ndim != Ndim.ANY:
        _narrow_tensor(frame, place, ndim=ndim)


def _narrow_dtype(
    frame: Frame, place: cst.BaseExpression, op: cst.BaseCompOp, right: cst.BaseExpression, truth: bool
) -> None:
    """``x.dtype == torch.long``, ``x.dtype in (torch.half, torch.float)``."""
    if truth is not isinstance(op, (cst.Is, cst.Equal, cst.In)):
        return
    dtype = Dtype.NEITHER
    for node in alternatives(right):
        ref = reference(frame.values.get(id(node))) or ""
        dtype |= dtype_named(ref) if ref.startswith("torch.") else Dtype.ANY
    _narrow_tensor(frame, place, dtype=dtype)


def _narrow_call(frame: Frame, func: cst.BaseExpression, args: Sequence[cst.Arg], truth: bool) -> None:
    ref = reference(frame.values.get(id(func)))
    match ref, args:
        case "torch.is_tensor" | "torch.overrides.is_tensor_like", [first, *_]:
            _narrow_to(frame, first.value, tensor(), truth)
        case "torch.is_floating_point", [first, *_]:
            _narrow_floating(frame, first.value, truth)
        case "builtins.isinstance", [first, second]:
            _narrow_isinstance(frame, first.value, second.value, truth)
        case "builtins.issubclass", [first, second] if (place := _typed(first.value)) is not None:
            _narrow_isinstance(frame, place, second.value, truth)
        case "builtins.hasattr", [first, cst.Arg(value=cst.SimpleString(raw_value=name))] if truth:
            _narrow_having(frame, first.value, str(name))
        case "builtins.all", [cst.Arg(value=cst.GeneratorExp() as every)] if truth:
            _narrow_all(frame, every)
        case _, []:
            if isinstance(func, cst.Attribute) and func.attr.value == "is_floating_point":
                _narrow_floating(frame, func.value, truth)


def _narrow_having(frame: Frame, place: cst.BaseExpression, name: str) -> None:
    """``hasattr(x, "grad_fn")``"""
    known = frame.values.get(id(place), UNKNOWN)
    if name in library.tensor_only() and not known.kind & ~(Kind.UNKNOWN | Kind.TENSOR | Kind.NONE):
        narrowed = as_instance(known, tensor(), place)
        places.refine(frame, place, narrowed.because(Strength.USE, f"it has `{name}`, as only tensors do", place))


def _narrow_floating(frame: Frame, place: cst.BaseExpression, truth: bool) -> None:
    if truth:
        _narrow_tensor(frame, place, dtype=Dtype.FLOAT)


def _narrow_isinstance(frame: Frame, place: cst.BaseExpression, classes: cst.BaseExpression, truth: bool) -> None:
    joined = _instance_of_any(frame, classes)
    if joined is not None:
        _narrow_to(frame, place, joined, truth)
    elif truth and dotted(place):
        value = frame.values.get(id(place), UNKNOWN)
        if value.kind & Kind.TENSOR and value.kind & Kind.UNKNOWN:
            places.refine(frame, place, unknown(Symbol(Origin.ISINSTANCE, id(classes))))


def _instance_of_any(frame: Frame, classes: cst.BaseExpression) -> Value | None:
    result: Value | None = None
    for cls in alternatives(classes):
        value = class_instance(frame, cls)
        if value is None:
            return None
        result = value if result is None else join(result, value)
    return result


def _narrow_all(frame: Frame, every: cst.GeneratorExp) -> None:
    """``all(isinstance(x, Tensor) for x in xs)``."""
    match every:
        case cst.GeneratorExp(
            elt=cst.Call(args=[cst.Arg(value=cst.Name(value=tested)), *more]) as test,
            for_in=cst.CompFor(target=cst.Name(value=name), iter=place, ifs=[], inner_for_in=None),
        ) if tested == name:
            ref = reference(frame.values.get(id(test.func)))
            made = tensor() if ref == "torch.is_tensor" else None
            if ref == "builtins.isinstance" and len(more) == 1:
                made = _instance_of_any(frame, more[0].value)
            known = frame.values.get(id(place), UNKNOWN)
            if made is not None and known.kind & (Kind.CONTAINER | Kind.UNKNOWN) and not known.is_mapping:
                each = as_instance(held(known) or UNKNOWN, made, place)
                places.refine(frame, place, container(each))


def _narrow_to(frame: Frame, place: cst.BaseExpression, value: Value, truth: bool) -> None:
    known = frame.values.get(id(place), UNKNOWN)
    if truth:
        places.refine(frame, place, as_instance(known, value, place))
    elif known.kind & ~value.kind and not value.kind & Kind.CONTAINER:
        rest = known.kind & ~value.kind
        if rest != known.kind:
            kept = replace(known, kind=rest) if rest & Kind.TENSOR or not rest & Kind.UNKNOWN else Value(rest)
            places.refine(frame, place, kept)


def as_instance(known: Value, value: Value, place: cst.BaseExpression) -> Value:
    """A value that has turned out to be an instance of a class."""
    if known.kind & Kind.TENSOR and value.kind == Kind.TENSOR:
        role = value.role if value.role != Role.PLAIN else known.role
        result = replace(known, kind=Kind.TENSOR, role=role, symbols=())
    elif known.kind == value.kind and known.kind != Kind.TENSOR:
        is_told = known.node or (known.is_named and value.node is None) or known.kind == Kind.CONTAINER
        result = known if is_told else value  # a class of the project's own says more than the one of torch it extends
    else:
        result = value
    return result.because(Strength.ANNOTATION, "an isinstance check", place)


def class_instance(frame: Frame, node: cst.BaseExpression) -> Value | None:
    """An instance of the class that an expression names; None if it is not known."""
    value = frame.values.get(id(node))
    if value is None:
        value = frame.value(node)
    return instance_of(frame.context, value, node)


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


def _more_if(condition: bool) -> Ndim:
    return Ndim.MORE if condition else Ndim.ANY


def _zero_if(condition: bool) -> Ndim:
    return Ndim.ZERO if condition else Ndim.ANY
