"""Bodies of functions that are not parsed before somebody looks into them.

Parsing is most of what a file costs, and of a large file a rule looks at a few functions. So libcst is given ``pass``
in place of the others, and the text they stand for is parsed when their block is asked for its statements: an
:class:`LateBody` fills itself and is an ``IndentedBlock`` from then on. Where the functions are Python's own parser
says, in a tenth of the time.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import libcst as cst

from torchlint.file.text.python import parsed
from torchlint.file.tree.libcst_private import write_block

if TYPE_CHECKING:
    from torchlint.file.tree.libcst_private import CodegenState

MIN_SIZE = 200
"""Characters below which a body is parsed at once."""

_WORD = re.compile(r"\w+")
_EXCEPT = re.compile(r"^[ \t]*except\s*:", re.MULTILINE)
_NO_CODE = re.compile(r"[ \t]*(?:#.*)?\Z")


class Unreadable(Exception):
    """libcst cannot parse a body that Python's own parser has accepted. The file has to be parsed as a whole."""


class Body(NamedTuple):
    """The body of a function, in whole lines."""

    first: int
    """Its first line and the one behind its last, counted from 0."""
    last: int
    around: str
    """The lines that open the blocks it is in: ``class _:``, ``def _():``."""
    indent: str
    """White space in front of its first statement."""

    def text(self, lines: Sequence[str]) -> str:
        """Its text, of all lines of the file."""
        return "\n".join([*lines[self.first : self.last], ""])


@dataclass(eq=False)
class Text:
    """What a late body stands for."""

    raw: str
    block: Callable[[], tuple[cst.BaseSuite, str]]
    """The block, parsed, and the indentation that its inner blocks have if they name none.

    Raises:
        Unreadable: it cannot be parsed where it stands.
    """
    read: Callable[[LateBody, Text], None]
    """Called when somebody looks at it."""

    def words(self) -> frozenset[str]:
        """All words in it: names, and what stands in strings and comments."""
        return frozenset(_WORD.findall(self.raw))


class LateBody(cst.IndentedBlock):
    """A block whose statements are parsed when they are asked for."""

    __slots__ = ()  # type: ignore[misc]

    def _codegen_impl(self, state: CodegenState) -> None:
        write_block(self, state, text_of(self).raw)


def _statements(block: LateBody) -> Sequence[cst.BaseStatement]:
    text = text_of(block)
    text.read(block, text)
    return _slot(block)  # type: ignore[no-any-return]


setattr(LateBody, "body", property(_statements))  # noqa: B010 -- in the place of a field

_slot: Any = vars(cst.IndentedBlock)["body"].__get__


def text_of(block: LateBody) -> Text:
    """What a block stands for; it is kept where its statements will be."""
    return _slot(block)  # type: ignore[no-any-return]


def close(block: cst.BaseSuite, text: Text) -> None:
    """Make a block stand for a text."""
    vars(cst.IndentedBlock)["body"].__set__(block, text)
    object.__setattr__(block, "__class__", LateBody)


def fill(block: LateBody, statements: Sequence[cst.CSTNode]) -> None:
    """Give a block its statements."""
    object.__setattr__(block, "__class__", cst.IndentedBlock)
    vars(cst.IndentedBlock)["body"].__set__(block, statements)


def without_bodies(text: str, is_wanted: Callable[[int, int], bool]) -> tuple[str, list[Body | None]] | None:
    """A text with ``pass`` for the bodies of functions that are not wanted, and all functions at its top.

    A function is at the top if nothing but classes is around it. ``is_wanted`` is asked with its first line and the one
    behind its last, counted from 0; one that is wanted, or too small, is None in the list. The answer is None where
    the text has to be parsed as a whole.
    """
    if "\r" in text or "\f" in text or not text.endswith("\n"):
        return None
    tree = python_tree(text)
    if tree is None:
        return None
    lines = text.split("\n")
    found = list(_bodies(tree.body, lines, "", is_wanted))
    parts: list[str] = []
    at = 0
    for body in found:
        if body is not None:
            parts += lines[at : body.first]
            parts.append(f"{body.indent}pass")
            at = body.last
    return ("\n".join(parts + lines[at:]), found) if at else None


