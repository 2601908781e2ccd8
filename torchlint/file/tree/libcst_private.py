"""What is used of libcst that its documentation does not promise. ``tests/test_libcst_private.py`` says what that is.

- Its nodes are validated by ``__post_init__``, one by one, and that can be left out while it parses.
- ``_codegen`` writes a node as tokens into a ``CodegenState``, which is told where each node begins and ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import Any, NamedTuple

import libcst as cst
from libcst._nodes.internal import CodegenState

__all__ = ["Written", "parse_module", "recorded"]


def parse_module(text: str) -> cst.Module:
    """The tree that libcst makes of a text, without validating its nodes one by one, which takes a third of the time.

    The parser made them; for the little that its grammar lets pass and Python does not there is
    :func:`torchlint.file.tree.tree.is_refused`.

    Raises:
        cst.ParserSyntaxError: it is no Python.
    """
    validate = cst.CSTNode.__post_init__
    setattr(cst.CSTNode, "__post_init__", _accept)  # noqa: B010
    try:
        return cst.parse_module(text)
    finally:
        setattr(cst.CSTNode, "__post_init__", validate)  # noqa: B010


def _accept(node: cst.CSTNode) -> None:
    pass


class Written(NamedTuple):
    """The code of a module, and where nodes stand in it."""

    code: str
    places: Mapping[int, tuple[int, int, int, int]]
    """By the id of a node where it begins and ends, with its own brackets and without."""


def recorded(module: cst.Module, wanted: Iterable[cst.CSTNode]) -> Written:
    """Write a module, and remember where some nodes stand."""
    state = _Recorder(module, {id(node): node for node in wanted})
    module._codegen(state)
    offsets = [0, *accumulate(map(len, state.tokens))]
    offsets.append(offsets[-1])  # a newline that the text does not end with is written, and taken back
    places = {}
    for key, inner in state.inner.items():
        whole = isinstance(state.wanted[key], (cst.BaseExpression, cst.BaseSuite))
        outer = state.outer.get(key, inner) if whole else inner
        places[key] = (offsets[outer[0]], offsets[outer[1]], offsets[inner[0]], offsets[inner[1]])
    return Written("".join(state.tokens), places)


class _Recorder(CodegenState):
    """Remembers at which tokens the wanted nodes begin and end."""

    def __init__(self, module: cst.Module, wanted: dict[int, cst.CSTNode]) -> None:
        super().__init__(default_indent=module.default_indent, default_newline=module.default_newline)
        self.wanted = wanted
        self.outer: dict[int, tuple[int, int]] = {}
        self.inner: dict[int, tuple[int, int]] = {}
        self._starts: dict[int, int] = {}

    def before_codegen(self, node: cst.CSTNode) -> None:
        if id(node) in self.wanted:
            self._starts[id(node)] = len(self.tokens)

    def after_codegen(self, node: cst.CSTNode) -> None:
        key = id(node)
        if key in self.wanted:
            self.outer[key] = (self._starts[key], len(self.tokens))
            self.inner.setdefault(key, self.outer[key])

    def record_syntactic_position(self, node: cst.CSTNode, *, start_node: Any = None, end_node: Any = None) -> Any:
        return _Syntactic(self, node, start_node, end_node) if id(node) in self.wanted else _NOTHING


class _Syntactic:
    """Span of a node without its leading lines, its trailing comma or newline."""

    def __init__(
        self, state: _Recorder, node: cst.CSTNode, start_node: cst.CSTNode | None, end_node: cst.CSTNode | None
    ) -> None:
        self.state, self.node, self.start_node, self.end_node = state, node, start_node, end_node

    def __enter__(self) -> None:
        for extra in (self.start_node, self.end_node):
            if extra is not None:
                self.state.wanted.setdefault(id(extra), extra)
        self.start = len(self.state.tokens)

    def __exit__(self, *exc: object) -> None:
        state = self.state
        start, end = self.start, len(state.tokens)
        if self.start_node is not None and id(self.start_node) in state.inner:
            start = state.inner[id(self.start_node)][0]
        if self.end_node is not None and id(self.end_node) in state.inner:
            end = state.inner[id(self.end_node)][1]
        state.inner[id(self.node)] = (start, end)


class _Nothing:
    def __enter__(self) -> None:
        return None

    def __exit__(self, *exc: object) -> None:
        return None


_NOTHING = _Nothing()
