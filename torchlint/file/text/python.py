"""What Python's own parser makes of a text."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable


def parsed(text: str) -> ast.Module | None:
    """The syntax tree of a text, without warnings about it; None if it is no Python, or too deep for this process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def are_same(left: object, right: object, plain: Callable[[object], str] = repr) -> bool:
    """Whether two trees, or parts of them, are the same but for where they stand.

    ``plain`` makes constants comparable: one need not be equal to itself. Nothing here goes as deep as the trees do.
    """
    stack = [(left, right)]
    while stack:
        mine, other = stack.pop()
        if type(mine) is not type(other):
            return False
        if isinstance(mine, ast.AST):
            stack += ((getattr(mine, name, None), getattr(other, name, None)) for name in mine._fields)
        elif isinstance(mine, list) and isinstance(other, list):
            if len(mine) != len(other):
                return False
            stack += zip(mine, other, strict=True)
        elif mine != other and plain(mine) != plain(other):
            return False
    return True
