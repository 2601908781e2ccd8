"""Tokens in a text that is not parsed: strings, comments and brackets, what stands between two tokens, words."""

from __future__ import annotations

import functools
import re

STRINGS = (
    r"\"{3}(?:\\.|[^\\])*?(?:\"{3}|\Z)|'{3}(?:\\.|[^\\])*?(?:'{3}|\Z)"
    r"|\"(?:\\(?:\r\n|.)|[^\"\\\r\n])*\"?|'(?:\\(?:\r\n|.)|[^'\\\r\n])*'?"
)
"""A pattern of strings; a dot in it has to be any character. They go on behind a backslash, whatever ends that line.
One that is not closed ends with its line, or with the text."""

TOKENS = re.compile(rf"{STRINGS}|#[^\r\n]*|[(\[{{]|[)\]}}]", re.DOTALL)
"""The strings, comments and brackets of a text."""

GAP = r"(?:[\r\n\f\v\\]|[ \t]+(?![ \t])|#[^\n]*\n){0,100}"
"""A pattern of what may stand between two tokens: white space, continued lines, comments."""

MODULES = frozenset(("torch", "functorch", "torchvision", "torchaudio", "nn", "F", "functional", "init", "optim"))
"""What torch and its modules are usually called."""

_BLANK = bytes(c if chr(c).isalnum() or chr(c) == "_" or c >= 128 else 32 for c in range(256))


@functools.lru_cache(maxsize=2)
def words(data: bytes) -> frozenset[bytes]:
    """The words of a text: splitting it takes a fraction of what searching for hundreds of words takes."""
    return frozenset(data.translate(_BLANK).split())


def is_of_word(byte: int) -> bool:
    """Whether a byte is part of a word."""
    return _BLANK[byte] != 32
