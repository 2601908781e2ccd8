"""Where the other files of a project call a function: only under ``no_grad``, or also elsewhere.

Files are searched for the name, and parsed where it is called. That a function is called under ``no_grad`` wherever it
is may keep a rule silent; no fix rests on it, for a library is called by others, too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from torchlint.model.codebase.patching import ParseFile

_OFF = (b"no_grad", b"inference_mode", b"set_grad_enabled")
_FAR = 3
"""How many callers of callers in one file to follow."""


class CallingFiles:
    """The files of one project, and which of them turn autograd off anywhere."""

    def __init__(self, parse: ParseFile, code: Callable[[str], bytes]) -> None:
        self._parse, self._code = parse, code
        self._turning_off: list[str] = []
        self._others: list[str] = []
        self._known: dict[tuple[str, str], bool] = {}
        """What is known of files and names that they call."""

    def add(self, path: str, data: bytes) -> None:
        """Take a file in."""
        (self._turning_off if any(word in data for word in _OFF) else self._others).append(path)

    def without_grad(self, path: str, name: str, takes: Callable[[str], bool] | None) -> bool | None:
        """Whether files other than ``path`` call a name only where autograd is off; None if none calls it.

        ``takes`` says whether a file has the name from there; None of a method, which anybody may have.
        """
        called = re.compile((rb"\b" if takes is not None else rb"\.\s*") + re.escape(name.encode()) + rb"\s*\(")
        found: bool | None = None
        for files in (self._turning_off, self._others):
            for other in files:
                if other == path or called.search(self._code(other)) is None:
                    continue
                if takes is not None and not takes(other):
                    continue
                if not self._is_off(other, name):
                    return False
                found = True
            if found is None:
                return None
        return found

    def _is_off(self, path: str, name: str) -> bool:
        """Whether a file calls a name only where autograd is off."""
        key = (path, name)
        if key not in self._known:
            tree = self._parse(path)
            self._known[key] = tree is not None and _only_off(tree, name, _FAR)
        return self._known[key]


def _only_off(tree: ast.Module, name: str, far: int) -> bool:
    calls = list(_calls(tree, name, "", False))
    if not calls or not far:
        return False
    return all(is_off or (bool(within) and _only_off(tree, within, far - 1)) for is_off, within in calls)


def _calls(node: ast.AST, name: str, within: str, is_off: bool) -> Iterator[tuple[bool, str]]:
    """The calls of a name below a node: whether autograd is off around each, and in which function it is."""
    waiting: list[tuple[ast.AST, str, bool]] = [(node, within, is_off)]
    while waiting:
        at, function, off = waiting.pop()
        match at:
            case (
                ast.FunctionDef(name=defined, decorator_list=decorators)
                | ast.AsyncFunctionDef(name=defined, decorator_list=decorators)
            ):
                function, off = defined, any(map(_turns_off, decorators))
            case ast.With(items=items) | ast.AsyncWith(items=items):
                off = off or any(_turns_off(item.context_expr) for item in items)
            case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called)) if called == name:
                yield off, function
        waiting += [(child, function, off) for child in ast.iter_child_nodes(at)]


def _turns_off(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=func, args=[ast.Constant(value=False)]):
            return _last(func) == "set_grad_enabled"
        case ast.Call(func=func, args=[]):
            return _last(func) in ("no_grad", "inference_mode")
    return _last(node) in ("no_grad", "inference_mode")


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
