"""What becomes of a value: is it only read, is it written in place, does it leave the function.

Syntax is followed upwards from the expression as long as the memory stays the same (``view``, ``cpu``, a name, a list),
and from a name to all its uses in the scope; ``calls.py`` says what calls do. Where that comes to an end, something may
be written: only what is known to read counts as reading.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.aliasing import writes
from torchlint.model.aliasing.calls import LIKE_METHODS, Entered, follows_first, given, gives_no_graph
from torchlint.model.aliasing.how import How
from torchlint.model.aliasing.reading import METADATA
from torchlint.model.bindings import all_called, begins_as_number, own_references
from torchlint.model.expressions import value_of
from torchlint.model.modes import grad_enabled
from torchlint.model.names import VIEWING
from torchlint.model.possibilities import Kind, Tri
from torchlint.model.syntax import cut_from, is_target, parameters
from torchlint.model.torch import library, writers
from torchlint.model.torch.schema import may_alias
from torchlint.model.values import Usage
from torchlint.system.stack import deeper

if TYPE_CHECKING:
    from torchlint.model.context import Context

_TAKING_OUT = frozenset(("pop", "popleft", "popitem", "get", "setdefault", "values", "items", "copy", "__getitem__"))
"""Methods of containers that give back what is in them."""

_TELLING = frozenset(("_version", "_base", "_is_view"))
"""In which `.data` and `.detach()` differ."""

_READING_STATEMENTS = (cst.Expr, cst.If, cst.While, cst.Assert, cst.CompIf, cst.FormattedStringExpression)
_KEEPING_NOTHING = (
    *(cst.Add, cst.Subtract, cst.AddAssign, cst.SubtractAssign, cst.Minus, cst.Not),
    *(cst.Equal, cst.NotEqual, cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual),
    *(cst.Is, cst.IsNot, cst.In, cst.NotIn),
)
"""Operators that autograd needs no operand of."""
_MAX_CALLS = 3
"""How many calls inside each other are followed."""

_Followed = tuple[int, str]
"""A name in a scope, by the identity of that; of a whole module, too, how something is come by: ``return f``."""
_DONE = sys.maxsize
_USUAL = How()


@dataclass(frozen=True, slots=True)
class Inside:
    """What becomes of some parameters in a function, whoever calls it."""

    worst: Usage
    """The worst use there."""
    is_returned: bool
    """Whether the function gives any of them back."""
    asked: frozenset[int]
    """The functions of which it counts that they are not being followed already."""


_Known = dict[tuple[int, tuple[str, ...], int, How], Inside]
"""By the function, the parameters, and how and from how far away they are followed."""


def usage(context: Context, node: cst.CSTNode) -> Usage:
    """The worst that happens to the memory an expression evaluates to."""
    return Follower(context, How(has_graph=cut_from(node) is None)).usage(node)


class Follower:
    """Follows one value. Without a graph it is kept for `backward()` only where it is computed with something else."""

    def __init__(
        self,
        context: Context,
        how: How = _USUAL,
        site: Entered | None = None,
        depth: int = 0,
        known: _Known | None = None,
    ) -> None:
        self.how = how
        self.context = context
        self.tree = context.tree
        self.site = site
        self.depth = depth
        self._known = known if known is not None else context.remember(_nothing_known)
        """What is known of the functions that calls lead into."""
        self._is_returned = False
        """Whether it comes back to the call that it is followed from."""
        self._asked: set[int] = set()
        """The functions that it goes into or would, from inside of another one."""
        self._rests_on_site = False
        """Whether it stays out of a function because that is being followed where it comes from."""
        self._seen: dict[_Followed, int] = {}
        """What has been followed, by the order in which that was begun; ``_DONE`` if nothing of it is open."""
        self._scopes: set[int] = set()
        """Those in which anything has."""
        self._open: list[_Followed] = []
        """What is being followed, and what has been that leads back to something of that."""
        self._low = _DONE
        """The first of what is open that the last one leads back to, by its order."""
        self._is_cut = False
        """Whether a call was not followed because it leads back into a function that is being followed."""

    def inside(self, home: Context) -> Follower | None:
        """Who follows a value into a function; None where that would lead too far."""
        return None if self.is_far else self._inside(home, None)

    def _inside(self, home: Context, site: Entered | None) -> Follower:
        return Follower(home, self.how, site, self.depth + 1, self._known)

    @property
    def is_far(self) -> bool:
        """Whether no call is followed from here any more."""
        return self.depth >= _MAX_CALLS

    def through_parameters(self, home: Context, function: cst.FunctionDef, names: tuple[str, ...]) -> Inside:
        """What becomes of parameters in a function.

        That is the same for all calls, but for what is being followed already: so a function is followed into once.
        """
        key = (id(function), names, self.depth, self.how)
        found = self._known.get(key)
        if found is not None and not self._meets(found.asked):
            return found
        inside = self._inside(home, Entered(function, self))
        worst = max((inside.name(name, function) for name in names), default=Usage.ESCAPES)
        found = Inside(worst, inside._is_returned, frozenset(inside._asked))
        if not inside._rests_on_site:
            self._known[key] = found
        return found

    def _meets(self, asked: frozenset[int]) -> bool:
        """Whether any of some functions is being followed already; if not, they count as asked about."""
        if not asked.isdisjoint(self._scopes) or (self.site is not None and self.site.follower._meets(asked)):
            return True
        if self.site is not None:
            self._asked |= asked
        return False

    def has_followed(self, names: Collection[str], function: cst.FunctionDef) -> bool:
        """Whether parameters of a function are being followed already, here or in what led here."""
        self._asked.add(id(function))
        if all((id(function), name) in self._seen for name in names):
            self._is_cut = True
            return True
        if self.site is None or not self.site.follower.has_followed(names, function):
            return False
        self._rests_on_site = True
        return True

    def usage(self, node: cst.CSTNode) -> Usage:
        """The worst use of the memory that ``node`` evaluates to."""
        if self.site is not None or self._seen:
            return self._usage(node)
        known = self.context.remember(_known_uses, self.how)
        if node not in known:
            known[node] = self._usage(node)
        return known[node]

    def _usage(self, node: cst.CSTNode) -> Usage:
        parent = self.tree.parent(node)
        match parent:
            case cst.Attribute():
                return self._attribute(parent)
            case cst.Subscript() if parent.value is node:
                if is_target(self.tree, parent):
                    if self.how.for_graph and writes.puts_in(self.context, node, parent):
                        return Usage.READ
                    return writes.by_assignment(self.context, parent)
                return self.usage(parent)
            case cst.Arg():
                call = self.tree.parent(parent)
                return given(self, parent, call) if isinstance(call, cst.Call) else Usage.ESCAPES
            case cst.Call() if parent.func is node:  # a method that was taken from a tensor before
                return self.usage(parent)
            case cst.IfExp(test=test) if test is node:
                return Usage.READ
            case cst.IfExp() | cst.BooleanOperation():
                return self.usage(parent)
            case cst.BinaryOperation(left=left, operator=operator, right=right):
                if value_of(self.context, node).kind == Kind.CONTAINER:
                    return self.usage(parent)  # `[x] * 2`, `xs + [x]`
                return self._operand(node, right if left is node else left, operator)
            case cst.Comparison(comparisons=[cst.ComparisonTarget(operator=operator, comparator=other), *_]):
                return self._operand(node, other, operator)
            case cst.ComparisonTarget(operator=operator):
                comparison = self.tree.parent(parent)
                compared = comparison.left if isinstance(comparison, cst.Comparison) else None
                return self._operand(node, compared, operator)
            case cst.UnaryOperation(operator=operator):
                return self.usage(parent) if isinstance(operator, cst.Plus) else self._operand(node, None, operator)
            case cst.Index():
                return self._index(parent)
            case cst.Slice():
                return Usage.READ
            case cst.AugAssign():
                if parent.target is node:
                    return writes.by_assignment(self.context, node)
                return self._added_to(parent, node)
            case cst.Assign() | cst.AnnAssign() | cst.NamedExpr() if parent.value is node:
                return self._assigned(parent)
            case cst.For() | cst.CompFor() if parent.iter is node:
                return self._bound(parent.target)
            case cst.WithItem(asname=cst.AsName(name=target)):
                return max(Usage.ESCAPES, self._target(target))
            case cst.Match():
                return self._captured(parent)
            case cst.Return() | cst.Yield():
                return self._returned(parent)
            case cst.From():
                statement = self.tree.parent(parent)
                return self._returned(statement) if isinstance(statement, cst.Yield) else Usage.ESCAPES
            case cst.Await():
                return self.usage(parent)
            case cst.Param():  # a default: whoever calls the function may get it
                function = self.tree.enclosing(parent, cst.FunctionDef, cst.Lambda)
                if not isinstance(function, cst.FunctionDef) or not self.how.through_names:
                    return Usage.ESCAPES
                return max(Usage.ESCAPES, self.name(parent.name.value, function))
            case cst.Element() | cst.DictElement() | cst.StarredElement() | cst.StarredDictElement():
                return self._element(parent, node)
            case cst.ListComp() | cst.SetComp() | cst.GeneratorExp() | cst.DictComp():
                return self.usage(parent)
        return Usage.READ if isinstance(parent, _READING_STATEMENTS) else Usage.ESCAPES

    def _operand(self, node: cst.CSTNode, other: cst.CSTNode | None, operator: cst.CSTNode | None = None) -> Usage:
        """What is done with a value and another one: a class of the project has its own operators."""
        with_ = value_of(self.context, other) if other is not None else None
        if with_ is not None and operator is not None and isinstance(with_.node, cst.ClassDef):
            return Usage.WRITTEN
        if isinstance(operator, _KEEPING_NOTHING) or grad_enabled(self.context, node) == Tri.NO:
            return Usage.READ
        if with_ is not None and (with_.kind & Kind.UNKNOWN or with_.grad & Tri.YES):
            return Usage.SAVED
        return Usage.SAVED if self._may_have_graph(node) else Usage.READ

    def _may_have_graph(self, node: cst.CSTNode) -> bool:
        """Whether an expression may carry a graph."""
        if not self.how.has_graph or cut_from(node) is not None:
            return False
        value = value_of(self.context, node)
        return bool(value.kind & Kind.TENSOR and value.grad & Tri.YES)

    def _index(self, index: cst.Index) -> Usage:
        """What a subscript does with what is in its brackets."""
        for up in self.tree.ancestors(index):
            if isinstance(up, cst.Subscript):
                is_own = isinstance(value_of(self.context, up.value).node, cst.ClassDef)
                return Usage.WRITTEN if is_own else Usage.SAVED
        return Usage.SAVED

    def _added_to(self, node: cst.AugAssign, value: cst.CSTNode) -> Usage:
        """What ``x += value`` does with the value: a list holds it then, or what it is made of."""
        target = value_of(self.context, node.target)
        is_plain = not target.kind & ~(Kind.TENSOR | Kind.NUMBER | Kind.STRING | Kind.NONE | Kind.NDARRAY)
        if is_plain or begins_as_number(self.context, node.target):
            return self._operand(value, node.target, node.operator)
        return max(Usage.ESCAPES, self.kept_in(node.target))

    def _captured(self, match: cst.Match) -> Usage:
        """The worst use of what the cases of a ``match`` bind."""
        worst = Usage.READ
        for case in match.cases:
            for name in self.tree.within(case.pattern, cst.Name):
                if is_target(self.tree, name):
                    worst = max(worst, self._target(name))
        return worst

    def _attribute(self, node: cst.Attribute) -> Usage:
        name = node.attr.value
        call = self.tree.parent(node)
        if isinstance(call, cst.Call) and call.func is node:
            return self._method(name, node, call)
        if name in METADATA or (name == "data" and not self.how.through_data):
            return Usage.METADATA
        if is_target(self.tree, node):
            if self.how.of_object and value_of(self.context, node.value).kind != Kind.CONTAINER:
                return Usage.WRITTEN
            if name in ("requires_grad", "grad"):
                return Usage.WRITTEN if self.how.for_graph and name == "requires_grad" else Usage.SAVED
            return Usage.WRITTEN if name in ("data", "T", "real", "imag") else Usage.READ
        if name in VIEWING:
            return self.usage(node)
        if writers.is_writing(name):
            return Usage.WRITTEN
        if name not in library.tensor_names() or name in _TELLING:
            is_container = value_of(self.context, node.value).kind == Kind.CONTAINER
            return max(Usage.ESCAPES, self.kept_in(node.value)) if is_container else Usage.ESCAPES
        return self.usage(node) if may_alias(library.method(name)) else Usage.READ

    def _method(self, name: str, node: cst.Attribute, call: cst.Call) -> Usage:
        if name in METADATA or (name == "type" and not call.args) or name.startswith("new"):
            return Usage.METADATA
        if value_of(self.context, node.value).kind == Kind.CONTAINER:
            return max(Usage.READ, self.usage(call)) if name in _TAKING_OUT else Usage.READ
        if self.how.is_told_by(name):
            return Usage.WRITTEN
        if self.how.for_graph and name in writers.OF_THE_VIEW:
            return self.usage(call)
        if writers.is_writing(name):
            written = writes.by_method(self.context, name, call)
            return written if written is Usage.WRITTEN else max(written, self.usage(call))
        result = library.method(name)
        if result is None:  # of a class of its own, or of what holds it
            return max(Usage.ESCAPES, self.usage(call))
        if name == "numpy":  # what NumPy writes no version counter counts: `.data` and `.detach()` are the same
            return Usage.READ
        if any(arg.keyword is not None and arg.keyword.value == "inplace" for arg in call.args):
            return Usage.WRITTEN
        if gives_no_graph(result):
            return Usage.READ
        if may_alias(result):  # for a view or a copy autograd keeps sizes, no elements
            return max(self.usage(call), Usage.SAVED if name == "requires_grad_" else Usage.METADATA)
        others = () if name in LIKE_METHODS or follows_first(result) else call.args
        return max((self._operand(node.value, arg.value) for arg in others), default=self._operand(node.value, None))

    def _returned(self, node: cst.Return | cst.Yield) -> Usage:
        """What all callers in this file do with what a function returns; which one it is followed from finds out."""
        function = self.context.scopes.scope_of(node)
        if self.site is not None and function is self.site.function:
            self._is_returned = True
            return Usage.METADATA
        if not isinstance(function, cst.FunctionDef) or not self.how.through_names:
            return Usage.ESCAPES
        return self._through(function.name.value, "return", Usage.RETURNED)

    def _through(self, name: str, how: str, least: Usage) -> Usage:
        """The worst use of what is called ``name``, or is an attribute of that name, anywhere in this file."""
        key = (id(self.tree.module), f"{how} {name}")
        return max(least, self._once(key, lambda: self._worst_through(name, how)))

    def returned_by(self, call: cst.Call) -> Usage:
        """The worst use of what a call gives back, from whichever of the functions that it may call."""
        return self._once((id(call), "call"), lambda: self.usage(call))

    def _worst_through(self, name: str, how: str) -> Usage:
        worst = Usage.METADATA
        for node in all_called(self.context, name):
            at = self.tree.parent(node)
            if how != "return":
                worst = max(worst, self.of_use(node))
            elif isinstance(at, cst.Call) and at.func is node:
                worst = max(worst, self.usage(at))
        return worst

    def _once(self, key: _Followed, follow: Callable[[], Usage]) -> Usage:
        """The worst use of something that is followed once; where it is met again that adds nothing.

        What leads to each other in circles is used alike. That is known when the one by which the circle was entered
        has come to its end (Tarjan's strongly connected components), and is kept in the context then: so to ask what
        becomes of each of a long row of functions costs as much as the row is long.
        """
        kept = self.context.remember(_kept, self.how)
        if self.site is None and key in kept:
            return kept[key]
        if key in self._seen:
            self._low = min(self._low, self._seen[key])
            return Usage.METADATA
        order, position = len(self._seen), len(self._open)
        self._seen[key] = order
        self._scopes.add(key[0])
        self._open.append(key)
        outer, self._low = self._low, order
        worst = deeper(follow)
        if self._low == order:
            circle = self._open[position:]
            del self._open[position:]
            self._seen.update(dict.fromkeys(circle, _DONE))
            if self.site is None and not self.depth and not (self._is_cut and order):
                kept.update(dict.fromkeys([key] if self._is_cut else circle, worst))
            self._low = outer
        self._low = min(self._low, outer)
        return worst

    def kept_in(self, container: cst.BaseExpression) -> Usage:
        """The worst that happens to what is in a container, or in an object."""
        if isinstance(container, cst.Attribute) and self.how.through_names:
            return self._through(container.attr.value, "attribute", Usage.ESCAPES)
        if not isinstance(container, cst.Name) or not self.how.through_names:
            return Usage.ESCAPES
        scope = self.context.scopes.scope_of(container)
        given = isinstance(scope, cst.FunctionDef) and container.value in {p.name.value for p in parameters(scope)}
        if not given and self._is_own(container.value, scope):
            return max(Usage.READ, self.name(container.value, scope))
        if given or not self.how.for_graph or value_of(self.context, container).kind != Kind.CONTAINER:
            return Usage.ESCAPES
        return max(Usage.ESCAPES, self.name(container.value, self.tree.module))

    def _is_own(self, name: str, scope: cst.FunctionDef | cst.Module) -> bool:
        """Whether a name is bound in a scope and not in one around it."""
        if isinstance(scope, cst.Module):
            return True
        outer: list[cst.Global | cst.Nonlocal] = [
            *self.tree.within(scope, cst.Global),
            *self.tree.within(scope, cst.Nonlocal),
        ]
        if any(item.name.value == name for declaration in outer for item in declaration.names):
            return False
        return name in self.context.scopes.locals_of(scope)

    def _is_of_comprehension(self, target: cst.CSTNode) -> bool:
        """Whether a comprehension binds a name, which ends with it."""
        up = self.tree.parent(target)
        while isinstance(up, (cst.Element, cst.StarredElement, cst.Tuple, cst.List)):
            up = self.tree.parent(up)
        return isinstance(up, cst.CompFor)

    def _element(self, element: cst.CSTNode, node: cst.CSTNode) -> Usage:
        sequence = self.tree.parent(element)
        if sequence is None:
            return Usage.ESCAPES
        if is_target(self.tree, sequence):
            return Usage.READ
        assign = self.tree.parent(sequence)
        if isinstance(assign, cst.Assign) and isinstance(sequence, cst.Tuple) and assign.value is sequence:
            index = next(i for i, e in enumerate(sequence.elements) if e is element)
            return max(self._unpacked(t.target, index, len(sequence.elements)) for t in assign.targets)
        return self.usage(sequence)

    def _unpacked(self, target: cst.CSTNode, index: int, length: int) -> Usage:
        if isinstance(target, (cst.Tuple, cst.List)) and len(target.elements) == length:
            if not any(isinstance(element, cst.StarredElement) for element in target.elements):
                return self._bound(target.elements[index].value)
        return self._bound(target)

    def _assigned(self, node: cst.Assign | cst.AnnAssign | cst.NamedExpr) -> Usage:
        if isinstance(node, cst.Assign):
            return max(self._bound(target.target, Usage.METADATA) for target in node.targets)
        usage = self._target(node.target)
        return max(usage, self.usage(node)) if isinstance(node, cst.NamedExpr) else usage

    def _bound(self, target: cst.CSTNode, least: Usage = Usage.READ) -> Usage:
        """The worst use of what a loop binds, or an assignment."""
        if isinstance(target, (cst.Tuple, cst.List)):
            return max((self._bound(element.value) for element in target.elements), default=Usage.READ)
        return max(least, self._target(target))

    def _target(self, target: cst.CSTNode) -> Usage:
        match target:
            case cst.Name(value=name) if self.how.through_names:
                if isinstance(self.tree.enclosing(target, cst.ClassDef, cst.FunctionDef, cst.Lambda), cst.ClassDef):
                    return self._through(name, "attribute", Usage.ESCAPES)
                scope = self.context.scopes.scope_of(target)
                is_own = self._is_own(name, scope) or self._is_of_comprehension(target)
                return self.name(name, scope) if is_own else Usage.ESCAPES
            case cst.Subscript(value=value):
                kind = value_of(self.context, value).kind
                if kind == Kind.TENSOR:
                    return Usage.SAVED  # its elements are copied
                return self.kept_in(value) if kind == Kind.CONTAINER else Usage.ESCAPES
            case cst.Attribute(value=value, attr=cst.Name("data")) if value_of(self.context, value).kind == Kind.TENSOR:
                return Usage.READ  # the memory is shared from then on, the version counter is not
            case cst.Attribute(attr=cst.Name(value=name)) if self.how.through_names:
                return self._through(name, "attribute", Usage.ESCAPES)
        return Usage.ESCAPES

    def name(self, name: str, scope: cst.FunctionDef | cst.Module) -> Usage:
        """The worst use of a name in a scope and in the functions inside it."""
        return self._once((id(scope), name), lambda: self._worst(name, scope))

    def _worst(self, name: str, scope: cst.FunctionDef | cst.Module) -> Usage:
        worst = Usage.METADATA
        for node in own_references(self.context, name, scope):
            worst = max(worst, self.of_use(node))
            if worst == Usage.WRITTEN:
                break
        return worst

    def of_use(self, node: cst.BaseExpression) -> Usage:
        """What is done with a name or attribute where it stands; bound itself, it stands for something else."""
        parent = self.tree.parent(node)
        if isinstance(parent, cst.AugAssign) and parent.target is node:
            return writes.by_assignment(self.context, node)
        is_inside = isinstance(parent, cst.Subscript) and parent.value is node
        return Usage.METADATA if is_target(self.tree, node) and not is_inside else self.usage(node)


def _known_uses(context: Context, how: How) -> dict[cst.CSTNode, Usage]:
    """The worst uses of expressions, for those who follow them like that and have not followed anything yet."""
    return {}


def _kept(context: Context, how: How) -> dict[_Followed, Usage]:
    """The worst uses of names that hold for good, for those who follow them like that."""
    return {}


def _nothing_known(context: Context) -> _Known:
    """What is known in a file of the functions that calls lead into: each call adds to that for those after it."""
    return {}
