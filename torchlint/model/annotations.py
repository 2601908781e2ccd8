"""What annotations name: instances of classes, of this project and of others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.classes import class_kind, find_method
from torchlint.model.context import Context, at_home
from torchlint.model.definitions import definition
from torchlint.model.interpret import containers
from torchlint.model.interpreted import outside
from torchlint.model.lineage import bases_of, lineage_of
from torchlint.model.names import is_foreign
from torchlint.model.possibilities import Dtype, Kind, Ndim, Tri
from torchlint.model.syntax import dotted, last_name
from torchlint.model.torch import library
from torchlint.model.torch.dtypes import dtype_named
from torchlint.model.type_comments import signature_comments
from torchlint.model.values import (
    NDARRAY,
    NONE,
    NUMBER,
    OBJECT,
    STRING,
    UNKNOWN,
    Argument,
    Evidence,
    Strength,
    Value,
    container,
    instance,
    join,
    mapping,
    parameter,
    reference,
    tensor,
)
from torchlint.system.records import replace

if TYPE_CHECKING:
    from torchlint.model.interpret.frame import Frame

_TENSOR_NAME = re.compile(r"(^|Opt|Optional|Long|Float|Bool|Int|Half|Double|Byte)(Tensor|Variable)$")

_CONTAINERS = frozenset(
    [
        "list",
        "List",
        "tuple",
        "Tuple",
        "dict",
        "Dict",
        "set",
        "Set",
        "frozenset",
        "Sequence",
        "Iterable",
        "Iterator",
        "Mapping",
        "MutableMapping",
        "MutableSequence",
        "Collection",
        "Generator",
        "OrderedDict",
        "DefaultDict",
        "defaultdict",
        "Deque",
        "deque",
    ]
)

_BUILTIN_INSTANCES = {
    "int": NUMBER,
    "float": NUMBER,
    "bool": NUMBER,
    "complex": NUMBER,
    "str": STRING,
    "bytes": STRING,
    "list": container(),
    "tuple": container(),
    "dict": mapping(UNKNOWN),
    "set": container(),
    "frozenset": container(),
}

_ARRAYS = frozenset(
    f"numpy.{name}"
    for name in ("ndarray", "array", "typing.NDArray", "generic", "number", "floating", "integer", "bool_")
)

_CLASS_KINDS = {
    "module": Value(Kind.MODULE),
    "optimizer": Value(Kind.OPTIMIZER),
    "dataloader": Value(Kind.LOADER),
    "packed": Value(Kind.PACKED),
    "size": replace(container(NUMBER), ndim=Ndim.ANY),
}

_DTYPES = {"Float": Dtype.FLOAT, "Int": Dtype.INT, "UInt": Dtype.INT, "Integer": Dtype.INT, "Bool": Dtype.BOOL}


@at_home
def construct(
    context: Context, cls: cst.ClassDef, node: cst.CSTNode | None = None, arguments: Sequence[Argument] = ()
) -> Value:
    """An instance of a class of the project."""
    match class_kind(context, cls):
        case "module":
            return Value(Kind.MODULE, node=cls, ref=lineage_of(context, cls).torch_base)
        case "optimizer":
            return Value(Kind.OPTIMIZER, node=cls)
        case "dataloader":
            return Value(Kind.LOADER, node=cls)
        case "tensor" | "parameter":
            return tensor().because(Strength.SIGNATURE, f"`{cls.name.value}` is a class of tensors", node)
        case "tensorlike":
            return instance(cls)
        case "distribution":
            return instance(cls, lineage_of(context, cls).torch_base)
    if _makes_others(context, cls):
        return UNKNOWN
    return _record(context, cls) or instance(cls)


def _makes_others(context: Context, cls: cst.ClassDef) -> bool:
    """Whether a class has a `__new__` that asks no other one for an object: what it returns may be anything."""
    method = find_method(context, cls, "__new__")
    if method is None:
        return False
    asked = context.home(method).tree.within(method.body, cst.Attribute)
    return not any(each.attr.value == "__new__" for each in asked)


def _record(context: Context, cls: cst.ClassDef) -> Value | None:
    """An instance of a ``NamedTuple`` or a ``TypedDict``; None if the class is neither."""
    bases = {(reference(value) or "").rpartition(".")[2] for value in bases_of(context, cls)}
    if not bases & {"NamedTuple", "TypedDict"}:
        return None
    declared = _declared_fields(context, cls)
    if "TypedDict" in bases:
        return containers.literal(declared)
    return replace(instance(cls), items=tuple(declared.values()))


def _declared_fields(context: Context, cls: cst.ClassDef) -> dict[str | int, Value]:
    """What the annotations in a class body say; of a class that mentions itself nothing."""

    def fields() -> dict[str | int, Value]:
        frame, declared = outside(context), context.scopes.info(cls).declared
        return {
            name: annotation(context, node.annotation.annotation, frame) or UNKNOWN for name, node in declared.items()
        }

    return context.codebase.queries.once(cls, fields, {})


def instance_of(context: Context, value: Value, node: cst.BaseExpression) -> Value | None:
    """An instance of the class that ``value`` is; None if that is not known."""
    if isinstance(value.node, cst.ClassDef) and value.kind & Kind.FUNCTION:
        return construct(context, value.node, node)
    ref = reference(value)
    if ref is None:
        name = (dotted(node) or "").rpartition(".")[2]
        return tensor() if _TENSOR_NAME.search(name) else None
    if ref.startswith("builtins."):
        return _BUILTIN_INSTANCES.get(ref.removeprefix("builtins."))
    if ref in ("torch.Tensor", "torch.autograd.Variable"):
        return tensor()
    kind = library.class_kind(ref)
    if kind == "parameter":
        return parameter()
    if (found := definition(context, ref)) is not None and isinstance(found.node, cst.ClassDef):
        return construct(context, found.node, node)
    if kind == "tensor" or (ref.startswith("torch.") and ref.endswith("Tensor")):
        return tensor(dtype=dtype_named(ref) if kind else Dtype.ANY)
    if kind is not None:
        return replace(_CLASS_KINDS.get(kind, OBJECT), ref=ref)
    if ref in _ARRAYS:
        return NDARRAY
    name = ref.rpartition(".")[2]
    if _TENSOR_NAME.search(name) and not is_foreign(ref.partition(".")[0]):
        return tensor()
    if ref.startswith("typing.") or name in ("Any", "object", "Self") or len(name) < 2:
        if name in _CONTAINERS:
            return mapping(UNKNOWN) if _is_mapping(name) else container()
        return None
    return Value(Kind.OBJECT, ref=None if is_foreign(ref.partition(".")[0]) else ref)


def annotation(context: Context, node: cst.BaseExpression, frame: Frame) -> Value | None:
    """An instance of what an annotation names; None if that says nothing."""
    value = _annotation(context, node, frame if frame.context is context else outside(context), 0)
    return _said(value, node) if value is not None else None


def _said(value: Value, node: cst.BaseExpression) -> Value:
    """The same value on the evidence of an annotation, which tells what is in it as well."""
    if value.evidence is not None:
        return value
    if value.item is None and value.items is None and value.keys is None:
        return value.because(Strength.ANNOTATION, "an annotation says so", node)
    item = _said(value.item, node) if value.item is not None else None
    items = tuple(_said(each, node) for each in value.items) if value.items is not None else None
    keys = value.keys
    if keys is not None and keys.each is not None:
        keys = replace(keys, each=_said(keys.each, node))
    said = replace(value, item=item, items=items, keys=keys)
    return said.because(Strength.ANNOTATION, "an annotation says so", node)


def annotation_text(context: Context, text: str, frame: Frame) -> Value | None:
    """What the text of an annotation says."""
    node = _parsed(context, text)
    return annotation(context, node, frame) if node is not None else None


def comments_of(context: Context, function: cst.CSTNode) -> dict[str, str]:
    """The ``# type:`` comments of a function's signature."""
    if not isinstance(function, cst.FunctionDef) or not context.remember(_has_type_comments):
        return {}
    return signature_comments(function)


