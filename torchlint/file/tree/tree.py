"""libcst's tree, indexed by one walk of our own: parents, document order, nodes by class, and spans on demand.

libcst's visitors rebuild the tree and its metadata providers cost one to five parses each; an iterative walk over the
syntax fields costs a sixteenth of one. Nodes are keyed by ``id``: their ``__hash__`` is a Python function.
"""

from __future__ import annotations

import inspect
import re
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

import libcst as cst

from torchlint.file.tree.fast import late_bodies, long_lists, quick
from torchlint.file.tree.fast.late_bodies import LateBody, Text
from torchlint.file.tree.given import GivenText, NotRoundTripped, Span
from torchlint.file.tree.libcst_private import parse_module, recorded
from torchlint.file.tree.nearest import Nearest
from torchlint.file.tree.nodes import NO_NODES, children, last_child, last_fields_first
from torchlint.file.tree.placeholders import Chain
from torchlint.system.layers import Layer, is_on

N = TypeVar("N", bound=cst.CSTNode)


_STATEMENTS = (cst.SimpleStatementLine, cst.SimpleStatementSuite, cst.BaseCompoundStatement, cst.Module)

_SUITES = (cst.IndentedBlock, cst.Module, cst.SimpleStatementLine, cst.SimpleStatementSuite)


def is_refused(tree: Tree) -> bool:
    """Whether a tree is of no Python: ``except:`` before another handler, or bytes and text in one literal.

    What is unread yet Python's own parser has accepted, and the former was looked for when it was left unread
    (:mod:`torchlint.file.tree.fast.late_bodies`).
    """
    if any(handler.type is None for node in tree.parsed(cst.Try) for handler in node.handlers[:-1]):
        return True
    return any(_is_bytes(node.left) != _is_bytes(node.right) for node in tree.parsed(cst.ConcatenatedString))


def _is_bytes(node: cst.BaseExpression) -> bool:
    while isinstance(node, cst.ConcatenatedString):
        node = node.left
    return isinstance(node, cst.SimpleString) and "b" in node.prefix


_ROOM = 8
"""How many nodes a character can stand for: ``f()`` is seven."""

Nodes = dict[type[cst.CSTNode], list[cst.CSTNode]]


