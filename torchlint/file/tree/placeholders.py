"""What libcst is given in place of what it cannot parse, or not in reasonable time; every character keeps its place.

``async`` as a keyword argument is a syntax error since Python 3.7. And on expressions that are nested deeply libcst's
parser spends time with the cube of the depth: half a second on a sum of 1,000 terms, 90 on 5,000. Python's own takes
milliseconds, and so tells where such an expression is; libcst is given a name for it. So it is for an expression that
would need a gigabyte: a list of a hundred thousand calls.
"""

from __future__ import annotations

import ast
import functools
import re
import warnings
from collections.abc import Iterator
from typing import NamedTuple

from torchlint.file.text.lines import Lines
from torchlint.file.text.tokens import GAP

ASYNC = "äsync"
"""What ``async`` as a keyword argument is parsed as: the same length, so that no position moves."""

MAX_DEPTH = 1_000
"""Expressions nested deeper are skipped. Nobody writes them; programs do."""

MAX_PARTS = 200_000
"""Expressions of more names, literals, calls and so on are skipped: the largest met in real code has 65,000."""

MAX_COST = 5
"""What expressions in a file may cost together; one as deep as may be costs 1, and half as deep an eighth."""

_SHALLOW = 100
"""Depth that costs next to nothing."""

PLACEHOLDER = "ǂ"
"""The name that libcst is given for such an expression."""

SHOWN = "ǃǃ"
"""A name alone on a line where what runs the program shows the value of the statement before it, if it has one."""

SKIPPED = f"an expression is nested more than {MAX_DEPTH:,} deep and was skipped"
_LARGE = f"an expression has more than {MAX_PARTS:,} parts and was skipped"
_ONE_MORE = f"an expression is nested more than {_SHALLOW:,} deep, as are others before it, and was skipped"

_KEYWORD = re.compile(rf"\basync(?={GAP}=[^=])")
_OPERATORS = re.compile(r"[-+*/%@&|^<>.(\[]|\b(?:and|or|not|if|lambda|await)\b")
_BLANK_LINES = re.compile(r"\n[ \t\r]*\n")


class Chain(NamedTuple):
    """Where a skipped expression stands: offsets."""

    start: int
    end: int
    matters: bool
    """Whether there is anything but literals in it."""
    reason: str
    """Why it was skipped, for a message."""


def without_async(text: str) -> str:
    """A text with the placeholder for ``async`` where that is a keyword argument; the same text if it is nowhere."""
    return _KEYWORD.sub(ASYNC, text)


@functools.lru_cache(maxsize=1)
def without_chains(text: str, repaired: str) -> tuple[str, tuple[Chain, ...]]:
    """The text with a name for each expression that is nested too deeply, or too large; all else keeps its place.

    ``repaired`` is the text to parse where the text itself does not, of the same length.

    Raises:
        RecursionError: one is nested too deeply even for Python, so nobody can say where it is.
        SyntaxError: there may be such an expression in what Python takes for no Python.
    """
    if len(text) <= 2 * MAX_PARTS and not _is_suspicious(text):
        return text, ()
    tree, parsed = _parsed(text), text
    if tree is None:
        tree, parsed = _parsed(repaired), repaired
    if tree is None:
        raise SyntaxError("nobody can say how deeply its expressions are nested")
    chains = tuple(_chains(tree, parsed))
    pieces, last = list[str](), 0
    for chain in chains:
        name = (
            f" {PLACEHOLDER}" if text[chain.start - 1 : chain.start].isidentifier() else PLACEHOLDER
        )  # as in `return"a" + …`
        pieces += (text[last : chain.start], f"{name:<{chain.end - chain.start}}")
        last = chain.end
    return "".join((*pieces, text[last:])), chains


def _is_suspicious(text: str) -> bool:
    """Whether there may be so deep expressions, by the operators between blank lines; it costs little to ask."""
    spent = 0.0
    for chunk in _BLANK_LINES.split(text):
        if len(chunk) > _SHALLOW:
            spent += (cost := _cost(len(_OPERATORS.findall(chunk))))
            if cost > 1 or spent > MAX_COST:
                return True
    return False


def _cost(depth: int) -> float:
    return (depth / MAX_DEPTH) ** 3


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
    """The expressions that are to be skipped, in document order."""
    lines = Lines(text)
    spent = 0.0
    for node in sorted(_expressions(tree), key=lambda node: (node.lineno, node.col_offset)):
        depth, parts = _extent(node)
        cost = _cost(depth)
        if cost <= 1 and parts <= MAX_PARTS and (depth <= _SHALLOW or spent + cost <= MAX_COST):
            spent += cost
            continue
        start = lines.offset_in_bytes(node.lineno, node.col_offset)
        end = lines.offset_in_bytes(node.end_lineno or 1, node.end_col_offset or 0)
        matters = any(isinstance(part, (ast.Name, ast.Call)) for part in ast.walk(node))
        yield Chain(start, end, matters, SKIPPED if cost > 1 else _LARGE if parts > MAX_PARTS else _ONE_MORE)


def _expressions(tree: ast.Module) -> Iterator[ast.expr]:
    """The expressions that are in no other one."""
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.expr):
            yield node
        elif not isinstance(node, ast.pattern):
            stack += ast.iter_child_nodes(node)


def _extent(root: ast.expr) -> tuple[int, int]:
    """How deep the nodes of an expression are nested, and how many there are."""
    deepest, count, level = 0, 0, list[ast.AST]([root])
    while level:
        deepest += 1
        count += len(level)
        level = [child for node in level for child in _parts(node)]
    return deepest, count


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    return (child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr_context))