def _has_type_comments(context: Context) -> bool:
    return "type:" in context.tree.source.text


def _parsed(context: Context, text: str) -> cst.BaseExpression | None:
    try:
        parsed = cst.parse_expression(text)
    except (cst.ParserSyntaxError, cst.CSTValidationError):
        return None
    context.kept.append(parsed)  # values are keyed by id
    return parsed


def _annotation(context: Context, node: cst.BaseExpression, frame: Frame, depth: int) -> Value | None:
    if depth > 6:
        return None
    match node:
        case cst.Name("None"):
            return NONE
        case cst.Name() | cst.Attribute():
            value = frame.value(node)
            stands_for = _alias(context, value)
            if stands_for is not None:
                return _annotation(context, stands_for, frame, depth + 1)
            return instance_of(context, value, node)
        case cst.BinaryOperation(left=left, operator=cst.BitOr(), right=right):
            return _union(context, [left, right], frame, depth)
        case cst.Subscript():
            return _generic(context, node, frame, depth)
        case cst.SimpleString() | cst.ConcatenatedString():
            text = node.evaluated_value
            parsed = _parsed(context, text if isinstance(text, str) else "")
            return _annotation(context, parsed, frame, depth + 1) if parsed is not None else None
    return None


def _alias(context: Context, value: Value) -> cst.BaseExpression | None:
    """The annotation that a name of this file stands for: an alias, a ``NewType``, a bound ``TypeVar``."""
    if value.node is None or context.tree.parent(value.node) is None:
        return None
    match value.node:
        case cst.Call(func=func, args=[_, cst.Arg(value=of), *_]) if last_name(func) == "NewType":
            return of
        case cst.Call(func=func, args=args) if last_name(func) == "TypeVar":
            return next((a.value for a in args if a.keyword is not None and a.keyword.value == "bound"), None)
        case cst.Subscript() | cst.SimpleString() | cst.BinaryOperation() if value.kind == Kind.REFERENCE:
            return value.node
    return None


