"""Fixes with offsets: what the edits that rules anchor at nodes replace in the text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.diagnostic import Applicability, LocatedFix, TextEdit
from torchlint.file.locate import blank_lines, blocks, width
from torchlint.file.locate.alignment import realigned
from torchlint.file.text.blocks import block_edits
from torchlint.file.text.lines import line_start, without_blanks
from torchlint.file.text.scan import scan
from torchlint.file.text.tokens import TOKENS
from torchlint.file.tree.placeholders import PLACEHOLDER

if TYPE_CHECKING:
    from torchlint.file.tree.given import Span
    from torchlint.file.tree.tree import Tree
    from torchlint.rule import Anchor, Edit, Fix


def anchors(tree: Tree, fix: Fix) -> Iterable[cst.CSTNode]:
    """The nodes whose places have to be known to locate a fix, but for what it waits for."""
    for each in (fix, *fix.alternatives):
        for edit in each.edits:
            yield edit.start.node
            yield edit.end.node
            if edit.below is not None:
                yield edit.below
        if each.block is not None:
            yield from blocks.anchors(tree, each.block)
        if each.imports and (place := _import_anchor(tree, each)) is not None:
            yield place[0]
    yield from fix.after


def located(tree: Tree, fix: Fix, spans: dict[int, Span]) -> LocatedFix | None:
    """A fix with offsets; None if it would write what was skipped. What it waits for comes later: many share that."""
    edits = _text_edits(tree, fix.edits, spans)
    block = blocks.located(tree, fix.block, spans) if fix.block is not None else None
    if block is not None:
        block = replace(block, lines=tuple(each for each in block.lines if not _is_joined(each, edits)))
        edits.update(block_edits([block]))
    edits.update(_import_edit(tree, fix, module, spans) for module in fix.imports)
    if tree.skipped and any(PLACEHOLDER in edit.content for edit in edits):
        return None
    if block is None:
        edits.update(realigned(tree.source.text, sorted(edits, key=lambda e: (e.start, e.end))))
    ordered = tuple(sorted(edits, key=lambda e: (e.start, e.end)))
    others = (located(tree, other, spans) for other in fix.alternatives)
    alternatives = tuple(other for other in others if other is not None)
    risk = fix.risk if fix.applicability is Applicability.UNSAFE else ""
    after = tuple((spans[id(node)].inner_start, spans[id(node)].inner_end) for node in fix.after)
    found = LocatedFix(fix.message, fix.applicability, ordered, fix.deferred, alternatives, block, risk, after=after)
    loses_comment = any(_loses_comment(tree.source.text, each) for each in ordered)
    return found.doubted("a comment goes") if loses_comment else found


def _is_joined(line: int, edits: Iterable[TextEdit]) -> bool:
    """Whether edits remove the end of the line above one that begins there: then it is no line of its own any more."""
    return any(each.start < line <= each.end and not each.content.endswith(("\n", "\r")) for each in edits)


def _text_edits(tree: Tree, edits: Iterable[Edit], spans: dict[int, Span]) -> set[TextEdit]:
    """Edits with offsets; a further argument goes on a line of its own where the line would get too long."""
    found = [(edit, _text_edit(tree, edit, spans)) for edit in edits]
    whole = {each for _, each in found}
    for edit, each in found:
        if edit.below is not None and tree.enclosing(edit.below, cst.FormattedString) is None:
            first, last = spans[id(edit.below)].start, spans[id(edit.start.node)].start
            whole = whole - {each} | {width.below(tree.source.text, each, first, last, whole, tree.source.newline)}
    return whole


def _text_edit(tree: Tree, edit: Edit, spans: dict[int, Span]) -> TextEdit:
    start, end = (_offset(anchor, spans) for anchor in (edit.start, edit.end))
    if _is_of_lines(edit):  # they go as a whole
        text = tree.source.text
        start = line_start(text, start)
        end = _end_of_line(text, end)
        statement = edit.end.node if isinstance(edit.start.node, cst.EmptyLine) else edit.start.node
        block = tree.parent(statement)
        is_first = isinstance(block, cst.IndentedBlock) and block.body[0] is statement and len(block.body) > 1
        last = blank_lines.past_doubled(text, start, end, is_first=is_first)
        if isinstance(block, cst.IndentedBlock) and block.body[-1] in (statement, edit.end.node) and not is_first:
            start = blank_lines.from_last_of_block(text, start, last)
        return TextEdit(start, last, edit.text)
    if edit.text.startswith(("\n", "\r")):  # no blanks at the end of a line
        start = without_blanks(tree.source.text, start)
    if edit.keeps_comments:
        start = _after_comments(tree.source.text, start, end, edit.text)
    return TextEdit(start, end, _in_own_quotes(tree, edit))


def _end_of_line(text: str, end: int) -> int:
    """Where the next line begins; an empty line, or one with a comment alone, has its newline in it already."""
    if text[end - 1] in "\r\n":
        return end
    line = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)?").match(text, end)
    return line.end() if line is not None else end


def _is_of_lines(edit: Edit) -> bool:
    """Whether an edit removes a statement with its line, a comment above, or an `else:` or `if` with the one in it."""
    if edit.text or not isinstance(edit.end.node, (cst.SimpleStatementLine, cst.EmptyLine)):
        return False
    return edit.start.node is edit.end.node or isinstance(edit.start.node, (cst.Else, cst.If, cst.EmptyLine))


_WORD = re.compile(r"(?<![\w'])'(\w+)'(?![\w'])")


def _in_own_quotes(tree: Tree, edit: Edit) -> str:
    """The text of an edit with short strings in the quotes that the file has most of."""
    if "'" not in edit.text or '"' in edit.text:
        return edit.text
    around = {up.start.lstrip("fFrR") for up in tree.ancestors(edit.start.node) if isinstance(up, cst.FormattedString)}
    if around:  # before Python 3.12 there must not be the quotes that are around
        return _WORD.sub(r'"\1"', edit.text) if "'" in around and '"' not in around else edit.text
    if not scan(tree.source.text).prefers_double_quotes:
        return edit.text
    return _WORD.sub(r'"\1"', edit.text)


_COMMENTS = re.compile(r"(?:\s*#[^\r\n]*)+")


def _after_comments(text: str, start: int, end: int, content: str) -> int:
    """Where to start replacing ``text[start:end]`` so that the comments it begins with stay."""
    comments = _COMMENTS.match(text, start, end)
    if comments is None:
        return start
    if not content and re.compile(r"[ \t]*[\r\n]").match(text, end):
        return comments.end()
    space = re.compile(r"\s*").match(text, comments.end(), end)
    return space.end() if space else comments.end()


def _loses_comment(text: str, edit: TextEdit) -> bool:
    """Whether an edit inside a line removes a comment."""
    removed = text[edit.start : edit.end]
    if "#" not in removed or removed.endswith(("\n", "\r")):
        return False
    return any(match.group().startswith("#") for match in TOKENS.finditer(removed))


def _offset(anchor: Anchor, spans: dict[int, Span]) -> int:
    span = spans[id(anchor.node)]
    if anchor.inside:
        return span.inner_end if anchor.at_end else span.inner_start
    return span.end if anchor.at_end else span.start


def _import_anchor(tree: Tree, fix: Fix) -> tuple[cst.CSTNode, bool] | None:
    """Where a new import goes that a fix needs: a top-level statement, and whether after it; None in an empty file.

    Before the first import of something of torch, else after the last import, else after the docstring, and always
    before what the fix edits.
    """
    anchor: cst.CSTNode | None = None
    body = tree.module.body[: _first_edited(tree, fix) + 1]
    for number, statement in enumerate(body):
        if not isinstance(statement, cst.SimpleStatementLine):
            if anchor is not None:
                break
            continue
        match statement.body[0]:
            case cst.Import() | cst.ImportFrom(relative=[]) as small if re.match(
                r"(import|from) torch\b", tree.code(small)
            ):
                return statement, False
            case cst.Import() | cst.ImportFrom():
                anchor = statement
            case cst.Expr(value=cst.SimpleString() | cst.ConcatenatedString()) if number == 0:
                anchor = statement
    if anchor is not None:
        return anchor, True
    return next(((statement, False) for statement in body if not _is_placeholder(statement)), None)


def _first_edited(tree: Tree, fix: Fix) -> int:
    """Which top-level statement is the first that a fix edits."""
    nodes = [edit.start.node for edit in fix.edits] + ([fix.block.first] if fix.block is not None else [])
    first = min(nodes, key=tree.order, default=tree.module)
    for node in (first, *tree.ancestors(first)):
        if tree.parent(node) is tree.module:
            return tree.siblings(node)[1]
    return len(tree.module.body)


def _is_placeholder(statement: cst.CSTNode) -> bool:
    """Whether a statement stands for something that was not parsed."""
    match statement:
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.Name(value=name)), *_]):
            return not name.strip(PLACEHOLDER)
    return False


def _import_edit(tree: Tree, fix: Fix, module: str, spans: dict[int, Span]) -> TextEdit:
    anchor, after = _import_anchor(tree, fix) or (tree.module, False)
    offset, newline = spans[id(anchor)].start, tree.source.newline
    if not after:
        return TextEdit(offset, offset, f"import {module}{newline}")
    line = re.compile(r"[^\r\n]*").match(tree.source.text, spans[id(anchor)].end)
    offset = line.end() if line else offset
    return TextEdit(offset, offset, f"{newline}import {module}")
