"""What ``torch.save`` writes, as far as a file shows it, and whether ``weights_only=True`` reads it back."""

from __future__ import annotations

import enum
import itertools
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import TypeAlias

import libcst as cst

from torchlint.model import Kind, Model, Strength, bindings
from torchlint.model.syntax import (
    call_of,
    dotted,
    has_stars,
    is_bound,
    keyword,
    last_name,
    positional,
    positional_parameters,
)
from torchlint.model.torch import library
from torchlint.rules.api import names


class Content(enum.Enum):
    """What a file holds."""

    WEIGHTS = "tensors, numbers, strings, and containers of them"
    OBJECT = "a module, an array or another object that `weights_only=True` refuses"
    UNKNOWN = "nothing says what"


_ALLOWED_TYPES = (dict, list, tuple, set, str, int, float, complex, bytes, bytearray)
ALLOWED_ATTRIBUTES = frozenset(name for each in _ALLOWED_TYPES for name in dir(each)) | {"_metadata", "move_to_end"}
"""Attributes of what `weights_only=True` allows, without those of tensors; `_metadata` is of a state dict."""


def saved_at(path: cst.BaseExpression, model: Model) -> frozenset[Content]:
    """What each of the places in this file that save at a path saves there.

    A path is the same where it is written the same, or where what the names are assigned is.
    """
    return frozenset[Content]().union(*(model.remember(_saved_in, place) for place in _places(path, model)))


def _saved_in(model: Model, place: str) -> frozenset[Content]:
    return frozenset(content_of(value, model) for value in model.remember(_written).get(place, ()))


def _written(model: Model) -> dict[str, list[cst.BaseExpression]]:
    """What is given to `torch.save`, by the path."""
    found: dict[str, list[cst.BaseExpression]] = {}
    for node in model.all_called("save"):
        call = call_of(node, model.tree)
        if call is None or has_stars(call.args) or "torch.save" not in (names.resolve(node, model) or ()):
            continue
        value = keyword(call.args, "obj") or positional(call.args, 0)
        path = keyword(call.args, "f") or positional(call.args, 1)
        if value is not None and path is not None:
            for place in _places(path.value, model):
                found.setdefault(place, []).append(value.value)
    return found


def _places(path: cst.BaseExpression, model: Model) -> set[str]:
    made = model.ask(bindings.made, path)
    return {model.tree.code(each) for each in (path, made) if each is not None}


# ---------------------------------------------------------------------- one value

_Names: TypeAlias = set[cst.Name]
_MOST_NAMES = 64
"""How many names are followed from one value."""
_OF_ALLOWED = frozenset(("state_dict", "item", "tolist"))
"""Methods whose result is allowed, whatever they are called on."""
_CONVERSIONS = frozenset(("int", "float", "str", "bool", "len", "complex", "bytes", "repr", "ord", "hash", "id"))
_COMPUTING = frozenset(f"builtins.{name}" for name in ("max", "min", "abs", "round", "sum"))
"""Builtins that give what they were given: `round(np.float64(1.25), 1)` is no number of Python."""
_COPYING = frozenset(("builtins.dict", "builtins.list", "builtins.tuple", "builtins.set", "collections.OrderedDict"))
_PYTHON_VALUES = frozenset(
    f"{module}.{name}"
    for module, known in (("numpy", ("inf", "nan", "pi", "e")), ("math", ("inf", "nan", "pi", "e", "tau")))
    for name in known
)
_CLOCKS = frozenset(("time.time", "time.perf_counter", "time.monotonic"))
_NAMESPACES = frozenset(("argparse.Namespace", "types.SimpleNamespace"))
_MAYBE_OF_PYTHON = frozenset(
    f"numpy.{name}" for name in ("allclose", "array_equal", "isscalar", "ndim", "size", "shape", "array2string")
)

_SCALARS = Kind.TENSOR | Kind.NUMBER | Kind.STRING | Kind.NONE
_REFUSED = Kind.MODULE | Kind.OPTIMIZER | Kind.LOADER | Kind.NDARRAY | Kind.FUNCTION


