"""What is shown of a place in a text: what the expression there can be, and the pages of rules."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lsprotocol import types

from torchlint.cli.report import url
from torchlint.cli.report.values import value_in_words
from torchlint.diagnostic import Diagnostic, Position
from torchlint.file.locate.evidence import shortened
from torchlint.file.notebook.cells import Cells
from torchlint.file.text.source import Undecodable
from torchlint.file.tree.placeholders import PLACEHOLDER, SHOWN
from torchlint.project.pages import documentation
from torchlint.project.selection import known_names
from torchlint.server.checked import Checked
from torchlint.server.linter import EditorLinter, content_of

_WIDTH = 60
"""Characters shown of an expression."""

_WORD = re.compile(r"[\w-]+")
_COMMENT = re.compile(r"#\s*(?:torchlint\s*:|noqa\b)")
_FENCE = re.compile(r"^( *```\w*).*$", re.MULTILINE)


def hover(checked: Checked, uri: str, at: types.Position, linter: EditorLinter) -> str:
    """Markdown about a place in a text; nothing if there is nothing to say."""
    found = [each for each, _ in checked.found_at(uri, types.Range(at, at))]
    lines = checked.snapshot.parts[uri]
    position = lines.position(checked.encoding.offset(lines, at))
    named = _rule_named(lines.line(position.row), position.column - 1)
    value = _value(checked, uri, position, linter)
    parts = [*([value] if value else []), *_pages(found), *([_page(named)] if named is not None else [])]
    return "\n\n---\n\n".join(parts)


def _value(checked: Checked, uri: str, position: Position, linter: EditorLinter) -> str:
    """What the innermost expression at a place can be."""
    try:
        content = content_of(checked.snapshot)
    except Undecodable:
        return ""
    if content.embedded is not None:
        return ""
    cells = content.cells
    number = list(checked.snapshot.parts).index(uri) + 1
    first = 1 if cells is None else next((each.row for each in cells.cells if each.written.number == number), None)
    if first is None:
        return ""
    item = linter.value_at(checked.snapshot, content, Position(position.row + first - 1, position.column))
    if item is None or item.kind == "unknown" or any(letter in item.expression for letter in (PLACEHOLDER, *SHOWN)):
        return ""
    said = value_in_words(item, lambda row: _line(row, cells))
    return f"```text\n{shortened(item.expression, _WIDTH)}: {said}\n```"


def _line(row: int, cells: Cells | None) -> str:
    if cells is None:
        return f"line {row}"
    cell, row = cells.place_of_row(row)
    return f"code cell {cell} line {row}"


def _pages(found: list[Diagnostic]) -> Iterator[str]:
    """The pages of the rules that found something, with what they say of this place."""
    for code in dict.fromkeys(each.code for each in found):
        about = [each for each in found if each.code == code]
        evidence = [f"Because of: {each.evidence.message}" for each in about if each.evidence is not None]
        yield "\n\n".join([_page(code), *dict.fromkeys(evidence)])


def _page(code: str) -> str:
    """What there is to say about a rule."""
    name = known_names()[code]
    page = url(code, name)
    title = f"**[{code} {name}]({page})**" if page is not None else f"**{code} {name}**"
    text = _FENCE.sub(r"\1", documentation(code))
    return f"{title}\n\n{text}"


def _rule_named(line: str, column: int) -> str | None:
    """The rule that a comment which silences it names at a place."""
    comment = _COMMENT.search(line)
    if comment is None:
        return None
    codes = {**{name: code for code, name in known_names().items()}, **{code: code for code in known_names()}}
    words = (each for each in _WORD.finditer(line, comment.end()) if each.start() <= column < each.end())
    return next((codes[word.group()] for word in words if word.group() in codes), None)
