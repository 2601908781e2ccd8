"""Where the directives of reStructuredText that hold code begin and end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_DIRECTIVE = re.compile(r"([ \t]*)\.\.[ \t]+([\w:-]+)::[ \t]*(.*?)[ \t]*$")
_OPTION = re.compile(r"[ \t]*:[\w-]+:")
_LANGUAGE = re.compile(r"(?:python3?|py3?|pycon|ipython3?)$", re.IGNORECASE)

_WITH_LANGUAGE = ("code-block", "code", "sourcecode")
_PYTHON = ("testcode", "testsetup", "testcleanup", "doctest", "ipython")
_OTHERS = ("testoutput", "parsed-literal", "raw")
"""What they hold is shown as it is, and is no Python."""


class CodeDirective(NamedTuple):
    """A directive that holds code."""

    first: int
    """The number of the first line that belongs to it."""
    begin: int
    """The number of the first line of its content."""
    end: int
    """The number of the line behind its content."""
    is_python: bool


def directives(lines: Sequence[str]) -> Iterator[CodeDirective]:
    """The directives with code in some lines, in their order. What stands in the content of one is none."""
    number = 0
    while number < len(lines):
        found = _DIRECTIVE.match(lines[number])
        if found is None or found[2] not in (*_WITH_LANGUAGE, *_PYTHON, *_OTHERS):
            number += 1
            continue
        first, end = number, _end(lines, number + 1, len(found[1]))
        begin = number + 1
        while begin < end and _OPTION.match(lines[begin]):
            begin += 1
        begin = next((each for each in range(begin, end) if lines[each].strip()), end)
        is_python = found[2] in _PYTHON or (found[2] in _WITH_LANGUAGE and bool(_LANGUAGE.match(found[3])))
        yield CodeDirective(first, begin, end, is_python)
        number = end


def _end(lines: Sequence[str], number: int, indent: int) -> int:
    """The number of the line behind all that is further in than ``indent``, and is not blank at its end."""
    end = number
    for each in range(number, len(lines)):
        line = lines[each]
        if line.strip():
            if len(line) - len(line.lstrip(" \t")) <= indent:
                break
            end = each + 1
    return end