class Tree:
    """A parsed module with its index.

    Nodes are indexed by their class, in document order; classes are exact, a ``cst.Name`` is not found under
    ``cst.BaseExpression``.

    With ``is_wanted``, bodies of functions are left unread (:mod:`torchlint.file.tree.fast.late_bodies`). Nobody has to
    know: what somebody asks for is parsed then. Who knows better where an answer can be says so with ``parsed`` or
    ``read``.

    A tree may be a quick one (:mod:`torchlint.file.tree.fast.quick`), which has no spans.
    """

    def __init__(
        self,
        source: GivenText | str,
        is_wanted: Callable[[int, int], bool] | None = None,
        *,
        is_quick: bool = False,
    ) -> None:
        """Parse a text.

        Raises:
            cst.ParserSyntaxError: it is no Python.
            NoQuickTree: it cannot be a quick one.
        """
        if not is_on(Layer.LATE_BODIES):
            is_wanted = None
        self.source = source if isinstance(source, GivenText) else GivenText(source)
        self._nodes: Nodes = {}
        self._names: dict[str, list[cst.Name]] | None = None
        self._unsorted: set[object] = set()
        self._unread: dict[int, LateBody] = {}
        self._ever_unread: list[int] = []
        """The keys of what is unread, and of what was, in order."""
        self._words: dict[str, list[int]] | None = None
        self._searched: set[str] = set()
        self._on_read: list[Callable[[Nodes], None]] = []
        self._parents: dict[int, cst.CSTNode] = {}
        self._order: dict[int, int] = {}
        self._last: dict[int, int] = {}
        self._statements: dict[int, cst.CSTNode] = {}
        self._indices: dict[int, dict[int, int]] = {}
        self._enclosing: dict[tuple[type[cst.CSTNode], ...], Nearest] = {}
        self._nearest: dict[Callable[[cst.CSTNode, cst.CSTNode], bool], Nearest] = {}
        self._ranks: dict[type[cst.CSTNode], list[int]] = {}
        self._spans: dict[int, Span] = {}
        self.is_package = False
        """Whether this is an ``__init__.py``, whose imports are what others import from it."""
        self.is_repaired = False
        """Whether ``async`` had to be read as its stand-in."""
        self.skipped: Sequence[Chain] = ()
        """Expressions that libcst was given a name for."""
        self.visiting: cst.CSTNode | None = None
        """The node a rule is looking at, for the message if it raises."""
        self._quick = quick.QuickTree(self.source.text, is_wanted, self._read) if is_quick else None
        self.module = self._quick.module if self._quick is not None else self._parsed(is_wanted)
        self._index([self.module], None, 0)

    def _parsed(self, is_wanted: Callable[[int, int], bool] | None) -> cst.Module:
        sparse = late_bodies.without_bodies(self.source.parsed, is_wanted) if is_wanted is not None else None
        return long_lists.parse(self.source.parsed) if sparse is None else self._sparse(*sparse)

    def close(self) -> None:
        """Nothing more will be asked. (Nodes and what they stand for refer to each other and to the tree.)"""
        if self._quick is not None:
            self._quick.__dict__.clear()
        self.__dict__.clear()

    # ------------------------------------------------------------------ the index

    def _index(self, tops: Sequence[cst.CSTNode], parent: cst.CSTNode | None, rank: int) -> Nodes:
        """Take nodes and all below them into the index, with ranks from ``rank`` on; what was added."""
        nodes: Nodes = {}
        parents, order = self._parents, self._order
        if parent is not None:
            parents.update((id(top), parent) for top in tops)
        stack = list(reversed(tops))
        pop, push = stack.pop, stack.append
        names: list[cst.CSTNode] = []
        plain = cst.Name
        while stack:
            node = pop()
            cls = type(node)
            order[id(node)] = rank
            if cls is plain:  # two of five nodes are
                rank += 1
                names.append(node)
                continue
            if cls is LateBody:
                cls = cst.IndentedBlock
                self._unread[rank] = node  # type: ignore[assignment]
                insort(self._ever_unread, rank)
                rank += _ROOM * len(late_bodies.text_of(node).raw)  # type: ignore[arg-type]
                values: tuple[Any, ...] = ()
            else:
                values = last_fields_first(cls)(node)
            rank += 1
            found = nodes.get(cls)
            if found is None:
                nodes[cls] = [node]
            else:
                found.append(node)
            for value in values:  # the last first, so that the first is the next to be taken from the stack
                kind = value.__class__
                if kind is tuple or kind is list:
                    for item in reversed(value):
                        parents[id(item)] = node
                        push(item)
                elif kind not in NO_NODES:
                    parents[id(value)] = node
                    push(value)
        if names:
            nodes[cst.Name] = names
        for cls, added in nodes.items():
            if cls in self._nodes:
                self._nodes[cls] = self._nodes[cls] + added
                self._unsorted.add(cls)
                self._ranks.pop(cls, None)
            else:
                self._nodes[cls] = added
        if self._names is not None:
            self._index_names(self._names, nodes)
        return nodes

    def _index_names(self, names: dict[str, list[cst.Name]], nodes: Nodes) -> None:
        for node in nodes.get(cst.Name, ()):
            names.setdefault(node.value, []).append(node)  # type: ignore[attr-defined, arg-type]
        self._unsorted.update(names)

    # ------------------------------------------------------------------ what is unread

    def _sparse(self, text: str, bodies: list[late_bodies.Body | None]) -> cst.Module:
        try:
            module = long_lists.parse(text)
        except cst.ParserSyntaxError:
            return long_lists.parse(self.source.parsed)
        functions = list(late_bodies.functions(module.body))
        if len(functions) != len(bodies):
            return long_lists.parse(self.source.parsed)
        lines = self.source.parsed.split("\n")
        for function, body in zip(functions, bodies, strict=True):
            if body is not None:
                raw = body.text(lines)
                block = partial(late_bodies.parsed_body, raw, body.around, parse_module)
                late_bodies.close(function.body, Text(raw, block, self._read))
        return module

    def _read(self, block: LateBody, text: Text) -> None:
        """Parse what a block stands for."""
        parsed, indent = text.block()
        rank = self._order[id(block)]
        self._unread.pop(rank, None)
        late_bodies.fill(block, parsed.body)
        added = self._index(parsed.body, block, rank + 1)
        if indent != self.module.default_indent:
            for inner in added.get(cst.IndentedBlock, ()):
                if inner.indent is None:  # type: ignore[attr-defined]
                    object.__setattr__(inner, "indent", indent)
        for tell in self._on_read:
            tell(added)

    def on_read(self, tell: Callable[[Nodes], None]) -> None:
        """Have somebody told what comes into the index from now on."""
        self._on_read.append(tell)

    def read(self, where: re.Pattern[str] | None = None) -> None:
        """Parse what is unread: all of it, or where the text matches."""
        if self._unread and (where is None or where.pattern not in self._searched):
            for block in list(self._unread.values()):
                text = late_bodies.text_of(block)
                if where is None or where.search(text.raw) is not None:
                    self._read(block, text)
            self._searched.update([where.pattern] if where is not None else ())

    def read_with(
        self, word: str, where: Callable[[str], Collection[str]] | None = None, below: cst.CSTNode | None = None
    ) -> None:
        """Parse what has a word in it; or only where the word is among those that ``where`` finds in a text."""
        found = self._unread_with(word) if self._unread else ()
        if not found:
            return
        first, last = (0, self._last_below(self.module)) if below is None else self._range(below)
        for rank in found:
            block = self._unread.get(rank)
            if block is not None and first <= rank <= last:
                text = late_bodies.text_of(block)
                if where is None or word in where(text.raw):
                    self._read(block, text)

    def _unread_with(self, word: str) -> list[int]:
        """Ranks of the blocks that have a word in them, and were unread when that was asked first."""
        if self._words is None:
            self._words = {}
            for rank, block in self._unread.items():
                for each in late_bodies.text_of(block).words():
                    self._words.setdefault(each, []).append(rank)
        return self._words.get(word, [])

    def _read_below(self, node: cst.CSTNode) -> None:
        if self._unread:
            first, last = self._range(node)
            ranks = self._ever_unread
            for rank in ranks[bisect_left(ranks, first) : bisect_right(ranks, last)]:
                block = self._unread.get(rank)
                if block is not None:
                    self._read(block, late_bodies.text_of(block))

    def names(self, name: str) -> list[cst.Name]:
        """All name nodes of that spelling, whatever they stand for, in document order."""
        self.read_with(name)
        return self.parsed_names(name)

    def parsed_names(self, name: str, below: cst.CSTNode | None = None) -> list[cst.Name]:
        """Those of them that are parsed already."""
        if self._names is None:
            self._names = {}
            self._index_names(self._names, {cst.Name: [*self.parsed(cst.Name)]})
            self._unsorted -= self._names.keys()
        found = self._names.get(name, [])
        if name in self._unsorted:
            self._unsorted.discard(name)
            found.sort(key=self.order)
        if below is None:
            return found
        first, last = self._range(below)
        return found[bisect_left(found, first, key=self.order) : bisect_right(found, last, key=self.order)]

    def attributes(self, name: str) -> list[cst.Attribute]:
        """All attributes of that name, in document order."""
        parents = ((node, self._parents.get(id(node))) for node in self.names(name))
        found = [up for node, up in parents if isinstance(up, cst.Attribute) and up.attr is node]
        return sorted(found, key=self.order)

    def all(self, cls: type[N]) -> list[N]:
        """Nodes of exactly this class, in document order."""
        self.read()
        return self.parsed(cls)

    def parsed(self, cls: type[N]) -> list[N]:
        """Those of them that are parsed already."""
        if cls in self._unsorted:
            self._unsorted.discard(cls)
            self._nodes[cls] = sorted(self._nodes[cls], key=self.order)
        return self._nodes.get(cls, [])  # type: ignore[return-value]

    @property
    def nodes(self) -> Nodes:
        """All nodes by class."""
        self.read()
        return {cls: self.parsed(cls) for cls in self._nodes}

    # ------------------------------------------------------------------ where a node stands

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
        """The nearest ancestor that is exactly of one of the given classes, as in ``enclosing(x, cst.For, cst.While)``.

        Raises:
            TypeError: one of them is no class of nodes, or one that only others derive from.
        """
        nearest = self._enclosing.get(types)
        if nearest is None:
            for cls in types:
                if not isinstance(cls, type) or inspect.isabstract(cls):
                    raise TypeError(f"not a class that nodes are of: {cls!r}")
            nearest = self._enclosing[types] = Nearest(self._parents, lambda child, up: type(up) in types)
        return nearest.of(node)

    def nearest(self, holds: Callable[[cst.CSTNode, cst.CSTNode], bool]) -> Nearest:
        """What finds the nearest ancestor for which something holds, asked with a node and its parent."""
        found = self._nearest.get(holds)
        if found is None:
            found = self._nearest[holds] = Nearest(self._parents, holds)
        return found

    def is_inside(self, node: cst.CSTNode, area: cst.CSTNode) -> bool:
        """Whether a node lies below another."""
        if id(node) not in self._order or id(area) not in self._order:
            return False
        first, last = self._range(area)
        return first < self._order[id(node)] <= last

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

    def siblings(self, statement: cst.CSTNode) -> tuple[Sequence[cst.CSTNode], int]:
        """The statements of the suite or line that a statement is in, and which of them it is."""
        suite = self._parents.get(id(statement))
        body = getattr(suite, "body", ())
        if not isinstance(suite, _SUITES):
            return (), 0
        indices = self._indices.get(id(suite))
        if indices is None:
            indices = self._indices[id(suite)] = {id(each): index for index, each in enumerate(body)}
        return body, indices[id(statement)]

    def sibling_before(self, statement: cst.CSTNode) -> cst.CSTNode | None:
        """The statement right before another one in the same block, with no empty line or comment between them."""
        body, index = self.siblings(statement)
        return body[index - 1] if index and not getattr(statement, "leading_lines", ()) else None

    def indentation(self, node: cst.CSTNode) -> str:
        """White space in front of the statements of the block that ``node`` is in."""
        steps, default = [], self.module.default_indent
        block = self.enclosing(node, cst.IndentedBlock, cst.MatchCase, LateBody)
        while isinstance(block, (cst.IndentedBlock, cst.MatchCase)):
            owner = self.parent(block) if isinstance(block, cst.MatchCase) else block
            step = owner.indent if isinstance(owner, (cst.IndentedBlock, cst.Match)) else None
            steps.append(default if step is None else step)
            block = self.enclosing(block, cst.IndentedBlock, cst.MatchCase, LateBody)
        return "".join(reversed(steps))

    def order(self, node: cst.CSTNode) -> int:
        """Rank of ``node`` in document order (pre-order)."""
        return self._order[id(node)]

    def within(self, node: cst.CSTNode, cls: type[N]) -> list[N]:
        """Nodes of exactly this class below ``node``, or ``node`` itself, in document order."""
        self._read_below(node)
        nodes = self.parsed(cls)
        if not nodes:
            return nodes
        ranks = self._ranks.get(cls)
        if ranks is None:
            ranks = self._ranks[cls] = [self._order[id(each)] for each in nodes]
        return nodes[bisect_left(ranks, self._order[id(node)]) : bisect_right(ranks, self._last_below(node))]

    def _range(self, node: cst.CSTNode) -> tuple[int, int]:
        """The ranks of a node and of the last one below it."""
        return self._order[id(node)], self._last_below(node)

    def _last_below(self, node: cst.CSTNode) -> int:
        """Rank of the last node below one, or of itself."""
        last = self._last.get(id(node))
        if last is None:
            at: cst.CSTNode | None = node
            while at is not None:
                end, at = at, None if type(at) is LateBody else last_child(at)
            last = self._order[id(end)]
            if type(end) is LateBody:  # its statements will have ranks up to there
                last += _ROOM * len(late_bodies.text_of(end).raw)
            self._last[id(node)] = last
        return last

    def walk(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """``node`` and all below it, in document order."""
        stack = [node]
        while stack:
            at = stack.pop()
            yield at
            stack.extend(list(children(at))[::-1])

    def code(self, node: cst.CSTNode) -> str:
        """The text of an expression, or of an argument without its comma, as libcst writes it (for small nodes)."""
        code = self._quick.code(node) if self._quick is not None else None
        if code is not None:
            return code
        if isinstance(node, cst.Arg):
            node = node.with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return self.module.code_for_node(node)

    def spans(self, wanted: Iterable[cst.CSTNode]) -> dict[int, Span]:
        """Where the given nodes stand, by ``id``. One recording code generation per call, however many nodes.

        Raises:
            NotRoundTripped: libcst's code is not the text it was given.
        """
        missing = [node for node in wanted if id(node) not in self._spans]
        if missing:
            written = recorded(self.module, missing)
            if written.code != self.source.parsed:
                raise NotRoundTripped("libcst does not give this text back unchanged")
            for key, places in written.places.items():
                self._spans[key] = Span(*map(self.source.original, places))
        return self._spans
