"""Write ``torchlint/model/data/torch.json``: what torch's functions, methods, attributes and classes give back.

``python scripts/generate_torch_data.py`` rewrites the file, ``--check`` only says whether it is up to date. Linting never
imports torch; this script does, and takes every fact from it, in this order:

1. **Execution.** Each function and method is run on the sample inputs of torch's own test suite (``op_db`` and
   ``module_db`` in ``torch.testing._internal``), on a few plain shapes, and on the arguments in :data:`PROBES`. Every float
   input requires grad if the call allows it. What comes out says whether it requires grad, how its dtype and number of
   dimensions relate to the inputs, and whether it is one of them or shares their memory.
2. **Stubs**: ``torch/_C/_VariableFunctions.pyi``, ``torch/_C/__init__.pyi`` and ``torch/nn/functional.pyi``.
3. **Annotations** of Python functions, and the first line of the docstring of built-in ones.

A *result* is a string (``bool int float number str none list ndarray size device dtype layout storage generator handle``,
``other`` for anything else that is not a tensor, ``any`` for what cannot be known) or an object by its ``k``:

``tensor``
    ``grad``: requires grad if an input does (default), ``never``, ``always``, ``factory`` (only with ``requires_grad=True``).
    ``dtype``: like the inputs (default), ``int``, ``bool``, ``float`` (or complex, even for integer inputs), ``arg`` (an
    argument gives it), ``float_factory`` (the default float type, unless an argument says otherwise).
    ``ndim``: unknown (default), ``zero``, ``more`` (at least 1), ``keep`` (as the first tensor argument), ``broadcast``,
    ``reduce`` (0 if neither dim/axis nor ``keepdim=True`` is given), ``loss`` (0 unless ``reduction="none"``).
    ``dim_at``: for ``reduce``, the position of ``dim`` among the positional arguments (``self`` not counted).
    ``self``: it is the first argument itself; ``alias``: it may be, or may share its memory.
    ``inplace_flag``: with this keyword literally true, it is the first argument itself.
    ``optional``: it can be ``None`` instead.
``tuple`` with ``items`` and, for a named tuple, ``names``; ``tuple_of`` and ``list_of`` with ``item``: any number of them.
``overload`` with ``cases``: ``flag:a`` where keyword ``a`` is literally ``True`` (``flag:a,b``: both; the case with the most
    keywords wins), ``dim`` where the second argument is an integer or ``dim=``/``axis=`` is given, ``tensor`` where it is a
    tensor, ``one_arg`` for any other second argument, and otherwise ``no_args``. ``no_args`` is also meant where the
    case that applies is not listed. For methods the second argument is the first one in the parentheses.

Keys beyond these: ``operators`` (results of special methods), ``constants`` (``torch.strided``), ``dtypes``
(``torch.long`` is ``int``). A module's ``output`` is that of a call; its ``grad`` follows inputs and parameters.
"""

from __future__ import annotations

import argparse
import ast
import collections
import contextlib
import functools
import importlib
import importlib.util
import inspect
import itertools
import json
import os
import random
import re
import sys
import types
import unittest
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

Result = Any
"""A string or an object, as described above."""

OUTPUT = Path(__file__).resolve().parent.parent / "torchlint" / "model" / "data" / "torch.json"
STUBS = Path(torch.__file__).parent
SAMPLES = 8
"""Sample inputs taken per operation and dtype."""
DTYPES = (torch.float32, torch.int64, torch.bool)

# ---------------------------------------------------------------------------------------------------------------------
# Results from annotations
# ---------------------------------------------------------------------------------------------------------------------

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
    **dict.fromkeys(("Any", "object", "T", "R", "_T", "_R", "_P", "RRef", "_empty"), "any"),
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
    return "any" if name in {"Awaitable", "Future", "type"} else "other"


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
    if isinstance(annotation, type) and not isinstance(annotation, types.GenericAlias):
        return "None" if annotation is type(None) else annotation.__name__
    return "None" if annotation is None else str(annotation)


# ---------------------------------------------------------------------------------------------------------------------
# Signatures: stubs, inspect, docstrings
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Signature:
    """Parameters (name, annotation, keyword only, required) without ``self``, and the annotated result."""

    parameters: tuple[tuple[str, str, bool, bool], ...]
    returns: str

    def position(self, names: Iterable[str]) -> int | None:
        """Position of the first positional parameter with one of these names."""
        positional = [name for name, _, keyword, _ in self.parameters if not keyword]
        return next((i for i, name in enumerate(positional) if name in names), None)

    @property
    def names(self) -> set[str]:
        return {name for name, _, _, _ in self.parameters}


Signatures = dict[str, list[Signature]]


def _signature(node: ast.FunctionDef) -> Signature:
    args = node.args
    positional = [*args.posonlyargs, *args.args]
    required = [True] * (len(positional) - len(args.defaults)) + [False] * len(args.defaults)
    found = [(a.arg, a.annotation, False, need) for a, need in zip(positional, required, strict=True)]
    if args.vararg:
        found.append((args.vararg.arg, args.vararg.annotation, True, False))
    found += [
        (a.arg, a.annotation, True, default is None)
        for a, default in zip(args.kwonlyargs, args.kw_defaults, strict=True)
    ]
    parameters = tuple(
        (name, ast.unparse(annotation) if annotation else "", keyword, need)
        for name, annotation, keyword, need in found
        if name not in {"self", "cls"}
    )
    return Signature(parameters, ast.unparse(node.returns) if node.returns else "Any")


def read_stub(path: str, cls: str | None = None) -> Signatures:
    """Signatures of the functions of a stub file, or of the methods of one class in it."""
    body: Sequence[ast.stmt] = ast.parse((STUBS / path).read_text(encoding="utf-8")).body
    if cls is not None:
        body = next(node.body for node in body if isinstance(node, ast.ClassDef) and node.name == cls)
    found: Signatures = collections.defaultdict(list)
    for node in body:
        if isinstance(node, ast.FunctionDef):
            found[node.name].append(_signature(node))
    return dict(found)


def read_attributes(path: str, cls: str) -> dict[str, str]:
    """Annotations of the attributes and properties of a class in a stub file."""
    tree = ast.parse((STUBS / path).read_text(encoding="utf-8"))
    body = next(node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == cls)
    found = {
        n.target.id: ast.unparse(n.annotation)
        for n in body
        if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)
    }
    for node in body:
        if isinstance(node, ast.FunctionDef) and any(ast.unparse(d) == "property" for d in node.decorator_list):
            found[node.name] = ast.unparse(node.returns) if node.returns else "Any"
    return found


