"""libcst's tree, indexed by one walk of our own: parents, document order, nodes by class, and spans on demand.

libcst's visitors rebuild the tree and its metadata providers cost one to five parses each; an iterative walk over the
syntax fields costs a sixteenth of one. Nodes are keyed by ``id``: their ``__hash__`` is a Python function.
"""

from __future__ import annotations

import dataclasses
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Any, NamedTuple, TypeVar

import libcst as cst
from libcst._nodes.internal import CodegenState

from torchlint.standin import Chain

N = TypeVar("N", bound=cst.CSTNode)

_TRIVIA = (
    "whitespace",
    "lpar",
    "rpar",
    "lbracket",
    "rbracket",
    "lbrace",
    "rbrace",
    "leading_lines",
    "lines_after",
    "header",
    "footer",
    "trailing",
    "semicolon",
    "comma",
    "dot",
    "colon",
    "equal",
    "indent",
)
_FIELDS: dict[type[cst.CSTNode], tuple[str, ...]] = {}

_FORM_FEED = re.compile(r"(?m)^[ \t]*\f[ \t\f]*")


class NotRoundTripped(ValueError):
    """libcst would not give the text back byte for byte, so positions in this file cannot be trusted."""


def _syntax_fields(cls: type[cst.CSTNode]) -> tuple[str, ...]:
    """Names of the fields of ``cls`` that can hold syntax nodes, in document order."""
    names = tuple(
        f.name
        for f in dataclasses.fields(cls)
        if not any(f.name.startswith(p) or f.name.startswith("_") for p in _TRIVIA)
        and not (f.name.endswith("_whitespace") or "whitespace" in f.name)
    )
    # libcst lists some fields in another order than they stand in the text
    if cls is cst.IfExp:
        names = ("body", "test", "orelse")
    elif cls is cst.FunctionDef:
        names = ("decorators", "asynchronous", "name", "type_parameters", "params", "returns", "body")
    elif cls is cst.ClassDef:
        names = ("decorators", "name", "type_parameters", "bases", "keywords", "body")
    elif cls is cst.CompFor:
        names = ("asynchronous", "target", "iter", "ifs", "inner_for_in")
    elif cls in (cst.ListComp, cst.SetComp, cst.GeneratorExp):
        names = ("elt", "for_in")
    elif cls is cst.DictComp:
        names = ("key", "value", "for_in")
    elif cls is cst.Parameters:
        names = ("posonly_params", "posonly_ind", "params", "star_arg", "kwonly_params", "star_kwarg")
    elif cls is cst.Param:
        names = ("name", "annotation", "default")
    elif cls is cst.ExceptHandler or cls is cst.ExceptStarHandler:
        names = ("type", "name", "body")
    elif cls is cst.ImportFrom:
        names = ("module", "names")
    elif cls is cst.Slice:
        names = ("lower", "upper", "step")
    elif cls is cst.For:
        names = ("asynchronous", "target", "iter", "body", "orelse")
    elif cls is cst.With:
        names = ("asynchronous", "items", "body")
    elif cls is cst.Arg:
        names = ("keyword", "value")
    _FIELDS[cls] = names
    return names


_STATEMENTS = (cst.SimpleStatementLine, cst.SimpleStatementSuite, cst.BaseCompoundStatement, cst.Module)

_NO_NODES = frozenset((str, bool, type(None), cst.MaybeSentinel))
"""Classes of field values that are no nodes. (`isinstance` of an abstract base class is slow.)"""