def content_of(value: cst.BaseExpression, model: Model) -> Content:
    """What a value that is saved is."""
    return model.remember(_told, value)


def _told(model: Model, value: cst.BaseExpression) -> Content:
    return _of(value, model, set())


def _all(told: Iterable[Content]) -> Content:
    """What several values say together: one that is refused is enough, and one unknown says nothing."""
    found = set(told)
    return next((each for each in (Content.OBJECT, Content.UNKNOWN) if each in found), Content.WEIGHTS)


def _of(value: cst.BaseExpression, model: Model, seen: _Names) -> Content:
    """What a value says; ``seen`` are the names that were followed already, which say nothing again."""
    told, pending = [], [value]
    while pending:
        node = pending.pop()
        parts = _parts(node, model)
        if parts is not None:
            pending.extend(parts)
        else:
            told.append(_of_one(node, model, seen))
    return _all(told)


def _of_one(node: cst.BaseExpression, model: Model, seen: _Names) -> Content:
    operands = _operands(node, model)
    if operands is not None:
        return _of_operation(node, operands, model, seen)
    match node:
        case cst.Call():
            return _of_call(node, model)
        case cst.Name():
            return _of_name(node, model, seen)
        case cst.Attribute(value=cst.Name("self")):
            return _of_own_attribute(node, model, seen)
        case cst.Attribute() if model.qualified(node) in _PYTHON_VALUES:
            return Content.WEIGHTS
    told = _by_value(node, model)
    if isinstance(node, cst.Attribute) and told is Content.WEIGHTS and not model.value(node).is_tensor:
        return Content.UNKNOWN  # a member of an `Enum`
    return told


def _parts(node: cst.BaseExpression, model: Model) -> list[cst.BaseExpression] | None:
    """The values that another one is made of, and is allowed with; None where that cannot be told by its form."""
    match node:
        case cst.Dict(elements=pairs):
            keys = [pair.key for pair in pairs if isinstance(pair, cst.DictElement)]
            return [*keys, *(pair.value for pair in pairs)]
        case cst.List(elements=items) | cst.Tuple(elements=items) | cst.Set(elements=items):
            return [item.value for item in items]
        case cst.DictComp(key=key, value=value):
            return [key, value]
        case cst.ListComp(elt=value) | cst.SetComp(elt=value):
            return [value]
        case cst.IfExp(body=one, orelse=other):
            return [one, other]
        case cst.Call(func=func, args=args) if model.qualified(func) in _COPYING:
            return [arg.value for arg in args]
        case cst.SimpleString() | cst.FormattedString() | cst.ConcatenatedString() | cst.Integer() | cst.Float():
            return []
    return None


def _operands(node: cst.BaseExpression, model: Model) -> list[cst.BaseExpression] | None:
    """What a result is computed of that is allowed where these are; None for what is no such operation."""
    match node:
        case cst.BinaryOperation(left=one, right=other) | cst.BooleanOperation(left=one, right=other):
            return [one, other]
        case cst.UnaryOperation(operator=operator, expression=value):
            return [] if isinstance(operator, cst.Not) else [value]
        case cst.Comparison(left=left, comparisons=others):
            if all(isinstance(each.operator, (cst.Is, cst.IsNot, cst.In, cst.NotIn)) for each in others):
                return []
            return [left, *(each.comparator for each in others)]
        case cst.Call(func=func, args=args) if model.qualified(func) in _COMPUTING:
            return [arg.value for arg in args]
    return None


def _of_operation(node: cst.BaseExpression, operands: list[cst.BaseExpression], model: Model, seen: _Names) -> Content:
    told = _by_value(node, model)
    if told is Content.OBJECT:
        return told
    pending = [*operands]
    while pending:
        each = pending.pop()
        inner = _operands(each, model)
        if inner is not None:
            pending.extend(inner)
        elif _of(each, model, seen) is not Content.WEIGHTS:
            return Content.UNKNOWN
    return Content.WEIGHTS


