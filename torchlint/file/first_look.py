"""A first look at a file, by a tree that is quickly made: which rules find something there.

Most files have nothing to report, and of those libcst parses nothing.
"""

from __future__ import annotations

from torchlint.file.dispatch.dispatch import Look, which_find
from torchlint.file.dispatch.subject import Subject
from torchlint.file.parse.parser import is_package
from torchlint.file.tree.placeholders import without_chains
from torchlint.file.triggers.sites import sites


def first_look(text: str, data: bytes, possible: frozenset[str], subject: Subject) -> Look | None:
    """Which of the possible rules find something in a text; None if only libcst's tree can tell.

    ``data`` is the text as bytes.
    """
    from torchlint.file.tree.fast.sketch import Unsketchable
    from torchlint.file.tree.fast.unread import python_tree
    from torchlint.file.tree.tree import Tree

    try:
        if "\0" in text or without_chains(text, text)[1]:
            return None
        if not possible:
            return Look(frozenset()) if python_tree(text) is not None else None
        tree = Tree(text.replace("\r\n", "\n"), sites(data, possible), is_sketch=True)
    except (Unsketchable, RecursionError):
        return None
    tree.is_package = is_package(subject.path)
    try:
        return which_find(tree, possible, subject)
    except Exception:  # whatever it is, rules get at it again with libcst's tree
        return None
    finally:
        tree.close()
