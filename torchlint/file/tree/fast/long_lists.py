"""Long lists, sets and dictionaries, parsed a few elements at a time.

libcst's parser remembers everything it has tried until it is done with a text: ten times of what the nodes need that
come out. Of a list of 100,000 calls that is two gigabytes. So it is given such a list with one element in it; the
others it parses in groups, and their nodes take the place of that one. What comes out is the tree of the text.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import libcst as cst

from torchlint.file.text.tokens import GAP
from torchlint.file.tree.libcst_private import parse_module
from torchlint.file.tree.nodes import syntax_fields
from torchlint.file.tree.python_tree import python_tree
from torchlint.system.layers import Layer, is_on

LONG = 100_000
"""Characters of a text that is worth it, and of a list in it."""

_GROUP = 5_000
"""Characters of elements that are parsed together, at least; twice as many are not long."""

_STAND_IN = "ǁ"
"""The element that libcst is given for all of them."""

_UNEVEN = 10_000
"""Characters of a line that is not ASCII, up to which offsets in it are worth counting."""

_GAP = re.compile(GAP)
_SIMPLE = ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr
_BRACKETS: dict[type[ast.expr], tuple[str, str]] = {ast.List: ("[", "]"), ast.Set: ("{", "}"), ast.Dict: ("{", "}")}

Display = cst.List | cst.Set | cst.Dict
Element = cst.BaseElement | cst.BaseDictElement


class _Undivided(Exception):
    """A text has no long lists, or another form than expected, and is parsed as a whole."""


@dataclass(frozen=True, slots=True)
class _Long:
    """A long list, set or dictionary in a text."""

    kind: type[ast.expr]
    starts: list[int]
    """Where its elements begin; at last, where the last one ends."""


def parse(text: str) -> cst.Module:
    """The tree of a text; long lists in it are parsed in groups.

    Raises:
        cst.ParserSyntaxError: it is no Python.
    """
    if not is_on(Layer.LONG_LISTS) or len(text) < LONG or _STAND_IN in text or "\r" in text or "\f" in text:
        return parse_module(text)
    try:
        return _divided(text)
    except _Undivided:
        return parse_module(text)


def _divided(text: str) -> cst.Module:
    found = _long(text)
    if not found:
        raise _Undivided
    parts: list[str] = []
    at = 0
    for display in found:
        each = f"{_STAND_IN}: {_STAND_IN}" if display.kind is ast.Dict else _STAND_IN
        parts += (text[at : display.starts[0]], each)
        at = display.starts[-1]
    module = parse_module("".join([*parts, text[at:]]))
    places = list(_stand_ins(module))
    if len(places) != len(found):
        raise _Undivided
    for place, display in zip(places, found, strict=True):
        _fill(place, [element for group in _groups(display, text) for element in group])
    return module


# ---------------------------------------------------------------------- where they are


def _long(text: str) -> list[_Long]:
    """The outermost long displays in the simple statements at the top of a module, in document order."""
    tree = python_tree(text)
    if tree is None:
        return []
    offsets, found = _Offsets(text), []
    waiting: list[ast.AST] = [statement for statement in tree.body if isinstance(statement, _SIMPLE)]
    while waiting:
        node = waiting.pop()
        display = _display(node, text, offsets) if isinstance(node, ast.List | ast.Set | ast.Dict) else None
        if display is not None:
            found.append(display)
        elif not isinstance(node, ast.JoinedStr):
            waiting += ast.iter_child_nodes(node)
    return sorted(found, key=lambda display: display.starts[0])


class _Offsets:
    """Offsets of what Python's parser gives rows, and columns in bytes."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *(match.end() for match in re.finditer("\n", text)), len(text) + 1]
        self._is_plain = text.isascii()

    def end(self, node: ast.expr) -> int:
        """Where an expression ends, without brackets of its own."""
        return self._at(node.end_lineno or 0, node.end_col_offset or 0)

    def start(self, node: ast.expr) -> int:
        """Where it begins."""
        return self._at(node.lineno, node.col_offset)

    def _at(self, row: int, column: int) -> int:
        start, end = self._starts[row - 1 : row + 1]
        if self._is_plain:
            return start + column
        if end - start > _UNEVEN:
            raise _Undivided
        return start + len(self._text[start:end].encode(errors="surrogatepass")[:column].decode(errors="surrogatepass"))


