"""Which files of a project have a class whose own `to()` or `cpu()` gives the tensor that an object holds.

Of such an object `.detach()` cannot be called first: it is no tensor before it is on another device.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator

from torchlint.model.codebase.patching import ParseFile

_DEFINED = re.compile(rb"def[ \t]+(to|cpu|cuda|numpy|float|double|half)[ \t]*\(")


class Unwrapping:
    """The classes in the files of one project that give what they hold by a method with the name of a transfer."""

    def __init__(self, parse: ParseFile) -> None:
        self._parse = parse
        self._by_method: dict[str, set[str]] = defaultdict(set)
        self._known: dict[tuple[str, str], bool] = {}
        """What is known of files and methods."""

    def add(self, path: str, data: bytes) -> None:
        """Take a file in."""
        for name in _DEFINED.findall(data):
            self._by_method[name.decode()].add(path)

    def unwrapper(self, path: str, method: str) -> str | None:
        """The first other file with such a class; None if there is none."""
        return next(
            (each for each in sorted(self._by_method[method]) if each != path and self._has(each, method)), None
        )

    def _has(self, path: str, method: str) -> bool:
        key = (path, method)
        if key not in self._known:
            tree = self._parse(path)
            self._known[key] = tree is None or unwraps(tree, method)
        return self._known[key]


def unwraps(tree: ast.Module, method: str) -> bool:
    """Whether a class of a file has a method of that name which gives what its object holds."""
    classes = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    return any(_is_unwrapping(each, cls) for cls in classes for each in cls.body if _is_called(each, method))


def _is_called(node: ast.stmt, name: str) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name == name


def _is_unwrapping(method: ast.stmt, cls: ast.ClassDef) -> bool:
    if not isinstance(method, ast.FunctionDef) or not method.args.args:
        return False
    me = method.args.args[0].arg
    returned = [node.value for node in ast.walk(method) if isinstance(node, ast.Return) and node.value is not None]
    if any(_is_held(each, me) for each in returned):
        return True
    return any(isinstance(each, ast.Name) and each.id == me for each in returned) and "data" in _attributes(cls)


def _is_held(node: ast.expr, me: str) -> bool:
    """``self.x``, ``self["x"]``, and either on another device."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Attribute() | ast.Subscript() as inner)):
            return _is_held(inner, me)
        case ast.Attribute(value=ast.Name(id=name)) | ast.Subscript(value=ast.Name(id=name)):
            return name == me
    return False


def _attributes(cls: ast.ClassDef) -> Iterator[str]:
    """The names of the attributes that a class sets, declares or computes."""
    for node in ast.walk(cls):
        match node:
            case ast.Attribute(attr=name, ctx=ast.Store()) | ast.FunctionDef(name=name):
                yield name
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
