"""The state of one interpretation: environments, and what is learnt of unknown values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.interpret import containers
from torchlint.model.interpret.env import Changes, Env, Names
from torchlint.model.interpret.interpretation import Trail
from torchlint.model.names import HOLDER_NAME, INPLACE
from torchlint.model.syntax import dotted, last_name, literal_key, parameters, root
from torchlint.model.torch import returned
from torchlint.model.torch.returned import Argument
from torchlint.model.values import UNKNOWN, Evidence, Kind, Strength, Symbol, Tri, Value, join, tensor, unknown

if TYPE_CHECKING:
    from torchlint.model import Model

_MAX_ALIASES = 8

_NARROWED = ".?"
"""Ends the path that says that a name was narrowed since it was bound."""

_NUMPY_TOO = frozenset(("item", "tolist"))
_HINTS = _NUMPY_TOO | {"numpy", "grad"}
"""What hardly anything but tensors has in a file that has to do with torch; some of it arrays have too."""


def _is_moved(node: cst.CSTNode) -> bool:
    """Whether this is an attribute of ``x.cpu()``."""
    match node:
        case cst.Attribute(value=cst.Call(func=cst.Attribute(attr=cst.Name("cpu")), args=[])):
            return True
    return False


def _mentions_numpy(model: Model) -> bool:
    return "numpy" in model.tree.source.text or "pandas" in model.tree.source.text


@dataclass(slots=True)
class Use:
    """How an unknown value is used: as only a tensor can be, or as a tensor cannot."""

    tensor: tuple[str, cst.CSTNode] | None = None
    hint: tuple[str, cst.CSTNode] | None = None
    """As tensors are above all, but a few others can be, too."""
    other: bool = False


@dataclass(slots=True)
class Trace:
    """What one interpretation of a scope has seen, by the identity of the nodes."""

    before: Trace | None = None
    """What the interpretation before has seen, as long as this one has not come to its end."""

    values: dict[int, Value] = field(default_factory=dict)
    """What each expression is."""
    modes: dict[int, int] = field(default_factory=dict)
    """Whether autograd records where a statement begins."""
    grown: dict[int, Value] = field(default_factory=dict)
    """What a name or attribute (by the node that names it) is after something was put into it."""
    bodies: dict[int, Env] = field(default_factory=dict)
    """What the statements of each class bind."""

    def value(self, node: cst.CSTNode) -> Value:
        """What an expression is."""
        found = self.values.get(id(node))
        if found is not None:
            return found
        return self.before.value(node) if self.before is not None else UNKNOWN

    def after(self, place: cst.CSTNode) -> Value | None:
        """What a name or attribute is after something was put into it; None if nothing was."""
        found = self.grown.get(id(place))
        return self.before.after(place) if found is None and self.before is not None else found

    def body(self, cls: cst.ClassDef) -> Env:
        """What the statements in a class bind."""
        found = self.bodies.get(id(cls))
        if found is not None:
            return found
        return self.before.body(cls) if self.before is not None else {}


NOTHING_SEEN = Trace()


@dataclass(slots=True)
class Result:
    """What an interpreted function left behind."""

    bindings: Env = field(default_factory=dict)
    """Every name of the scope with the join of all that was bound to it: what closures see."""
    returns: Value | None = None
    trace: Trace = field(default_factory=Trace)
    trail: Trail = field(default_factory=Trail)


class State:
    """Environment, values, and symbols of one scope. Statements and expressions build on it."""

    def __init__(self, model: Model, scope: cst.FunctionDef | cst.Module, trace: Trace | None = None) -> None:
        self.model = model
        self.tree = model.tree
        self.scope = scope
        self.trace = trace or Trace()
        self.values, self.modes, self.grown = self.trace.values, self.trace.modes, self.trace.grown
        self.budget = model.new_budget()
        self.env = Names()
        self.dead = False
        self.bindings: Env = {}
        self.returns: list[Value] = []
        self.globals: set[str] = set()
        self.grad = Tri.YES
        self.uses: dict[Symbol, Use] = {}
        self.solved: dict[Symbol, Evidence] = {}
        self.hinted: dict[Symbol, Evidence] = {}
        self.rejected: set[Symbol] = set()
        self.supposed: set[Symbol] = set()
        """What was taken for a tensor though it need not be one."""
        self.loops: list[tuple[Names, list[Changes]]] = []
        """Of the loops around: the names before each, and with what changes it is left or begun again."""
        self.paths: dict[str, set[str]] = {}
        """The paths that begin with a name or path."""
        self.declared: Env = {}
        """What annotations say of names of this scope."""
        self.tests_of_type = 0
        """How many ``try`` around catch what comes of a wrong type: that something is given proves nothing there."""
        self.tests: dict[str, cst.Call] = {}
        """Names that tests of other names are bound to."""
        self.aliases: dict[str, list[cst.BaseExpression]] = {}
        """Under the first name of a place what else may hold the same container."""
        self.locals = model.scopes.locals_of(scope) if isinstance(scope, cst.FunctionDef) else None

    def seen(self, node: cst.CSTNode) -> Value:
        """What an expression was, wherever in the file it stands."""
        value = self.values.get(id(node))
        return self.model.seen(node) if value is None else value

    def _resolve(self, value: Value) -> Value:
        """A value with what the uses of its symbols have taught."""
        if not value.symbols or not value.kind & Kind.UNKNOWN:
            return value
        if value.kind & Kind.TENSOR:
            if not self.rejected.isdisjoint(value.symbols):
                return Value(Kind.UNKNOWN, symbols=value.symbols)
            self.supposed.update(value.symbols)
        grad = value.grad or Tri.MAYBE
        for symbol in value.symbols:
            evidence = self.solved.get(symbol)
            if evidence is not None:
                if value.kind & Kind.TENSOR:
                    if value.evidence is not None and value.evidence.strength > Strength.USE:
                        evidence = value.evidence
                    return replace(value, kind=value.kind & ~Kind.UNKNOWN, evidence=evidence)
                return replace(
                    tensor(grad, evidence=evidence),
                    kind=value.kind & ~Kind.UNKNOWN | Kind.TENSOR,
                    symbols=value.symbols,
                )
        if value.kind == Kind.UNKNOWN:
            for symbol in value.symbols:
                if symbol in self.hinted:
                    kind = Kind.TENSOR | Kind.UNKNOWN
                    return replace(tensor(grad, evidence=self.hinted[symbol]), kind=kind, symbols=value.symbols)
        return value

    def unknown(self, symbol: Symbol) -> Value:
        """An unknown value of that origin, or the tensor that its uses make it."""
        return self._resolve(unknown(symbol))

    def likely(self, value: Value, symbol: Symbol) -> Value:
        """A tensor by convention: one unless its uses say otherwise."""
        return self._resolve(replace(value, kind=value.kind | Kind.UNKNOWN, symbols=(symbol,)))

    def use(self, value: Value, name: str, node: cst.CSTNode) -> None:
        """Learn from ``value.name``."""
        if not value.symbols or name.startswith("__"):
            return
        if name in returned.tensor_only() and INPLACE.search(name) and not self.model.declares("data"):
            self._use_of_data(value, name, node)
        if name in returned.tensor_only():
            self.learn(value.symbols, f"`.{name}` is used on it, which only tensors have", node)
        elif name == "numpy" and _is_moved(node):
            self.learn(value.symbols, "`.cpu().numpy()` is called on it, which only tensors have", node)
        elif name in _HINTS and not (name in _NUMPY_TOO and self.model.remember(_mentions_numpy)):
            for symbol in value.symbols:
                use = self.uses.setdefault(symbol, Use())
                use.hint = use.hint or (f"`.{name}` is used on it, which tensors have", node)
        elif name not in returned.tensor_names() and not name.startswith("_"):
            self.reject(value.symbols)

    def reject(self, symbols: Iterable[Symbol]) -> None:
        """Remember that these are used as no tensor is."""
        for symbol in symbols:
            self.uses.setdefault(symbol, Use()).other = True

    def learn(self, symbols: Iterable[Symbol], text: str, node: cst.CSTNode) -> None:
        """Remember that these are used as only tensors are; the first use of each counts."""
        for symbol in symbols:
            use = self.uses.setdefault(symbol, Use())
            use.tensor = use.tensor or (text, node)

    def _use_of_data(self, value: Value, name: str, node: cst.CSTNode) -> None:
        """``x.data.add_(…)``: what has such data, and is not called like a holder of data, is a tensor."""
        if isinstance(node, cst.Attribute):
            self.learn_owner(value, node.value, f"`.{name}` is called on its data, which only tensors have", node)

    def learn_owner(self, value: Value, data: cst.BaseExpression, text: str, node: cst.CSTNode) -> None:
        """Remember of ``x``, where ``x.data`` (this value) is a tensor, that it is one, unless it only holds some."""
        if isinstance(data, cst.Attribute) and data.attr.value == "data":
            if not HOLDER_NAME.search(last_name(data.value)):
                self.learn((s[1] for s in value.symbols if s[0] == "attr" and s[-1] == "data"), text, node)

    def bind(self, name: str, value: Value) -> None:
        """Bind a name or a path in the current environment."""
        for path in self.paths.get(name, ()):
            self.env.unbind(path)
        self._set(name, value)
        if name in self.bindings:
            self.bindings[name] = join(self.bindings[name], value)
        else:
            self.bindings[name] = value

    def _set(self, path: str, value: Value) -> None:
        prefix = path
        while "." in prefix:
            prefix = prefix.rpartition(".")[0]
            self.paths.setdefault(prefix, set()).add(path)
        self.env[path] = value

    def store(self, place: cst.BaseExpression, value: Value) -> None:
        """What an expression names has become another value, and so has what it is a part of."""
        before = self.peek(place)
        self._put(place, value)
        if before is not None:
            for other in self.aliases.get(root(place), ()):
                if self.peek(other) is before:
                    self._put(other, value)

    def _put(self, place: cst.BaseExpression, value: Value) -> None:
        path = dotted(place)
        if path is not None:
            self.bind(path, value)
            self.grown[id(place)] = value
        elif isinstance(place, cst.Subscript):
            base = self.peek(place.value) or self.values.get(id(place.value))
            if base is not None and containers.holds(base):
                key, each = self.key_of(place)
                self._put(place.value, containers.put(base, key, each, value))

    def peek(self, place: cst.BaseExpression) -> Value | None:
        """What a name, a path or an element of it is now; None if that is not known."""
        path = dotted(place)
        if path is not None:
            return self.env.get(path)
        if not isinstance(place, cst.Subscript) or (base := self.peek(place.value)) is None:
            return None
        return containers.at(base, self.key_of(place)[0]) if containers.holds(base) else None

    def key_of(self, node: cst.Subscript) -> tuple[containers.Key, Value]:
        """The literal key of a subscript if it has one, and what its key is."""
        match node.slice:
            case [cst.SubscriptElement(slice=cst.Index(value=value))]:
                return literal_key(value), self.values.get(id(value), UNKNOWN)
        return None, UNKNOWN

    def alias(self, target: cst.BaseExpression, source: cst.BaseExpression) -> None:
        """Two places hold the same container from here on."""
        for one, other in ((target, source), (source, target)):
            places = self.aliases.setdefault(root(one), [])
            if len(places) < _MAX_ALIASES and not any(place is other for place in places):
                places.append(other)

    def merge(self, ends: Sequence[Changes]) -> None:
        """Continue where several paths meet; none of them: nothing below is reached."""
        self.dead = not ends
        self.env.meet(ends)

    def branch(self, run: Callable[[], None]) -> Changes | None:
        """Run on a layer of names of its own; the changes at its end, None if it does not get there."""
        before = self.env
        self.env, self.dead = before.branch(), False
        run()
        changes = None if self.dead else self.env.changes(before)
        self.env = before
        return changes

    def refine(self, place: cst.BaseExpression, value: Value) -> None:
        """What a name, a path or an element of it is now known to be."""
        path = dotted(place)
        if path is None:
            self._refine_element(place, value)
            return
        if self.is_shared(path):
            self._set(f"{path}{_NARROWED}", value)
        self._set(path, value)

    def _refine_element(self, place: cst.BaseExpression, value: Value) -> None:
        if not isinstance(place, cst.Subscript) or (base := self.peek(place.value)) is None:
            return
        key, each = self.key_of(place)
        if base.kind == Kind.CONTAINER and key is not None and containers.is_known(base, key):
            self.refine(place.value, containers.put(base, key, each, value))

    def is_shared(self, name: str) -> bool:
        """Whether functions in this scope rebind a name of it."""
        return "." not in name and bool(self.model.scopes.rebinders(self.scope, name))

    def _shared(self, name: str, value: Value) -> Value:
        """A name that functions of this scope rebind, too."""
        if f"{name}{_NARROWED}" in self.env:
            return value
        other = self.model.rebound(name, self)
        return value if other is None else join(value, other)

    def effects(self, function: cst.FunctionDef, places: Sequence[str | None]) -> None:
        """Forget what was known of the attributes that a function that was called assigns."""
        for path, param in zip(places, parameters(function), strict=False):
            if path is None or path not in self.paths:
                continue
            for attribute in self.model.assigns(function, param.name.value):
                self.env.unbind(f"{path}.{attribute}")

    # ------------------------------------------------------------------ what the classes on top of this one do

    def eval(self, node: cst.CSTNode) -> Value:
        """The value of an expression."""
        raise NotImplementedError

    def assign(self, target: cst.CSTNode, value: Value, source: cst.BaseExpression | None) -> None:
        """Bind a target of any form."""
        raise NotImplementedError

    def call_expression(self, node: cst.Call) -> Value:
        """The value of a call expression."""
        raise NotImplementedError

    def call(self, func: Value, node: cst.Call, arguments: Sequence[Argument]) -> Value:
        """The value of a call."""
        raise NotImplementedError


def is_opaque(value: Value) -> bool:
    """Whether a value is an object of which nothing but that is known: what comes out of it is none of ours either."""
    return value.kind == Kind.OBJECT and value.ref is None and value.node is None


def truth(literal: bool | None) -> int:
    """YES, NO, or MAYBE for a condition that is not known."""
    return Tri.MAYBE if literal is None else Tri.YES if literal else Tri.NO
