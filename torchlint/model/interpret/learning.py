"""What the uses of unknown values teach: what ``x.unsqueeze(0)`` is called on is a tensor."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.bindings import declares
from torchlint.model.interpret.frame import Clues, Frame
from torchlint.model.names import HOLDER_NAME
from torchlint.model.possibilities import Kind, Tri
from torchlint.model.symbols import Origin, Symbol
from torchlint.model.syntax import call_of, last_name
from torchlint.model.torch import library
from torchlint.model.torch.schema import TensorResult
from torchlint.model.values import UNKNOWN, Evidence, Strength, Value, tensor
from torchlint.system.records import replace

if TYPE_CHECKING:
    from torchlint.model.context import Context

MAX_STEPS = 10
"""How many methods that are called one on the other are gone back through."""
MAX_PARTS = 5
"""How deep in containers a value may stand so that its attributes and elements are told apart."""

_NO_METHOD_ELSEWHERE = frozenset(("contiguous",))
"""Methods of tensors that others, as the `memoryview` in `array.data`, have as attributes that nobody calls."""
_NUMPY_TOO = frozenset(("item", "tolist"))
_HINTS = _NUMPY_TOO | {"numpy", "grad"}
"""What hardly anything but tensors has in a file that has to do with torch; some of it arrays have too."""


def resolve(frame: Frame, value: Value) -> Value:
    """A value with what the uses of its symbols have taught."""
    if not value.symbols or not value.kind & Kind.UNKNOWN:
        return value
    learnt = frame.learnt
    if value.kind & Kind.TENSOR:
        if not learnt.rejected.isdisjoint(value.symbols):
            return Value(Kind.UNKNOWN, symbols=value.symbols)
        learnt.supposed.update(value.symbols)
    grad = value.grad or Tri.MAYBE
    for symbol in value.symbols:
        evidence = learnt.solved.get(symbol)
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
            if symbol in learnt.hinted:
                kind = Kind.TENSOR | Kind.UNKNOWN
                return replace(tensor(grad, evidence=learnt.hinted[symbol]), kind=kind, symbols=value.symbols)
    return value


def symbols_of_attribute(base: Value, name: str, most: int = 1) -> tuple[Symbol, ...]:
    """The origins of an attribute or element of a value, by the first of its own; none if those are too deep."""
    owners = (owner for owner in base.symbols[:most] if owner.depth <= MAX_PARTS)
    return tuple(Symbol(Origin.ATTRIBUTE, name=name, of=owner) for owner in owners)


def unknown(frame: Frame, symbol: Symbol) -> Value:
    """An unknown value of that origin, or the tensor that its uses make it."""
    return resolve(frame, Value(Kind.UNKNOWN, symbols=(symbol,)))


def likely(frame: Frame, value: Value, symbol: Symbol) -> Value:
    """A tensor by convention: one unless its uses say otherwise."""
    return resolve(frame, replace(value, kind=value.kind | Kind.UNKNOWN, symbols=(symbol,)))


def learn_from_attribute(frame: Frame, value: Value, name: str, node: cst.CSTNode) -> None:
    """Learn from ``value.name``."""
    _learn_from_data(frame, name, node)
    if not value.symbols or name.startswith("__"):
        return
    if library.method(name) is not None and _has_parts(frame, node):
        reject(frame, value.symbols)
    elif name in library.tensor_only() or (name in _NO_METHOD_ELSEWHERE and call_of(node, frame.tree) is not None):
        learn(frame, value.symbols, f"`.{name}` is used on it, which only tensors have", node)
    elif name == "numpy" and _is_moved(node):
        learn(frame, value.symbols, "`.cpu().numpy()` is called on it, which only tensors have", node)
    elif name in _HINTS and not (name in _NUMPY_TOO and frame.context.remember(_mentions_numpy)):
        for symbol in value.symbols:
            clues = frame.learnt.clues.setdefault(symbol, Clues())
            clues.hint = clues.hint or (f"`.{name}` is used on it, which tensors have", node)
    elif name not in library.tensor_names() and not name.startswith("_"):
        reject(frame, value.symbols)


def _has_parts(frame: Frame, node: cst.CSTNode) -> bool:
    """Whether something is asked of this attribute that no method has: ``x.diff.sum()``, ``x.diff[0]``."""
    match frame.tree.parent(node):
        case cst.Attribute(value=owner, attr=cst.Name(value=part)):
            return owner is node and not part.startswith("__")
        case cst.Subscript(value=owner):
            return owner is node
    return False


def _learn_from_data(frame: Frame, name: str, node: cst.CSTNode) -> None:
    """``x.data.cpu()``: what has such data, and is not called like a holder of data, is a tensor."""
    if library.is_of_data(name) and isinstance(node, cst.Attribute):
        learn_owner(frame, node.value, f"`.{name}` is called on its data, which only tensors have", node)


def learn(frame: Frame, symbols: Iterable[Symbol], text: str, node: cst.CSTNode) -> None:
    """Remember that these are used as only tensors are; the first use of each counts."""
    for symbol in symbols:
        clues = frame.learnt.clues.setdefault(symbol, Clues())
        clues.tensor = clues.tensor or (text, node)


def learn_owner(frame: Frame, data: cst.BaseExpression, text: str, node: cst.CSTNode) -> None:
    """Remember of ``x``, where ``x.data``, or ``x.data.view(1, -1)``, is a tensor, that it is one too.

    Not so where a class of the file has such an attribute, or what it is called says that it only holds tensors.
    """
    owner = _owner(data)
    if owner is None or HOLDER_NAME.search(last_name(owner)) or declares(frame.context, "data"):
        return
    for symbol in frame.values.get(id(owner), UNKNOWN).symbols:
        clues = frame.learnt.clues.setdefault(symbol, Clues())
        clues.of_data = clues.of_data or (text, node)


def _owner(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """``x`` of ``x.data``, and of what methods make of that which give tensors for tensors; None of all else."""
    for _ in range(MAX_STEPS):
        match node:
            case cst.Attribute(value=owner, attr=cst.Name("data")):
                return owner
            case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(value=name))):
                if not isinstance(library.method(name), TensorResult):
                    return None
                node = inner
            case _:
                return None
    return None


def reject(frame: Frame, symbols: Iterable[Symbol]) -> None:
    """Remember that these are used as no tensor is."""
    for symbol in symbols:
        frame.learnt.clues.setdefault(symbol, Clues()).other = True


def conclude(frame: Frame) -> bool:
    """Draw conclusions from how unknown values were used; whether there are new ones that change anything."""
    learnt = frame.learnt
    rejected = learnt.rejected | {symbol for symbol, clues in learnt.clues.items() if clues.other}
    solved, hinted = dict(learnt.solved), dict(learnt.hinted)
    for symbol, clues in learnt.clues.items():
        if clues.tensor:
            solved.setdefault(symbol, Evidence(Strength.USE, *clues.tensor))
        elif clues.of_data:
            solved.setdefault(symbol, Evidence(Strength.USE, *clues.of_data, is_of_data=True))
        elif clues.hint:
            hinted.setdefault(symbol, Evidence(Strength.NAME, *clues.hint))
    solved = {s: evidence for s, evidence in solved.items() if s not in rejected}
    hinted = {s: evidence for s, evidence in hinted.items() if s not in rejected and s not in solved}
    has_learnt = (solved.keys(), hinted.keys()) != (learnt.solved.keys(), learnt.hinted.keys())
    has_learnt = has_learnt or not learnt.supposed.isdisjoint(rejected - learnt.rejected)
    learnt.solved, learnt.hinted, learnt.rejected = solved, hinted, rejected
    return has_learnt


def _is_moved(node: cst.CSTNode) -> bool:
    """Whether this is an attribute of ``x.cpu()``."""
    match node:
        case cst.Attribute(value=cst.Call(func=cst.Attribute(attr=cst.Name("cpu")), args=[])):
            return True
    return False


def _mentions_numpy(context: Context) -> bool:
    return "numpy" in context.tree.source.text or "pandas" in context.tree.source.text
