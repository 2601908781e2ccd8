"""What ``# type:`` comments say: of assignments, of loops, of the parameters and results of functions."""

from __future__ import annotations

import libcst as cst

from torchlint.model.syntax import parameters


def type_comment(node: cst.CSTNode | None) -> str | None:
    """The text of a ``# type:`` comment behind a statement or a loop's head."""
    match node:
        case cst.SimpleStatementLine(trailing_whitespace=cst.TrailingWhitespace(comment=cst.Comment(value=text))):
            return _typed(text)
        case cst.For(body=cst.IndentedBlock(header=cst.TrailingWhitespace(comment=cst.Comment(value=text)))):
            return _typed(text)
    return None


def _typed(comment: str) -> str | None:
    text = comment.removeprefix("#").strip()
    if not text.startswith("type:"):
        return None
    text = text.removeprefix("type:").partition("#")[0].strip()
    return None if text.startswith("ignore") else text


def signature_comments(function: cst.FunctionDef) -> dict[str, str]:
    """What ``# type:`` comments say of the parameters of a function, and under ``return`` of its result."""
    params = parameters(function)
    found: dict[str, str] = {}
    for param in params:
        if (text := _typed(_comment_behind(param))) is not None:
            found[param.name.value] = text
    text = next(filter(None, map(_typed, _first_comments(function))), None)
    if text is None or "->" not in text:
        return found
    given, _, result = text.rpartition("->")
    found["return"] = result.strip()
    types = _split(given.strip().removeprefix("(").removesuffix(")"))
    if types != ["..."]:
        names = [p.name.value for p in params]
        found |= zip(names[len(names) - len(types) :], (text.lstrip("*") for text in types), strict=False)
    return found


def _comment_behind(param: cst.Param) -> str:
    """The comment behind a parameter and its comma."""
    places = [param.whitespace_after_param]
    if isinstance(param.comma, cst.Comma):
        places.insert(0, param.comma.whitespace_after)
    for place in places:
        if isinstance(place, cst.ParenthesizedWhitespace) and place.first_line.comment is not None:
            return place.first_line.comment.value
    return ""


def _first_comments(function: cst.FunctionDef) -> list[str]:
    """The comments between the head of a function and its first statement."""
    if not isinstance(function.body, cst.IndentedBlock):
        return []
    lines = [line.comment for line in getattr(function.body.body[0], "leading_lines", ())]
    return [comment.value for comment in (function.body.header.comment, *lines) if comment is not None]


def _split(text: str) -> list[str]:
    """Types with commas in between, apart."""
    parts, depth = [""], 0
    for char in text:
        depth += (char in "[(") - (char in "])")
        if char == "," and not depth:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts if part.strip()]
