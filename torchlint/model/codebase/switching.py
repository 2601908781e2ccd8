"""Which files of a project turn autograd off for all that comes after, as they are imported, and who imports them."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from torchlint.model.codebase.patching import ParseFile

Leads = Callable[[str, str, int], str | None]
"""The file that a module's name leads to, asked by a file, with the dots in front; None if it is not found."""

_SWITCH = re.compile(rb"^(?:\w+\.)*_?set_grad_enabled\s*\(\s*(?!(?:mode\s*=\s*)?True\b)", re.MULTILINE)
"""The setter as a statement of its own, which an import runs."""
_DEEPEST = 6
"""Packages around a file that are imported with it."""


class Switching:
    """The files of one project that turn autograd off."""

    def __init__(self, parse: ParseFile) -> None:
        self._parse = parse
        self._off: set[str] = set()
        self._modules: dict[str, list[tuple[str, int]]] = {}
        """The modules that files import, as far as somebody asked."""

    def add(self, path: str, data: bytes) -> None:
        """Take a file in."""
        if b"set_grad_enabled" in data and _SWITCH.search(data) is not None:
            self._off.add(path)

    def is_off_for(self, path: str, leads: Leads) -> bool:
        """Whether what a file imports turns autograd off, or what that imports."""
        waiting, seen = [path], {path}
        while waiting and self._off:
            for other in self._imported(waiting.pop(), leads):
                if other in self._off and other != path:
                    return True
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)
        return False

    def _imported(self, path: str, leads: Leads) -> Iterator[str]:
        """The files that a file imports, and the packages that it is in."""
        if path not in self._modules:
            tree = self._parse(path)
            around = [("", level) for level in range(1, _DEEPEST)]
            self._modules[path] = [] if tree is None else list(dict.fromkeys([*_modules(tree), *around]))
        for module, level in self._modules[path]:
            found = leads(path, module, level)
            if found is not None:
                yield found


def _modules(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """The modules that a file may import before anything of it is called, each with the dots in front."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                continue
            case ast.Import(names=aliases):
                yield from ((part, 0) for alias in aliases for part in _around(alias.name))
            case ast.ImportFrom(module=module, names=aliases, level=level):
                names = [f"{module}.{alias.name}" if module else alias.name for alias in aliases]
                yield from ((part, level) for name in dict.fromkeys(names) for part in _around(name))
        waiting += ast.iter_child_nodes(node)


def _around(module: str) -> Iterator[str]:
    """A module and the packages that it is in."""
    parts = module.split(".")
    yield from (".".join(parts[: count + 1]) for count in range(len(parts)))
