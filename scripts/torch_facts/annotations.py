"""Results from annotations."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Sequence
from typing import Any

import torch

from torch_facts import Result

TENSOR: dict[str, Any] = {"k": "tensor"}
NAMED_TYPES: dict[str, Result] = {
    **dict.fromkeys(("Tensor", "Self", "S", "Parameter"), TENSOR),
    **dict.fromkeys(("_bool", "bool"), "bool"),
    **dict.fromkeys(("_int", "int", "SymInt"), "int"),
    **dict.fromkeys(("_float", "float"), "float"),
    **dict.fromkeys(("Number", "_complex", "complex", "number"), "number"),
    **dict.fromkeys(("_str", "str"), "str"),
    **dict.fromkeys(("Size", "_size"), "size"),
    **dict.fromkeys(("_device", "device"), "device"),
    **dict.fromkeys(("_dtype", "dtype"), "dtype"),
    **dict.fromkeys(("_layout", "layout"), "layout"),
    **dict.fromkeys(("Storage", "UntypedStorage", "TypedStorage"), "storage"),
    **dict.fromkeys(("Any", "Callable", "object", "T", "R", "_T", "_R", "_P", "RRef", "_empty"), "any"),
    "None": "none",
    "NoReturn": "none",
    "Never": "none",
    "list": "list",
    "List": "list",
    "ndarray": "ndarray",
    "Generator": "generator",
    "RemovableHandle": "handle",
}


def from_annotation(text: str) -> Result:
    """The result that an annotation stands for."""
    try:
        return _from_node(ast.parse(text, mode="eval").body)
    except SyntaxError:
        return "any"


def _from_node(node: ast.expr) -> Result:
    if isinstance(node, ast.Constant):
        return "none" if node.value is None else from_annotation(str(node.value))
    if isinstance(node, ast.BinOp):
        return _union([node.left, node.right])
    if isinstance(node, ast.Subscript):
        return _from_subscript(node)
    name = ast.unparse(node)
    if name.startswith("torch.return_types."):
        return _from_return_type(getattr(torch.return_types, name.rpartition(".")[2]))
    return NAMED_TYPES.get(name.rpartition(".")[2], "other")


def _from_subscript(node: ast.Subscript) -> Result:
    name = ast.unparse(node.value).rpartition(".")[2]
    items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if name == "Optional":
        return _union([*items, ast.Constant(None)])
    if name == "Union":
        return _union(items)
    if name == "Literal":
        return NAMED_TYPES.get(type(ast.literal_eval(items[0])).__name__, "any")
    if name in {"tuple", "Tuple"} and not (len(items) == 2 and ast.unparse(items[1]) == "..."):
        return {"k": "tuple", "items": [_from_node(item) for item in items]}
    if name in {"tuple", "Tuple", "Sequence"}:
        return {"k": "tuple_of", "item": _from_node(items[0])}
    if name in {"list", "List"}:
        item = _from_node(items[0])
        return {"k": "list_of", "item": item} if item == TENSOR else "list"
    return "any" if name in {"Awaitable", "Callable", "Future", "type"} else "other"


def _union(parts: Sequence[ast.expr]) -> Result:
    results = [_from_node(part) for part in parts]
    real = [result for result in results if result != "none"]
    if len(real) == 1 and isinstance(real[0], dict):
        return {**real[0], "optional": True} if len(results) > 1 else real[0]
    if real and all(result == real[0] for result in real) and len(real) == len(results):
        return real[0]
    return "number" if real and set(map(str, results)) <= {"int", "float", "number", "bool"} else "any"


def _from_return_type(cls: Any) -> Result:
    names = list(cls.__match_args__)
    return {"k": "tuple", "items": [dict(TENSOR) for _ in names], "names": names}


def annotation_text(annotation: object) -> str:
    """Source text of an annotation that may be a string, a class or an object of ``typing``."""
    if isinstance(annotation, str):
        return annotation
    if annotation is None or annotation is type(None):
        return "None"
    return (
        annotation.__name__ if inspect.isclass(annotation) and not hasattr(annotation, "__args__") else str(annotation)
    )