def children(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The syntax children of ``node`` in document order (no whitespace, brackets or commas)."""
    cls = type(node)
    for name in _FIELDS.get(cls) or _syntax_fields(cls):
        value = getattr(node, name)
        kind = value.__class__
        if kind is tuple or kind is list:
            yield from value
        elif kind not in _NO_NODES:
            yield value


def _last_child(node: cst.CSTNode) -> cst.CSTNode | None:
    """The last of the syntax children of a node; None if it has none."""
    cls = type(node)
    for name in reversed(_FIELDS.get(cls) or _syntax_fields(cls)):
        value = getattr(node, name)
        kind = value.__class__
        if kind is tuple or kind is list:
            if value:
                return value[-1]  # type: ignore[no-any-return]
        elif kind not in _NO_NODES:
            return value  # type: ignore[no-any-return]
    return None


def parse_module(text: str) -> cst.Module:
    """The tree that libcst makes of a text, without validating its nodes one by one, which takes a third of the time.

    The parser made them; for the little that its grammar lets pass and Python does not there is :func:`is_refused`.

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


def is_refused(tree: Tree) -> bool:
    """Whether a tree is of no Python: ``except:`` before another handler, or bytes and text in one literal."""
    if any(handler.type is None for node in tree.all(cst.Try) for handler in node.handlers[:-1]):
        return True
    return any(_is_bytes(node.left) != _is_bytes(node.right) for node in tree.all(cst.ConcatenatedString))


def _is_bytes(node: cst.BaseExpression) -> bool:
    while isinstance(node, cst.ConcatenatedString):
        node = node.left
    return isinstance(node, cst.SimpleString) and "b" in node.prefix


class Span(NamedTuple):
    """Where a node stands: offsets into the original text."""

    start: int
    end: int
    """With the expression's own brackets; of a statement, without leading comments and the newline; of a block, from
    behind the colon."""
    inner_start: int
    inner_end: int
    """Without the expression's own brackets."""


class Source:
    """A text, what of it libcst is given, and the way back from libcst's offsets to the text's.

    libcst is not lossless: it drops form feeds before a code line and the last of bare CR newlines. Bare CRs are given
    to it as LF (same length), form feeds in indentation are left out, and ``original`` maps offsets back.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        parsed = text
        if "\r" in text:
            parsed = re.sub(r"\r(?!\n)", "\n", parsed)
        self._removed: list[tuple[int, int]] = []
        if "\f" in parsed:
            pieces, last, shift = [], 0, 0
            for match in _FORM_FEED.finditer(parsed):
                keep = match.group().rpartition("\f")[2]  # a form feed resets the indentation
                cut = len(match.group()) - len(keep)
                pieces.append(parsed[last : match.start()])
                last = match.start() + cut
                shift += cut
                self._removed.append((last - shift, shift))
            pieces.append(parsed[last:])
            parsed = "".join(pieces)
        # blanks in a last line without newline are lost too; nothing stands behind them
        self.parsed = re.sub(r"(?<=\n)[ \t]+\Z", "", parsed)
        first = re.search(r"\r\n|\r|\n", text)
        self.newline = first.group() if first else "\n"
        """The newline the text begins with: what new lines are ended by."""

    def original(self, offset: int) -> int:
        """Offset in the text of an offset in what libcst parsed."""
        shift = 0
        for at, removed in self._removed:
            if at > offset:
                break
            shift = removed
        return offset + shift


class Tree:
    """A parsed module with its index.

    ``nodes`` holds the nodes by class in document order; classes are exact, a ``cst.Name`` is not found under
    ``cst.BaseExpression``.
    """

    def __init__(self, source: Source | str) -> None:
        self.source = source if isinstance(source, Source) else Source(source)
        self.module = parse_module(self.source.parsed)
        self.nodes: dict[type[cst.CSTNode], list[cst.CSTNode]] = {}
        self._parents: dict[int, cst.CSTNode] = {}
        self._order: dict[int, int] = {}
        self._last: dict[int, int] = {}
        self._statements: dict[int, cst.CSTNode] = {}
        self._ranks: dict[type[cst.CSTNode], list[int]] = {}
        self._spans: dict[int, Span] = {}
        self.is_package = False
        """Whether this is an ``__init__.py``, whose imports are what others import from it."""
        self.is_repaired = False
        """Whether ``async`` had to be read as its stand-in."""
        self.skipped: list[Chain] = []
        """Expressions that libcst was given a name for."""
        self.visiting: cst.CSTNode | None = None
        """The node a rule is looking at, for the message if it raises."""
        self._index()

    def _index(self) -> None:
        nodes, parents, order = self.nodes, self._parents, self._order
        stack: list[cst.CSTNode] = [self.module]
        pop, fields_of = stack.pop, _FIELDS.get
        count = 0
        while stack:
            node = pop()
            cls = type(node)
            order[id(node)] = count
            count += 1
            found = nodes.get(cls)
            if found is None:
                nodes[cls] = [node]
            else:
                found.append(node)
            mark = len(stack)
            fields = fields_of(cls)
            for name in _syntax_fields(cls) if fields is None else fields:
                value = getattr(node, name)
                kind = value.__class__
                if kind is tuple or kind is list:
                    for item in value:
                        parents[id(item)] = node
                        stack.append(item)
                elif kind not in _NO_NODES:
                    parents[id(value)] = node
                    stack.append(value)
            stack[mark:] = stack[mark:][::-1]

    def all(self, cls: type[N]) -> list[N]:
        """Nodes of exactly this class, in document order."""
        return self.nodes.get(cls, [])  # type: ignore[return-value]

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """The syntax parent of ``node``; None for the module."""
        return self._parents.get(id(node))

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Parents of ``node`` from the nearest to the module."""
        parents = self._parents
        up = parents.get(id(node))
        while up is not None:
            yield up
            up = parents.get(id(up))

    def enclosing(self, node: cst.CSTNode, *types: type[cst.CSTNode]) -> cst.CSTNode | None:
        """The nearest ancestor of one of the given types."""
        return next((a for a in self.ancestors(node) if type(a) in types), None)

    def statement(self, node: cst.CSTNode) -> cst.CSTNode:
        """The statement that ``node`` is part of, or is: a simple statement line or a compound statement."""
        known, way = self._statements, []
        at: cst.CSTNode = node
        while id(at) not in known and not isinstance(at, _STATEMENTS):
            way.append(id(at))
            up = self._parents.get(id(at))
            if up is None:
                break
            at = up
        found = known.get(id(at), at)
        known.update(dict.fromkeys(way, found))
        return found

    def indentation(self, node: cst.CSTNode) -> str:
        """White space in front of the statements of the block that ``node`` is in."""
        blocks = [a for a in self.ancestors(node) if isinstance(a, cst.IndentedBlock)]
        default = self.module.default_indent
        return "".join(default if block.indent is None else block.indent for block in reversed(blocks))

    def order(self, node: cst.CSTNode) -> int:
        """Rank of ``node`` in document order (pre-order)."""
        return self._order[id(node)]

    def within(self, node: cst.CSTNode, cls: type[N]) -> list[N]:
        """Nodes of exactly this class below ``node``, or ``node`` itself, in document order."""
        nodes = self.all(cls)
        if not nodes:
            return nodes
        ranks = self._ranks.get(cls)
        if ranks is None:
            ranks = self._ranks[cls] = [self._order[id(each)] for each in nodes]
        return nodes[bisect_left(ranks, self._order[id(node)]) : bisect_right(ranks, self._last_below(node))]

    def _last_below(self, node: cst.CSTNode) -> int:
        """Rank of the last node below one, or of itself."""
        last = self._last.get(id(node))
        if last is None:
            at: cst.CSTNode | None = node
            while at is not None:
                end, at = at, _last_child(at)
            last = self._last[id(node)] = self._order[id(end)]
        return last

    def walk(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """``node`` and all below it, in document order."""
        stack = [node]
        while stack:
            at = stack.pop()
            yield at
            stack.extend(list(children(at))[::-1])

    def code(self, node: cst.CSTNode) -> str:
        """Source of an expression, as libcst writes it (for small nodes)."""
        return self.module.code_for_node(node)

    def spans(self, wanted: Iterable[cst.CSTNode]) -> dict[int, Span]:
        """Where the given nodes stand, by ``id``. One recording code generation per call, however many nodes.

        Raises:
            NotRoundTripped: libcst's code is not the text it was given.
        """
        missing = [node for node in wanted if id(node) not in self._spans]
        if missing:
            state = _Recorder(self.module, {id(node): node for node in missing})
            self.module._codegen(state)
            offsets = [0, *accumulate(map(len, state.tokens))]
            if "".join(state.tokens) != self.source.parsed:
                raise NotRoundTripped("libcst does not give this text back unchanged")
            for key, inner in state.inner.items():
                whole = isinstance(state.wanted[key], (cst.BaseExpression, cst.BaseSuite))
                outer = state.outer.get(key, inner) if whole else inner
                self._spans[key] = Span(*(self.source.original(offsets[token]) for token in (*outer, *inner)))
        return self._spans


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
