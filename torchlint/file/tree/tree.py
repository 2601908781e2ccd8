"""libcst's tree, indexed by one walk of our own: parents, document order, nodes by class, and spans on demand.

libcst's visitors rebuild the tree and its metadata providers cost one to five parses each; an iterative walk over the
syntax fields costs a sixteenth of one. Nodes are keyed by ``id``: their ``__hash__`` is a Python function.
"""

from __future__ import annotations

import inspect
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import libcst as cst

from torchlint.file.tree.fast import long_modules, quick
from torchlint.file.tree.given import GivenText, NotRoundTripped, Span
from torchlint.file.tree.libcst_private import recorded
from torchlint.file.tree.nearest import Nearest
from torchlint.file.tree.nodes import NO_NODES, last_child, last_fields_first, walk
from torchlint.file.tree.placeholders import PLACEHOLDER, SHOWN, Chain

N = TypeVar("N", bound=cst.CSTNode)

_STATEMENTS = (cst.SimpleStatementLine, cst.SimpleStatementSuite, cst.BaseCompoundStatement, cst.Module)

_SUITES = (cst.IndentedBlock, cst.Module, cst.SimpleStatementLine, cst.SimpleStatementSuite)


def is_refused(tree: Tree) -> bool:
    """Whether a tree is of no Python: ``except:`` before another handler, or bytes and text in one literal."""
    if any(handler.type is None for node in tree.all(cst.Try) for handler in node.handlers[:-1]):
        return True
    return any(_is_bytes(node.left) != _is_bytes(node.right) for node in tree.all(cst.ConcatenatedString))


_MARK = re.compile(
    r"#\s*(?:%%|<|\+|-\s*$|In\[|(?:region|endregion|fmt|yapf|isort|pylint|mypy|pyright|flake8|ruff|pragma|torchlint)\b)"
)
"""The start of a comment that means something to a program in the place where it stands: ``# %%`` begins a cell."""


def _is_plain_comment(line: cst.EmptyLine) -> bool:
    """Whether a line has a comment for whoever reads the code below it."""
    return line.comment is not None and _MARK.match(line.comment.value) is None


def _is_bytes(node: cst.BaseExpression) -> bool:
    while isinstance(node, cst.ConcatenatedString):
        node = node.left
    return isinstance(node, cst.SimpleString) and "b" in node.prefix


def _name(statement: cst.CSTNode) -> str:
    """The name that a statement is; empty if it is something else."""
    match statement:
        case cst.Expr(value=cst.Name(value=name)):
            return name
    return ""


Nodes = dict[type[cst.CSTNode], list[cst.CSTNode]]


