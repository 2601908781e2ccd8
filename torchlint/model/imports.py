"""Names that can only stand for what one import binds: no flow has to be followed for those.

``torch`` is such a name in nearly every file. That nothing else binds it is seen in the text, so that functions which
nobody has looked into stay unread; where the text leaves a doubt, the answer is that nothing is known here.
"""

from __future__ import annotations

import functools
import re

import libcst as cst

from torchlint.file.tree.tree import Tree
from torchlint.model.syntax import dotted
from torchlint.system.layers import Layer, is_on

_MARGIN = 80
"""How far in front of a name to look for what makes it a target."""


class Imports:
    """The imports of a file that are not in a function."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._paths: dict[str, str | None] = {}
        self._assigned: dict[str, frozenset[str]] = {}

    def path(self, node: cst.CSTNode) -> str | None:
        """The path that a name or a path of attributes can only stand for, as it is imported: ``torch.nn.Linear``.

        None if it can stand for something else, or is imported relative to the file.
        """
        name = dotted(node)
        if name is None or not is_on(Layer.SOLE_IMPORTS):
            return None
        first, _, rest = name.partition(".")
        if first not in self._paths:
            self._paths[first] = self._imported(first)
        path = self._paths[first]
        if path is None or self._is_label(node):
            return None
        if not rest:
            return path
        return None if self._is_assigned(first, name) else f"{path}.{rest}"

    def _is_label(self, node: cst.CSTNode) -> bool:
        """Whether a name is none that is looked up: in an import, behind a dot, of an argument."""
        child, up = node, self._tree.parent(node)
        while isinstance(up, cst.Attribute) and up.value is child:
            child, up = up, self._tree.parent(up)
        match up:
            case cst.ImportFrom() | cst.ImportAlias() | cst.AsName() | cst.Attribute():
                return True
            case cst.Arg(keyword=keyword):
                return keyword is child
        return False

    def _imported(self, name: str) -> str | None:
        found = {id(node): node for node in self._tree.parsed_names(name)}
        bound = [(alias, self._bound(alias, found)) for alias in self._tree.parsed(cst.ImportAlias)]
        paths = {path for _, path in bound if path is not None}
        plain = sum(path is not None and _is_plain(alias) for alias, path in bound)
        if len(paths) != 1 or _binders(self._tree.source.text, name) != plain:
            return None
        return paths.pop()

    def _bound(self, alias: cst.ImportAlias, names: dict[int, cst.Name]) -> str | None:
        """What an import binds to one of these names."""
        bound: cst.CSTNode = alias.asname.name if alias.asname is not None else alias.name
        while isinstance(bound, cst.Attribute):
            bound = bound.value
        if id(bound) not in names or self._tree.enclosing(alias, cst.FunctionDef, cst.ClassDef) is not None:
            return None
        path = dotted(alias.name) or ""
        match self._tree.parent(alias):
            case cst.ImportFrom(relative=[], module=module) if module is not None:
                return f"{dotted(module)}.{path}"
            case cst.Import():
                return path if alias.asname is not None else path.partition(".")[0]
        return None

    def _is_assigned(self, first: str, path: str) -> bool:
        """Whether a path, or what it begins with, is assigned to: ``torch.load = …``."""
        if first not in self._assigned:
            self._assigned[first] = frozenset(_assigned(first).findall(self._tree.source.text))
        assigned = self._assigned[first]
        return bool(assigned) and any(path == each or path.startswith(f"{each}.") for each in assigned)


def _is_plain(alias: cst.ImportAlias) -> bool:
    """Whether the name that an import binds is not followed by a dot, as in ``import torch.nn``."""
    return alias.asname is not None or isinstance(alias.name, cst.Name)


_AFTER = re.compile(r"\s*(?:[,;:)\]\\]|=(?!=)|(?:\*\*|//|>>|<<|[-+*/%@&|^])=|\bin\b|\bas\b)")
_BEFORE = re.compile(r"(?:[(,*\[]\s*|\b(?:import|as|global|nonlocal|for|del|case)\s+)\Z")
_DEFINED = re.compile(r"\b(?:def|class)\s+\Z")
_USED = re.compile(r"[ \t]*[(\[]|\s*\.")


def _binders(text: str, name: str) -> int:
    """How many places there are in a text where a name may be bound; some are none."""
    found = 0
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        if (
            not text[at - 1 : at].isidentifier()
            and text[at - 1 : at] != "."
            and not f"_{text[end : end + 1]}".isidentifier()
        ):
            before = text[max(0, at - _MARGIN) : at]
            if _USED.match(text, end):
                found += _DEFINED.search(before) is not None
            else:
                found += _AFTER.match(text, end) is not None or _BEFORE.search(before) is not None
        at = text.find(name, end)
    return found


@functools.lru_cache(maxsize=256)
def _assigned(name: str) -> re.Pattern[str]:
    """What finds the paths beginning with a name that statements assign to."""
    return re.compile(rf"^[ \t]*({name}(?:\.\w+)+)[ \t]*(?:=(?!=)|[,:])", re.MULTILINE)
