"""All that is taken from libcst beyond its documented interface.

What libcst does not promise may change with any version: ``scripts/check_libcst.py`` runs the tests of this module with
the oldest version that is supported and with the newest one.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import libcst as cst
from libcst._nodes.internal import CodegenState


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


def set_field(node: cst.CSTNode, name: str, value: object) -> None:
    """Write to a field of a node, which is frozen for all others: only where nobody has seen the node before."""
    object.__setattr__(node, name, value)


def set_class(node: cst.CSTNode, cls: type[cst.CSTNode]) -> None:
    """Make a node one of another class with the same fields."""
    object.__setattr__(node, "__class__", cls)


def slot(cls: type[cst.CSTNode], name: str) -> Any:
    """The descriptor of a field, which reads and writes it whatever a subclass has in its place."""
    return vars(cls)[name]


class Verbatim(cst.IndentedBlock):
    """A block that writes a text in place of its statements."""

    __slots__ = ()  # type: ignore[misc]

    @property
    @abstractmethod
    def verbatim(self) -> str:
        """The text, in whole lines."""

    def _codegen_impl(self, state: CodegenState) -> None:
        self.header._codegen(state)
        state.increase_indent(state.default_indent if self.indent is None else self.indent)
        state.add_token(self.verbatim)
        for line in self.footer:
            line._codegen(state)
        state.decrease_indent()


class Recorder(CodegenState):
    """Remembers at which tokens the wanted nodes begin and end."""

    def __init__(self, module: cst.Module, wanted: dict[int, cst.CSTNode]) -> None:
        super().__init__(default_indent=module.default_indent, default_newline=module.default_newline)
        self.module, self.wanted = module, wanted
        self.outer: dict[int, tuple[int, int]] = {}
        self.inner: dict[int, tuple[int, int]] = {}
        self._starts: dict[int, int] = {}

    def run(self) -> None:
        """Write the code of the module; afterwards ``tokens`` are its pieces."""
        self.module._codegen(self)

    def before_codegen(self, node: cst.CSTNode) -> None:
        """Called before the first token of a node."""
        if id(node) in self.wanted:
            self._starts[id(node)] = len(self.tokens)

    def after_codegen(self, node: cst.CSTNode) -> None:
        """Called after the last token of a node."""
        key = id(node)
        if key in self.wanted:
            self.outer[key] = (self._starts[key], len(self.tokens))
            self.inner.setdefault(key, self.outer[key])

    def record_syntactic_position(self, node: cst.CSTNode, *, start_node: Any = None, end_node: Any = None) -> Any:
        """Called for the part of a node that is code; gives what is entered before and left after it."""
        return _Syntactic(self, node, start_node, end_node) if id(node) in self.wanted else _NOTHING


class _Syntactic:
    """Span of a node without its leading lines, its trailing comma or newline."""

    def __init__(
        self, state: Recorder, node: cst.CSTNode, start_node: cst.CSTNode | None, end_node: cst.CSTNode | None
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
