"""What the model says of every expression of a text, as plain data.

Nothing is computed that rules do not ask for as well: these are the answers of ``Model.value``, all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypedDict, cast

import libcst as cst

from torchlint.diagnostic import LocatedEvidence, Position
from torchlint.file.dispatch.dispatch import model_of
from torchlint.file.locate.evidence import located
from torchlint.file.parse.parser import parse
from torchlint.file.text.lines import Lines
from torchlint.file.tree.given import Span
from torchlint.file.tree.tree import Tree
from torchlint.model import Certainty, Dtype, Kind, Model, Ndim, Role, Tri, Value
from torchlint.model.budget import Budget
from torchlint.model.codebase.modules import Codebase
from torchlint.model.graphs import reasons
from torchlint.model.graphs.reasons import Caller
from torchlint.model.possibilities import Possibilities
from torchlint.model.syntax import is_label
from torchlint.model.values import reference


def _words(flags: type[Possibilities]) -> dict[str, int]:
    """The words for the members of one of the model's sets: ``{"no": 1, "yes": 2, …}``."""
    return {
        "0" if name == "ZERO" else name.lower(): bits
        for name, bits in vars(flags).items()
        if not name.startswith("_") and name != "NEITHER"
    }


_DIMENSIONS = {"grad": Tri, "ndim": Ndim, "dtype": Dtype, "leaf": Tri, "role": Role}
_WORDS: dict[type[Possibilities], dict[str, int]] = {flags: _words(flags) for flags in (Kind, *_DIMENSIONS.values())}

KINDS = tuple(_WORDS[Kind])
"""The words for kinds."""

_CERTAINTIES: dict[Certainty | None, str] = {
    Certainty.SUPPOSED: "possible",
    Certainty.EXPECTED: "expected",
    Certainty.PROVED: "proved",
}

_OUTSIDE = (cst.Annotation, cst.Import, cst.ImportFrom, cst.Global, cst.Nonlocal, cst.TypeAlias, cst.TypeParameters)
"""What holds names and types, and no values."""

_LITERALS = (cst.BaseNumber, cst.BaseString, cst.Ellipsis)
_BRACKETED = (cst.Tuple, cst.GeneratorExp)
"""Expressions to which their brackets belong, as Python's own parser sees it."""

_OF_CLASSES = Kind.MODULE | Kind.OBJECT | Kind.OPTIMIZER | Kind.LOADER | Kind.PACKED
_OPENING = re.compile(r"(?:[ \t\f\r\n\\]|#[^\r\n]*)*\(")


@dataclass(frozen=True, slots=True)
class Inferred:
    """One expression, where it stands, and what it can be."""

    start: Position
    end: Position
    expression: str
    kind: str
    """Words joined by ``|``, as in the table of ``tests/model/README.md``; ``unknown`` is the last of several."""
    dimensions: dict[str, str]
    """Of what may be a tensor: grad, ndim, dtype, leaf and role, in the words of that table. Of all else nothing."""
    cls: str | None
    """The class of an instance: its qualified name, or its name if it is a class of this file."""
    name: str | None
    """The qualified name of something imported."""
    evidence: LocatedEvidence | None
    requires: str | None = None
    """How certain it is that it requires grad: proved, expected or possible; None of what doesn't."""
    sources: tuple[str, ...] = ()
    """What makes it require grad."""
    mode: str | None = None
    """Whether autograd records there: yes, no or maybe."""
    callers: tuple[tuple[int, str], ...] = ()
    """The rows in which the function around it is called, each with the mode there."""
    is_literal: bool = False


def infer(
    text: str,
    path: str,
    location: str | None = None,
    codebase: Codebase | None = None,
    budget: Budget | None = None,
    *,
    at: Position | None = None,
) -> Iterator[Inferred]:
    """The values of all expressions of a text, in document order, inner ones before those they begin.

    ``location`` says where the file is, without which what it imports is not looked for; ``codebase`` what is known of
    other files; ``budget`` how much may be interpreted, and afterwards whether that was enough. With ``at`` only the
    innermost expression around that place is asked about, if there is one.

    Raises:
        torchlint.file.parse.invalid.Unparsed: the text is no Python.
        torchlint.file.tree.tree.NotRoundTripped: positions in it cannot be trusted.
        RecursionError: it is nested too deeply for the stack there is.
    """
    tree = parse(text, path)
    nodes = list(_expressions(tree)) if at is None else _innermost(tree, at)
    model = model_of(tree, location, codebase)
    model.budget = budget or model.budget
    try:
        values = [(node, model.value(node)) for node in nodes]
        grads = {
            id(node): _grad(model, node) for node, value in values if value.grad == Tri.YES and value.may_be_tensor
        }
    finally:
        model.close()
    calls = [caller.call for grad in grads.values() for caller in grad.callers]
    spans = tree.spans([*_anchors(values), *calls])
    lines = Lines(text)
    places = {id(node): _place(tree, node, spans) for node, _ in values}
    for node, value in sorted(values, key=lambda pair: places[id(pair[0])]):
        start, end = places[id(node)]
        yield Inferred(
            start=lines.position(start),
            end=lines.position(end),
            expression=text[start:end],
            kind=_word(Kind, value.kind),
            dimensions=_dimensions(value) if value.may_be_tensor else {},
            cls=_class(value),
            name=reference(value),
            evidence=located(value.evidence, spans, lines) if value.evidence and value.evidence.text else None,
            is_literal=isinstance(node, _LITERALS),
            **_said(grads.get(id(node)), spans, lines),
        )