def _display(node: ast.List | ast.Set | ast.Dict, text: str, offsets: _Offsets) -> _Long | None:
    """A long display; None if it is not long, or has but one element."""
    elements = node.values if isinstance(node, ast.Dict) else node.elts
    if len(elements) < 2 or isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
        return None
    if offsets.end(node) - offsets.start(node) < LONG:
        return None
    starts = [_behind(text, offsets.start(node) + 1)]
    for element in elements[:-1]:
        at = _closed(text, offsets.end(element))
        if text[at] != ",":
            raise _Undivided
        starts.append(_behind(text, at + 1))
    last = offsets.end(elements[-1])
    while (at := _behind(text, last)) < len(text) and text[at] == ")":
        last = at + 1
    return _Long(type(node), [*starts, last])


def _behind(text: str, at: int) -> int:
    """Behind the white space and the comments that stand at an offset."""
    match = _GAP.match(text, at)
    return match.end() if match else at


def _closed(text: str, at: int) -> int:
    """Where the next token stands that is no closing bracket around an expression that ends at an offset."""
    at = _behind(text, at)
    while text[at] == ")":
        at = _behind(text, at + 1)
    return at


# ---------------------------------------------------------------------- what comes into their place


def _groups(display: _Long, text: str) -> Iterator[Sequence[Element]]:
    """The nodes of the elements of a display, parsed some at a time."""
    opening, closing = _BRACKETS[display.kind]
    for start, end in _pieces(display.starts):
        comma = "," if end == display.starts[-1] else ""
        yield _elements(parse(f"{opening}{text[start:end]}{comma}{closing}\n"))


def _pieces(starts: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Where groups of elements begin and end. One that is large is a group of its own: there may be a list in it."""
    first = starts[0]
    for start, end in pairwise(starts):
        if end - start >= _GROUP and start > first:
            yield first, start
            first = start
        if end - first >= _GROUP or end == starts[-1]:
            yield first, end
            first = end


def _elements(module: cst.Module) -> Sequence[Element]:
    """The elements of the display that is all of a module; what stands behind the last comma goes to that comma."""
    match module.body:
        case [cst.SimpleStatementLine(body=[cst.Expr(value=cst.List() | cst.Set() | cst.Dict() as display)])]:
            bracket = display.rbracket if isinstance(display, cst.List) else display.rbrace
            elements = display.elements
            object.__setattr__(elements[-1].comma, "whitespace_after", bracket.whitespace_before)
            return elements
    raise _Undivided


def _stand_ins(module: cst.Module) -> Iterator[Display]:
    """The displays that hold nothing but the stand-in, in document order."""
    waiting: list[object] = [module]
    while waiting:
        node = waiting.pop()
        match node:
            case cst.List(elements=[cst.Element(value=cst.Name(value=name))]) if name == _STAND_IN:
                yield node
            case cst.Set(elements=[cst.Element(value=cst.Name(value=name))]) if name == _STAND_IN:
                yield node
            case cst.Dict(elements=[cst.DictElement(key=cst.Name(value=name))]) if name == _STAND_IN:
                yield node
            case cst.CSTNode():
                for name in reversed(syntax_fields(type(node))):
                    value = getattr(node, name)
                    waiting += reversed(value) if isinstance(value, list | tuple) else [value]


def _fill(display: Display, elements: Sequence[Element]) -> None:
    """Put elements into the place of the stand-in."""
    object.__setattr__(elements[-1], "comma", display.elements[0].comma)
    object.__setattr__(display, "elements", tuple(elements))
