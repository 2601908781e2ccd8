"""The state of one interpretation: environments, and what is learnt of unknown values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model import torch_api
from torchlint.model.env import Changes, Env, Names
from torchlint.model.names import HOLDER_NAME, INPLACE
from torchlint.model.scopes import dotted
from torchlint.model.syntax import last_name
from torchlint.model.torch_api import Argument
from torchlint.model.values import (
    Evidence,
    Kind,
    Strength,
    Symbol,
    Tri,
    Value,
    join,
    tensor,
    unknown,
)

if TYPE_CHECKING:
    from torchlint.model import Model

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
class Result:
    """What an interpreted function left behind."""

    bindings: Env = field(default_factory=dict)
    """Every name of the scope with the join of all that was bound to it: what closures see."""
    returns: Value | None = None
    grad_mode: int = Tri.YES


class State:
    """Environment, values, and symbols of one scope. Statements and expressions build on it."""

    def __init__(self, model: Model, scope: cst.FunctionDef | cst.Module) -> None:
        self.model = model
        self.tree = model.tree
        self.scope = scope
        self.values = model.values
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
        self.loops: list[tuple[Names, list[Changes]]] = []
        """Of the loops around: the names before each, and with what changes it is left or begun again."""
        self.paths: dict[str, set[str]] = {}
        """The paths that begin with a name or path."""
        self.locals = model.locals_of(scope) if isinstance(scope, cst.FunctionDef) else None

    def _resolve(self, value: Value) -> Value:
        """A value with what the uses of its symbols have taught."""
        if not value.symbols or not value.kind & Kind.UNKNOWN:
            return value
        if value.kind & Kind.TENSOR and any(s in self.rejected for s in value.symbols):
            return Value(Kind.UNKNOWN, symbols=value.symbols)
        for symbol in value.symbols:
            evidence = self.solved.get(symbol)
            if evidence is not None:
                if value.kind & Kind.TENSOR:
                    if value.evidence is not None and value.evidence.strength > Strength.USE:
                        evidence = value.evidence
                    return replace(value, kind=value.kind & ~Kind.UNKNOWN, evidence=evidence)
                return replace(
                    tensor(evidence=evidence), kind=value.kind & ~Kind.UNKNOWN | Kind.TENSOR, symbols=value.symbols
                )
        if value.kind == Kind.UNKNOWN:
            for symbol in value.symbols & self.hinted.keys():
                kind = Kind.TENSOR | Kind.UNKNOWN
                return replace(tensor(evidence=self.hinted[symbol]), kind=kind, symbols=value.symbols)
        return value

    def unknown(self, symbol: Symbol) -> Value:
        """An unknown value of that origin, or the tensor that its uses make it."""
        return self._resolve(unknown(symbol))

    def likely(self, value: Value, symbol: Symbol) -> Value:
        """A tensor by convention: one unless its uses say otherwise."""
        return self._resolve(replace(value, kind=value.kind | Kind.UNKNOWN, symbols=frozenset((symbol,))))

    def use(self, value: Value, name: str, node: cst.CSTNode) -> None:
        """Learn from ``value.name``."""
        if not value.symbols or name.startswith("__"):
            return
        if name in torch_api.tensor_only() and INPLACE.search(name) and not self.model.declares("data"):
            self._use_of_data(value, name, node)
        if name in torch_api.tensor_only():
            self.learn(value.symbols, f"`.{name}` is used on it, which only tensors have", node)
        elif name == "numpy" and _is_moved(node):
            self.learn(value.symbols, "`.cpu().numpy()` is called on it, which only tensors have", node)
        elif name in _HINTS and not (name in _NUMPY_TOO and self.model.remember("numpy", _mentions_numpy)):
            for symbol in value.symbols:
                use = self.uses.setdefault(symbol, Use())
                use.hint = use.hint or (f"`.{name}` is used on it, which tensors have", node)
        elif name not in torch_api.tensor_names() and not name.startswith("_"):
            for symbol in value.symbols:
                self.uses.setdefault(symbol, Use()).other = True

    def learn(self, symbols: Iterable[Symbol], text: str, node: cst.CSTNode) -> None:
        """Remember that these are used as only tensors are; the first use of each counts."""
        for symbol in symbols:
            use = self.uses.setdefault(symbol, Use())
            use.tensor = use.tensor or (text, node)

    def _use_of_data(self, value: Value, name: str, node: cst.CSTNode) -> None:
        """``x.data.add_(…)``: what has such data, and is not called like a holder of data, is a tensor."""
        match node:
            case cst.Attribute(value=cst.Attribute(value=owner, attr=cst.Name("data"))):
                if HOLDER_NAME.search(last_name(owner)):
                    return
            case _:
                return
        text = f"`.{name}` is called on its data, which only tensors have"
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

    def _refine(self, place: cst.BaseExpression, value: Value) -> None:
        path = dotted(place)
        if path is not None:
            self._set(path, value)

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
