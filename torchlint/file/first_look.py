"""A first look at a file, by a tree that is quickly made: which rules find something there.

Rules find something in few files. Only those are parsed by libcst, which takes ten times as long.
"""

from __future__ import annotations

from torchlint.file.dispatch.dispatch import Look, which_find
from torchlint.file.dispatch.subject import Subject
from torchlint.file.parse.parser import is_package
from torchlint.file.tree.placeholders import without_chains
from torchlint.system.layers import Layer, is_on


def first_look(text: str, possible: frozenset[str], subject: Subject) -> Look | None:
    """Which of the possible rules find something in a text; None if only libcst's tree can tell."""
    from torchlint.file.tree.fast.quick_expressions import NoQuickTree
    from torchlint.file.tree.python_tree import python_tree
    from torchlint.file.tree.tree import Tree

    try:
        if not is_on(Layer.QUICK_TREES) or "\0" in text or without_chains(text, text)[1]:
            return None
        if not possible:
            return Look(frozenset()) if python_tree(text) is not None else None
        tree = Tree(text.replace("\r\n", "\n"), is_quick=True)
    except (NoQuickTree, RecursionError, SyntaxError):
        return None
    tree.is_package = is_package(subject.path)
    try:
        return which_find(tree, possible, subject)
    except Exception:  # whatever it is, rules get at it again with libcst's tree
        return None
    finally:
        tree.close()
