"""How graphs go from name to name in one function: what its names and paths are bound to, and what that is made of."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING, TypeVar

import libcst as cst

from torchlint.model.graphs.mentions import Mention, mentions, owner
from torchlint.model.names import GROWING
from torchlint.model.scopes import target_names
from torchlint.model.syntax import LoopStatement, dotted, last_name, loops_of, parameters

if TYPE_CHECKING:
    from torchlint.model.context import Context

_FAR = 32
"""How many bindings that need not be the last one are told apart at one place."""
MANY = 200
"""How many bindings that one value is made of are looked at."""
_BINDING_AROUND = (cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp, cst.Lambda, cst.FunctionDef)
Scope = cst.FunctionDef | cst.Module
N = TypeVar("N", bound=cst.CSTNode)


@dataclass(eq=False)
class Event:
    """One way in which a name or path comes to what it stands for, or to a part of that."""

    node: cst.CSTNode
    """The statement, or the call that puts something into a container; the parameter of a function."""
    path: str
    replaces: bool = True
    """Whether what was there before is gone."""
    made_of: list[Event] = field(default_factory=list)
    used_by: list[Event] = field(default_factory=list)
    linked: Callable[[], None] = lambda: None
    """Finds out what the events of a flow are made of, which needs values: only when somebody asks."""

    @property
    def sources(self) -> list[Event]:
        """What it is made of."""
        self.linked()
        return self.made_of

    @property
    def uses(self) -> list[Event]:
        """What is made of it."""
        self.linked()
        return self.used_by


class Flow:
    """The bindings of one scope, each with those that it is made of. Functions inside it have flows of their own."""

    def __init__(self, context: Context, scope: Scope) -> None:
        self.context, self.scope = context, scope
        self._tree = context.tree
        self._made: list[tuple[Event, cst.BaseExpression | None]]
        """What has not been linked yet, with the expressions that it takes values from."""
        self._events: dict[str, list[Event]] = {}
        self._orders: dict[str, list[int]] = {}
        self._grown: dict[str, list[Event]] = {}
        """What is put into what a path stands for, wherever in the scope."""
        self._by_node: dict[tuple[int, str], Event] = {}
        self._at: dict[int, list[Event]] = {}
        self._made = [*self._parameters(), *self._bindings()]
        for event, _ in self._made:
            event.linked = self._link
            if self._by_node.setdefault((id(event.node), event.path), event) is event:
                table = self._events if event.replaces else self._grown
                table.setdefault(event.path, []).append(event)
                self._at.setdefault(id(event.node), []).append(event)
        self._share_with_aliases()
        for path, events in self._events.items():
            events.sort(key=self._order)
            self._orders[path] = [self._order(event) for event in events]

    def _share_with_aliases(self) -> None:
        """What is put into `losses` is put into `bag` as well where `losses = bag` stands somewhere."""
        for event, source in self._made:
            is_alias = event.replaces and isinstance(event.node, cst.Assign)
            other = dotted(source) if is_alias and source is not None else None
            if other is not None and (event.path in self._grown or other in self._grown):
                shared = dict.fromkeys((*self._grown.get(event.path, ()), *self._grown.get(other, ())))
                self._grown[event.path] = self._grown[other] = list(shared)

    def _link(self) -> None:
        made, self._made = self._made, []
        for event, source in made:
            for found in self.reaching(source) if source is not None else ():
                event.made_of.append(found)
                found.used_by.append(event)

    def _order(self, event: Event) -> int:
        return self._tree.order(event.node)

    # ------------------------------------------------------------------ what there is

    def _parameters(self) -> Iterator[tuple[Event, None]]:
        if isinstance(self.scope, cst.FunctionDef):
            for param in parameters(self.scope):
                yield Event(param, param.name.value), None

    def _bindings(self) -> Iterator[tuple[Event, cst.BaseExpression | None]]:
        """All that binds or fills something, with the expression that it takes the value from."""
        for cls in (cst.Assign, cst.AugAssign, cst.AnnAssign, cst.For, cst.WithItem, cst.NamedExpr, cst.Call):
            for node in nodes_of(self.context, self.scope, cls):
                yield from _bound_by(node)
        yield from self._patterns()

    def _patterns(self) -> Iterator[tuple[Event, cst.BaseExpression]]:
        """What the patterns of a ``match`` bind."""
        for cls in (cst.MatchAs, cst.MatchStar):
            for node in nodes_of(self.context, self.scope, cls):
                statement = self._tree.enclosing(node, cst.Match)
                name = node.name if isinstance(node, (cst.MatchAs, cst.MatchStar)) else None
                if name is not None and isinstance(statement, cst.Match):
                    yield Event(node, name.value), statement.subject

    def events(self) -> Iterator[Event]:
        """All events of the scope."""
        return iter(self._by_node.values())

    def events_at(self, node: cst.CSTNode) -> list[Event]:
        """All that one statement or call does."""
        return self._at.get(id(node), [])

    def bindings(self, path: str) -> list[Event]:
        """All that binds a name or path in this scope, in document order."""
        return self._events.get(path, [])

    # ------------------------------------------------------------------ where it comes from

    def reaching(self, expression: cst.CSTNode) -> list[Event]:
        """What the names in an expression may have been bound to last, and what was put into that."""
        found: dict[int, Event] = {}
        waiting: dict[int, cst.CSTNode] = {id(expression): expression}
        asked = set[int]()
        while waiting:
            key, node = waiting.popitem()
            asked.add(key)
            for mention in mentions(self.context, node):
                given = self._given_around(mention)
                if given is not None:  # two lambdas of one call are given each other
                    waiting |= {id(each): each for each in given if id(each) not in asked}
                    continue
                path = mention.path
                while path:
                    events, is_replaced = self._last(path, mention.node)
                    found |= {id(event): event for event in (*events, *self._grown.get(path, ()))}
                    path = "" if is_replaced else path.rpartition(".")[0]
        return list(found.values())

    def _given_around(self, mention: Mention) -> list[cst.BaseExpression] | None:
        """What a name stands for that a comprehension or lambda around it binds; None if none does."""
        first, around = mention.path.partition(".")[0], self._tree.enclosing(mention.node, *_BINDING_AROUND)
        while isinstance(around, (cst.BaseComp, cst.Lambda)):
            if isinstance(around, cst.Lambda):
                if any(param.name.value == first for param in around.params.params):
                    arg = self._tree.parent(around)
                    call = self._tree.parent(arg) if isinstance(arg, cst.Arg) else None
                    others = call.args if isinstance(call, cst.Call) else ()  # `map(lambda x: …, xs)`
                    return [other.value for other in others if other is not arg]
            else:
                for loop in loops_of(around):
                    if first in target_names(loop.target) and not self._tree.is_inside(mention.node, loop.iter):
                        return [loop.iter]
            around = self._tree.enclosing(around, *_BINDING_AROUND)
        return None

    def _last(self, path: str, node: cst.CSTNode) -> tuple[list[Event], bool]:
        """The bindings of a path that may be the last ones before a node, and whether one of them must be."""
        events = self._events.get(path)
        if not events:
            return [], False
        found, at = [], bisect_left(self._orders[path], self._tree.order(node))
        last: Event | None = None
        for event in reversed(events[max(0, at - _FAR) : at]):
            is_within = self._tree.is_inside(node, event.node)
            if is_within and not self._is_in_body(node, event.node):
                continue  # `x` on the right side of `x = f(x)`
            found.append(event)
            if is_within or self._is_in_block_of(node, event.node):
                last = event
                break
        loop = self._outermost_loop(node, last)
        if loop is not None:  # what is bound behind the node reaches it in the next round
            begin = bisect_left(
                self._orders[path], self._tree.order(node) if last is not None else self._tree.order(loop)
            )
            behind = takewhile(lambda e: self._tree.is_inside(e.node, loop), events[begin : begin + _FAR])
            found += [event for event in behind if event not in found]
        return found, last is not None

    def _is_in_body(self, node: cst.CSTNode, statement: cst.CSTNode) -> bool:
        """Whether a node is in the block of a loop or of ``with``, and not in its head."""
        up = self._tree.parent(statement) if isinstance(statement, cst.WithItem) else statement
        return isinstance(up, (cst.For, cst.With)) and self._tree.is_inside(node, up.body)

    def _is_in_block_of(self, node: cst.CSTNode, statement: cst.CSTNode) -> bool:
        """Whether a statement has been executed whenever a node behind it is."""
        if isinstance(statement, cst.Param):
            return True
        if isinstance(statement, (cst.NamedExpr, cst.MatchAs, cst.MatchStar)):
            return False
        line = self._tree.statement(statement)
        block = self._tree.parent(line)
        if isinstance(statement, cst.For):  # its target is bound behind the loop only if there was a round
            return False
        if isinstance(statement, cst.WithItem):
            return self._is_in_body(node, statement)
        return isinstance(block, (cst.IndentedBlock, cst.Module)) and self._tree.is_inside(node, block)

    def _outermost_loop(self, node: cst.CSTNode, last: Event | None) -> LoopStatement | None:
        """The outermost loop around a node that does not begin by binding anew what is looked for."""
        found: LoopStatement | None = None
        for loop in self.loops(node):
            if last is not None and (last.node is loop or self._tree.is_inside(last.node, loop)):
                break
            found = loop
        return found

    def loops(self, node: cst.CSTNode) -> Iterator[LoopStatement]:
        """The loops around a node in this scope, the innermost first."""
        at: cst.CSTNode | None = node
        while at is not None:
            at = self._tree.enclosing(at, cst.For, cst.While, cst.FunctionDef, cst.Lambda, cst.ClassDef)
            if not isinstance(at, (cst.For, cst.While)):
                return
            yield at

    def is_repeated_with(self, event: Event, node: cst.CSTNode) -> bool:
        """Whether a node is evaluated as often as something is bound: no loop is around that one only."""
        at = event.node
        loop = at if isinstance(at, cst.For) else next(self.loops(at), None)
        return loop is None or self._tree.is_inside(node, loop)


def upstream(events: Iterable[Event], at_most: int | None = None) -> dict[int, Event]:
    """Events with all that they are made of, by identity; of many only so many."""
    return _reached(events, lambda event: event.sources, at_most)


def downstream(events: Iterable[Event], at_most: int | None = None) -> dict[int, Event]:
    """Events with all that is made of them, by identity; of many only so many."""
    return _reached(events, lambda event: event.uses, at_most)


def _reached(
    events: Iterable[Event], next_ones: Callable[[Event], list[Event]], at_most: int | None
) -> dict[int, Event]:
    found: dict[int, Event] = {}
    waiting = list(events)
    while waiting and (at_most is None or len(found) < at_most):
        event = waiting.pop()
        if id(event) not in found:
            found[id(event)] = event
            waiting += next_ones(event)
    return found


def nodes_of(context: Context, scope: Scope, cls: type[N]) -> Iterator[N]:
    """The nodes of a class that are in a scope itself, not in a function inside it, in document order."""
    area = scope.body if isinstance(scope, cst.FunctionDef) else scope
    return (node for node in context.tree.within(area, cls) if context.scopes.scope_of(node) is scope)


def flow_of(context: Context, scope: Scope) -> Flow:
    """The flow of a scope, made once."""
    return context.remember(Flow, scope)


def _bound_by(node: cst.CSTNode) -> Iterator[tuple[Event, cst.BaseExpression | None]]:
    match node:
        case cst.Assign(targets=targets, value=value):
            for each in targets:
                yield from _assigned(node, each.target, value)
        case cst.AnnAssign(target=target, value=value) if value is not None:
            yield from _assigned(node, target, value)
        case cst.NamedExpr(target=target, value=value):
            yield from _assigned(node, target, value)
        case cst.AugAssign(target=target, value=value):
            path = dotted(owner(target))
            if path is not None:
                event = Event(node, path, replaces=not isinstance(target, cst.Subscript))
                yield event, value
                if event.replaces:
                    yield event, target
        case cst.For(target=target, iter=iterated):
            yield from _looped(node, target, iterated)
        case cst.WithItem(item=item, asname=cst.AsName(name=target)):
            yield from _assigned(node, target, item)
        case cst.Call(func=cst.Attribute(value=filled, attr=cst.Name(name)), args=args) if name in GROWING:
            path = dotted(owner(filled))
            if path is not None:
                event = Event(node, path, replaces=False)
                yield from ((event, arg.value) for arg in args)


def _assigned(
    node: cst.CSTNode, target: cst.BaseExpression, value: cst.BaseExpression
) -> Iterator[tuple[Event, cst.BaseExpression | None]]:
    if isinstance(target, (cst.Tuple, cst.List)):
        values = list(value.elements) if isinstance(value, (cst.Tuple, cst.List)) else []
        is_parallel = len(values) == len(target.elements) and not any(
            isinstance(each, cst.StarredElement) for each in (*values, *target.elements)
        )
        for index, element in enumerate(target.elements):
            yield from _assigned(node, element.value, values[index].value if is_parallel else value)
        return
    path = dotted(owner(target))
    if path is not None:
        yield Event(node, path, replaces=not isinstance(target, cst.Subscript)), value


def _looped(
    node: cst.For, target: cst.BaseExpression, iterated: cst.BaseExpression
) -> Iterator[tuple[Event, cst.BaseExpression | None]]:
    """What a loop binds: ``zip`` and ``enumerate`` part what they are given."""
    if isinstance(target, (cst.Tuple, cst.List)) and isinstance(iterated, cst.Call):
        names, args = [e.value for e in target.elements], [arg.value for arg in iterated.args]
        if last_name(iterated.func) == "zip" and len(names) == len(args):
            for name, arg in zip(names, args, strict=True):
                yield from _looped(node, name, arg)
            return
        if last_name(iterated.func) == "enumerate" and len(names) == 2 and args:
            yield from ((event, None) for event, _ in _assigned(node, names[0], args[0]))
            yield from _looped(node, names[1], args[0])
            return
        if last_name(iterated.func) == "items" and len(names) == 2:
            yield from ((event, None) for event, _ in _assigned(node, names[0], iterated))
            yield from _assigned(node, names[1], iterated)
            return
    yield from _assigned(node, target, iterated)
