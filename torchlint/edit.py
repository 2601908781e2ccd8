"""Builders for edits. They work on nodes, never on offsets, and copy no text: what stays keeps its comments."""

from __future__ import annotations

import re
from collections.abc import Sequence

import libcst as cst

from torchlint.file.text.scan import PIECES
from torchlint.file.tree.tree import Tree
from torchlint.rule import Anchor, Edit


def replace(node: cst.CSTNode, text: str, end: cst.CSTNode | None = None) -> Edit:
    """Replace ``node`` (or all from its start to the end of ``end``)."""
    return Edit(Anchor(node, False), Anchor(end or node, True), text)


def insert_before(node: cst.CSTNode, text: str) -> Edit:
    """Insert directly before the first character of ``node``."""
    return Edit(Anchor(node, False), Anchor(node, False), text)


def insert_after(node: cst.CSTNode, text: str) -> Edit:
    """Insert directly after the last character of ``node``."""
    return Edit(Anchor(node, True), Anchor(node, True), text)


def append(node: cst.BaseExpression, suffix: str) -> tuple[Edit, ...]:
    """Append ``[0]``, ``.item()`` and the like to an expression, which is put in brackets where it needs them."""
    if isinstance(node, (cst.Name, cst.Attribute, cst.Call, cst.Subscript)) or node.lpar:
        return (insert_after(node, suffix),)
    return insert_before(node, "("), insert_after(node, f"){suffix}")


def delete(node: cst.CSTNode) -> Edit:
    """Remove the characters of ``node`` itself."""
    return replace(node, "")


def replace_between(left: cst.CSTNode, right: cst.CSTNode, text: str = "") -> Edit:
    """Replace what lies between the end of ``left`` and the start of ``right``."""
    return Edit(Anchor(left, True), Anchor(right, False), text)


def replace_before(outer: cst.CSTNode, inner: cst.CSTNode, text: str = "") -> Edit:
    """Replace what ``outer`` has before its part ``inner`` (the ``Variable(`` of ``Variable(x)``)."""
    return Edit(Anchor(outer, False, inside=True), Anchor(inner, False), text)


def replace_after(inner: cst.CSTNode, outer: cst.CSTNode, text: str = "") -> Edit:
    """Replace what ``outer`` has after its part ``inner`` (``.data`` of ``x.data``, the closing bracket of a call)."""
    chained = not isinstance(outer, cst.Call) or (isinstance(outer.func, cst.Attribute) and outer.func.value is inner)
    return Edit(Anchor(inner, True), Anchor(outer, True, inside=True), text, keeps_comments=chained)


def keep_owner(tree: Tree, node: cst.Attribute) -> tuple[Edit, ...]:
    """Leave ``x`` of ``x.data``, without the brackets of ``(x.data).cpu()``, which stood for nothing else."""
    owner, parent = node.value, tree.parent(node)
    is_plain = isinstance(owner, (cst.Name, cst.Attribute)) and not owner.lpar
    is_inner = isinstance(parent, (cst.Attribute, cst.Subscript)) and parent.value is node
    if len(node.lpar) != 1 or not is_plain or not is_inner or _TIGHT.search(tree.code(tree.statement(node))):
        return (replace_after(owner, node),)
    if any(each in tree.code(node) for each in ("#", "\n", "\r")):
        return (replace_after(owner, node),)
    return replace_between_ends(node, owner)


def replace_between_ends(outer: cst.CSTNode, inner: cst.CSTNode) -> tuple[Edit, Edit]:
    """Remove all of ``outer``, its own brackets too, but for its part ``inner``."""
    return Edit(Anchor(outer, False), Anchor(inner, False), ""), Edit(Anchor(inner, True), Anchor(outer, True), "")


_TIGHT = re.compile(r"\b(?:return|yield|await|assert|del|in|is|not|and|or|if|elif|else|while|for|lambda)\(")
"""A bracket that stands for the blank behind a keyword."""


def remove_item(items: Sequence[cst.CSTNode], item: cst.CSTNode) -> Edit | None:
    """Remove one of several items with the comma before it, or after the first; None if it is the only one.

    What follows on its line stays on that line.
    """
    index = next(i for i, other in enumerate(items) if other is item)
    if index and index + 1 < len(items) and _ends_line(items[index - 1]) and not _ends_line(item):
        return Edit(Anchor(item, False), Anchor(items[index + 1], False), "")
    if index:
        return Edit(Anchor(items[index - 1], True), Anchor(item, True), "")
    return Edit(Anchor(item, False), Anchor(items[1], False), "") if len(items) > 1 else None


def _ends_line(item: cst.CSTNode) -> bool:
    """Whether the comma behind an item is the last of its line."""
    comma = getattr(item, "comma", None)
    return isinstance(comma, cst.Comma) and isinstance(comma.whitespace_after, cst.ParenthesizedWhitespace)


def add_argument(call: cst.Call, text: str) -> Edit:
    """Append an argument to a call."""
    if not call.args:
        return Edit(Anchor(call.func, True), Anchor(call, True, inside=True), f"({text})")
    last = call.args[-1].value
    if isinstance(last, cst.GeneratorExp) and not last.lpar:
        return Edit(Anchor(last, True), Anchor(last, True), f"), {text}")
    return Edit(Anchor(last, True), Anchor(last, True), f", {text}", below=call.args[0])


