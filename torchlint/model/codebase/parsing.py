"""The definitions of some statements of a file: what is parsed of it when somebody asks."""

from __future__ import annotations

import libcst as cst

from torchlint.file.tree.fast.quick_expressions import NoQuickTree
from torchlint.file.tree.tree import Tree
from torchlint.model.scopes import Scopes


def definitions(text: str, is_quick: bool = True) -> Scopes | None:
    """The definitions of some statements, from a quick tree if there is one; None if they are no Python."""
    try:
        return Scopes(Tree(text, is_quick=is_quick))
    except NoQuickTree:
        return definitions(text, is_quick=False)
    except (cst.ParserSyntaxError, RecursionError):
        return None
