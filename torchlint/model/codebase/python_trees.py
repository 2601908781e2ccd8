"""Python's own trees of the files of a project: of those that were asked for last, for trees are large."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.file.text import source
from torchlint.file.text.density import excess
from torchlint.file.text.python import parsed
from torchlint.system import importable
from torchlint.system.limits import USUAL

_ROOM = 2_000_000
"""Bytes of files whose trees are kept; a tree takes some 25 times as much memory as its file."""


class PythonTrees:
    """The trees of the files that were asked for last."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[ast.Module | None, int]] = {}
        self._size = 0

    def of(self, path: str) -> ast.Module | None:
        """The tree of a file; None of what is no Python, or does not parse."""
        if not path.endswith((".py", ".pyi")):
            return None
        known = self._kept.pop(path, None)
        if known is None:
            data = importable.content(path)
            known = (_parsed(data), len(data))
            self._size += len(data)
        self._kept[path] = known
        while self._size > _ROOM and len(self._kept) > 1:
            oldest = next(iter(self._kept))
            self._size -= self._kept.pop(oldest)[1]
        return known[0]


def _parsed(data: bytes) -> ast.Module | None:
    try:
        text = source.decode(data).text
    except source.Undecodable:
        return None
    return parsed(text) if excess(text, USUAL) is None else None


def imported(tree: ast.Module) -> dict[str, str]:
    """What the names of a file stand for that are imported, by their full names."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=aliases):
                for alias in aliases:
                    top = alias.name.partition(".")[0]
                    names[alias.asname or top] = alias.name if alias.asname else top
            case ast.ImportFrom(module=module, names=aliases, level=level):
                for alias in aliases:
                    names[alias.asname or alias.name] = f"{'.' * level}{module or ''}.{alias.name}"
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Attribute() | ast.Name() as value):
                path = list(dotted_parts(value))
                if path and path[0] in names:
                    names.setdefault(name, ".".join((names[path[0]], *path[1:])))
    return names


def dotted_parts(node: ast.expr) -> Iterator[str]:
    """The names of a dotted name; none of anything else."""
    match node:
        case ast.Name(id=name):
            yield name
        case ast.Attribute(value=value, attr=name):
            before = list(dotted_parts(value))
            if before:
                yield from (*before, name)
