"""The tree of a text, of one that has to be repaired first, too; or the finding that it is no Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlint.diagnostic import Position
from torchlint.file.parse.invalid import NotUnderstood, Unparsed, no_python, syntax_error, unparsable
from torchlint.file.tree.placeholders import without_async, without_chains

if TYPE_CHECKING:
    from torchlint.file.tree.given import GivenText
    from torchlint.file.tree.tree import Tree


def parse(text: str, path: str) -> Tree:
    """The tree of a text. ``async`` as a keyword argument is read as a placeholder, which ``Tree.is_repaired`` tells.

    Raises:
        Unparsed: it is no Python.
        NotUnderstood: it is, and libcst's parser does not take it all the same.
        RecursionError: it is nested too deeply for the stack there is.
    """
    error = unparsable(text)
    if error is not None:
        raise Unparsed(error)
    import libcst as cst

    from torchlint.file.tree.given import GivenText, mixes_tabs
    from torchlint.file.tree.tree import is_refused

    try:
        try:
            tree = _read(GivenText(text))
        except cst.ParserSyntaxError:
            if not mixes_tabs(text):
                raise
            tree = _read(GivenText(text, is_spaced=True))
    except cst.ParserSyntaxError:
        error = syntax_error(text, path)
        if error is None:
            raise NotUnderstood from None
        raise Unparsed(error) from None
    except SyntaxError as error_:
        raise Unparsed(syntax_error(text, path) or no_python(Position(1, 1), str(error_))) from None
    if is_refused(tree) and (error := syntax_error(text, path, flags=0)) is not None:
        raise Unparsed(error)
    tree.is_package = is_package(path)
    return tree


def is_package(path: str) -> bool:
    """Whether a file is an ``__init__.py``."""
    return path.replace("\\", "/").endswith("__init__.py")


def _read(source: GivenText) -> Tree:
    source.parsed, skipped = without_chains(source.parsed, without_async(source.parsed))
    tree = _tree(source)
    tree.skipped = skipped
    return tree


def _tree(source: GivenText) -> Tree:
    import libcst as cst

    from torchlint.file.tree.tree import Tree

    try:
        return Tree(source)
    except cst.ParserSyntaxError:
        repaired = without_async(source.parsed)
        if repaired == source.parsed:
            raise
        source.parsed = repaired
    tree = Tree(source)
    tree.is_repaired = True
    return tree
