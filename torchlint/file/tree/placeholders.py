"""What libcst is given in place of what it cannot parse, or not in reasonable time; every character keeps its place.

``async`` as a keyword argument is a syntax error since Python 3.7. And on expressions that are nested deeply libcst's
parser spends time with the cube of the depth: half a second on a sum of 1,000 terms, 90 on 5,000. Python's own takes
milliseconds, and so tells where such an expression is; libcst is given a name for it.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from typing import NamedTuple

from torchlint.file.text.lines import Lines

ASYNC = "äsync"
"""What ``async`` as a keyword argument is parsed as: the same length, so that no position moves."""

MAX_DEPTH = 1_000
"""Expressions nested deeper are skipped. Nobody writes them; programs do."""

PLACEHOLDER = "ǂ"
"""The name that libcst is given for such an expression."""

SKIPPED = f"an expression is nested more than {MAX_DEPTH:,} deep and was skipped"

_OPERATORS = re.compile(r"[-+*/%@&|^<>.(\[]|\b(?:and|or|not|if|lambda|await)\b")
_BLANK_LINES = re.compile(r"\n[ \t\r]*\n")


class Chain(NamedTuple):
    """Where a skipped expression stands: offsets."""

    start: int
    end: int
    matters: bool
    """Whether there is anything but literals in it."""


def without_async(text: str) -> str:
    """A text with the placeholder for ``async`` where that is a keyword argument; the same text if it is nowhere."""
    return re.sub(r"\basync(?=\s*=[^=])", ASYNC, text)


def without_chains(text: str, repaired: str) -> tuple[str, list[Chain]]:
    """The text with a name for each expression that is nested too deeply; every other character keeps its place.

    ``repaired`` is the text to parse where the text itself does not, of the same length.

    Raises:
        RecursionError: one is nested too deeply even for Python, so nobody can say where it is.
        SyntaxError: there may be such an expression in what Python takes for no Python.
    """
    if not any(_is_suspicious(chunk) for chunk in _BLANK_LINES.split(text)):
        return text, []
    tree, parsed = _parsed(text), text
    if tree is None:
        tree, parsed = _parsed(repaired), repaired
    if tree is None:
        raise SyntaxError("nobody can say how deeply its expressions are nested")
    chains = list(_chains(tree, parsed))
    for chain in chains:
        name = f" {PLACEHOLDER}" if text[: chain.start][-1:].isidentifier() else PLACEHOLDER  # as in `return"a" + …`
        text = f"{text[: chain.start]}{name:<{chain.end - chain.start}}{text[chain.end :]}"
    return text, chains


def _is_suspicious(chunk: str) -> bool:
    """Whether text without blank lines holds so many operators; it is rare and costs little to ask."""
    return len(chunk) > MAX_DEPTH and sum(1 for _ in _OPERATORS.finditer(chunk)) > MAX_DEPTH


def _parsed(text: str) -> ast.Module | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError):
            return None
        except MemoryError:
            raise RecursionError from None


def _chains(tree: ast.Module, text: str) -> Iterator[Chain]:
    lines = Lines(text)
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.pattern):
            continue
        if not isinstance(node, ast.expr):
            stack += ast.iter_child_nodes(node)
        elif _depth(node) > MAX_DEPTH:
            start = lines.offset_in_bytes(node.lineno, node.col_offset)
            end = lines.offset_in_bytes(node.end_lineno or 1, node.end_col_offset or 0)
            yield Chain(start, end, any(isinstance(part, (ast.Name, ast.Call)) for part in ast.walk(node)))


def _depth(root: ast.expr) -> int:
    """How deep the nodes of an expression are nested."""
    deepest, level = 0, list[ast.AST]([root])
    while level:
        deepest += 1
        level = [child for node in level for child in _parts(node)]
    return deepest


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    return (child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr_context))
