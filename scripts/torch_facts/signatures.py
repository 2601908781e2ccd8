"""Signatures: from stubs, from ``inspect``, from docstrings."""

from __future__ import annotations

import ast
import collections
import contextlib
import inspect
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from torch_facts.annotations import annotation_text

STUBS = Path(torch.__file__).parent


@dataclass(frozen=True)
class Signature:
    """Parameters (name, annotation, keyword only, required) without ``self``, and the annotated result."""

    parameters: tuple[tuple[str, str, bool, bool], ...]
    returns: str
    variadic: str = ""
    """Name of the parameter for any number of positional arguments."""

    @property
    def positional(self) -> list[str]:
        return [name for name, _, keyword, _ in self.parameters if not keyword]

    def position(self, names: Iterable[str]) -> int | None:
        """Position of the first positional parameter with one of these names."""
        return next((at for at, name in enumerate(self.positional) if name in names), None)

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
    returns = ast.unparse(node.returns) if node.returns else "Any"
    return Signature(parameters, returns, args.vararg.arg if args.vararg else "")


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
    with contextlib.suppress(ValueError, TypeError, NameError):
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