def _of_call(call: cst.Call, model: Model) -> Content:
    name = last_name(call.func)
    if isinstance(call.func, cst.Attribute) and name in _OF_ALLOWED:
        return Content.WEIGHTS
    ref = model.qualified(call.func) or ""
    if (ref.startswith("builtins.") and name in _CONVERSIONS) or ref in _CLOCKS:
        return Content.WEIGHTS
    if ref.startswith("numpy.random.") or ref in _MAYBE_OF_PYTHON:
        return Content.UNKNOWN  # some of them give numbers of Python, for some arguments
    if name == "parse_args" or ref in _NAMESPACES or ref.startswith("pathlib."):
        return Content.OBJECT
    return _by_value(call, model)


def _of_name(name: cst.Name, model: Model, seen: _Names) -> Content:
    if name.value in ("True", "False", "None") or model.ask(bindings.is_counter, name):
        return Content.WEIGHTS
    given = _given(name, model)
    if given is not None:
        return _all(_of_followed(each, name, model, seen) for each in given)
    if _of_module(name, model, seen) is Content.OBJECT:
        return Content.OBJECT
    held: list[Content] = []
    put: list[Content] = []
    for made, by in _makings(name, model):
        if by in seen:
            continue
        told = _of_followed(made, by, model, seen) if made is not None else _by_value(name, model)
        (held if by is name or is_bound(model.tree, by) else put).append(told)
    if Content.UNKNOWN in held and _has_other_attributes(name, model):
        return Content.OBJECT
    one = _all(held) if len(set(held)) < 2 else Content.UNKNOWN  # it is one of them, and not all
    return _all((one, *put))


def _of_module(name: cst.Name, model: Model, seen: _Names) -> Content:
    """What the module binds a name to once that a function reads."""
    scope = model.scopes.scope_of(name)
    if scope is model.tree.module or name in seen or model.ask(bindings.owner, name) is not model.tree.module:
        return Content.UNKNOWN
    made = model.ask(bindings.made, name)
    return _of_followed(made, name, model, seen) if made is not None else Content.UNKNOWN


def _of_followed(value: cst.BaseExpression, by: cst.Name, model: Model, seen: _Names) -> Content:
    if len(seen) >= _MOST_NAMES:
        return Content.UNKNOWN
    seen.add(by)
    return _of(value, model, seen)


def _of_own_attribute(node: cst.Attribute, model: Model, seen: _Names) -> Content:
    told = _by_value(node, model)
    if told is not Content.WEIGHTS:
        return told
    cls = model.tree.enclosing(node, cst.ClassDef)
    assigned = model.scopes.attribute(cls, node.attr.value).assigned if isinstance(cls, cst.ClassDef) else ()
    for target in assigned:
        value = _assigned_to(target, model)
        if node.attr not in seen and value is not None:
            if _of_followed(value, node.attr, model, seen) is not Content.WEIGHTS:
                return Content.UNKNOWN
    return told


def _assigned_to(target: cst.CSTNode, model: Model) -> cst.BaseExpression | None:
    up = model.tree.parent(target)
    assign = model.tree.parent(up) if isinstance(up, cst.AssignTarget) else up
    return assign.value if isinstance(assign, (cst.Assign, cst.AnnAssign, cst.AugAssign)) else None


def _by_value(node: cst.BaseExpression, model: Model) -> Content:
    """What the model says, where it does not rest on a name alone."""
    value = model.value(node)
    evidence = value.evidence
    if not value.kind or (value.strength is not None and value.strength <= Strength.NAME):
        return Content.UNKNOWN
    if not value.kind & ~_REFUSED or (value.kind == Kind.OBJECT and _is_of_project(value.node)):
        return Content.OBJECT
    if value.kind & ~_SCALARS:
        return Content.UNKNOWN
    if value.kind & Kind.NUMBER and evidence is not None and evidence.strength is Strength.ANNOTATION:
        return Content.UNKNOWN if _may_say_float(evidence.node, model) else Content.WEIGHTS
    return Content.WEIGHTS


