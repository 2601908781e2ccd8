"""What IPython understands and Python does not, out of the way: names of the same length in its place.

Magics (``%matplotlib inline``, ``x = %sql …``), commands of the shell (``!pip install``), questions (``torch.ones?``).
What ``%time`` and its like run is Python, and stays.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from torchlint.file.text.lines import NEWLINE
from torchlint.file.text.python import parsed
from torchlint.file.text.tokens import TOKENS
from torchlint.file.tree.placeholders import PLACEHOLDER

_OF_PYTHON = frozenset(
    ("time", "timeit", "capture", "prun", "debug", "ipytest", "memit", "pyinstrument", "scalene", "snakeviz", "wandb")
)
"""Magics for cells whose other lines are Python that runs in the notebook's own namespace."""

_APART = frozenset(
    (
        *("HTML", "SVG", "bash", "cmd", "file", "html", "javascript", "js", "latex", "markdown", "perl", "pypy"),
        *("python", "python2", "python3", "ruby", "script", "sh", "svg", "system", "sx", "writefile"),
    )
)
"""Magics of IPython for cells that do not see the notebook's names. Of all others nobody knows."""

_CELL_MAGIC = re.compile(r"%%(\w*)[^\r\n]*")
_LINE_START = re.compile(r"[ \t\f]*")
_INDENTED = re.compile(r"(?:[ \t]*(?:\r\n|\r|\n))*([ \t]+)(?=\S)")
"""The indentation of the first line of a cell that is not empty."""
_RUNNING = re.compile(r"%(?:time|timeit|prun|memit|snakeviz)[ \t]+(?:-[A-Za-z][ \t]*[0-9]*[ \t]+)*(?=[^ \t\-])")
"""The beginning of a magic that runs the rest of its line."""
_TO_THE_END = re.compile(r"(?:[^\r\n\\]|\\(?:\r\n|[\s\S])|\\\Z)*")
"""The rest of a line, and of those that it goes on in."""
_WITHOUT_SIGN = re.compile(
    r"(?:pip3?|conda|mamba)[ \t]+[a-z]+\b(?![ \t]*[=(.\[])"
    r"|(?:cat|cd|cp|ls|mkdir|mv|rm|rmdir)[ \t]+(?!(?:and|else|for|if|in|is|not|or)\b)(?:\w|~|\.{1,2}(?:/|[ \t]*$))",
    re.MULTILINE,
)
"""What IPython takes for a magic though no sign stands before it: two words in a row are no Python."""

_COMPOUND = (
    *(ast.AsyncFor, ast.AsyncFunctionDef, ast.AsyncWith, ast.ClassDef, ast.For, ast.FunctionDef, ast.If, ast.Match),
    *(ast.Try, ast.While, ast.With),
)

_PIECES = re.compile(
    rf"(?P<token>{TOKENS.pattern})|\\(?:\r\n|\r|\n)|(?P<newline>\r\n|\r|\n)|(?P<help>\?)"
    r"|(?<![=!<>+\-*/%&|^@:])=[ \t]*(?P<sign>[!%])",
    TOKENS.flags,
)


class Masked(NamedTuple):
    """A cell as Python."""

    text: str
    """As long as the cell, with its lines."""
    words: frozenset[str]
    """The words in what was taken out of the way."""


def masked(source: str) -> Masked | None:
    """A cell as Python; None for one in another language."""
    pieces, words, last = list[str](), set[str](), 0
    at = _after_cell_magics(source)
    if at is None:
        return None
    spans = [(start, end, 0) for start, end in _lines_before(source, at)]
    for start, end, kept in (*spans, *_foreign(source, at)):
        foreign = source[start : end - kept]
        pieces += (source[last:start], in_place_of(foreign) if not kept else f"{PLACEHOLDER * (len(foreign) - 1)};")
        words.update(re.findall(r"\w+", foreign))
        last = end - kept
    return Masked("".join([*pieces, source[last:]]), frozenset(words))


