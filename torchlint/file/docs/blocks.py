"""Where code stands in a text of another kind, line by line."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from torchlint.file.docs.directives import directives
from torchlint.file.text.lines import Lines

_FENCE = re.compile(r"([ \t]*)(`{3,}|~{3,})[ \t]*([^`\r\n]*)$")
_PYTHON = re.compile(
    r"\{?[ \t]*\.?(?:code-cell\}?[ \t]+|code-block\}?[ \t]+)?(?:python3?|py3?|pycon|ipython3?)(?![\w-])", re.IGNORECASE
)
"""What is written behind a fence before Python, in the ways of several tools."""
_PROMPT = re.compile(r"([ \t]*)>>>(?: |$)")
_LITERAL = re.compile(r"([rRuU]?)('''|\"\"\")")


class CodeLine(NamedTuple):
    """Where the code of a line stands in the text, without what is before it on the line and what ends it."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """Lines of code that belong together."""

    lines: tuple[CodeLine, ...]
    prefix: str = ""
    """What stands before the code on a line."""
    is_example: bool = False
    """Whether it is a statement behind prompts (``>>>``)."""
    is_in_string: bool = False
    """Whether it is a part of a string literal."""

    def source(self, text: str) -> str:
        """The code."""
        return "\n".join(text[line.start : line.end] for line in self.lines)


def in_markdown(text: str) -> Iterator[CodeBlock]:
    """The blocks of Python in Markdown: those with fences that say so."""
    spans = _all_lines(text)
    for part in _fenced(text, spans):
        yield from _of_part(text, spans, part, False)


def in_rst(text: str) -> Iterator[CodeBlock]:
    """The code in reStructuredText: what directives call Python, and examples anywhere else."""
    spans = _all_lines(text)
    return _in_prose(text, spans, _directed(text, spans), False)


def _all_lines(text: str) -> list[CodeLine]:
    lines = Lines(text)
    return [CodeLine(*span) for span in zip(lines.starts, lines.ends, strict=True)]


def in_docstrings(text: str, tree: ast.Module) -> Iterator[CodeBlock]:
    """The blocks and examples in the docstrings of a module."""
    lines = Lines(text)
    for node in ast.walk(tree):
        if (literal := docstring_of(node)) is not None:
            yield from _in_literal(text, lines, literal)


def docstring_of(node: ast.AST) -> ast.Constant | None:
    """The docstring of a module, a class or a function; None if it has none, or is something else."""
    if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return None
    first = node.body[0] if node.body else None
    value = first.value if isinstance(first, ast.Expr) else None
    return value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None


def _in_literal(text: str, lines: Lines, literal: ast.Constant) -> Iterator[CodeBlock]:
    start = lines.offset_in_bytes(literal.lineno, literal.col_offset)
    end = lines.offset_in_bytes(literal.end_lineno or literal.lineno, literal.end_col_offset or 0)
    opening = _LITERAL.match(text, start)
    if opening is None or not may_hold_code(text[start:end]):
        return
    inner = (opening.end(), end - 3)
    if opening[2] in text[slice(*inner)]:  # several literals, one behind the other
        return
    first, last = lines.position(inner[0]).row, lines.position(inner[1]).row
    spans = [
        CodeLine(max(lines.starts[row - 1], inner[0]), min(lines.ends[row - 1], inner[1]))
        for row in range(first, last + 1)
    ]
    parts = sorted({*_fenced(text, spans), *_directed(text, spans)})
    is_raw = opening[1] in ("r", "R")
    for block in _in_prose(text, spans, parts, True):
        if is_raw or "\\" not in block.source(text):
            yield block


def may_hold_code(text: str) -> bool:
    """Whether prose can have code in it, at a glance."""
    return any(sign in text for sign in (">>>", "```", "~~~")) or (".. " in text and "::" in text)


class _ShownPart(NamedTuple):
    """Lines of prose that are shown as they are, by their numbers."""

    first: int
    """The first one, with what says that there is code."""
    last: int
    """The one behind all of that."""
    begin: int
    """The first line of the code."""
    end: int
    """The line behind the code."""
    is_python: bool


def _in_prose(
    text: str, spans: Sequence[CodeLine], parts: Iterable[_ShownPart], is_in_string: bool
) -> Iterator[CodeBlock]:
    """The code in the parts that hold some, and the examples that stand outside of them."""
    at = 0
    for part in parts:
        if part.first < at:  # inside of another
            continue
        yield from _examples(text, spans[at : part.first], is_in_string)
        yield from _of_part(text, spans, part, is_in_string)
        at = part.last
    yield from _examples(text, spans[at:], is_in_string)


def _of_part(text: str, spans: Sequence[CodeLine], part: _ShownPart, is_in_string: bool) -> Iterator[CodeBlock]:
    """The code of a part."""
    inside = spans[part.begin : part.end]
    if not part.is_python or not inside:
        return
    begun = next((line for line in inside if text[slice(*line)].strip()), inside[0])
    if _PROMPT.match(text[slice(*begun)]):
        yield from _examples(text, inside, is_in_string)
    else:
        yield _dedented(text, inside, is_in_string)


def _directed(text: str, spans: Sequence[CodeLine]) -> Iterator[_ShownPart]:
    """What directives of reStructuredText hold."""
    for found in directives([text[slice(*span)] for span in spans]):
        yield _ShownPart(found.first, found.end, found.begin, found.end, found.is_python)


def _fenced(text: str, spans: Sequence[CodeLine]) -> Iterator[_ShownPart]:
    """What stands between fences."""
    for first, last in _fences(text, spans):
        fence = _FENCE.match(text[slice(*spans[first])])
        yield _ShownPart(first, last + 1, first + 1, last, fence is not None and _PYTHON.match(fence[3]) is not None)


def _fences(text: str, spans: Sequence[CodeLine]) -> Iterator[tuple[int, int]]:
    """Which of some lines are fences, in pairs."""
    opened: tuple[int, str] | None = None
    for number, span in enumerate(spans):
        fence = _FENCE.match(text[slice(*span)])
        if fence is None:
            continue
        if opened is None:
            opened = number, fence[2]
        elif not fence[3].strip() and fence[2].startswith(opened[1]):
            yield opened[0], number
            opened = None


def _dedented(text: str, spans: Sequence[CodeLine], is_in_string: bool) -> CodeBlock:
    """A block without the indentation that all of its lines have."""
    written = [text[slice(*span)] for span in spans]
    indents = [len(line) - len(line.lstrip(" \t")) for line in written if line.strip()]
    indent = min(indents, default=0)
    lines = tuple(CodeLine(min(span.start + indent, span.end), span.end) for span in spans)
    prefix = next((line[:indent] for line in written if line.strip()), "")
    return CodeBlock(lines, prefix, is_in_string=is_in_string)


def _examples(text: str, spans: Sequence[CodeLine], is_in_string: bool) -> Iterator[CodeBlock]:
    """The statements behind prompts."""
    lines, indent = list[CodeLine](), ""
    for span in spans:
        line = text[slice(*span)]
        prompt = _PROMPT.match(line)
        if prompt is not None:
            if lines:
                yield CodeBlock(tuple(lines), f"{indent}... ", is_example=True, is_in_string=is_in_string)
            lines, indent = [CodeLine(span.start + prompt.end(), span.end)], prompt[1]
        elif lines and (line.rstrip() == f"{indent}..." or line.startswith(f"{indent}... ")):
            lines.append(CodeLine(min(span.start + len(indent) + 4, span.end), span.end))
        elif lines:
            yield CodeBlock(tuple(lines), f"{indent}... ", is_example=True, is_in_string=is_in_string)
            lines = []
    if lines:
        yield CodeBlock(tuple(lines), f"{indent}... ", is_example=True, is_in_string=is_in_string)