@dataclass(frozen=True, slots=True)
class _Grad:
    """Why something requires grad, and who decides whether it does."""

    certainty: Certainty | None
    sources: tuple[str, ...]
    mode: Tri
    callers: tuple[Caller, ...]


def _grad(model: Model, node: cst.BaseExpression) -> _Grad:
    callers = tuple(model.ask(reasons.mode_callers, node))
    return _Grad(
        model.requires_grad(node), tuple(model.ask(reasons.grad_sources, node)), model.grad_enabled(node), callers
    )


class _Said(TypedDict, total=False):
    requires: str | None
    sources: tuple[str, ...]
    mode: str
    callers: tuple[tuple[int, str], ...]


def _said(grad: _Grad | None, spans: dict[int, Span], lines: Lines) -> _Said:
    if grad is None:
        return {}
    rows = ((lines.position(spans[id(each.call)].start).row, _word(Tri, each.mode)) for each in grad.callers)
    return {
        "requires": _CERTAINTIES.get(grad.certainty),
        "sources": grad.sources,
        "mode": _word(Tri, grad.mode),
        "callers": tuple(dict.fromkeys(rows)),
    }


def _expressions(tree: Tree) -> Iterator[cst.BaseExpression]:
    """The expressions that have values: no annotations, keywords, names of definitions."""
    outside = {id(node) for cls in _OUTSIDE for area in tree.all(cls) for node in tree.walk(area)}
    for cls, nodes in tree.nodes.items():
        if issubclass(cls, cst.BaseExpression) and not issubclass(cls, cst.StarredElement):
            for node in cast("list[cst.BaseExpression]", nodes):
                if id(node) not in outside and not _is_part(tree, node):
                    yield node


def _is_part(tree: Tree, node: cst.CSTNode) -> bool:
    """Whether a node only spells a part of its parent: an attribute's name, a keyword, one of several strings."""
    parent = tree.parent(node)
    match parent:
        case cst.MatchKeywordElement():
            return parent.key is node
        case cst.Del():  # `del x, y`: two targets, and no tuple
            return isinstance(node, cst.Tuple) and not node.lpar
        case cst.ConcatenatedString():
            return True
    return is_label(tree, node)


def _innermost(tree: Tree, at: Position) -> list[cst.BaseExpression]:
    """The smallest expression around a place, if there is one."""
    nodes, lines = list(_expressions(tree)), Lines(tree.source.text)
    if at.row > len(lines.starts):
        return []
    spans = tree.spans([anchor for node in nodes for anchor in _own_anchors(node)])
    offset = lines.offset(at)
    around = [
        (end - start, node) for node in nodes for start, end in (_place(tree, node, spans),) if start <= offset < end
    ]
    return [min(around, key=lambda pair: pair[0])[1]] if around else []


def _own_anchors(node: cst.BaseExpression) -> Iterator[cst.CSTNode]:
    """The nodes whose places say where an expression stands."""
    yield node
    if isinstance(node, _BRACKETED) and node.lpar:
        yield node.lpar[-1]
        yield node.rpar[0]


def _anchors(values: Iterable[tuple[cst.BaseExpression, Value]]) -> Iterator[cst.CSTNode]:
    """All nodes whose places are needed, so that one code generation gives them."""
    for node, value in values:
        yield from _own_anchors(node)
        if value.evidence is not None and value.evidence.node is not None:
            yield value.evidence.node


def _place(tree: Tree, node: cst.BaseExpression, spans: dict[int, Span]) -> tuple[int, int]:
    """Where an expression begins and ends for Python's own parser."""
    span = spans[id(node)]
    if not isinstance(node, _BRACKETED):
        return span.inner_start, span.inner_end
    if node.lpar:
        return spans[id(node.lpar[-1])].start, spans[id(node.rpar[0])].end
    call = tree.parent(tree.parent(node) or node)
    if isinstance(node, cst.GeneratorExp) and isinstance(call, cst.Call):  # `sum(x for x in y)`: the call's brackets
        opening = _OPENING.match(tree.source.text, spans[id(call.func)].end)
        return opening.end() - 1 if opening else span.inner_start, spans[id(call)].inner_end
    return span.inner_start, span.inner_end


def _dimensions(value: Value) -> dict[str, str]:
    return {name: _word(flags, getattr(value, name)) for name, flags in _DIMENSIONS.items() if getattr(value, name)}


def _word(flags: type[Possibilities], value: Possibilities) -> str:
    """The word for a set, or those for its members."""
    words, bits = _WORDS[flags], cast("int", value)
    whole = next((word for word, member in words.items() if member == bits), None)
    if whole is not None:
        return whole
    members = [word for word, member in words.items() if member & bits == member]
    return "|".join(sorted(members, key=lambda word: word == "unknown"))


def _class(value: Value) -> str | None:
    """The class of an instance, if there is one and it is known."""
    if not value.kind & _OF_CLASSES or value.kind & Kind.CONTAINER:
        return None
    return value.node.name.value if isinstance(value.node, cst.ClassDef) else value.ref
