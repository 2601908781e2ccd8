"""Builders for edits. They work on nodes, never on offsets, and copy no text: what stays in place keeps its comments."""

from __future__ import annotations

import libcst as cst

from torchlint.rule import Edit
from torchlint.tree import Tree


def replace(node: cst.CSTNode, text: str, end: cst.CSTNode | None = None) -> Edit:
    """Replace ``node`` (or all from its start to the end of ``end``)."""
    return Edit((node, False), (end or node, True), text)


def insert_before(node: cst.CSTNode, text: str) -> Edit:
    """Insert directly before the first character of ``node``."""
    return Edit((node, False), (node, False), text)


def insert_after(node: cst.CSTNode, text: str) -> Edit:
    """Insert directly after the last character of ``node``."""
    return Edit((node, True), (node, True), text)


def delete(node: cst.CSTNode) -> Edit:
    """Remove the characters of ``node`` itself."""
    return replace(node, "")


def replace_between(left: cst.CSTNode, right: cst.CSTNode, text: str = "") -> Edit:
    """Replace what lies between the end of ``left`` and the start of ``right``."""
    return Edit((left, True), (right, False), text)


def replace_before(outer: cst.CSTNode, inner: cst.CSTNode, text: str = "") -> Edit:
    """Replace what ``outer`` has before its part ``inner`` (the ``Variable(`` of ``Variable(x)``)."""
    return Edit((outer, False), (inner, False), text)


def replace_after(inner: cst.CSTNode, outer: cst.CSTNode, text: str = "") -> Edit:
    """Replace what ``outer`` has after its part ``inner`` (``.data`` of ``x.data``, the closing bracket of a call)."""
    return Edit((inner, True), (outer, True), text)


def remove_argument(call: cst.Call, arg: cst.Arg) -> Edit:
    """Remove one argument of a call, with the comma it no longer needs."""
    args = list(call.args)
    index = next(i for i, a in enumerate(args) if a is arg)
    if index:
        return Edit((args[index - 1], True), (arg, True), "")
    if len(args) > 1:
        return Edit((arg, False), (args[1], False), "")
    return delete(arg)


def wrap_statement(tree: Tree, statement: cst.SimpleStatementLine, header: str) -> Edit:
    """Put a block header (``with torch.no_grad():``) over a statement of its own line, and indent it."""
    outer = tree.indentation(statement)
    inner = outer + tree.module.default_indent
    return insert_before(statement, f"{header}{tree.module.default_newline}{inner}")
