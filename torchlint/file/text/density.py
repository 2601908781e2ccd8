"""How many statements a text has, and how many names, literals and brackets: what time and memory grow with.

A file of two million bytes has a hundred thousand of these at most, or a million, if it was made to have.
"""

from __future__ import annotations

import re

from torchlint.file.text.tokens import TOKENS
from torchlint.system.limits import Limits

_PIECES = re.compile(rf"{TOKENS.pattern}|\w+|[;\n]", TOKENS.flags)


def excess(text: str, limits: Limits) -> str | None:
    """What a text has more of than may be, in words; None if it has no more.

    It is not parsed for this, so a statement on the line of its ``if`` or ``def`` counts together with that.
    """
    statements, parts = limits.statements, limits.parts
    if len(text) <= parts and text.count("\n") + text.count(";") <= statements:
        return None
    depth, is_empty = 0, True
    for match in _PIECES.finditer(text):
        first = match.group()[0]
        if first == "#":
            continue
        if first in {"\n", ";"}:
            statements -= not depth and not is_empty
            is_empty = True
            if statements < 0:
                return f"{limits.statements:,} statements"
            continue
        is_empty = False
        if first in ")]}":
            depth = max(depth - 1, 0)
            continue
        depth += first in "([{"
        parts -= 1
        if parts < 0:
            return f"{limits.parts:,} names, literals and brackets"
    return None