def _may_say_float(annotation: cst.CSTNode | None, model: Model) -> bool:
    """Whether an annotation, which may stand in another file, allows a float: an ``np.float64`` is one, too."""
    if annotation is None:
        return True
    is_here = model.tree.parent(annotation) is not None
    return "float" in (model.tree.code(annotation) if is_here else dotted(annotation) or "float")


def _is_of_project(cls: cst.CSTNode | None) -> bool:
    """Whether an object is of a class that is seen, which is refused; a `TypedDict` is a dict."""
    if not isinstance(cls, cst.ClassDef):
        return False
    return not any(last_name(base.value) in ("TypedDict", "Protocol") for base in cls.bases)


# ---------------------------------------------------------------------- names

_ADDING = frozenset(("append", "add", "extend", "insert", "update", "setdefault", "appendleft"))


def _makings(name: cst.Name, model: Model) -> Iterator[tuple[cst.BaseExpression | None, cst.Name]]:
    """What a name may hold, and what is put into it, each with its name: `x = {…}`, `x["loss"] = loss`, `x.append(l)`.

    None stands for what is not seen to be given. It goes back to where the name is bound on every path.
    """
    uses = model.references(name.value, model.scopes.scope_of(name))
    at = bisect_left(uses, model.tree.order(name), key=model.tree.order)
    for use in itertools.takewhile(lambda each: not _is_bound_alone(each, model), uses[at:]):
        yield from ((each, use) for each in _put(use, model))  # by an earlier round of a loop
    for use in reversed(uses[:at]):
        yield from ((each, use) for each in _put(use, model))
        if is_bound(model.tree, use):
            yield bindings.bound_value(use, model.tree) or _assigned_to(use, model), use
        if _is_bound_alone(use, model):
            suite = model.tree.parent(model.tree.statement(use))
            if suite is not None and model.tree.is_inside(name, suite):
                return
    yield None, name


def _is_bound_alone(use: cst.Name, model: Model) -> bool:
    return bindings.bound_value(use, model.tree) is not None


def _put(use: cst.Name, model: Model) -> list[cst.BaseExpression | None]:
    """What is put into a container at a use of its name."""
    match parent := model.tree.parent(use):
        case cst.Subscript() if parent.value is use and is_bound(model.tree, parent):
            return [_assigned_to(parent, model)]
        case cst.Attribute(attr=cst.Name(value=method)) if parent.value is use and method in _ADDING:
            call = call_of(parent, model.tree)
            return [arg.value for arg in call.args] if call is not None else []
    return []


def _has_other_attributes(name: cst.Name, model: Model) -> bool:
    """Whether a name has attributes that nothing has that is allowed: `args.lr`."""
    return bool(model.remember(_attributes_of, name.value, model.scopes.scope_of(name)))


def _attributes_of(model: Model, name: str, scope: cst.FunctionDef | cst.Module) -> frozenset[str]:
    found = (model.tree.parent(use) for use in model.references(name, scope))
    names_ = frozenset(each.attr.value for each in found if isinstance(each, cst.Attribute))
    return names_ - ALLOWED_ATTRIBUTES - library.tensor_names()


def _given(node: cst.Name, model: Model) -> list[cst.BaseExpression] | None:
    """What the callers in this file give for a parameter that is not assigned; None if that is not seen."""
    function = model.scopes.scope_of(node)
    if not isinstance(function, cst.FunctionDef) or model.bindings_of(node.value, node):
        return None
    of_function = [param.name.value for param in positional_parameters(function)]
    if node.value not in of_function or model.class_of(function) is not None:
        return None
    found = []
    for use in model.all_called(function.name.value):
        call = call_of(use, model.tree)
        if call is None or has_stars(call.args) or isinstance(use, cst.Attribute):
            continue
        arg = keyword(call.args, node.value) or positional(call.args, of_function.index(node.value))
        if arg is not None:
            found.append(arg.value)
    return found or None
