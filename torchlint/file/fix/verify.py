"""What a fix must not do, judged from the text before and after by Python's own parser: a last line of defence.

The text must still parse and compile, and every statement that no edit touches must be what it was, where it was: in
the same block of the same statement. Nothing here knows libcst or the rules, so a mistake of theirs is seen.
"""

from __future__ import annotations

import ast
import bisect
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torchlint.diagnostic import TextEdit
from torchlint.file.text.edits import images, splice
from torchlint.file.text.lines import Lines, line_start, lines_above
from torchlint.file.text.python import are_same, parsed
from torchlint.file.tree.placeholders import ASYNC

BREAKS = "would leave code that does not parse"
CHANGES = "would change line {} too"

_BLOCKS = frozenset(("body", "orelse", "finalbody", "handlers", "cases"))


class Guard:
    """The text before."""

    def __init__(self, text: str, repaired: str) -> None:
        """``repaired`` is the text to parse where the text itself does not, of the same length."""
        self.text = text
        self._is_repaired = False
        self._tree = parsed(text)
        if self._tree is None and repaired != text:
            self._is_repaired, self._tree = True, parsed(repaired)
        self._units = _units(self._tree, repaired if self._is_repaired else text) if self._tree is not None else {}
        self._compiles: bool | None = None

    def objection(self, edits: Iterable[TextEdit], repaired: str) -> str | None:
        """What is wrong with the text after these edits, which ``repaired`` can be parsed for; None if all is well.

        What this Python cannot parse before the edits (newer syntax) is not judged.
        """
        if self._tree is None:
            return None
        ordered = sorted(edits, key=lambda e: (e.start, e.end))
        text = splice(self.text, ordered)
        tree = parsed(text)
        if tree is None and self._is_repaired:
            text, tree = repaired, parsed(repaired)
        if tree is None:
            return BREAKS
        changed = _Comparison(self._units, _units(tree, text), ordered).first_changed()
        if changed is not None:
            return CHANGES.format(self.text.count("\n", 0, changed) + 1)
        if not _compiles(text) and self._compiles_today():
            return BREAKS
        return None

    def _compiles_today(self) -> bool:
        if self._compiles is None:
            self._compiles = _compiles(self.text)
        return self._compiles