def remove_argument(call: cst.Call, arg: cst.Arg) -> Edit:
    """Remove one argument of a call, with the comma it no longer needs."""
    among_others = remove_item(call.args, arg)
    if among_others is not None or not isinstance(arg.comma, cst.Comma):
        return among_others or delete(arg)
    return Edit(Anchor(arg, False), Anchor(arg.comma.whitespace_after, False), "")


def remove_parameter(params: Sequence[cst.Param], param: cst.Param) -> Edit | None:
    """Remove a parameter with the comma before it; None if it is the first one."""
    index = next(i for i, other in enumerate(params) if other is param)
    return Edit(Anchor(_last_of(params[index - 1]), True), Anchor(_last_of(param), True), "") if index else None


def _last_of(param: cst.Param) -> cst.BaseExpression:
    return param.default or (param.annotation.annotation if param.annotation is not None else param.name)


def remove_comma(arg: cst.Arg) -> Edit | None:
    """Remove the comma after an argument, and nothing of what stands around it; None if there is none."""
    if not isinstance(arg.comma, cst.Comma):
        return None
    return Edit(Anchor(arg.comma.whitespace_before, True), Anchor(arg.comma.whitespace_after, False), "")


def remove_import_alias(tree: Tree, node: cst.ImportFrom, alias: cst.ImportAlias) -> Edit | None:
    """Remove one name of an import, with its last one the whole statement; None where that takes more than an edit."""
    assert not isinstance(node.names, cst.ImportStar)
    return remove_item(node.names, alias) or remove_statement(tree, node)


def remove_statement(tree: Tree, small: cst.CSTNode) -> Edit | None:
    """Remove a simple statement with its line; None if it shares the line with another one.

    An `else:` goes with all that is in it, and so does an `if` that only asks; what must have a statement gets `pass`.
    """
    statement = tree.parent(small)
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) > 1:
        return None
    block = tree.parent(statement)
    if isinstance(block, cst.Module) or len(getattr(block, "body", ())) > 1:
        return delete(statement)
    otherwise = tree.parent(block) if block is not None else None
    if isinstance(otherwise, cst.Else) and "#" not in tree.code(otherwise):
        return replace(otherwise, "", end=statement)
    if isinstance(otherwise, cst.If) and _may_go(tree, otherwise):
        return replace(otherwise, "", end=statement)
    return replace(statement, "pass")


def _may_go(tree: Tree, node: cst.If) -> bool:
    """Whether an `if` does nothing but to ask, has no other branch, and leaves others in its block."""
    around = tree.parent(node)
    if node.orelse is not None or isinstance(around, cst.If) or "#" in tree.code(node):
        return False
    is_alone = not isinstance(around, cst.Module) and len(getattr(around, "body", ())) < 2
    return not is_alone and _only_asks(node.test)


def _only_asks(test: cst.BaseExpression) -> bool:
    match test:
        case cst.Name() | cst.Attribute(value=cst.Name()):
            return True
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            return _only_asks(inner)
        case cst.BooleanOperation(left=left, right=right):
            return _only_asks(left) and _only_asks(right)
        case cst.Call(func=cst.Name("isinstance"), args=[cst.Arg(value=asked), _]):
            return _only_asks(asked)
    return False


def insert_line(tree: Tree, above: cst.CSTNode, text: str, beside: cst.CSTNode) -> Edit | None:
    """Insert a statement on a line of its own below a line, indented as ``beside``; None if a comment would move."""
    if not isinstance(above, cst.SimpleStatementLine) or has_comment(above):
        return None
    return insert_after(above.body[-1], f"{tree.source.newline}{tree.indentation(beside)}{text}")


def move_line(tree: Tree, small: cst.CSTNode, below: cst.CSTNode) -> tuple[Edit, Edit] | None:
    """Move a simple statement with its line below a statement; None where a comment or an empty line would move."""
    line = tree.parent(small)
    if not isinstance(line, cst.SimpleStatementLine) or line is below:
        return None
    if has_comment(line) or bool(getattr(line, "leading_lines", ())):
        return None
    remove = remove_statement(tree, small)
    insert = insert_line(tree, _last_line(tree, below), tree.code(small), beside=line)
    return (remove, insert) if remove is not None and insert is not None else None


def _last_line(tree: Tree, statement: cst.CSTNode) -> cst.CSTNode:
    """The last line of a statement; a compound one itself where a comment follows its last line."""
    if any(getattr(block, "footer", ()) for block in tree.within(statement, cst.IndentedBlock)):
        return statement
    lines = [*tree.within(statement, cst.SimpleStatementLine), *tree.within(statement, cst.SimpleStatementSuite)]
    return max(lines, key=tree.order, default=statement)


def has_comment(line: cst.SimpleStatementLine | cst.Decorator) -> bool:
    """Whether a comment stands behind the statements of a line, or a decorator; a tree for a first look has none."""
    match line:
        case cst.SimpleStatementLine(trailing_whitespace=cst.TrailingWhitespace(comment=cst.Comment())):
            return True
        case cst.Decorator(trailing_whitespace=cst.TrailingWhitespace(comment=cst.Comment())):
            return True
    return False


def breaks_line(code: str) -> bool:
    """Whether an expression breaks a line outside its own brackets: taken out of a call it would not parse."""
    if "\n" not in code and "\r" not in code:
        return False
    depth = 0
    for match in PIECES.finditer(code):
        piece = match.group()
        if piece in "([{":
            depth += 1
        elif piece in ")]}":
            depth -= 1
        elif piece in ("\n", "\r", "\r\n") and depth <= 0:
            return True
    return False
