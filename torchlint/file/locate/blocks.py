"""Where the blocks stand that fixes put statements into: nodes to offsets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

import libcst as cst

from torchlint.diagnostic import LocatedBlock, TextEdit
from torchlint.file.comments.suppressions import start_with_comments
from torchlint.file.text.lines import line_start, lines_above, without_blanks
from torchlint.file.text.tokens import TOKENS
from torchlint.file.tree.given import Span
from torchlint.file.tree.tree import Tree
from torchlint.rule import Block

_LINE = (cst.SimpleStatementLine, cst.SimpleStatementSuite)


def anchors(tree: Tree, block: Block) -> Iterator[cst.CSTNode]:
    """The nodes whose places have to be known to locate a block."""
    first, last = _ends(tree, block)
    yield from (first, last)
    line = tree.parent(first)
    if isinstance(line, _LINE):
        yield from (each for pair in _divided(tree, first, line) for each in pair)
        yield line.body[0]
    before = tree.sibling_before(line if isinstance(line, _LINE) else first)
    if before is not None:
        yield before


def located(tree: Tree, block: Block, spans: dict[int, Span]) -> LocatedBlock:
    """A block with offsets."""
    first, last = _ends(tree, block)
    line = tree.parent(first)
    if isinstance(line, _LINE):
        return _located_on_line(tree, block, first, line, spans)
    step = _step(tree, block)
    start = start_with_comments(tree.source.text, spans[id(first)].start)
    end, indent = spans[id(last)].end, tree.indentation(first)
    after = _end(tree.sibling_before(first), spans)
    return LocatedBlock(
        block.header,
        start,
        start,
        end,
        after,
        "",
        f"{tree.source.newline}{indent}",
        step,
        block.into is not None,
        tuple(_continued(tree.source.text, start, _with_comments_below(tree.source.text, end, indent), indent)),
        above=tuple(_comments(tree.source.text, after, start, indent)),
    )


def _located_on_line(
    tree: Tree,
    block: Block,
    small: cst.CSTNode,
    line: cst.SimpleStatementLine | cst.SimpleStatementSuite,
    spans: dict[int, Span],
) -> LocatedBlock:
    """A block of a statement that shares its line: with others (``a; b``), or with a header (``if a: b``)."""
    in_suite = isinstance(line, cst.SimpleStatementSuite)
    indent = tree.source.newline + tree.indentation(line) + (tree.module.default_indent if in_suite else "")
    start = first = spans[id(small)].start
    after = None
    splits = []
    if in_suite:
        opening = spans[id(line.body[0])].start
        splits.append(TextEdit(without_blanks(tree.source.text, opening), opening, indent))
    else:
        after = _end(tree.sibling_before(line), spans) if line.body[0] is small else None
    for left, right in _divided(tree, small, line):
        splits.append(TextEdit(spans[id(left)].end, spans[id(right)].start, indent))
        if right is small:
            after = spans[id(left)].end
    lead = ""
    for split in splits:
        if split.end == first:
            start, lead = split.start, split.content
    return LocatedBlock(
        block.header,
        start,
        first,
        spans[id(small)].end,
        after,
        lead,
        indent,
        _step(tree, block),
        block.into is not None,
        splits=tuple(splits),
    )


def _divided(
    tree: Tree, small: cst.CSTNode, line: cst.SimpleStatementLine | cst.SimpleStatementSuite
) -> Iterable[tuple[cst.CSTNode, cst.CSTNode]]:
    """The statements between which a line is divided: all, where the first has to leave the line of a header."""
    if isinstance(line, cst.SimpleStatementSuite):
        return pairwise(line.body)
    _, index = tree.siblings(small)
    return pairwise(line.body[max(0, index - 1) : index + 2])


def _ends(tree: Tree, block: Block) -> tuple[cst.CSTNode, cst.CSTNode]:
    """The first and the last statement of a block: lines, if they have them to themselves."""
    return _whole(tree, block.first), _whole(tree, block.last or block.first)


def _whole(tree: Tree, statement: cst.CSTNode) -> cst.CSTNode:
    line = tree.parent(statement)
    return line if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1 else statement


def _step(tree: Tree, block: Block) -> str:
    around = tree.enclosing(block.first, cst.IndentedBlock)
    body = block.into.body if block.into is not None else around  # as far in as what is around it
    step = body.indent if isinstance(body, cst.IndentedBlock) else None
    return tree.module.default_indent if step is None else step


def _end(statement: cst.CSTNode | None, spans: dict[int, Span]) -> int | None:
    return spans[id(statement)].end if statement is not None else None


_REST = re.compile(r"[^\S\r\n]*(?:#[^\r\n]*)?(?P<newline>\r\n|\r|\n)?")
_COMMENT_LINE = re.compile(r"(?P<blanks>[^\S\r\n]*)(?P<comment>#[^\r\n]*)?(?=[\r\n]|\Z)")
"""A line with nothing but a comment, or without one."""


def _with_comments_below(text: str, end: int, indent: str) -> int:
    """Where the comments end that stand below some statements and further in: they belong to the body of a loop."""
    line = _REST.match(text, end)
    while line is not None and line.group("newline"):
        below = _COMMENT_LINE.match(text, line.end())
        if below is None:
            return end
        if below.group("comment"):
            if not below.group("blanks").startswith(indent) or len(below.group("blanks")) == len(indent):
                return end
            end = below.end()
        line = _REST.match(text, below.end())
    return end


def _comments(text: str, after: int | None, start: int, indent: str) -> Iterator[int]:
    """Where the comments begin that stand alone between a statement and the one before, as far in as they are."""
    for begin, _ in lines_above(text, line_start(text, start)) if after is not None else ():
        if begin <= (after or 0):
            return
        if text.startswith(f"{indent}#", begin):
            yield begin + len(indent)


_NEWLINE = re.compile(r"(?:\r\n|\r|\n)(?=[^\r\n])")


def _continued(text: str, start: int, end: int, indent: str) -> Iterator[int]:
    """Where the lines after the first begin that some statements are written on; not those in strings.

    That is where the block's own indentation ends, so that what removes such a line is seen to get in the way.
    """
    at = start
    for token in TOKENS.finditer(text, start, end):
        if token.group()[0] in "'\"":
            yield from _lines(text, at, token.start() + 1, indent)
            at = token.end()
    yield from _lines(text, at, end, indent)


def _lines(text: str, start: int, end: int, indent: str) -> Iterator[int]:
    for line in _NEWLINE.finditer(text, start, end):
        yield line.end() + (len(indent) if text.startswith(indent, line.end()) else 0)
