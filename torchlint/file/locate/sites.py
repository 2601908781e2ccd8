"""Where findings are, told in a way that outlives edits elsewhere: by the names around, and a hash of the statement."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.diagnostic import FindingSite
from torchlint.file.locate.evidence import shortened

if TYPE_CHECKING:
    from torchlint.file.tree.tree import Tree

_TOKEN = re.compile(
    r"""
      (?P<none> \s+ | \\\r?\n | \#[^\r\n]* )
    | (?P<string>
        (?P<prefix>[A-Za-z]{0,2}) (?P<quotes>\"{3}|'{3}|"|') (?P<body>(?:\\.|(?!(?P=quotes))[^\\])*) (?P=quotes) )
    | (?P<number> \.?\d[\w.]* )
    | \w+
    | (?P<comma> ,(?=(?:\s|\#[^\r\n]*)*[)\]}]) )
    | (?P<round> [()] )
    | .
    """,
    re.VERBOSE | re.DOTALL,
)
"""The tokens of a statement that parses, so that the tokenizer of no version of Python has a say in it."""

_HEX_DIGITS = 12
"""Of a hash: 48 bits are enough to tell the statements of one function apart."""

_WIDTH = 60
"""Characters of a statement that are kept for people to read."""


class Sites:
    """The sites of findings in one tree. What several findings have in common is worked out once."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._scopes: dict[int, str] = {}
        self._statements: dict[tuple[int, int], tuple[str, str]] = {}

    def of(self, node: cst.CSTNode, start: int, end: int) -> FindingSite:
        """The site of a node, the statement of which, or its header, is from ``start`` to ``end`` in the text."""
        if (start, end) not in self._statements:
            code = self._tree.source.text[start:end]
            self._statements[start, end] = (statement_hash(code), shortened(code, _WIDTH))
        return FindingSite(self._scope(node), *self._statements[start, end])

    def _scope(self, node: cst.CSTNode) -> str:
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
            around = self._around(node)
            return f"{around}.{node.name.value}" if around else node.name.value
        return self._around(node)

    def _around(self, node: cst.CSTNode) -> str:
        up = self._tree.enclosing(node, cst.FunctionDef, cst.ClassDef)
        if up is None:
            return ""
        if id(up) not in self._scopes:
            self._scopes[id(up)] = self._scope(up)
        return self._scopes[id(up)]


def statement_hash(code: str) -> str:
    """A hash of code that formatting does not change: line breaks, blanks, comments, quotes, brackets, last commas.

    Round brackets are left out, since formatters put them around whatever they break into lines.
    """
    text = "\0".join(_normalised(code))
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:_HEX_DIGITS]


def _normalised(code: str) -> Iterator[str]:
    for match in _TOKEN.finditer(code):
        match match.lastgroup:
            case "none" | "comma" | "round":
                pass
            case "number":
                yield match.group().lower()
            case "string":
                yield _string(match)
            case _:
                yield match.group()


def _string(match: re.Match[str]) -> str:
    """A literal string whatever its quotes are; one with expressions in it is kept as it is but for the quotes."""
    prefix, body = match["prefix"].lower().replace("u", ""), match["body"]
    if "\\" in body or "'" in body or '"' in body:
        try:
            return ascii(ast.literal_eval(f"{prefix}{match['quotes']}{body}{match['quotes']}"))
        except (SyntaxError, ValueError):
            return f"{prefix}{match['quotes']}{body}"
    return f"{prefix}'{body}'" if prefix else ascii(body)
