"""What the strings, comments and brackets of a text tell: looked through once, for all who ask."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from torchlint.file.text.tokens import TOKENS

PIECES = re.compile(rf"{TOKENS.pattern}|\r\n|\r|\n", TOKENS.flags)
"""The same, and what ends its lines."""

MAX_BRACKETS = 200
"""CPython's tokenizer refuses more nested brackets (Parser/lexer/state.h, MAXLEVEL); libcst's parser dies of them."""


@dataclass(frozen=True, slots=True)
class Scan:
    """What is known of a text after it was looked through once."""

    too_deep: int | None
    """Where the first bracket opens that is inside of more than :data:`MAX_BRACKETS`; None if none is."""
    prefers_double_quotes: bool
    """Whether most of its strings on one line are in double quotes."""
    begins: list[int]
    """Where the lines begin on which a bracket is opened and not closed."""
    ends: list[int]
    """Where these end."""


@functools.lru_cache(maxsize=2)
def scan(text: str) -> Scan:
    """Look through a text; of the last ones it is remembered."""
    too_deep: int | None = None
    balance, begins, ends = 0, list[int](), list[int]()
    row, opened = 0, list[int]()
    for match in PIECES.finditer(text):
        piece = match.group()
        if piece in "([{":
            opened.append(row)
            if len(opened) > MAX_BRACKETS and too_deep is None:
                too_deep = match.start()
        elif piece in ")]}":
            if opened:
                opened.pop()
        elif piece in ("\n", "\r", "\r\n"):
            if opened and opened[-1] == row:
                begins.append(row)
                ends.append(match.start())
            row = match.end()
        elif not piece.startswith(('"""', "'''", "#")):
            balance += 1 if piece[0] == '"' else -1
    return Scan(too_deep, balance > 0, begins, ends)
