"""Long modules, parsed some statements at a time.

What libcst's parser remembers until it is done with a text is ten times of what comes out of it, as with long lists.
So a long module is cut between statements at its top; what comes out is the tree of the text.
"""

from __future__ import annotations

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

_INDENTED = re.compile(r"^[ \t]", re.MULTILINE)


def parse(text: str) -> cst.Module:
    """The tree of a text.

    Raises:
        cst.ParserSyntaxError: it is no Python.
    """
    if not is_on(Layer.LONG_MODULES) or len(text) < LONG or "\r" in text or "\f" in text:
        return long_lists.parse(text)
    parts = list(_parts(text))
    if len(parts) < 2:
        return long_lists.parse(text)
    modules = [long_lists.parse(part) for part in parts]
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


def _parts(text: str) -> Iterator[str]:
    """The parts of a text, each of them some statements with what stands above them."""
    tree = python_tree(text)
    if tree is None:
        return
    ends = [statement.end_lineno or 0 for statement in tree.body]
    begins = [min([each.lineno, *(d.lineno for d in getattr(each, "decorator_list", ()))]) for each in tree.body]
    del tree
    lines = text.split("\n")
    start = size = row = 0
    for end, begin in zip(ends, begins[1:], strict=False):
        size += sum(map(len, lines[row:end])) + end - row
        row = end
        if size >= PART and _is_cut(lines, end, begin - 1):
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
