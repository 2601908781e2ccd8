"""What Python's own parser makes of a text."""

from __future__ import annotations

import ast
import warnings


def parsed(text: str) -> ast.Module | None:
    """The syntax tree of a text, without warnings about it; None if it is no Python, or too deep for this process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