def without_indentation(code: Masked) -> Masked:
    """A cell whose first line is indented, as IPython takes it: without that on any line.

    A form feed stands for it, behind which Python counts anew, so that everything keeps its place.
    """
    first = _INDENTED.match(code.text)
    if first is None or parsed(code.text) is not None:
        return code
    indentation = first.group(1)
    lines = re.compile(rf"^{re.escape(indentation)}", re.MULTILINE)
    return code._replace(text=lines.sub(f"{indentation[1:]}\f", code.text))


def words_needed(source: str) -> frozenset[str]:
    """The words of a cell that is not taken for Python, where it may see the notebook's names all the same."""
    magics = (magic[1] for magic in _CELL_MAGIC.finditer(source) if magic[1] not in _OF_PYTHON)
    return frozenset() if next(magics, "") in _APART else frozenset(re.findall(r"\w+", source))


def magics_of(source: str) -> int:
    """How many magics for all of a cell stand at its beginning."""
    return sum(1 for _ in _lines_before(source, _after_cell_magics(source) or 0))


def in_place_of(foreign: str, *, is_comment: bool = False) -> str:
    """What stands for something that is no Python: a name, and comments on the lines it goes on in, as long as it.

    With ``is_comment`` there are comments only, in place of lines of which nothing is known.
    """
    pieces, last = list[str](), 0
    for newline in (*NEWLINE.finditer(foreign), None):
        line = foreign[last : newline.start() if newline is not None else len(foreign)]
        pieces.append(f"#{PLACEHOLDER * (len(line) - 1)}" if line and (is_comment or last) else PLACEHOLDER * len(line))
        if newline is not None:
            pieces.append(newline.group())
            last = newline.end()
    return "".join(pieces)


def _after_cell_magics(source: str) -> int | None:
    """Where the code of a cell begins, behind magics for all of it; None if one of them is for another language."""
    at = len(source) - len(source.lstrip())
    begin = 0
    while (magic := _CELL_MAGIC.match(source, at)) is not None:
        if magic[1] not in _OF_PYTHON:
            return None
        begin = at = magic.end()
        newline = NEWLINE.match(source, at)
        begin = at = newline.end() if newline is not None else at
    return begin


def _lines_before(source: str, end: int) -> Iterator[tuple[int, int]]:
    """The magics for a whole cell that stand before a place."""
    return (match.span() for match in _CELL_MAGIC.finditer(source, 0, end))


def _foreign(source: str, at: int) -> Iterator[tuple[int, int, int]]:
    """What is no Python from a place on: from where to where, and how many characters at its end are Python again."""
    while at < len(source):
        line = _LINE_START.match(source, at)
        start = line.end() if line is not None else at
        if source.startswith(("%", "!", "?"), start) or _WITHOUT_SIGN.match(source, start):
            end = _end(source, start)
            yield start, end, _code(source[start:end])
            at = _behind_line(source, end)
        else:
            at, foreign = _statement(source, start)
            if foreign is not None:
                yield (*foreign, 0)


def _statement(source: str, start: int) -> tuple[int, tuple[int, int] | None]:
    """Where the line behind a statement begins, and what in it is no Python."""
    depth = 0
    for piece in _PIECES.finditer(source, start):
        token = piece["token"]
        if token is not None and token in "([{":
            depth += 1
        elif token is not None and token in ")]}":
            depth -= 1
        elif depth > 0:
            continue
        elif piece["newline"] is not None:
            return piece.end(), None
        elif piece["help"] is not None or piece["sign"] is not None:
            end = _end(source, piece.start())
            begin = start if piece["help"] is not None else piece.start("sign")
            return _behind_line(source, end), (begin, end)
    return len(source), None


def _end(source: str, start: int) -> int:
    match = _TO_THE_END.match(source, start)
    return match.end() if match is not None else start


def _behind_line(source: str, end: int) -> int:
    newline = NEWLINE.match(source, end)
    return newline.end() if newline is not None else end + 1


def _code(line: str) -> int:
    """How many characters at the end of a magic are statements that it runs."""
    head = _RUNNING.match(line)
    tree = parsed(line[head.end() :]) if head is not None else None
    if head is None or tree is None or any(isinstance(each, _COMPOUND) for each in tree.body):
        return 0
    return len(line) - head.end()