def _union(context: Context, nodes: Sequence[cst.BaseExpression], frame: Frame, depth: int) -> Value | None:
    result: Value | None = None
    for node in nodes:
        value = _annotation(context, node, frame, depth + 1)
        if value is None:
            return None
        result = value if result is None else join(result, value)
    return result


def _generic(context: Context, node: cst.Subscript, frame: Frame, depth: int) -> Value | None:
    frame.value(node.value)
    name = (dotted(node.value) or "").rpartition(".")[2]
    arguments = [e.slice.value for e in node.slice if isinstance(e.slice, cst.Index)]
    if not arguments:
        return None
    if name == "Optional":
        return _union(context, [arguments[0], cst.Name("None")], frame, depth)
    if name == "Union":
        return _union(context, arguments, frame, depth)
    if name in ("Annotated", "Final", "ClassVar", "Required", "NotRequired"):
        return _annotation(context, arguments[0], frame, depth + 1)
    if name in ("tuple", "Tuple") and not any(isinstance(a, cst.Ellipsis) for a in arguments):
        items = [_annotation(context, a, frame, depth + 1) or UNKNOWN for a in arguments]
        return container(items=tuple(items))
    if name == "Callable":
        result = _annotation(context, arguments[-1], frame, depth + 1)
        return Value(Kind.FUNCTION, item=result) if result is not None else None
    if name in _CONTAINERS:
        element = _annotation(context, arguments[-1] if _is_mapping(name) else arguments[0], frame, depth + 1)
        if _is_mapping(name):
            return mapping(_annotation(context, arguments[0], frame, depth + 1) or UNKNOWN, element)
        return container(element)
    if name == "TensorType":
        return tensor()
    first = _annotation(context, arguments[0], frame, depth + 1)
    if first is not None and first.kind in (Kind.TENSOR, Kind.NDARRAY):
        return _shaped(first, name, arguments[1:])
    return instance_of(context, frame.value(node.value), node.value)


def _shaped(base: Value, name: str, arguments: Sequence[cst.BaseExpression]) -> Value:
    """What jaxtyping's ``Float[Tensor, "batch dim"]`` says."""
    if base.kind != Kind.TENSOR:
        return base
    dtype = _DTYPES.get(name, base.dtype)
    shape = arguments[0].raw_value.split() if arguments and isinstance(arguments[0], cst.SimpleString) else ["..."]
    is_fixed = any(not axis.startswith(("*", "...", "#*")) for axis in shape)
    ndim = Ndim.MORE if is_fixed else Ndim.ANY if shape else Ndim.ZERO
    return replace(base, dtype=dtype, ndim=ndim, grad=base.grad if dtype & Dtype.FLOAT else Tri.NO)


def _is_mapping(name: str) -> bool:
    return "dict" in name.lower() or "mapping" in name.lower()


def is_of_entries(evidence: Evidence | None) -> bool:
    """Whether only an annotation of a mapping says what something is.

    `dict[str, Tensor]` is also said of batches that hold lists.
    """
    if evidence is None or evidence.strength is not Strength.ANNOTATION:
        return False
    waiting = [evidence.node] if evidence.node is not None else []
    while waiting:
        node = waiting.pop()
        if isinstance(node, cst.Name) and _is_mapping(node.value):
            return True
        waiting += node.children
    return False
