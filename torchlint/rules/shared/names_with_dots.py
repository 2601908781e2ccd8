"""Names with dots, as they are written: ``'conv.1'``, ``'conv.%d' % i``, ``'conv{}.bn'.format(i)``, ``f'conv.{i}'``."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

_FIELD = re.compile(r"\{[^{}]*\}")
_CONVERSION = re.compile(r"%(?:\(\w*\))?[-#0 +]*[\d*]*(?:\.[\d*]+)?[a-zA-Z%]")
_PLAIN = re.compile(r"([rRuUfF]?)(['\"])[^'\",\\]*\2")

DottedPart = tuple[cst.CSTNode, str, re.Pattern[str] | None]
"""A piece of text, how it is written, and what in it is no text."""


def rewritten(node: cst.BaseExpression, code: str) -> dict[cst.CSTNode, str] | None:
    """The pieces of a name that have a dot, with an underscore in its place; None if there is none."""
    parts = list(_parts(node))
    if not parts or not _PLAIN.match(code.lstrip("( \t\r\n")):
        return None
    return {part: new for part, text, skipped in parts if (new := _without_dots(text, skipped)) != text} or None


def _parts(node: cst.BaseExpression) -> Iterator[DottedPart]:
    match node:
        case cst.SimpleString(value=text) if _PLAIN.fullmatch(text):
            yield node, text, None
        case cst.FormattedString(parts=parts):
            for part in parts:
                if isinstance(part, cst.FormattedStringText):
                    yield part, part.value, None
        case cst.Call(func=cst.Attribute(value=cst.SimpleString(value=text) as literal, attr=cst.Name("format"))):
            if _PLAIN.fullmatch(text) and "{{" not in text:
                yield literal, text, _FIELD
        case cst.BinaryOperation(left=cst.SimpleString(value=text) as literal, operator=cst.Modulo()):
            if _PLAIN.fullmatch(text):
                yield literal, text, _CONVERSION
        case cst.BinaryOperation(left=left, operator=cst.Add(), right=right):
            yield from _parts(left)
            yield from _parts(right)


def _without_dots(text: str, skipped: re.Pattern[str] | None) -> str:
    if skipped is None:
        return text.replace(".", "_")
    pieces = skipped.split(text)
    between = [match.group() for match in skipped.finditer(text)] + [""]
    return "".join(piece.replace(".", "_") + kept for piece, kept in zip(pieces, between, strict=True))
