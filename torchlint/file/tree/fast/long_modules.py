"""Long modules, parsed some statements at a time.

What libcst's parser remembers until it is done with a text is ten times of what comes out of it, as with long lists.
So a long module is cut between statements at its top; what comes out is the tree of the text.

Who parses a text again after each keystroke has any module cut, and parts that are as they were are not parsed again.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence

import libcst as cst

from torchlint.file.tree.fast import long_lists
from torchlint.file.tree.python_tree import python_tree
from torchlint.system.layers import Layer, is_on

LONG = 100_000
"""Characters of a text that is worth it."""

PART = 20_000
"""Characters that are parsed together, at least."""

_SMALL_PART = 2_000
"""The same where parts are remembered."""

Parts = dict[str, cst.Module]
"""Parts of modules, by their text."""

_remembered: list[tuple[Parts, Parts]] = []
"""While parts are remembered: those that were parsed before, and those that were asked for since."""

_INDENTED = re.compile(r"^[ \t]", re.MULTILINE)


@contextlib.contextmanager
def remembering(parts: Parts) -> Iterator[None]:
    """Take parts of modules from those that are given, and leave there what was asked for meanwhile."""
    asked_for: Parts = {}
    _remembered.append((parts, asked_for))
    try:
        yield
    finally:
        _remembered.pop()
        parts.clear()
        parts.update(asked_for)


def _part(text: str) -> cst.Module:
    if not _remembered:
        return long_lists.parse(text)
    before, asked_for = _remembered[-1]
    asked_for[text] = part = before.get(text) or long_lists.parse(text)
    return part


def parse(text: str) -> cst.Module:
    """The tree of a text.

    Raises:
        cst.ParserSyntaxError: it is no Python.
    """
    if not is_on(Layer.LONG_MODULES) or not (_remembered or len(text) >= LONG) or "\r" in text or "\f" in text:
        return long_lists.parse(text)
    parts = list(_parts(text, _SMALL_PART if _remembered else PART))
    if len(parts) < 2:
        return long_lists.parse(text)
    modules = [_part(part) for part in parts]
    indents = {module.default_indent for module, part in zip(modules, parts, strict=True) if _INDENTED.search(part)}
    if len(indents) > 1:
        return long_lists.parse(text)  # a block does not say what its indentation is where it is that of the module
    body = [statement for module in modules for statement in _body(module, is_first=module is modules[0])]
    first, last = modules[0], modules[-1]
    return first.with_changes(
        body=body,
        footer=last.footer,
        default_indent=next(iter(indents), first.default_indent),
        has_trailing_newline=last.has_trailing_newline,
    )


def _body(module: cst.Module, is_first: bool) -> Sequence[cst.CSTNode]:
    """The statements of a part of a module; what stands above the first of them goes to that one."""
    first, *others = module.body
    return [first if is_first else first.with_changes(leading_lines=[*module.header, *first.leading_lines]), *others]


def _parts(text: str, least: int) -> Iterator[str]:
    """The parts of a text, each of them some statements with what stands above them.

    A statement that is long enough is a part of its own: what is typed above it does not change it.
    """
    tree = python_tree(text)
    if tree is None:
        return
    ends = [statement.end_lineno or 0 for statement in tree.body]
    begins = [min([each.lineno, *(d.lineno for d in getattr(each, "decorator_list", ()))]) for each in tree.body]
    del tree
    lines = text.split("\n")
    rows = [0, *ends]
    sizes = [sum(map(len, lines[row:end])) + end - row for row, end in zip(rows, ends, strict=False)]
    start = size = 0
    for end, begin, own, following in zip(ends, begins[1:], sizes, sizes[1:], strict=False):
        size += own
        if max(size, following) >= least and _is_cut(lines, end, begin - 1):
            yield "\n".join([*lines[start:end], ""])
            start, size = end, 0
    yield "\n".join(lines[start:])


def _is_cut(lines: Sequence[str], end: int, begin: int) -> bool:
    """Whether a text can be cut below a line: what stands from there to the next statement goes to that one."""
    return (
        begin >= end
        and not lines[end - 1].endswith("\\")
        and all(not line or line.startswith("#") for line in lines[end:begin])
    )
