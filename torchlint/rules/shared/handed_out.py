"""Whether a class hands out what one of its attributes keeps: who gets it may register it somewhere else."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import libcst as cst

from torchlint.model import Model
from torchlint.model.names import GROWING, NUMBERS, STRINGS
from torchlint.model.syntax import last_name

_TAKING = frozenset(("get", "pop", "popitem", "next"))
"""What takes one thing out of a list, a dict or an iterator."""
_LOOKING_INTO = frozenset(("items", "values", "copy", "enumerate", "iter", "list", "reversed", "tuple", "zip"))
"""What gives the same things in another container."""
_LOOKING_AT = NUMBERS | STRINGS | frozenset(("deepcopy", "print", "type"))
"""What gives nothing that has anything to do with the things themselves."""


@dataclass(frozen=True)
class _WayOut:
    """What has become of something on its way out of an attribute."""

    attribute: str
    is_single: bool = False
    """Whether it is one of the things, and not a list or dict of them, which registers nothing."""
    is_given: bool = False
    """Whether a function was given it: what comes out of that may hold it, or be computed with it."""
    seen: set[tuple[str, bool, bool]] = field(default_factory=set, compare=False)
    """The names that were followed."""


def is_handed_out(model: Model, cls: cst.ClassDef, name: str) -> bool:
    """Whether a method returns what is in ``self.name``, or sets another attribute to it or to what is made of it."""
    own = (node for node in model.tree.attributes(name, cls) if _is_own(node))
    return any(_goes_out(node, _WayOut(name), model) for node in own)


def _is_own(node: cst.Attribute) -> bool:
    return isinstance(node.value, cst.Name) and node.value.value == "self"


def _goes_out(node: cst.CSTNode, way: _WayOut, model: Model) -> bool:
    """Whether an expression goes to callers or to another attribute from where it stands."""
    child = node
    for up in model.tree.ancestors(node):
        match up:
            case cst.Return() | cst.Yield():
                return not way.is_given
            case cst.For() | cst.CompFor():
                return up.iter is child and _goes_to(up.target, replace(way, is_single=True), model)
            case cst.Assign() | cst.AnnAssign() | cst.NamedExpr():
                return up.value is child and any(_goes_to(each, way, model) for each in _targets(up))
            case cst.Call(func=cst.Attribute(value=taker, attr=cst.Name(value=name))) if name in GROWING:
                return up.func is not child and _goes_to(taker, way, model)
            case cst.BaseSmallStatement() | cst.BaseCompoundStatement() | cst.Lambda() | cst.Comparison():
                return False
        further = _beyond(up, child, way)
        if further is None:
            return False
        child, way = up, further
    return False


def _beyond(up: cst.CSTNode, child: cst.CSTNode, way: _WayOut) -> _WayOut | None:
    """What an expression makes of one that is in it; None if nothing that matters."""
    match up:
        case cst.Attribute(attr=cst.Name(value=name)):
            return way if name in _TAKING or name in _LOOKING_INTO else None
        case cst.Subscript():
            return replace(way, is_single=True) if up.value is child else None
        case cst.IfExp():
            return way if up.test is not child else None
        case cst.Call(func=func) if last_name(func) in _TAKING:
            return replace(way, is_single=True)
        case cst.Call(func=func) if last_name(func) in _LOOKING_INTO:
            return way
        case cst.Call(func=func):
            is_at_hand = func is child or last_name(func) in _LOOKING_AT
            return None if is_at_hand else replace(way, is_given=True)
        case cst.List() | cst.Tuple() | cst.Set() | cst.Dict() | cst.BaseComp():
            return replace(way, is_single=False)
    return way


def _targets(binding: cst.Assign | cst.AnnAssign | cst.NamedExpr) -> list[cst.BaseExpression]:
    return [each.target for each in binding.targets] if isinstance(binding, cst.Assign) else [binding.target]


def _goes_to(target: cst.BaseExpression, way: _WayOut, model: Model) -> bool:
    """Whether what is bound to a target, or put into it, goes out by that."""
    match target:
        case cst.Subscript(value=inner) | cst.StarredElement(value=inner):
            return _goes_to(inner, way, model)
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            return any(_goes_to(each.value, replace(way, is_single=True), model) for each in elements)
        case cst.Attribute(attr=cst.Name(value=attribute)):
            is_other = _is_own(target) and attribute != way.attribute
            return is_other and (way.is_single or way.is_given)
        case cst.Name():
            return _goes_on(target, way, model)
    return False


def _goes_on(name: cst.Name, way: _WayOut, model: Model) -> bool:
    """Whether what a name is bound to goes out by another use of it."""
    key = (name.value, way.is_single, way.is_given)
    if key in way.seen:
        return False
    way.seen.add(key)
    uses = model.references(name.value, model.scopes.scope_of(name))
    return any(not model.is_target(use) and _goes_out(use, way, model) for use in uses)
