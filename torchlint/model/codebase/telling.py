"""Which files of a project tell objects apart by a class of torch's: ``isinstance(x, torch.cuda.amp.GradScaler)``.

A class that replaces another one is not that one: what is made of it is told apart from what was made before.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from torchlint.model.codebase.patching import ParseFile
from torchlint.model.codebase.python_trees import dotted_parts, imported
from torchlint.model.torch import library

_ASKING = re.compile(rb"\bis(?:instance|subclass)\b|\btype\s*\(|__class__|\bcase\b|\bregister\b|\bexcept\b")
"""What a file has that asks for classes, or does something else by them."""


class Telling:
    """The files of one project that ask what class something is of."""

    def __init__(self, parse: ParseFile, code: Callable[[str], bytes]) -> None:
        self._parse, self._code = parse, code
        self._asking: list[str] = []
        self._known: dict[tuple[str, str], bool] = {}

    def add(self, path: str, data: bytes) -> None:
        """Take a file in."""
        if _ASKING.search(data) is not None:
            self._asking.append(path)

    def teller(self, path: str, name: str) -> str | None:
        """The first other file that names a class without calling it; None if there is none."""
        return next((other for other in self._asking if other != path and self._names(other, name)), None)

    def _names(self, other: str, name: str) -> bool:
        key = (other, name)
        if key not in self._known:
            last = name.rpartition(".")[2].encode()
            self._known[key] = last in self._code(other) and self._tells(other, name)
        return self._known[key]

    def _tells(self, other: str, name: str) -> bool:
        tree = self._parse(other)
        return tree is None or _is_named(tree, name)


def _is_named(tree: ast.Module, name: str) -> bool:
    """Whether a file names a class otherwise than to call it, to annotate with it or to derive from it."""
    names = imported(tree)
    return any(_may_be(node, name, names) for node in _named(tree))


def _named(node: ast.AST) -> Iterator[ast.expr]:
    """The names, and names with dots, of a file that are evaluated and neither called nor bases."""
    waiting = [node]
    while waiting:
        at = waiting.pop()
        match at:
            case ast.Call(func=func, args=args, keywords=keywords):
                waiting += [*args, *keywords, *([] if isinstance(func, ast.Name) else ast.iter_child_nodes(func))]
            case ast.ClassDef(body=body):
                waiting += body
            case (
                ast.FunctionDef(body=body, decorator_list=decorators, args=given)
                | ast.AsyncFunctionDef(body=body, decorator_list=decorators, args=given)
            ) if not any(map(_registers, decorators)):
                waiting += [*body, *decorators, *given.defaults, *(each for each in given.kw_defaults if each)]
            case ast.AnnAssign(value=value):
                waiting += [value] if value is not None else []
            case ast.Name() | ast.Attribute():
                yield at
                waiting += ast.iter_child_nodes(at)
            case _:
                waiting += ast.iter_child_nodes(at)


def _registers(decorator: ast.expr) -> bool:
    """Whether a decorator chooses a function by the class that its argument is said to be of."""
    return isinstance(decorator, ast.Attribute) and decorator.attr == "register"


def _may_be(node: ast.expr, name: str, names: dict[str, str]) -> bool:
    """Whether an expression may name a class of torch's: by the imports of its file, or as another file has it."""
    parts = list(dotted_parts(node))
    if not parts or parts[0] not in names:
        return False
    full = ".".join((names[parts[0]], *parts[1:]))
    if full.partition(".")[0] == "torch":
        return name in (full, library.canonical(full))
    return full.rpartition(".")[2] == name.rpartition(".")[2]
