"""Attributes of the classes of a project: methods, what is assigned through ``self``, what is declared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model import freezing
from torchlint.model.annotations import annotation, construct
from torchlint.model.certainty import Certainty
from torchlint.model.classes import class_of
from torchlint.model.codebase.exports import setter
from torchlint.model.context import Context, at_home
from torchlint.model.doubts import leads_somewhere
from torchlint.model.expressions import qualified
from torchlint.model.functions import call_function
from torchlint.model.imports import imported_path
from torchlint.model.interpret import containers
from torchlint.model.interpret.keys import AttributeKey, ScopeKey
from torchlint.model.interpreted import class_body, interpreted, seen, trace_of
from torchlint.model.lineage import bases_of, lineage_of
from torchlint.model.overriding import COMPUTED, heirs, is_set_by_others, stands_before_others
from torchlint.model.possibilities import Dtype, Kind, Ndim, Role, Tri
from torchlint.model.replaceable import as_replaceable
from torchlint.model.symbols import Origin, Symbol
from torchlint.model.syntax import assignment_of, decorator_names, dotted, last_name
from torchlint.model.torch import library
from torchlint.model.values import (
    NDARRAY,
    NONE,
    UNKNOWN,
    Evidence,
    Strength,
    Value,
    container,
    held,
    join,
    parameter,
    reference,
    tensor,
    unknown,
)
from torchlint.system.records import replace

if TYPE_CHECKING:
    from torchlint.model.interpret.frame import Frame


def class_attribute(context: Context, cls: cst.ClassDef, name: str, frame: Frame, base: Value | None = None) -> Value:
    """``base.name`` where ``base`` is an instance of a class of this project (or the class itself)."""
    for home, each in lineage_of(context, cls).classes():
        found = _own_attribute(home, each, name, frame, base)
        if found is not None and found.kind == Kind.NUMBER and home.remember(_may_be_other_than_number, each, name):
            return join(found, UNKNOWN)
        if found is not None and found.kind == Kind.UNKNOWN and each is not cls:
            found = _assigned_for_heir(home, each, name, cls) or found
        if found is not None and _is_of_integers(found) and is_set_by_others(home, each, name):
            found = replace(found, dtype=found.dtype | Dtype.FLOAT)  # by whom and to what is asked where that matters
        if found is not None and name not in home.scopes.info(each).methods:
            found = as_replaceable(home, each, name, found)
        if found is not None:
            return _as_set_outside(home, each, name, found) if home.scopes.is_set_outside(each, name) else found
    return UNKNOWN


def _assigned_for_heir(context: Context, cls: cst.ClassDef, name: str, heir: cst.ClassDef) -> Value | None:
    """What a base class asks its object for, which is one of a class that derives from it: ``self.n = self.make()``."""
    match context.scopes.attribute(cls, name).assigned:
        case [target]:
            scope, assign = context.scopes.scope_of(target), assignment_of(target, context.tree)
        case _:
            return None
    if not isinstance(scope, cst.FunctionDef) or assign is None or not isinstance(assign.value, cst.Call):
        return None
    if not (dotted(assign.value.func) or "").startswith("self."):
        return None
    result = interpreted(context, scope, heir)
    return None if result is None else result.trace.value(target)


def _is_of_integers(value: Value) -> bool:
    """Whether it is a tensor that can have no graph."""
    return bool(value.kind & Kind.TENSOR) and not value.is_parameter and not value.dtype & Dtype.FLOAT


def _may_be_other_than_number(context: Context, cls: cst.ClassDef, name: str) -> bool:
    """Whether something else may be put where a class has a number: by other files, subclasses, or in the file."""
    if name in context.scopes.info(cls).methods or not is_set_by_others(context, cls, name):
        return False
    if setter(context, name) is not None or not context.scopes.is_set_outside(cls, name):
        return True
    return not all(_is_given_number(each, context) for each in context.tree.attributes(name))


def _is_given_number(attribute: cst.Attribute, context: Context) -> bool:
    """Whether an attribute is only read in a place, or is assigned a number there."""
    match context.tree.parent(attribute):
        case cst.AugAssign(target=target, value=value) if target is attribute:
            return isinstance(value, cst.BaseNumber)
        case cst.AssignTarget() as target:
            assign = context.tree.parent(target)
            return isinstance(assign, cst.Assign) and isinstance(assign.value, cst.BaseNumber)
    return True


def _as_set_outside(context: Context, cls: cst.ClassDef, name: str, found: Value) -> Value:
    """An attribute that the file also sets from outside of the class: what the class says is not all there is."""
    if found.kind == Kind.NONE:
        return join(found, UNKNOWN)
    if not found.kind & Kind.TENSOR or found.role != Role.PLAIN:
        return found
    setters = context.remember(_setters_to_arrays, name)
    if len(setters) > (id(cls) in setters):
        found = join(found, NDARRAY)
    grad = Tri.MAYBE if found.grad == Tri.NO and found.dtype & Dtype.FLOAT else found.grad
    return replace(found, grad=grad, leaf=Tri.MAYBE, certainty=Certainty.SUPPOSED)


def _setters_to_arrays(context: Context, name: str) -> frozenset[int]:
    """Who assigns an attribute what NumPy gives: classes to their own objects, by identity; 0 for all others."""
    calls = context.scopes.calls_assigned(name)
    return frozenset(cls for cls, call in calls if (imported_path(context, call.func) or "").startswith("numpy."))


def _own_attribute(context: Context, cls: cst.ClassDef, name: str, frame: Frame, base: Value | None) -> Value | None:
    """An attribute that a class itself defines."""
    info = context.scopes.info(cls)
    method = info.methods.get(name)
    if method is not None:
        if not COMPUTED.isdisjoint(decorator_names(method)):
            return call_function(context, method, base, method, (), frame)
        return Value(Kind.FUNCTION, node=method, receiver=base)
    found: Value | None = None
    used = context.scopes.attribute(cls, name)
    if used.assigned or used.registered:
        found = _assigned(context, cls, name)
    declared = info.declared.get(name)
    if declared is not None and (found is None or found.kind & Kind.UNKNOWN):
        found = annotation(context, declared.annotation.annotation, frame) or found
    return found if found is not None else class_body(context, cls).bindings.get(name)


@at_home
def _assigned(context: Context, cls: cst.ClassDef, name: str) -> Value | None:
    """An attribute assigned through ``self`` anywhere in a class: the join of its assignments.

    Joined twice: the first time attributes that depend on each other are unknown, the second time they are not.
    Those of another file are joined of what its methods leave behind, and each method is a question of its own. If each
    attribute was one, all methods would be interpreted anew for each of the attributes that depend on each other.
    """
    queries = context.codebase.queries
    if context.is_part and not queries.is_apart:
        return context.remember(_joined_apart, cls, name)
    return queries.ask(
        AttributeKey(id(cls), name),
        lambda number: _join_assigned(context, cls, name, number == 0),
        None,
        context,
        is_far=context.is_part,  # the methods that assign it would be
    )


def _joined_apart(context: Context, cls: cst.ClassDef, name: str) -> Value | None:
    """An attribute of a class of another file, from methods that are finished when they are asked for."""
    return _join_assigned(context, cls, name, False)


def _join_assigned(context: Context, cls: cst.ClassDef, name: str, is_first: bool) -> Value | None:
    """The attribute; None if all its assignments are of what is not known yet."""
    used = context.scopes.attribute(cls, name)
    found: Value | None = None
    for target in used.assigned:
        scope = context.scopes.scope_of(target)
        trace, increase = trace_of(context, scope), context.tree.parent(target)
        value = trace.value(target)
        if value.kind == Kind.UNKNOWN and isinstance(increase, cst.AugAssign):
            by = increase.value
            is_counter = isinstance(by, cst.BaseNumber) or trace.value(by).kind == Kind.NUMBER
            if is_first or (is_counter and context.codebase.queries.is_open(ScopeKey(id(scope)))):
                continue  # what it is increased from is not known yet
        found = value if found is None else join(found, value)
    if found is not None and containers.holds_or_is_none(found):
        for place in used.grown:
            found = join(found, _after(context, place, found) or found)
        if not used.grown and found.kind == Kind.CONTAINER and held(found) is None:
            for home, heir in heirs(context, cls):
                found = _grown_by(home, heir, name, found)
    for how, call in used.registered:
        value = _registered(context, how, call)
        found = value if found is None else join(found, value)
    if found is None:
        return None
    if found.kind & Kind.UNKNOWN and (evidence := class_use(context, cls, name)) is not None:
        if found.kind & Kind.TENSOR:
            found = replace(found, kind=found.kind & ~Kind.UNKNOWN, evidence=found.evidence or evidence)
        else:
            found = replace(tensor(evidence=evidence), kind=found.kind & ~Kind.UNKNOWN | Kind.TENSOR)
    elif found.kind & Kind.UNKNOWN:
        found = replace(found, symbols=(Symbol(Origin.SELF, id(cls), name),))
    return found


def _after(context: Context, place: cst.Attribute, before: Value) -> Value | None:
    """What an attribute holds after something is put into it.

    Where two lists are appended to in a method, this may have been interpreted before one was known to be a list; what
    is appended to that is known all the same. What is not known counts only where it may be called.
    """
    trace = trace_of(context, context.scopes.scope_of(place))
    if (found := trace.after(place)) is not None or (put := _put_in(context, place)) is None:
        return found
    value = trace.value(put)
    return container(value) if value.kind != Kind.UNKNOWN or leads_somewhere(before) else None


def _put_in(context: Context, place: cst.Attribute) -> cst.BaseExpression | None:
    """What is put into a list or mapping: ``self.parts.append(x)``, ``self.parts[key] = x``."""
    around = context.tree.parent(place)
    match around, context.tree.parent(around) if around is not None else None:
        case cst.Attribute(attr=cst.Name("append")), cst.Call(
            func=func, args=[cst.Arg(keyword=None, star="", value=value)]
        ) if func is around:
            return value
        case cst.Subscript(), cst.AssignTarget() as target:
            assign = context.tree.parent(target)
            return assign.value if isinstance(assign, cst.Assign) else None
    return None


@at_home
def _grown_by(context: Context, heir: cst.ClassDef, name: str, found: Value) -> Value:
    """A list that a class leaves empty, with what a subclass puts into it."""
    used = context.scopes.attribute(heir, name)
    for place in used.grown if not used.assigned else ():
        found = join(found, trace_of(context, context.scopes.scope_of(place)).after(place) or found)
    return found


def _registered(context: Context, how: str, call: cst.Call) -> Value:
    given = seen(context, call.args[1].value) if len(call.args) > 1 else NONE
    if given.kind == Kind.NONE:
        return NONE
    name = f"`{how}`"
    if how == "register_parameter":
        frozen = freezing.is_frozen(context, call.args[1].value) if len(call.args) > 1 else True
        certainty = Certainty.SUPPOSED if frozen else given.certainty
        return parameter(Evidence(Strength.SIGNATURE, f"it was given to {name}", call), certainty)
    evidence = Evidence(Strength.SIGNATURE, f"it was given to {name}", call)
    return tensor(Tri.NO, given.ndim or Ndim.ANY, given.dtype or Dtype.ANY, role=Role.BUFFER, evidence=evidence)


@at_home
def class_use(context: Context, cls: cst.ClassDef, name: str) -> Evidence | None:
    """What the whole class does with ``self.name``, if that is what only a tensor can do."""
    found = context.scopes.attribute(cls, name)
    used = found.used
    wrapping = next((c for c in found.given if last_name(c.func) == "Variable"), None)
    if not used and wrapping is None:
        return None
    only = library.tensor_only()
    if any(u not in library.tensor_names() and not u.startswith("_") for u in used):
        return None
    for attribute, node in used.items():
        if attribute in only:
            text = f"`.{attribute}` is used on `self.{name}`, which only tensors have"
            return Evidence(Strength.USE, text, node)
    if wrapping is not None and qualified(context, wrapping.func) == "torch.autograd.Variable":
        text = f"`Variable(...)` is called with `self.{name}`, which takes only tensors"
        return Evidence(Strength.USE, text, wrapping)
    return None


def super_value(context: Context, node: cst.Call, frame: Frame) -> Value:
    """``super()``: the object, seen as an instance of the base."""
    cls = class_of(context, frame.scope)
    if cls is None:
        return unknown(Symbol(Origin.CALL, id(node)))
    for base in bases_of(context, cls):
        if isinstance(base.node, cst.ClassDef):
            return replace(construct(context, base.node), is_exact=not stands_before_others(context, cls))
        ref = reference(base)
        if ref is not None and library.class_kind(ref) == "module":
            return Value(Kind.MODULE, ref=ref)
    return unknown(Symbol(Origin.CALL, id(node)))