class Tree:
    """A parsed module with its index.

    Nodes are indexed by their class, in document order; classes are exact, a ``cst.Name`` is not found under
    ``cst.BaseExpression``.

    A tree may be a quick one (:mod:`torchlint.file.tree.fast.quick`), which has no spans.
    """

    def __init__(self, source: GivenText | str, *, is_quick: bool = False) -> None:
        """Parse a text.

        Raises:
            cst.ParserSyntaxError: it is no Python.
            NoQuickTree: it cannot be a quick one.
        """
        self.source = source if isinstance(source, GivenText) else GivenText(source)
        self._nodes: Nodes = {}
        self._names: dict[str, list[cst.Name]] | None = None
        self._name_ranks: dict[str, list[int]] = {}
        self._attributes: dict[str, list[cst.Attribute]] = {}
        self._attribute_ranks: dict[str, list[int]] = {}
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
        self._quick = quick.QuickTree(self.source.text) if is_quick else None
        self.module = self._quick.module if self._quick is not None else long_modules.parse(self.source.parsed)
        self._index()

    def close(self) -> None:
        """Nothing more will be asked. (Nodes and what they stand for refer to each other and to the tree.)"""
        if self._quick is not None:
            self._quick.__dict__.clear()
        self.__dict__.clear()

    def _index(self) -> None:
        nodes, parents, order = self._nodes, self._parents, self._order
        stack: list[cst.CSTNode] = [self.module]
        pop, push = stack.pop, stack.append
        names: list[cst.CSTNode] = []
        plain = cst.Name
        while stack:
            node = pop()
            cls = type(node)
            order[id(node)] = len(order)
            if cls is plain:  # two of five nodes are
                names.append(node)
                continue
            found = nodes.get(cls)
            if found is None:
                nodes[cls] = [node]
            else:
                found.append(node)
            for value in last_fields_first(cls)(node):  # so that the first is the next to be taken from the stack
                kind = value.__class__
                if kind is tuple or kind is list:
                    for item in reversed(value):
                        parents[id(item)] = node
                        push(item)
                elif kind not in NO_NODES:
                    parents[id(value)] = node
                    push(value)
        if names:
            nodes[plain] = names

    # ------------------------------------------------------------------ nodes by class and by name

    def names(self, name: str, below: cst.CSTNode | None = None) -> list[cst.Name]:
        """All name nodes of that spelling, whatever they stand for, in document order; or those below a node."""
        if self._names is None:
            self._names = {}
            for node in self.all(cst.Name):
                self._names.setdefault(node.value, []).append(node)
        found = self._names.get(name, [])
        if below is None:
            return found
        ranks = self._name_ranks.get(name)
        if ranks is None:
            ranks = self._name_ranks[name] = [self._order[id(each)] for each in found]
        first, last = self._range(below)
        return found[bisect_left(ranks, first) : bisect_right(ranks, last)]

    def attributes(self, name: str, below: cst.CSTNode | None = None) -> list[cst.Attribute]:
        """All attributes of that name, in document order; or those below a node."""
        found = self._attributes.get(name)
        if found is None:
            parents = ((node, self._parents.get(id(node))) for node in self.names(name))
            named = [up for node, up in parents if isinstance(up, cst.Attribute) and up.attr is node]
            found = self._attributes[name] = sorted(named, key=self.order)
        if below is None:
            return found
        ranks = self._attribute_ranks.get(name)
        if ranks is None:
            ranks = self._attribute_ranks[name] = [self._order[id(each)] for each in found]
        first, last = self._range(below)
        return found[bisect_left(ranks, first) : bisect_right(ranks, last)]

    def all(self, cls: type[N]) -> list[N]:
        """Nodes of exactly this class, in document order."""
        return self._nodes.get(cls, [])  # type: ignore[return-value]

    @property
    def nodes(self) -> Nodes:
        """All nodes by class."""
        return self._nodes

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
        """The statement right before another one in the same block: comments or one empty line are between them."""
        body, index = self.siblings(statement)
        between: Sequence[cst.EmptyLine] = getattr(statement, "leading_lines", ())
        is_near = all(map(_is_plain_comment, between)) or (len(between) == 1 and between[0].comment is None)
        return body[index - 1] if index and is_near else None

    def is_shown(self, statement: cst.CSTNode) -> bool:
        """Whether the value of a statement is shown to those who run the program: at the end of a notebook's cell."""
        line = self._parents.get(id(statement))
        if not isinstance(statement, cst.Expr) or not isinstance(line, cst.SimpleStatementLine):
            return False
        if line.body[0] is not statement and _name(line.body[0]).startswith(PLACEHOLDER):  # `%timeit` and its like
            return True
        body, index = self.siblings(line)
        following = body[index + 1] if index + 1 < len(body) else None
        return (
            line.body[-1] is statement
            and isinstance(following, cst.SimpleStatementLine)
            and _name(following.body[0]) == SHOWN
        )

    def indentation(self, node: cst.CSTNode) -> str:
        """White space in front of the statements of the block that ``node`` is in."""
        steps, default = [], self.module.default_indent
        block = self.enclosing(node, cst.IndentedBlock, cst.MatchCase)
        while isinstance(block, (cst.IndentedBlock, cst.MatchCase)):
            owner = self.parent(block) if isinstance(block, cst.MatchCase) else block
            step = owner.indent if isinstance(owner, (cst.IndentedBlock, cst.Match)) else None
            steps.append(default if step is None else step)
            block = self.enclosing(block, cst.IndentedBlock, cst.MatchCase)
        return "".join(reversed(steps))

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
        return nodes[bisect_left(ranks, self._order[id(node)]) : bisect_right(ranks, self.last_below(node))]

    def _range(self, node: cst.CSTNode) -> tuple[int, int]:
        """The ranks of a node and of the last one below it."""
        return self._order[id(node)], self.last_below(node)

    def last_below(self, node: cst.CSTNode) -> int:
        """Rank of the last node below one, or of itself."""
        last = self._last.get(id(node))
        if last is None:
            end, below = node, last_child(node)
            while below is not None:
                end, below = below, last_child(below)
            last = self._last[id(node)] = self._order[id(end)]
        return last

    def walk(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """``node`` and all below it, in document order."""
        return walk(node)

    def code(self, node: cst.CSTNode) -> str:
        """The text of an expression, or of an argument without its comma, as libcst writes it (for small nodes)."""
        code = self._quick.code(node) if self._quick is not None else None
        if code is not None:
            return code
        if isinstance(node, cst.Arg):
            node = node.with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return self.module.code_for_node(node)

    def row(self, node: cst.CSTNode) -> int:
        """The number of the line on which an expression begins without its own brackets, from 1."""
        row = self._quick.row(node) if self._quick is not None else None
        return row or self.source.text.count("\n", 0, self.spans([node])[id(node)].inner_start) + 1

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