def live_signatures(function: Any) -> list[Signature]:
    """The signature of a Python function, or the one in the first lines of a built-in function's docstring."""
    with contextlib.suppress(ValueError, TypeError):
        found = inspect.signature(function)
        keyword_only = {inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
        parameters = tuple(
            (p.name, annotation_text(p.annotation), p.kind in keyword_only, p.default is p.empty)
            for p in found.parameters.values()
            if p.name != "self"
        )
        return [Signature(parameters, annotation_text(found.return_annotation))]
    match = re.match(r"\s*(?:\w+\.)*(\w+)\((.*?)\)\s*->\s*(.+)", inspect.getdoc(function) or "")
    with contextlib.suppress(SyntaxError):
        if match:
            node = ast.parse(f"def f({match[2]}): ...").body[0]
            assert isinstance(node, ast.FunctionDef)
            return [Signature(_signature(node).parameters, "Tensor" if match[3].strip() == "Tensor" else "Any")]
    return []


@dataclass(frozen=True)
class Known:
    """What is known of a callable before it runs."""

    signatures: tuple[Signature, ...] = ()
    takes_self: bool = False

    def has(self, name: str) -> bool:
        return any(name in signature.names for signature in self.signatures)

    @property
    def dim_at(self) -> int | None:
        found = [p for s in self.signatures if (p := s.position(("dim", "axis"))) is not None]
        return min(found) if found else None

    def gets_dim(self, args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
        """Whether a call reduces along given dimensions only, or keeps them all."""
        if kwargs.get("keepdim") is True or any(kwargs.get(key) is not None for key in ("dim", "axis")):
            return True
        at = self.dim_at
        index = -1 if at is None else at + self.takes_self
        return 0 < index < len(args) and args[index] is not None and not isinstance(args[index], bool)

    @property
    def any_length(self) -> bool:
        """Whether an annotation says that a sequence of any length comes back."""
        results = [from_annotation(signature.returns) for signature in self.signatures]
        return any(isinstance(result, dict) and result["k"] in {"tuple_of", "list_of"} for result in results)


# ---------------------------------------------------------------------------------------------------------------------
# Execution: one call, seen
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Call:
    """Positional and keyword arguments."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Leaf:
    """What one tensor of one result has to do with the tensors of the call."""

    requires_grad: bool
    inputs_require: bool | None
    """Whether an input did; ``None`` if there was no tensor among the inputs."""
    kind: str
    kinds: tuple[str, ...]
    """Kinds (bool, int, float) of the first tensor input and of all promoted; empty without tensor inputs."""
    ndim: int
    ndims: tuple[int, ...]
    shape_is_broadcast: bool
    is_first: bool
    shares: bool


@dataclass(frozen=True)
class Seen:
    """One executed call: its arguments in short, and the tree of what came out."""

    case: str
    flags: frozenset[str]
    has_dim: bool
    reduction: bool
    has_dtype: bool
    tree: Any


@dataclass(frozen=True)
class Node:
    """A sequence in a result: ``tuple`` or ``list``, its items, its field names."""

    kind: str
    items: tuple[Any, ...]
    names: tuple[str, ...] = ()


ORDER = ("bool", "int", "float")
PLAIN: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (type(None), "none"),
    (bool, "bool"),
    ((int, torch.SymInt), "int"),
    (float, "float"),
    (complex, "number"),
    (str, "str"),
    (torch.Size, "size"),
    (torch.device, "device"),
    (torch.dtype, "dtype"),
    (torch.layout, "layout"),
    ((torch.UntypedStorage, torch.TypedStorage), "storage"),
    (torch.Generator, "generator"),
    (torch.utils.hooks.RemovableHandle, "handle"),
    (np.ndarray, "ndarray"),
)


def dtype_kind(dtype: torch.dtype) -> str:
    """``bool``, ``int`` or ``float`` (which complex is, too)."""
    if dtype == torch.bool:
        return "bool"
    return "float" if dtype.is_floating_point or dtype.is_complex else "int"


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """All tensors in nested lists, tuples and dictionaries."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, torch.nn.Module):
        yield from value.parameters()
    elif isinstance(value, list | tuple):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors_in(item)


def storage_of(tensor: torch.Tensor) -> int:
    """Address of a tensor's memory, 0 where there is none."""
    try:
        return tensor.untyped_storage().data_ptr()
    except (RuntimeError, NotImplementedError):
        return 0


def _map_tensors(value: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    if isinstance(value, torch.Tensor):
        return change(value)
    if type(value) in {list, tuple}:
        return type(value)(_map_tensors(item, change) for item in value)
    if type(value) is dict:
        return {key: _map_tensors(item, change) for key, item in value.items()}
    return value


def _with_grad(tensor: torch.Tensor) -> torch.Tensor:
    fresh = tensor.detach().clone()
    floating = tensor.is_floating_point() or tensor.is_complex()
    return fresh.requires_grad_().clone() if floating else fresh


def _as_given(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().clone().requires_grad_().clone() if tensor.requires_grad else tensor.detach().clone()


def _without_grad(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().clone()


def run(function: Callable[..., Any], call: Call, known: Known) -> Seen | None:
    """Run a call: with all float inputs requiring grad; if that fails, those the sample marks; if that fails, none."""
    for change in (_with_grad, _as_given, _without_grad):
        try:
            args, kwargs = _map_tensors(call.args, change), _map_tensors(call.kwargs, change)
            return run_once(function, args, kwargs, known)
        except Exception:  # noqa: BLE001
            continue
    return None


def run_once(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], known: Known) -> Seen:
    """Run a call as it is, and compare what comes out with what went in."""
    inputs = list(tensors_in((args, kwargs)))
    before = Before(
        [id(tensor) for tensor in inputs],
        {storage_of(tensor) for tensor in inputs} - {0},
        any(tensor.requires_grad for tensor in inputs) if inputs else None,
        _kinds(inputs),
        tuple(tensor.dim() for tensor in inputs),
        _broadcast(inputs),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = _tree(function(*args, **kwargs), before)
    rest = args[1:]
    return Seen(
        case=_case(rest, kwargs),
        flags=frozenset(key for key, value in kwargs.items() if value is True),
        has_dim=known.gets_dim(args, kwargs),
        reduction=kwargs.get("reduction", "") == "none",
        has_dtype="dtype" in kwargs,
        tree=tree,
    )


@dataclass(frozen=True)
class Before:
    """The inputs of a call before it ran (it may change them)."""

    ids: list[int]
    storages: set[int]
    require: bool | None
    kinds: tuple[str, ...]
    ndims: tuple[int, ...]
    broadcast: torch.Size | None


def _kinds(inputs: Sequence[torch.Tensor]) -> tuple[str, ...]:
    kinds = [dtype_kind(tensor.dtype) for tensor in inputs]
    return (kinds[0], max(kinds, key=ORDER.index)) if kinds else ()


def _broadcast(inputs: Sequence[torch.Tensor]) -> torch.Size | None:
    try:
        return torch.broadcast_shapes(*(tensor.shape for tensor in inputs)) if inputs else None
    except RuntimeError:
        return None


def _case(rest: Sequence[Any], kwargs: dict[str, Any]) -> str:
    if any(kwargs.get(key) is not None for key in ("dim", "axis")) or (rest and type(rest[0]) is int):
        return "dim"
    if (rest and isinstance(rest[0], torch.Tensor)) or isinstance(kwargs.get("other"), torch.Tensor):
        return "tensor"
    return "one_arg" if rest else "no_args"


def _tree(value: Any, before: Before) -> Any:
    if isinstance(value, torch.Tensor):
        return Leaf(
            requires_grad=value.requires_grad,
            inputs_require=before.require,
            kind=dtype_kind(value.dtype),
            kinds=before.kinds,
            ndim=value.dim(),
            ndims=before.ndims,
            shape_is_broadcast=before.broadcast is not None and value.shape == before.broadcast,
            is_first=bool(before.ids) and id(value) == before.ids[0],
            shares=storage_of(value) in before.storages,
        )
    for cls, name in PLAIN:
        if isinstance(value, cls):
            return name
    if isinstance(value, tuple):
        names = getattr(value, "_fields", ()) or (type(value).__match_args__ if type(value) is not tuple else ())
        return Node("tuple", tuple(_tree(item, before) for item in value), tuple(names))
    if isinstance(value, list):
        items = tuple(_tree(item, before) for item in value)
        return Node("list", items) if items and all(isinstance(item, Leaf) for item in items) else "list"
    return "other"


# ---------------------------------------------------------------------------------------------------------------------
# Execution: many calls, merged
# ---------------------------------------------------------------------------------------------------------------------


def _shape(tree: Any) -> str:
    """The structure of a tree, without what its tensors are like."""
    if isinstance(tree, Leaf):
        return "tensor"
    if isinstance(tree, Node):
        return f"{tree.kind}{len(tree.items) if tree.names else ''}"
    return "number" if tree in {"bool", "int", "float", "number"} else str(tree)


def merge_calls(seen: Sequence[Seen], known: Known) -> Result:
    """One result for all calls of a function; an overload if what comes back depends on the arguments."""
    relevant = _relevant_flags(seen)
    groups: dict[str, list[Seen]] = collections.defaultdict(list)
    for one in seen:
        flags = ",".join(sorted(one.flags & relevant))
        groups[f"flag:{flags}" if flags else one.case].append(one)
    shapes = {case: {_shape(one.tree) for one in group} - {"none"} for case, group in groups.items()}
    if len({frozenset(shape) for shape in shapes.values()}) == 1:
        return merge(list(seen), known)
    base = "no_args" if "no_args" in groups else max(groups, key=lambda case: len(groups[case]))
    same = [one for case, group in groups.items() if shapes[case] == shapes[base] for one in group]
    cases = {case: merge(group, known) for case, group in groups.items() if shapes[case] != shapes[base]}
    return {"k": "overload", "cases": {"no_args": merge(same, known), **dict(sorted(cases.items()))}}


def _relevant_flags(seen: Sequence[Seen]) -> frozenset[str]:
    """Keywords that, literally true, change the structure of the result."""
    found = set()
    for flag in {flag for one in seen for flag in one.flags}:
        on = {(one.case, _length(one.tree)) for one in seen if one.flags == {flag}}
        off = {(one.case, _length(one.tree)) for one in seen if not one.flags}
        cases = {case for case, _ in on} & {case for case, _ in off}
        if any({s for c, s in on if c == case}.isdisjoint({s for c, s in off if c == case}) for case in cases):
            found.add(flag)
    return frozenset(found)


def _length(tree: Any) -> str:
    return _shape(tree) + (str(len(tree.items)) if isinstance(tree, Node) else "")


def merge(seen: Sequence[Seen], known: Known) -> Result:
    """One result for calls whose structure is the same."""
    trees = [one.tree for one in seen]
    if not trees:
        return "any"
    real = [one for one in seen if one.tree != "none"]
    if len(real) < len(trees) and real:
        result = merge(real, known)
        return {**result, "optional": True} if isinstance(result, dict) else "any"
    if all(isinstance(tree, Leaf) for tree in trees):
        return merge_leaves(seen, known)
    if all(isinstance(tree, Node) for tree in trees):
        return _merge_nodes(seen, known)
    if all(isinstance(tree, str) for tree in trees):
        kinds = set(trees)
        return trees[0] if len(kinds) == 1 else "number" if kinds <= {"bool", "int", "float", "number"} else "any"
    return "any"


def _with_tree(one: Seen, tree: Any) -> Seen:
    return Seen(one.case, one.flags, one.has_dim, one.reduction, one.has_dtype, tree)


def _merge_nodes(seen: Sequence[Seen], known: Known) -> Result:
    nodes: list[Node] = [one.tree for one in seen]
    lengths = {len(node.items) for node in nodes}
    kinds = {node.kind for node in nodes}
    names = {node.names for node in nodes}
    if len(kinds) > 1:
        return "any"
    if kinds == {"tuple"} and len(lengths) == 1 and (names != {()} or not known.any_length):
        columns = [[_with_tree(one, one.tree.items[i]) for one in seen] for i in range(lengths.pop())]
        result = {"k": "tuple", "items": [merge(column, known) for column in columns]}
        return {**result, "names": list(names.pop())} if len(names) == 1 and names != {()} else result
    items = [_with_tree(one, item) for one in seen for item in one.tree.items]
    return {"k": f"{kinds.pop()}_of", "item": merge(items, known)}


def merge_leaves(seen: Sequence[Seen], known: Known) -> Result:
    """One tensor result for many seen tensors."""
    leaves: list[Leaf] = [one.tree for one in seen]
    result: dict[str, Any] = {"k": "tensor"}
    for key, value in (
        ("grad", _grad(leaves, known)),
        ("dtype", _dtype([one.tree for one in seen if not one.has_dtype] or leaves, known)),
        ("ndim", _ndim(seen)),
    ):
        if value:
            result[key] = value
    if result.get("ndim") == "reduce" and known.dim_at is not None:
        result["dim_at"] = known.dim_at
    if all(leaf.is_first for leaf in leaves):
        result["self"] = True
    elif any(leaf.is_first or leaf.shares for leaf in leaves):
        result["alias"] = True
    return result


def _grad(leaves: Sequence[Leaf], known: Known) -> str:
    if all(leaf.kind != "float" for leaf in leaves):
        return "never"
    asked = [leaf for leaf in leaves if leaf.inputs_require]
    if any(leaf.requires_grad for leaf in asked):
        return ""
    if any(leaf.requires_grad for leaf in leaves):
        return "always"
    if known.has("requires_grad"):
        return "factory"
    return "never" if asked or all(leaf.inputs_require is None for leaf in leaves) else ""


def _dtype(leaves: Sequence[Leaf], known: Known) -> str:
    kinds = {leaf.kind for leaf in leaves}
    if not any(leaf.kinds for leaf in leaves):
        if len(kinds) > 1:
            return "arg"
        return "float_factory" if kinds == {"float"} and known.has("dtype") else kinds.pop()
    if len(kinds) == 1:
        (kind,) = kinds
        return kind if any(leaf.kinds and kind not in leaf.kinds for leaf in leaves) else ""
    follows = all(not leaf.kinds or leaf.kind in leaf.kinds for leaf in leaves)
    return "" if follows or not known.has("dtype") else "arg"


def _ndim(seen: Sequence[Seen]) -> str:
    leaves: list[Leaf] = [one.tree for one in seen]
    if all(leaf.ndim == 0 for leaf in leaves):
        return "zero"
    if all(leaf.ndim >= 1 for leaf in leaves):
        return "more"
    if any(one.reduction for one in seen) and all(one.tree.ndim == 0 for one in seen if not one.reduction):
        return "loss"
    without = [one.tree for one in seen if not one.has_dim]
    if without and len(without) < len(seen) and all(leaf.ndim == 0 for leaf in without):
        return "reduce"
    if all(leaf.ndims and leaf.ndim == leaf.ndims[0] for leaf in leaves):
        return "keep"
    return "broadcast" if all(leaf.shape_is_broadcast for leaf in leaves) else ""


# ---------------------------------------------------------------------------------------------------------------------
# What to run
# ---------------------------------------------------------------------------------------------------------------------

NOT_RUN = re.compile(
    r"cudnn_|miopen_|mkldnn_|from_file|import_ir|^(cuda|xpu|ipu|mtia|hpu|pin_memory|is_pinned|data_ptr)$"
)
"""What a machine's devices or files decide."""


def seed() -> None:
    """Make what follows repeatable."""
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002


def import_testing() -> tuple[Any, Any]:
    """``op_db`` and ``module_db``; their modules import ``expecttest`` for a base class that is not used here."""
    if "expecttest" not in sys.modules and importlib.util.find_spec("expecttest") is None:
        stand_in = types.ModuleType("expecttest")
        stand_in.TestCase = unittest.TestCase  # type: ignore[attr-defined]
        sys.modules["expecttest"] = stand_in
    operations = importlib.import_module("torch.testing._internal.common_methods_invocations")
    modules = importlib.import_module("torch.testing._internal.common_modules")
    return operations.op_db, modules.module_db


def sample_calls() -> dict[str, list[Call]]:
    """Sample inputs from ``op_db`` by name of the operation and of its aliases."""
    found: dict[str, list[Call]] = collections.defaultdict(list)
    for operation in import_testing()[0]:
        calls = [call for dtype in DTYPES if dtype in operation.dtypes for call in _samples(operation, dtype)]
        for name in {operation.name, *(alias.name for alias in operation.aliases)}:
            found[name] += calls
    return found


def _samples(operation: Any, dtype: torch.dtype) -> Iterator[Call]:
    seed()
    needs_grad = dtype.is_floating_point and operation.supports_autograd
    with contextlib.suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sample in itertools.islice(operation.sample_inputs("cpu", dtype, requires_grad=needs_grad), SAMPLES):
            yield Call((sample.input, *sample.args), dict(sample.kwargs))


def mutations(call: Call) -> Iterator[Call]:
    """The call with its tensors made 0- and 1-dimensional, and with empty sizes: which claims survive that?"""

    def flat(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.detach().reshape(-1)[:3] if tensor.layout == torch.strided else tensor

    def single(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.detach().reshape(-1)[0] if tensor.layout == torch.strided and tensor.numel() else tensor

    if call.args and isinstance(call.args[0], torch.Tensor) and call.args[0].layout == torch.strided:
        for change in (flat, single):
            yield Call((change(call.args[0]), *call.args[1:]), call.kwargs)
            yield Call(_map_tensors(call.args, change), _map_tensors(call.kwargs, change))
    sizes = [i for i, arg in enumerate(call.args) if isinstance(arg, list | tuple) and all(type(n) is int for n in arg)]
    for i in sizes:
        yield Call((*call.args[:i], (), *call.args[i + 1 :]), call.kwargs)


@functools.cache
def plain_calls() -> tuple[Call, ...]:
    """Calls that many functions accept: one tensor, two of several shapes, a tensor and a number."""
    seed()
    shapes = ((), (3,), (2, 3), (2, 3, 3))
    one = [torch.rand(shape) for shape in shapes]
    integers = [torch.ones(shape, dtype=torch.int64) for shape in shapes]
    booleans = [torch.ones(shape, dtype=torch.bool) for shape in shapes]
    calls = [Call((tensor,)) for tensor in (*one, *integers, *booleans)]
    calls += [Call((one[i], one[j])) for i, j in ((0, 1), (1, 0), (1, 2), (2, 1), (2, 2))]
    calls += [Call((tensor, integers[2])) for tensor in (one[2], integers[2], booleans[2])]
    calls += [
        Call((one[2], 0)),
        Call((one[2],), {"dim": 0}),
        Call((one[3], 1)),
        Call((one[2], 0.5)),
        Call((integers[2], 0)),
    ]
    return tuple(calls)


def inputs() -> dict[str, Any]:
    """Names for the expressions in :data:`PROBES`."""
    seed()
    leaf = torch.rand(2, 3, requires_grad=True)
    return {
        "torch": torch,
        "np": np,
        "w": leaf,
        "x": leaf.clone(),
        "v": torch.rand(3),
        "s": torch.rand(()),
        "m": torch.rand(3, 3),
        "i": torch.ones(2, 3, dtype=torch.int64),
        "b": torch.ones(2, 3, dtype=torch.bool),
        "linear": torch.nn.Linear(3, 2),
        "args": lambda *args, **kwargs: Call(args, kwargs),
    }


METHOD_PROBES: dict[str, tuple[str, ...]] = {
    "new": ("x, 2, 3", "x", "x, [1.0, 2.0]", "x, w"),
    "new_tensor": ("x, [1.0]", "x, 1", "i, [1]"),
    "requires_grad_": ("v", "w", "w, False", "w, requires_grad=True"),
    "to": (
        "x, torch.float64",
        "x, torch.int64",
        "i, torch.float32",
        "x, 'cpu'",
        "x, v",
        "x, i",
        "x, dtype=torch.int32",
    ),
    "type": ("x", "i", "x, torch.int64", "x, torch.float64", "x, 'torch.LongTensor'", "i, dtype=torch.float32"),
    "type_as": ("x, i", "i, x", "x, v", "s, i"),
    "size": ("x", "x, 0", "x, -1", "x, dim=1", "s"),
    "stride": ("x", "x, 0", "x, dim=1", "s"),
    "numpy": ("v", "x, force=True", "i"),
    "tolist": ("x", "i", "s"),
    "item": ("s", "i[0, 0]", "b[0, 0]"),
    "unique": (
        "x",
        "x, return_inverse=True",
        "x, return_counts=True",
        "x, return_inverse=True, return_counts=True",
        "x, dim=0",
    ),
    "unique_consecutive": (
        "x",
        "x, return_inverse=True",
        "x, return_counts=True",
        "x, return_inverse=True, return_counts=True",
    ),
    "nonzero": ("x", "x, as_tuple=True", "s", "i"),
    "backward": ("w.sum()", "s.requires_grad_()"),
    "register_hook": ("w, lambda grad: grad",),
    "register_post_accumulate_grad_hook": ("w, lambda grad: grad",),
    "is_shared": ("x",),
    "share_memory_": ("v", "w"),
    "storage": ("v",),
    "untyped_storage": ("v",),
    "data_ptr": ("v",),
    "map_": ("v, v, lambda a, b: a",),
    "apply_": ("v, lambda a: a",),
    "view": ("x, 6", "x, -1", "x, 3, 2", "x, (3, 2)", "s, 1", "v[:1], ()", "x, torch.int32", "x, torch.float32"),
    "reshape": ("x, 6", "x, -1", "x, 3, 2", "x, (3, 2)", "s, 1", "v[:1], ()"),
    "permute": ("x, 1, 0", "x, (1, 0)", "s, ()"),
    "repeat": ("x, 2, 2", "s, 2", "x, (2, 2)"),
    "expand": ("x, 2, 3", "s, 2", "v, 2, 3", "s, ()"),
    "split": ("x, 1", "x, (1, 1)", "x, 2", "x, 1, 1"),
    "chunk": ("x, 2", "x, 1"),
    "unbind": ("x", "v", "x, 1"),
    "set_": ("v, torch.rand(3)", "v"),
    "resize_": ("v, 3", "v, 1, 3", "v[:1], ()"),
    "retain_grad": ("x",),
    "detach_": ("x", "v"),
    "element_size": ("x",),
    "is_set_to": ("x, v",),
    "index_put_": ("x, (i[0],), s", "v, (i[0],), s"),
    "norm": ("x", "x, 2", "x, 2, 1", "x, dim=0", "v", "x, 'fro'"),
    "lu": ("m", "m, get_infos=True"),
    "stft": ("torch.rand(16), 4, return_complex=True", "torch.rand(2, 16), 4, return_complex=True"),
    "istft": ("torch.rand(3, 5, dtype=torch.complex64) + 1, 4, center=True",),
    "where": ("x, b, x", "x, b, 1.0"),
    "align_to": ("torch.rand(2, 3, names=('A', 'B')), 'B', 'A'",),
    "rename": ("x, None", "x, 'A', 'B'"),
    "rename_": ("v, None",),
    "refine_names": ("x, 'A', 'B'",),
    "unflatten": ("x, 1, (3, 1)", "v, 0, (3,)"),
    "as_subclass": ("x, torch.Tensor", "x, torch.nn.Parameter"),
    "dim_order": ("x",),
    "storage_type": ("v",),
    "reinforce": ("x, s",),
    "module_load": ("x, v",),
    "cauchy_": ("x", "v", "s"),
    "exponential_": ("x", "v", "s"),
    "geometric_": ("x, 0.5", "v, 0.5", "s, 0.5"),
    "log_normal_": ("x", "v", "s"),
    "uniform_": ("x", "v", "s"),
    "normal_": ("x", "v", "s"),
    "random_": ("x", "v", "s", "i"),
    "bernoulli_": ("x, 0.5", "v, 0.5", "s, s"),
    "fill_": ("x, 1.0", "v, s", "s, 0", "v, w[0, 0]"),
    "copy_": ("x, v", "v, w[0]", "s, s", "i, x"),
    "zero_": ("x", "v", "s"),
    "to_dense": ("x.to_sparse()", "v"),
    "coalesce": ("x.to_sparse()",),
    "is_coalesced": ("x.to_sparse()",),
    "indices": ("x.to_sparse().coalesce()",),
    "values": ("x.to_sparse().coalesce()",),
    "crow_indices": ("m.to_sparse_csr()",),
    "col_indices": ("m.to_sparse_csr()",),
    "ccol_indices": ("m.to_sparse_csc()",),
    "row_indices": ("m.to_sparse_csc()",),
    "sparse_dim": ("x.to_sparse()",),
    "dense_dim": ("x.to_sparse()",),
    "sparse_mask": ("x, x.to_sparse()",),
    "int_repr": ("torch.quantize_per_tensor(v, 0.1, 0, torch.quint8)",),
    "q_scale": ("torch.quantize_per_tensor(v, 0.1, 0, torch.quint8)",),
    "q_zero_point": ("torch.quantize_per_tensor(v, 0.1, 0, torch.quint8)",),
    "dequantize": ("torch.quantize_per_tensor(v, 0.1, 0, torch.quint8)", "v"),
    "qscheme": ("torch.quantize_per_tensor(v, 0.1, 0, torch.quint8)",),
}
"""Arguments, ``self`` first, for methods on which neither samples nor plain calls say enough. Only what to run."""

PROBES: dict[str, tuple[str, ...]] = {
    "torch.tensor": ("[1.0, 2.0]", "[1, 2]", "[[1.0]]", "1.0", "True", "w"),
    "torch.as_tensor": ("[1.0, 2.0]", "[1, 2]", "1.0", "w", "i", "np.ones(3)"),
    "torch.asarray": ("[1.0, 2.0]", "[1, 2]", "1.0", "w", "i", "np.ones(3)"),
    "torch.from_numpy": ("np.ones(3)", "np.ones((2, 3), dtype=np.int64)", "np.array(1.0)", "np.ones(2, dtype=bool)"),
    "torch.frombuffer": ("np.ones(3, dtype=np.float32), dtype=torch.float32",),
    "torch.arange": ("3", "3.0", "0, 1, 0.1"),
    "torch.full": ("(2,), 1.0", "(2, 3), 1", "(), True"),
    "torch.scalar_tensor": ("1.0", "2"),
    "torch.is_tensor": ("x",),
    "torch.numel": ("x",),
    "torch.get_default_dtype": ("",),
    "torch.get_default_device": ("",),
    "torch.initial_seed": ("",),
    "torch.manual_seed": ("0",),
    "torch.get_rng_state": ("",),
    "torch.get_num_threads": ("",),
    "torch.is_grad_enabled": ("",),
    "torch.broadcast_shapes": ("(2, 3), (3,)",),
    "torch.broadcast_tensors": ("x, v", "x", "x, v, s"),
    "torch.meshgrid": ("v, v", "v, v, v", "v"),
    "torch.atleast_1d": ("x", "s", "x, v"),
    "torch.atleast_2d": ("x", "s", "x, v"),
    "torch.atleast_3d": ("x", "s", "x, v"),
    "torch.split": ("x, 1", "x, (1, 1)", "x, 2"),
    "torch.chunk": ("x, 2", "x, 1"),
    "torch.unbind": ("x", "v"),
    "torch.unique": METHOD_PROBES["unique"],
    "torch.unique_consecutive": METHOD_PROBES["unique_consecutive"],
    "torch.nonzero": METHOD_PROBES["nonzero"],
    "torch.where": ("b", "b, x, v", "b, 1.0, x", "b, x, 0.0"),
    "torch.norm": METHOD_PROBES["norm"],
    "torch.einsum": ("'ij,j->i', x, v", "'ij->', x", "'ij->ji', x"),
    "torch.block_diag": ("x, x", "v, s"),
    "torch.cartesian_prod": ("v, v", "v"),
    "torch.cdist": ("x, x",),
    "torch.chain_matmul": ("m, m, m",),
    "torch.tensordot": ("x, x, 2", "m, m, 1"),
    "torch.normal": ("x, v", "x, 1.0", "0.0, v", "0.0, 1.0, (2,)"),
    "torch.bernoulli": ("x", "s"),
    "torch.multinomial": ("x, 1", "v, 2"),
    "torch.complex": ("x, x", "s, s"),
    "torch.stft": METHOD_PROBES["stft"],
    "torch.istft": METHOD_PROBES["istft"],
    "torch.lu": METHOD_PROBES["lu"],
    "torch.result_type": ("x, i",),
    "torch.promote_types": ("torch.int64, torch.float32",),
    "torch.can_cast": ("torch.int64, torch.float32",),
    "torch.finfo": ("torch.float32",),
    "torch.typename": ("x",),
    "torch.sparse_coo_tensor": ("i[:, :2] * 0, v[:2], (2, 2)", "[[0, 1]], [1.0, 2.0]"),
    "torch.sparse_csr_tensor": ("[0, 1, 2], [0, 1], [1.0, 2.0]",),
    "torch.compiled_with_cxx11_abi": ("",),
    "torch.nn.functional.gumbel_softmax": ("x", "x, hard=True"),
    "torch.nn.functional.multi_head_attention_forward": (),
    "torch.nn.functional.max_pool1d": ("x, 2", "x, 2, return_indices=True"),
    "torch.nn.functional.max_pool2d": ("m[None], 2", "m[None], 2, return_indices=True"),
    "torch.nn.functional.max_pool3d": ("torch.rand(1, 2, 2, 2), 2", "torch.rand(1, 2, 2, 2), 2, return_indices=True"),
    "torch.nn.functional.adaptive_max_pool1d": ("x, 2", "x, 2, return_indices=True"),
    "torch.nn.functional.adaptive_max_pool2d": ("m[None], 2", "m[None], 2, return_indices=True"),
    "torch.nn.functional.adaptive_max_pool3d": (
        "torch.rand(1, 2, 2, 2), 2",
        "torch.rand(1, 2, 2, 2), 2, return_indices=True",
    ),
    "torch.nn.functional.fractional_max_pool2d": (
        "torch.rand(1, 4, 4), 2, output_size=2",
        "torch.rand(1, 4, 4), 2, output_size=2, return_indices=True",
    ),
    "torch.nn.functional.fractional_max_pool3d": (
        "torch.rand(1, 4, 4, 4), 2, output_size=2",
        "torch.rand(1, 4, 4, 4), 2, output_size=2, return_indices=True",
    ),
    "torch.nn.utils.clip_grad_norm_": ("linear.parameters(), 1.0",),
    "torch.nn.utils.clip_grad_value_": ("linear.parameters(), 1.0",),
    "torch.nn.utils.parameters_to_vector": ("linear.parameters()",),
    "torch.nn.utils.vector_to_parameters": ("torch.rand(8), linear.parameters()",),
    "torch.nn.utils.get_total_norm": ("[x, v]",),
    "torch.nn.utils.rnn.pad_sequence": ("[v, v[:2]]", "[i[0], i[0]]"),
    "torch.nn.utils.rnn.pack_padded_sequence": ("x[..., None], torch.tensor([3, 2]), batch_first=True",),
    "torch.nn.utils.rnn.pad_packed_sequence": ("torch.nn.utils.rnn.pack_sequence([v, v[:2]])",),
    "torch.nn.utils.rnn.pack_sequence": ("[v, v[:2]]",),
    "torch.nn.utils.rnn.unpad_sequence": ("x, torch.tensor([2, 1, 1])",),
    "torch.autograd.grad": ("w.sum(), [w]", "(w ** 2).sum(), w"),
    "torch.autograd.backward": ("w.sum()",),
    "torch.autograd.functional.jacobian": ("lambda t: t * 2, x",),
    "torch.autograd.functional.hessian": ("lambda t: (t ** 2).sum(), x",),
    "torch.autograd.functional.vjp": ("lambda t: t * 2, x, x",),
    "torch.autograd.functional.jvp": ("lambda t: t * 2, x, x",),
    "torch.autograd.gradcheck": ("lambda t: t * 2, torch.rand(2, dtype=torch.float64)",),
    "torch.utils.checkpoint.checkpoint": (),
    "torch.utils.data.default_collate": (),
    "torch.utils.data.random_split": ("range(4), [2, 2]",),
    "torch.utils.dlpack.from_dlpack": ("v", "i"),
    "torch.from_dlpack": ("v", "i", "np.ones(3)"),
}
"""Arguments for functions on which samples and plain calls do not say enough. Only what to run, not what comes out."""


def probe_calls(texts: Iterable[str]) -> list[Call]:
    """The calls that argument lists stand for."""
    return [eval(f"args({text})", inputs()) for text in texts]  # noqa: S307


def look(function: Callable[..., Any], calls: Iterable[Call], known: Known) -> Result | None:
    """Run calls, and their mutations, and merge what comes out; ``None`` if nothing could be run."""
    seed()
    calls = list(calls)
    ran = [(call, seen) for call in calls if (seen := run(function, call, known))]
    for call, _ in ran[:SAMPLES]:
        ran += [(other, seen) for other in mutations(call) if (seen := run(function, other, known))]
    if known.has("requires_grad"):
        asking = [Call(call.args, {**call.kwargs, "requires_grad": True}) for call, _ in ran[:2]]
        asked = [
            run(function, call, known) for call in asking if all(not t.requires_grad for t in tensors_in(call.args))
        ]
        assert all(one is None or one.tree.requires_grad for one in asked if isinstance(one, Leaf)), function
    return merge_calls([seen for _, seen in ran], known) if ran else None


def from_signatures(known: Known) -> Result:
    """The result that annotations promise."""
    results = [from_annotation(signature.returns) for signature in known.signatures]
    if not results:
        return "any"
    if all(result == results[0] for result in results):
        return results[0]
    cases: dict[str, Result] = {}
    for signature, result in zip(known.signatures, results, strict=True):
        cases.setdefault(_declared_case(signature, known), result)
    cases = {"no_args": cases.get("no_args", results[0]), **cases}
    return {"k": "overload", "cases": cases}


def _declared_case(signature: Signature, known: Known) -> str:
    flags = [name for name, annotation, _, _ in signature.parameters if annotation == "Literal[True]"]
    if flags:
        return "flag:" + ",".join(sorted(flags))
    rest = [parameter for parameter in signature.parameters[0 if known.takes_self else 1 :] if parameter[3]]
    if not rest:
        return "no_args"
    name, annotation, _, _ = rest[0]
    return "dim" if name in {"dim", "axis"} else "tensor" if annotation == "Tensor" else "one_arg"


# ---------------------------------------------------------------------------------------------------------------------
# Public names
# ---------------------------------------------------------------------------------------------------------------------

PACKAGES = (
    "torch",
    "torch.nn",
    "torch.nn.functional",
    "torch.nn.init",
    "torch.nn.parameter",
    "torch.nn.parallel",
    "torch.nn.utils",
    "torch.nn.utils.clip_grad",
    "torch.nn.utils.convert_parameters",
    "torch.nn.utils.fusion",
    "torch.nn.utils.parametrizations",
    "torch.nn.utils.parametrize",
    "torch.nn.utils.prune",
    "torch.nn.utils.rnn",
    "torch.nn.utils.spectral_norm",
    "torch.nn.utils.stateless",
    "torch.nn.utils.weight_norm",
    "torch.nn.attention",
    "torch.nn.attention.bias",
    "torch.nn.attention.flex_attention",
    "torch.linalg",
    "torch.fft",
    "torch.special",
    "torch.sparse",
    "torch.functional",
    "torch.random",
    "torch.serialization",
    "torch.storage",
    "torch.signal.windows",
    "torch.nested",
    "torch.masked",
    "torch.func",
    "torch.autograd",
    "torch.autograd.anomaly_mode",
    "torch.autograd.forward_ad",
    "torch.autograd.function",
    "torch.autograd.functional",
    "torch.autograd.grad_mode",
    "torch.autograd.gradcheck",
    "torch.autograd.graph",
    "torch.autograd.profiler",
    "torch.autograd.variable",
    "torch.accelerator",
    "torch.amp",
    "torch.amp.autocast_mode",
    "torch.amp.grad_scaler",
    "torch.cpu",
    "torch.cpu.amp",
    "torch.cuda",
    "torch.cuda.amp",
    "torch.cuda.comm",
    "torch.cuda.memory",
    "torch.cuda.random",
    "torch.cuda.streams",
    "torch.mps",
    "torch.xpu",
    "torch.backends.cuda",
    "torch.backends.cudnn",
    "torch.backends.mps",
    "torch.compiler",
    "torch.distributed",
    "torch.distributed.fsdp",
    "torch.distributed.nn",
    "torch.distributed.optim",
    "torch.distributions",
    "torch.distributions.constraints",
    "torch.distributions.kl",
    "torch.distributions.transforms",
    "torch.distributions.utils",
    "torch.export",
    "torch.futures",
    "torch.fx",
    "torch.hub",
    "torch.jit",
    "torch.library",
    "torch.multiprocessing",
    "torch.onnx",
    "torch.optim",
    "torch.optim.lr_scheduler",
    "torch.optim.optimizer",
    "torch.optim.swa_utils",
    "torch.overrides",
    "torch.profiler",
    "torch.quasirandom",
    "torch.testing",
    "torch.types",
    "torch.utils",
    "torch.utils.checkpoint",
    "torch.utils.data",
    "torch.utils.data.dataloader",
    "torch.utils.data.dataset",
    "torch.utils.data.distributed",
    "torch.utils.data.sampler",
    "torch.utils.dlpack",
    "torch.utils.hooks",
    "torch.utils.model_zoo",
)
"""Modules whose public names are taken, besides the submodules of :data:`PARENTS`."""
PARENTS = ("torch.nn.modules", "torch.nn.parallel", "torch.optim", "torch.distributions")
"""Packages of which every public submodule is looked at: classes are imported from there, too."""


def module_names() -> list[str]:
    """The modules to look at."""
    names = {*PACKAGES, *PARENTS}
    for parent in PARENTS:
        folder = Path(importlib.import_module(parent).__path__[0])
        names |= {f"{parent}.{path.stem}" for path in folder.glob("*.py") if not path.stem.startswith("_")}
    return sorted(names)


def is_function(value: object) -> bool:
    return callable(value) and not inspect.isclass(value) and not is_tensor_type(value)


def is_tensor_type(value: object) -> bool:
    """Legacy constructors like ``torch.FloatTensor``."""
    return type(value).__name__ == "tensortype"


def _belongs(module: Any, name: str, value: Any) -> bool:
    """Whether a module offers a name, rather than using it."""
    home = str(getattr(value, "__module__", None) or "torch")
    here = module.__name__
    if name in getattr(module, "__all__", ()):
        return True
    return (
        home == here
        or (home.startswith("torch._") and here in {"torch", "torch.nn"})
        or home.startswith(here + ".")
        or _built_in_there(value, here)
    )


def _built_in_there(value: Any, here: str) -> bool:
    return isinstance(value, types.BuiltinFunctionType) and here in {
        "torch",
        "torch.nn.functional",
        "torch.linalg",
        "torch.fft",
        "torch.special",
        "torch.sparse",
    }


@dataclass
class Names:
    """Every public object with its names, the shortest first."""

    objects: dict[str, Any] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)


@functools.cache
def public_names() -> Names:
    """Functions and classes of :func:`module_names` by their shortest name, and their other names."""
    by_identity: dict[int, tuple[Any, list[str]]] = {}
    for module_name in module_names():
        module = importlib.import_module(module_name)
        for name in dir(module):
            value = getattr(module, name)
            if name.startswith("_") or not (callable(value) or is_tensor_type(value)):
                continue
            home = str(getattr(value, "__module__", None) or "torch")
            if (home == "torch" or home.startswith("torch.")) and _belongs(module, name, value):
                by_identity.setdefault(id(value), (value, []))[1].append(f"{module_name}.{name}")
    names = Names()
    for value, found in by_identity.values():
        first, *others = sorted(found, key=lambda text: (text.count("."), len(text), text))
        names.objects[first] = value
        names.aliases.update(dict.fromkeys(others, first))
    return names


# ---------------------------------------------------------------------------------------------------------------------
# The parts of the file
# ---------------------------------------------------------------------------------------------------------------------


def functions(samples: dict[str, list[Call]]) -> dict[str, Result]:
    """Every public function."""
    stubs = {"torch": read_stub("_C/_VariableFunctions.pyi"), "torch.nn.functional": read_stub("nn/functional.pyi")}
    found = {}
    for name, value in public_names().objects.items():
        if not is_function(value):
            continue
        module, _, last = name.rpartition(".")
        known = Known(tuple(stubs.get(module, {}).get(last, ()) or live_signatures(value)))
        calls = [*_calls_for(name.removeprefix("torch."), samples), *probe_calls(PROBES.get(name, ()))]
        if (
            known.signatures
            and last in stubs.get(module, {})
            and "Tensor" in known.signatures[0].parameters[0:1].__str__()
        ):
            calls += plain_calls()
        result = None if NOT_RUN.search(last) else look(value, calls, known)
        found[name] = from_signatures(known) if result is None else result
    return found


def _calls_for(name: str, samples: dict[str, list[Call]]) -> list[Call]:
    return samples.get(name) or samples.get(name.removesuffix("_")) or samples.get("nn.functional." + name, [])


def methods(samples: dict[str, list[Call]]) -> dict[str, Result]:
    """Every public method of tensors."""
    stub = read_stub("_C/__init__.pyi", "TensorBase")
    found = {}
    for name in dir(torch.Tensor):
        value = getattr(torch.Tensor, name)
        if name.startswith("_") or not callable(value):
            continue
        known = Known(tuple(stub.get(name) or live_signatures(value)), takes_self=True)
        calls = [*_calls_for(name, samples), *probe_calls(METHOD_PROBES.get(name, ())), *plain_calls()]
        calls = [call for call in calls if call.args and isinstance(call.args[0], torch.Tensor)]
        result = None if NOT_RUN.search(name) else look(value, calls, known)
        result = from_signatures(known) if result is None else result
        found[name] = {**result, "alias": True} if _may_return_self(value, result) else result
    return found


def _may_return_self(method: Any, result: Result) -> bool:
    """For what can only run on some devices: its documentation says that it may return the tensor itself."""
    return result == TENSOR and "original object is returned" in re.sub(r"\s+", " ", method.__doc__ or "")


def attributes() -> dict[str, Result]:
    """Every public attribute of tensors, read from a few tensors."""
    declared = read_attributes("_C/__init__.pyi", "TensorBase")
    found = {}
    for name in dir(torch.Tensor):
        if name.startswith("_") or callable(getattr(torch.Tensor, name)):
            continue
        known = Known((Signature((), declared.get(name, "Any")),), takes_self=True)
        calls = [*plain_calls()[:12], Call((torch.rand(2, 3, dtype=torch.complex64),))]
        result = look(lambda tensor, name=name: getattr(tensor, name), calls, known)
        found[name] = from_signatures(known) if result is None or result == "none" else result
    found["grad"] = _seen_gradient()
    return found


def _seen_gradient() -> Result:
    leaf = torch.rand(3, requires_grad=True)
    assert leaf.grad is None
    (leaf * leaf).sum().backward()
    assert leaf.grad is not None
    assert not leaf.grad.requires_grad
    return {"k": "tensor", "grad": "never", "ndim": "keep", "optional": True}


def not_tensors() -> list[Any]:
    """Types, and instances of them, whose attributes are not evidence for a tensor."""
    import array
    import datetime
    import decimal
    import fractions
    import io
    import logging
    import pathlib
    import queue
    import threading

    linear = torch.nn.Linear(1, 1)
    dataset = torch.utils.data.TensorDataset(torch.rand(1))
    optimizers = [torch.optim.SGD(linear.parameters()), torch.optim.Adam(linear.parameters())]
    schedulers = [
        torch.optim.lr_scheduler.StepLR(optimizers[0], 1),
        torch.optim.lr_scheduler.ReduceLROnPlateau(optimizers[0]),
    ]
    distributions = [
        value
        for value in vars(torch.distributions).values()
        if inspect.isclass(value) and issubclass(value, torch.distributions.Distribution)
    ]
    standard = [
        np.ndarray,
        np.generic,
        np.float64,
        np.int64,
        np.bool_,
        list,
        tuple,
        dict,
        set,
        frozenset,
        str,
        bytes,
        bytearray,
        int,
    ]
    standard += [
        float,
        complex,
        bool,
        range,
        object,
        slice,
        io.TextIOWrapper,
        io.BytesIO,
        io.StringIO,
        io.BufferedReader,
        pathlib.Path,
    ]
    standard += [
        argparse.Namespace,
        collections.deque,
        collections.Counter,
        collections.OrderedDict,
        collections.defaultdict,
    ]
    standard += [
        collections.ChainMap,
        array.array,
        memoryview,
        fractions.Fraction,
        decimal.Decimal,
        datetime.date,
        datetime.time,
    ]
    standard += [
        datetime.datetime,
        datetime.timedelta,
        random.Random,
        logging.getLogger("torchlint"),
        re.Pattern,
        re.Match,
    ]
    standard += [
        types.SimpleNamespace,
        threading.Thread(),
        threading.Lock(),
        queue.Queue(),
        type,
        types.FunctionType,
        types.ModuleType,
    ]
    own = [
        linear,
        torch.nn.Module,
        torch.nn.Sequential,
        torch.nn.ModuleList(),
        torch.nn.ParameterList(),
        torch.nn.ModuleDict(),
    ]
    own += [
        torch.nn.ParameterDict(),
        *optimizers,
        *schedulers,
        dataset,
        torch.utils.data.Dataset,
        torch.utils.data.DataLoader(dataset),
    ]
    own += [
        torch.nn.utils.rnn.PackedSequence,
        torch.Size,
        torch.device,
        torch.dtype,
        torch.layout,
        torch.Generator,
        torch.cuda.Stream,
    ]
    own += [
        torch.cuda.Event,
        torch.UntypedStorage,
        torch.TypedStorage,
        *distributions,
        torch.jit.ScriptModule,
        torch.fx.Node,
        torch.fx.GraphModule,
    ]
    return [*standard, *own]


def tensor_only() -> list[str]:
    """Public names of tensors that nothing in :func:`not_tensors` has."""
    others = {name for value in not_tensors() for name in dir(value)}
    return sorted(name for name in dir(torch.Tensor) if not name.startswith("_") and name not in others)


def tensor_or_module() -> list[str]:
    """Public names that tensors and modules share, but none of the standard types have."""
    return sorted(name for name in set(dir(torch.Tensor)) & set(dir(torch.nn.Module)) if not name.startswith("_"))


CLASS_KINDS: tuple[tuple[str, str], ...] = (
    ("torch.nn.Parameter", "parameter"),
    ("torch.Tensor", "tensor"),
    ("torch.nn.Module", "module"),
    ("torch.optim.Optimizer", "optimizer"),
    ("torch.optim.lr_scheduler.LRScheduler", "scheduler"),
    ("torch.utils.data.DataLoader", "dataloader"),
    ("torch.utils.data.Dataset", "dataset"),
    ("torch.utils.data.Sampler", "sampler"),
    ("torch.distributions.Distribution", "distribution"),
    ("torch.nn.utils.rnn.PackedSequence", "packed"),
    ("torch.UntypedStorage", "storage"),
    ("torch.TypedStorage", "storage"),
    ("torch.Size", "size"),
    ("torch.device", "device"),
    ("torch.dtype", "dtype"),
    ("torch.layout", "layout"),
    ("torch.autograd.Function", "function"),
)
"""Base classes, and what their subclasses are called."""


def resolve(name: str) -> Any:
    """The object a dotted name leads to."""
    value: Any = torch
    for part in name.split(".")[1:]:
        value = getattr(value, part)
    return value


def classes(known_modules: Iterable[str]) -> dict[str, str]:
    """Every public class that is not in ``modules``."""
    kinds = [(resolve(name), kind) for name, kind in CLASS_KINDS]
    found = {}
    for name, value in public_names().objects.items():
        if is_tensor_type(value):
            found[name] = "tensor"
        elif inspect.isclass(value) and name not in known_modules:
            found[name] = next((kind for base, kind in kinds if issubclass(value, base)), "other")
    return found


MODULE_PROBES: dict[str, tuple[str, ...]] = {
    "AdaptiveLogSoftmaxWithLoss": ("4, 6, [2]", "torch.rand(2, 4), torch.tensor([0, 3])"),
    "AlphaDropout": ("", "x"),
    "ChannelShuffle": ("1", "torch.rand(1, 2, 3, 3)"),
    "CosineSimilarity": ("", "x, x"),
    "CrossMapLRN2d": ("2", "torch.rand(1, 2, 3, 3)"),
    "Dropout": ("", "x", "s"),
    "Dropout1d": ("", "x"),
    "Dropout2d": ("", "x[None]"),
    "Dropout3d": ("", "x[None, None]"),
    "EmbeddingBag": ("4, 2", "i"),
    "FeatureAlphaDropout": ("", "x"),
    "Flatten": ("", "x", "x[None]"),
    "Fold": ("2, 2", "torch.rand(1, 4, 1)"),
    "Hardsigmoid": ("", "x", "s"),
    "Identity": ("", "x", "s"),
    "LazyBatchNorm1d": ("", "x"),
    "LazyBatchNorm2d": ("", "torch.rand(2, 3, 2, 2)"),
    "LazyBatchNorm3d": ("", "torch.rand(2, 3, 2, 2, 2)"),
    "LazyInstanceNorm1d": ("", "x[None]"),
    "LazyInstanceNorm2d": ("", "torch.rand(2, 3, 2, 2)"),
    "LazyInstanceNorm3d": ("", "torch.rand(2, 3, 2, 2, 2)"),
    "LazyLinear": ("2", "x", "v"),
    "MaxUnpool1d": ("2", "torch.rand(1, 1, 2), torch.tensor([[[0, 2]]])"),
    "MaxUnpool2d": ("2", "torch.rand(1, 1, 1, 1), torch.tensor([[[[0]]]])"),
    "MaxUnpool3d": ("2", "torch.rand(1, 1, 1, 1, 1), torch.tensor([[[[[0]]]]])"),
    "ModuleDict": ("",),
    "ModuleList": ("",),
    "Module": ("",),
    "NLLLoss2d": ("", "torch.rand(1, 2, 3, 3), torch.ones(1, 3, 3, dtype=torch.int64)"),
    "PairwiseDistance": ("", "x, x"),
    "ParameterDict": ("",),
    "ParameterList": ("",),
    "PixelShuffle": ("1", "torch.rand(1, 1, 2, 2)"),
    "PixelUnshuffle": ("1", "torch.rand(1, 1, 2, 2)"),
    "RNNBase": ("'LSTM', 2, 3",),
    "RNNCellBase": ("2, 3, True, 4",),
    "RReLU": ("", "x", "s"),
    "Sequential": ("linear", "x"),
    "SyncBatchNorm": ("3",),
    "TransformerDecoder": ("torch.nn.TransformerDecoderLayer(4, 2, 4), 1", "torch.rand(2, 4), torch.rand(2, 4)"),
    "TripletMarginLoss": ("", "x, x, x"),
    "TripletMarginWithDistanceLoss": ("", "x, x, x"),
    "Unflatten": ("1, (3, 1)", "x"),
    "Unfold": ("2", "torch.rand(1, 1, 3, 3)"),
    "Upsample": ("None, 2", "x[None]"),
    "UpsamplingBilinear2d": ("None, 2", "torch.rand(1, 1, 2, 2)"),
    "UpsamplingNearest2d": ("None, 2", "torch.rand(1, 1, 2, 2)"),
}
"""For modules that ``module_db`` lacks: constructor arguments, then arguments of calls."""


def modules() -> dict[str, dict[str, Any]]:
    """Every public module of ``torch.nn``, built and run."""
    database = {info.module_cls: info for info in import_testing()[1]}
    found = {}
    for name, value in public_names().objects.items():
        if name.startswith("torch.nn.") and inspect.isclass(value) and issubclass(value, torch.nn.Module):
            pairs = [*_database_pairs(database.get(value)), *_probe_pairs(value.__name__)]
            found[name] = _module(value, pairs)
    return found


def _database_pairs(info: Any) -> Iterator[tuple[Call, Call | None]]:
    if info is None:
        return
    seed()
    for sample in info.module_inputs_func(info, device="cpu", dtype=torch.float32, requires_grad=False, training=True):
        made, called = sample.constructor_input, sample.forward_input
        yield Call(tuple(made.args), made.kwargs), Call(tuple(called.args), called.kwargs) if called else None


def _probe_pairs(name: str) -> Iterator[tuple[Call, Call | None]]:
    if name not in MODULE_PROBES:
        return
    made, *called = MODULE_PROBES[name]
    for text in called or [None]:
        yield probe_calls([made])[0], probe_calls([text])[0] if text is not None else None


def _module(cls: Any, pairs: Sequence[tuple[Call, Call | None]]) -> dict[str, Any]:
    seen: list[Seen] = []
    names: dict[str, set[str]] = {"params": set(), "buffers": set(), "attributes": set()}
    known = Known()
    for made, called in pairs[:40]:
        try:
            seed()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                module = cls(*made.args, **made.kwargs)
        except Exception:  # noqa: BLE001
            continue
        one = None if called is None else _run_module(module, made, called, known)
        seen += [one] if one else []
        names["params"] |= set(module._parameters)
        names["buffers"] |= set(module._buffers)
        names["attributes"] |= {key for key in vars(module) if not key.startswith("_")} - {"training"}
    output = merge_calls(seen, known) if seen else "any"
    return {**{key: sorted(value) for key, value in names.items()}, "output": output}


def _run_module(module: torch.nn.Module, made: Call, called: Call, known: Known) -> Seen | None:
    one = run(module, called, known)
    reduction = made.kwargs.get("reduction") == "none"
    return one and Seen("no_args", frozenset(), False, reduction, False, one.tree)


def constants() -> dict[str, str]:
    """Public values of ``torch`` that are neither dtypes nor callable."""
    found = {name: value for name, value in vars(torch).items() if not name.startswith("_") and not callable(value)}
    plain = {f"torch.{name}": kind for name, value in found.items() for cls, kind in PLAIN if isinstance(value, cls)}
    return {name: kind for name, kind in plain.items() if kind not in {"dtype", "none"} and not name.endswith("Tensor")}


def dtypes() -> dict[str, str]:
    """Kinds of the public dtypes."""
    return {f"torch.{name}": dtype_kind(value) for name, value in vars(torch).items() if isinstance(value, torch.dtype)}


def generate() -> dict[str, Any]:
    """Everything the file holds."""
    torch.set_num_threads(1)
    samples = sample_calls()
    found_modules = modules()
    return {
        "torch": torch.__version__.partition("+")[0],
        "functions": functions(samples),
        "methods": methods(samples),
        "attributes": attributes(),
        "tensor_only": tensor_only(),
        "tensor_or_module": tensor_or_module(),
        "modules": found_modules,
        "classes": classes(found_modules),
        "aliases": public_names().aliases,
        "constants": constants(),
        "dtypes": dtypes(),
    }


def render(data: dict[str, Any]) -> str:
    """JSON with one entry a line, sorted."""
    parts = []
    for key, value in data.items():
        if isinstance(value, str):
            parts.append(f"{json.dumps(key)}: {json.dumps(value)}")
        elif isinstance(value, list):
            lines = ",\n".join(f"  {json.dumps(item)}" for item in sorted(value))
            parts.append(f"{json.dumps(key)}: [\n{lines}\n ]")
        else:
            lines = ",\n".join(f"  {json.dumps(name)}: {_compact(value[name])}" for name in sorted(value))
            parts.append(f"{json.dumps(key)}: {{\n{lines}\n }}")
    return "{\n " + ",\n ".join(parts) + "\n}\n"


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def main() -> int:
    """Write the file, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="only compare with the file that is there")
    check = parser.parse_args().check
    text = render(generate())
    if check:
        return int(OUTPUT.read_text(encoding="utf-8") != text)
    OUTPUT.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