def _compiles(text: str) -> bool:
    """Whether the compiler takes it, which sees more than the parser: ``from __future__`` in its place, ``return``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, "<fixed>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            return False
        except (RecursionError, MemoryError):
            return True  # nobody can say
    return True


@dataclass(frozen=True, slots=True)
class _Unit:
    """A statement (or an ``except`` or ``case``) without the statements inside it."""

    node: ast.AST
    start: int
    end: int
    """Where its own part ends: at the first statement inside it, if there are any, or the comments above that."""
    is_compound: bool
    parent: int | None
    """Where the unit begins that it is in; None for the module."""
    block: str


def _units(tree: ast.Module, text: str) -> dict[int, _Unit]:
    """All units by the offset where they begin."""
    lines = Lines(text)
    units: dict[int, _Unit] = {}
    stack: list[tuple[Any, int | None, str]] = [(node, None, "body") for node in tree.body]
    while stack:
        node, parent, block = stack.pop()
        at = node.pattern if isinstance(node, ast.match_case) else node
        begin = lines.offset_in_bytes(at.lineno, at.col_offset)
        decorators = getattr(node, "decorator_list", ())
        start = lines.offset_in_bytes(decorators[0].lineno, decorators[0].col_offset) if decorators else begin
        end = lines.offset_in_bytes(at.end_lineno, at.end_col_offset)
        inside = [(child, name) for name in _BLOCKS for child in _block(node, name)]
        if inside and isinstance(inside[0][0], ast.AST):
            end = _without_comments(text, min(_begin(child, lines) for child, _ in inside))
        units[begin] = _Unit(node, start, end, bool(inside), parent, block)
        stack += [(child, begin, name) for child, name in inside]
    return units


def _without_comments(text: str, end: int) -> int:
    """Where the first statement of a block begins with its line, and the lines with nothing but comments above that."""
    line = line_start(text, end)
    if not line or text[line:end].strip(" \t\f"):
        return end
    end = line
    for above, stop in lines_above(text, line):
        code = text[above:stop].lstrip()
        if code and not code.startswith("#"):
            break
        end = above
    return end


def _block(node: ast.AST, name: str) -> Sequence[Any]:
    value = getattr(node, name, None)
    return value if isinstance(value, list) else ()


def _begin(node: Any, lines: Lines) -> int:
    first = (getattr(node, "decorator_list", None) or [node])[0]
    at = first.pattern if isinstance(first, ast.match_case) else first
    return lines.offset_in_bytes(at.lineno, at.col_offset)


class _Comparison:
    """The units before and after some edits."""

    def __init__(self, old: Mapping[int, _Unit], new: Mapping[int, _Unit], edits: Sequence[TextEdit]) -> None:
        self.old, self.new = old, new
        self.before = _Areas((edit.start, edit.end) for edit in edits)
        self.after = _Areas(images(edits), with_ends=True)
        self.moved = _Shift(edits)

    def first_changed(self) -> int | None:
        """Where the first unit begins that no edit is about, and that is not what or where it was.

        Also what appears where no edit put it counts, with the place where it would have been.
        """
        kept = set[int]()
        for begin, unit in self.old.items():
            if self.before.touch(unit):
                continue
            place = self.moved.forward(begin)
            other = self.new.get(place)
            if other is None or not self._is_same(unit, other, begin) or not self._is_in_place(unit, other):
                return begin
            kept.add(place)
        return next(
            (self.moved.back(at) for at, unit in self.new.items() if at not in kept and not self.after.touch(unit)),
            None,
        )

    def _is_same(self, unit: _Unit, other: _Unit, begin: int) -> bool:
        """Whether two units are the same, but for an ``else`` that an edit is about with all that is in it."""
        if _same(unit.node, other.node):
            return True
        inside = [each for each in self.old.values() if each.parent == begin and each.block == "orelse"]
        is_gone = bool(inside) and not _block(other.node, "orelse")
        return is_gone and self.before.cover(inside) and _same(unit.node, other.node, apart_from="orelse")

    def _is_in_place(self, unit: _Unit, other: _Unit) -> bool:
        """Whether two units are in the same block of the same statement (or of one that an edit is about)."""
        if unit.block != other.block:
            return False
        if unit.parent is None or other.parent is None:
            return unit.parent is other.parent
        if self.before.touch(self.old[unit.parent]):
            return self.after.touch(self.new[other.parent])
        return self.moved.forward(unit.parent) == other.parent


class _Areas:
    """Parts of a text."""

    def __init__(self, areas: Iterable[tuple[int, int]], with_ends: bool = False) -> None:
        self.areas = sorted(areas)
        self.with_ends = with_ends
        """Whether what only meets the end of an area touches it; an area without extent does in any case."""

    def touch(self, unit: _Unit) -> bool:
        """Whether any of them is in the unit's own part."""
        index = bisect.bisect_left(self.areas, (unit.start, unit.start))
        for number in range(max(0, index - 1), len(self.areas)):
            start, end = self.areas[number]
            if start > unit.end:
                return False
            if start == end or self.with_ends:
                if unit.start <= end and (start < unit.end or not unit.is_compound):
                    return True
            elif start < unit.end and end > unit.start:
                return True
        return False

    def cover(self, units: Sequence[_Unit]) -> bool:
        """Whether one of them begins before some units, and has all of them in it."""
        first, last = min(unit.start for unit in units), max(unit.end for unit in units)
        is_simple = not any(unit.is_compound for unit in units)
        return is_simple and any(start < first and last <= end for start, end in self.areas)


class _Shift:
    """How far the text after each edit moves."""

    def __init__(self, edits: Sequence[TextEdit]) -> None:
        self.ends = [edit.end for edit in edits]
        self.shifts = [0]
        for edit in edits:
            self.shifts.append(self.shifts[-1] + len(edit.content) - (edit.end - edit.start))
        self.images = [end + shift for end, shift in zip(self.ends, self.shifts[1:], strict=True)]

    def forward(self, offset: int) -> int:
        return offset + self.shifts[bisect.bisect_right(self.ends, offset)]

    def back(self, offset: int) -> int:
        return max(0, offset - self.shifts[bisect.bisect_right(self.images, offset)])


def _same(left: ast.AST, right: ast.AST, apart_from: str = "") -> bool:
    """Whether two statements are the same but for where they stand and the statements inside them."""
    if type(left) is not type(right):
        return False
    for name in left._fields:
        mine, other = getattr(left, name, None), getattr(right, name, None)
        is_block = name in _BLOCKS and isinstance(mine, list)
        is_same = bool(mine) == bool(other) if is_block else are_same(mine, other, _plain)
        if not is_same and name != apart_from:
            return False
    return True


def _plain(value: object) -> str:
    """A constant such that one that is not equal to itself is, and what was put into a string to parse it is out."""
    return repr(value).replace(ASYNC, "async")
