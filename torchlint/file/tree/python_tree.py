"""What Python's own parser makes of a text, where libcst's makes the same of it."""

from __future__ import annotations

import ast
import re

from torchlint.file.text.python import parsed

_EXCEPT = re.compile(r"^[ \t]*except\s*:", re.MULTILINE)


def python_tree(text: str) -> ast.Module | None:
    """The tree of a text; None if it is no Python."""
    tree = parsed(text)
    return None if tree is None or _is_refused(text, tree) else tree


def _is_refused(text: str, tree: ast.Module) -> bool:
    """Whether a bare ``except`` stands before another handler, which Python's parser lets pass."""
    if _EXCEPT.search(text) is None:
        return False
    handlers = (node.handlers for node in ast.walk(tree) if isinstance(node, ast.Try))
    return any(handler.type is None for each in handlers for handler in each[:-1])
