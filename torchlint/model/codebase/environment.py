"""Which variables of the environment the files of a project set for the process that they run in.

Torch reads some of them when it is called, so one file may change what the call in another one does. A comment or a
string that shows how a variable is set sets nothing, so trees are asked, and what does not parse sets nothing either.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from torchlint.file.text.python import parsed
from torchlint.model.codebase.patching import ParseFile
from torchlint.system import importable

_ENVIRONMENT = re.compile(rb"environ|(?:put|set)env")
_MAGIC = re.compile(r"^[ \t]*[%!].*", re.MULTILINE)
"""A line that only IPython understands."""


class Environment:
    """The variables that the files of one project set."""

    def __init__(self, parse: ParseFile, code: Callable[[str], bytes]) -> None:
        self._parse, self._code = parse, code
        self._setting: list[str] = []
        """The files that may set any."""
        self._known: dict[tuple[str, str], frozenset[str]] = {}
        """What is known of files and variables."""

    def add(self, path: str, data: bytes) -> None:
        """Take a file in."""
        if _ENVIRONMENT.search(data) is not None:
            self._setting.append(path)

    def values(self, path: str, name: str) -> frozenset[str]:
        """What the other files set a variable to."""
        return frozenset[str]().union(*(self._of(other, name) for other in self._setting if other != path))

    def _of(self, path: str, name: str) -> frozenset[str]:
        key = (path, name)
        if key not in self._known:
            code = self._code(path)
            tree = self._tree(path, code) if name.encode() in code else None
            self._known[key] = frozenset() if tree is None else frozenset(values_set(tree, name))
        return self._known[key]

    def _tree(self, path: str, code: bytes) -> ast.Module | None:
        if path.endswith(importable.NOTEBOOK):
            return parsed(_MAGIC.sub("", code.decode(errors="replace")))
        return self._parse(path)


def values_set(tree: ast.Module, name: str) -> Iterator[str]:
    """What a file sets a variable to, where that is written out."""
    for node in ast.walk(tree):
        for key, value in _settings(node):
            if isinstance(key, ast.Constant) and key.value == name and isinstance(value, ast.Constant):
                yield str(value.value)


def _settings(node: ast.AST) -> Iterator[tuple[ast.expr | None, ast.expr]]:
    """The variables that a node sets, and what to."""
    match node:
        case ast.Assign(targets=[ast.Subscript(value=into, slice=key)], value=value) if _is_environment(into):
            yield key, value
        case ast.AugAssign(target=into, op=ast.BitOr(), value=ast.Dict(keys, values)) if _is_environment(into):
            yield from zip(keys, values, strict=True)
        case ast.Call(func=ast.Attribute(attr="setdefault", value=into), args=[key, value]) if _is_environment(into):
            yield key, value
        case ast.Call(func=ast.Attribute(attr="update", value=into)) if _is_environment(into):
            yield from _updated(node)
        case ast.Call(func=ast.Attribute(attr="putenv" | "setenv") | ast.Name("putenv"), args=[key, value, *_]):
            yield key, value


def _updated(call: ast.Call) -> Iterator[tuple[ast.expr | None, ast.expr]]:
    for given in call.args:
        if isinstance(given, ast.Dict):
            yield from zip(given.keys, given.values, strict=True)
    for keyword in call.keywords:
        yield ast.Constant(keyword.arg), keyword.value


def _is_environment(node: ast.expr) -> bool:
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name == "environ"
    return False