def python_tree(text: str) -> ast.Module | None:
    """What Python's own parser makes of a text; None if it is no Python."""
    tree = parsed(text)
    return None if tree is None or _is_refused(text, tree) else tree


def _is_refused(text: str, tree: ast.Module) -> bool:
    """Whether a bare ``except`` stands before another handler, which Python's parser lets pass."""
    if _EXCEPT.search(text) is None:
        return False
    handlers = (node.handlers for node in ast.walk(tree) if isinstance(node, ast.Try))
    return any(handler.type is None for each in handlers for handler in each[:-1])


def _bodies(
    statements: Sequence[ast.stmt], lines: list[str], around: str, is_wanted: Callable[[int, int], bool]
) -> Iterator[Body | None]:
    for statement in statements:
        if isinstance(statement, ast.ClassDef):
            opened = f"{around}{_margin(lines[statement.lineno - 1])}class _:\n"
            yield from _bodies(statement.body, lines, opened, is_wanted)
        elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            yield body_of(statement, lines, around, is_wanted)


def body_of(
    function: ast.FunctionDef | ast.AsyncFunctionDef,
    lines: Sequence[str],
    around: str,
    is_wanted: Callable[[int, int], bool],
) -> Body | None:
    """The body of a function that can be left unread; None if it is wanted, too small, or shares lines with others."""
    if is_wanted(first_row(function), function.end_lineno or function.lineno):
        return None
    opening = function.body[0]
    row = first_row(opening)
    last = function.end_lineno or row
    line = lines[row]
    indent = _margin(line)
    first = row
    while _NO_CODE.match(lines[first - 1]):
        first -= 1
    header = lines[first - 1]
    if first < function.lineno or row == function.lineno - 1 or header.endswith("\\"):
        return None
    is_first = line.startswith("@", len(indent)) or len(indent) == opening.col_offset
    if not is_first or sum(map(len, lines[first:last])) < MIN_SIZE:
        return None
    keyword = "async def" if isinstance(function, ast.AsyncFunctionDef) else "def"
    return Body(first, last, f"{around}{_margin(lines[function.lineno - 1])}{keyword} _():\n", indent)


def first_row(statement: ast.stmt) -> int:
    """The first line of a statement with its decorators, counted from 0."""
    decorators: Sequence[ast.expr] = getattr(statement, "decorator_list", ())
    return min([statement.lineno, *(each.lineno for each in decorators)]) - 1


def _margin(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def parsed_body(raw: str, around: str, parse: Callable[[str], cst.Module]) -> tuple[cst.IndentedBlock, str]:
    """What is inside of the lines that open its blocks, and the indentation of blocks in it that name none.

    Raises:
        Unreadable: libcst cannot parse it.
    """
    try:
        module = parse(around + raw)
    except cst.ParserSyntaxError as error:
        raise Unreadable(str(error)) from None
    at: Any = module
    while not isinstance(at, cst.FunctionDef):
        at = at.body[0] if isinstance(at, cst.Module) else at.body.body[0]
    if not isinstance(at.body, cst.IndentedBlock) or at.body.footer or module.footer:
        raise Unreadable("a body has another form than expected")
    return at.body, module.default_indent


def functions(statements: Sequence[cst.CSTNode]) -> Iterator[cst.FunctionDef]:
    """The functions at the top of a module, in the same order."""
    for statement in statements:
        if isinstance(statement, cst.FunctionDef):
            yield statement
        elif isinstance(statement, cst.ClassDef) and isinstance(statement.body, cst.IndentedBlock):
            yield from functions(statement.body.body)
