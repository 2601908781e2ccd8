"""What the callers of a function, in all of the project, hand it that requires grad, and what that makes of it.

A function that converts or keeps what it is given does so for whoever calls it. One call that is seen to hand it a
tensor that requires grad, where autograd records, is enough: that call goes wrong, whatever others do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from torchlint.model import lists, trainable
from torchlint.model.aliasing.calls import bound_to
from torchlint.model.bindings import last_assigned, targets
from torchlint.model.calls_elsewhere import CallSite, asking, call_sites
from torchlint.model.certainty import Certainty
from torchlint.model.chosen_by_call import Handed, comes_to, decided
from torchlint.model.classes import class_of
from torchlint.model.expressions import value_of
from torchlint.model.freezing import FREEZING, is_frozen
from torchlint.model.handed_networks import are_networks_known, are_own_networks_known, is_network, is_trained_network
from torchlint.model.interpret.summary import Trace
from torchlint.model.modes import grad_enabled, may_record
from torchlint.model.possibilities import Dtype, Kind, Ndim, Tri
from torchlint.model.recording_elsewhere import records
from torchlint.model.requires_grad import requires_grad
from torchlint.model.running import is_switched_off
from torchlint.model.scopes import target_names
from torchlint.model.syntax import decorator_names, dotted, last_name, parameters
from torchlint.model.values import UNKNOWN, Evidence, Strength, Value, changed, container, held, tensor
from torchlint.system.records import replace

if TYPE_CHECKING:
    from torchlint.model.context import Context

_FAR = 3
"""How many functions that hand on what they are given to go back."""
_MOST = 8
"""How many calls of a method are looked at for what its object keeps."""
_PLAIN = frozenset(("staticmethod", "classmethod", "property"))
"""Decorators that give a function what its caller gives."""
_MAKING = (cst.Assign, cst.AugAssign, cst.AnnAssign, cst.For, cst.CompFor, cst.WithItem, cst.NamedExpr)


class Witness(NamedTuple):
    """A call that hands over what requires grad."""

    call: cst.Call
    place: str
    """Where it is: the file and the line; empty of this file."""


class _Entry(NamedTuple):
    """One call of a function, and what is seen in the function then."""

    site: CallSite
    witness: Witness
    handed: dict[str, Handed]
    trace: Trace
    attributes: Mapping[str, Value]
    """What the object is known to keep, by the names of its attributes."""


class _Attribute(NamedTuple):
    """What a constructor keeps, and where it is assigned."""

    name: str
    constructor: cst.FunctionDef
    target: cst.Attribute


def requires_grad_by_call(context: Context, node: cst.BaseExpression, at: cst.CSTNode) -> Witness | None:
    """A call by which an expression of the function is a tensor that requires grad, where ``at`` is evaluated."""
    return next((e.witness for e in _entries_at(context, node, at, _FAR) if _is_refused(e.trace.value(node))), None)


def holds_grad_by_call(context: Context, node: cst.BaseExpression, at: cst.CSTNode) -> Witness | None:
    """The same of a list that holds one."""
    entries = _entries_at(context, node, at, _FAR)
    return next((e.witness for e in entries if _is_list_of_refused(e.trace.value(node))), None)


def is_no_tensor_by_call(context: Context, node: cst.BaseExpression, at: cst.CSTNode) -> bool:
    """Whether a call is seen that hands something else than a tensor to a parameter of the function."""
    function = context.scopes.scope_of(at)
    if not isinstance(function, cst.FunctionDef) or not isinstance(node, cst.Name):
        return False
    for caller, call in call_sites(context, function):
        with asking(caller):
            for arg in call.args:
                if bound_to(function, arg, call, context, caller) == [node.value]:
                    if not value_of(caller, arg.value).kind & (Kind.TENSOR | Kind.UNKNOWN):
                        return True
    return False


def _is_list_of_refused(value: Value) -> bool:
    if value.kind == Kind.CONTAINER and value.items is not None:
        return any(map(_is_refused, value.items))
    element = held(value) if value.kind == Kind.CONTAINER and not value.is_mapping else None
    return element is not None and _is_refused(element)


def _is_refused(value: Value) -> bool:
    is_proved = value.grad == Tri.YES and value.certainty > Certainty.SUPPOSED
    return value.kind == Kind.TENSOR and is_proved and bool(value.dtype & Dtype.FLOAT)


def _entries_at(context: Context, node: cst.BaseExpression, at: cst.CSTNode, far: int) -> Iterator[_Entry]:
    """The calls that come to a place in a function with autograd on."""
    function = context.scopes.scope_of(at)
    if not isinstance(function, cst.FunctionDef) or context.scopes.scope_of(node) is not function:
        return
    if not value_of(context, node).kind & (Kind.TENSOR | Kind.CONTAINER | Kind.UNKNOWN):
        return
    if not _is_of_parameters(context, function, node) or _is_tried(context, at, function):
        return
    statement = id(context.tree.statement(at))
    for entry in context.remember(_entries, function, far):
        if entry.trace.modes.get(statement, Tri.YES) == Tri.YES and comes_to(context, function, at, entry.handed):
            yield entry


def _is_tried(context: Context, node: cst.CSTNode, function: cst.FunctionDef) -> bool:
    """Whether an error in a function is caught."""
    up = context.tree.enclosing(node, cst.Try, cst.FunctionDef)
    return up is not None and up is not function


def _is_of_parameters(context: Context, function: cst.FunctionDef, node: cst.BaseExpression) -> bool:
    """Whether an expression is made of what a function is given, or the constructor of its object was."""
    made = context.remember(_made_of_parameters, function)
    return any(name.value in made for name in context.tree.within(node, cst.Name))


def _made_of_parameters(context: Context, function: cst.FunctionDef) -> frozenset[str]:
    """The names that may hold something of what a function is given."""
    found = {param.name.value for param in parameters(function)}
    if class_of(context, function) is not None and "staticmethod" not in decorator_names(function):
        found -= {param.name.value for param in parameters(function)[:1]}
        if context.remember(_kept_by_constructor, function):
            found.update(param.name.value for param in parameters(function)[:1])
    making = [each for cls in _MAKING for each in context.tree.within(function.body, cls)]
    size = -1
    while len(found) > size:
        size = len(found)
        for each in making:
            if any(name.value in found for name in context.tree.within(each, cst.Name)):
                found.update(_bound(each))
    return frozenset(found)


def _bound(node: cst.CSTNode) -> Iterator[str]:
    match node:
        case cst.Assign(targets=targets):
            for target in targets:
                yield from target_names(target.target)
        case cst.WithItem(asname=cst.AsName(name=target)):
            yield from target_names(target)
        case (
            cst.AugAssign(target=target)
            | cst.AnnAssign(target=target)
            | cst.For(target=target)
            | cst.CompFor(target=target)
            | cst.NamedExpr(target=target)
        ):
            yield from target_names(target)


# ---------------------------------------------------------------------- the calls


def _entries(context: Context, function: cst.FunctionDef, far: int) -> list[_Entry]:
    """The calls that hand a function something that requires grad, each with what is seen in it then."""
    if not set(decorator_names(function)) <= _PLAIN:
        return []
    found = []
    for site in call_sites(context, function):
        if is_switched_off(site.context, site.call):
            continue
        with asking(site.context):
            handed = _handed(context, function, site, far)
        if handed is not None:
            found.append(_entry(context, function, site, handed, {}))
    return [*found, *_by_constructor(context, function, far)]


def _entry(
    context: Context,
    function: cst.FunctionDef,
    site: CallSite,
    handed: dict[str, Handed],
    attributes: Mapping[str, Value],
) -> _Entry:
    owner = _owner(function)
    entry = _called(context, function, site, handed, {f"{owner}.{name}": each for name, each in attributes.items()})
    return entry._replace(attributes=attributes)


def _called(
    context: Context,
    function: cst.FunctionDef,
    site: CallSite,
    handed: dict[str, Handed],
    paths: dict[str, Value],
) -> _Entry:
    """What is seen in a function that is called so, with what is known to be under some paths there."""
    given = {name: each.value for name, each in handed.items()}
    trace = context.interpreter.called_with(context, function, given, paths, decided(context, function, handed))
    return _Entry(site, Witness(site.call, _place(context, site)), handed, trace, {})


def _owner(method: cst.FunctionDef) -> str:
    """What a method calls its object."""
    return method.params.params[0].name.value if method.params.params else ""


def _by_constructor(context: Context, method: cst.FunctionDef, far: int) -> list[_Entry]:
    """The calls of a method of objects that were made with something that requires grad, and keep it.

    Also those by other methods of the object that are called so.
    """
    kept = context.remember(_kept_by_constructor, method) if set(decorator_names(method)) <= _PLAIN else []
    made = context.remember(_made_with, kept[0].constructor, far) if kept else []
    if not made:
        return []
    found: list[_Entry] = []
    for site in call_sites(context, method, needs_arguments=False)[:_MOST]:
        if not is_switched_off(site.context, site.call):
            caller = _other_method(context, method, site) if far else None
            if caller is None:
                given: list[Mapping[str, Value]] = [each for by, each in made if _is_of(by, site, each)]
            else:
                entries = context.remember(_by_constructor, caller, far - 1)
                given = [each.attributes for each in entries if _comes(context, each, site)]
            for attributes in given[:1]:
                with asking(site.context):
                    handed = _handed(context, method, site, 0, 0)
                if handed is not None and are_own_networks_known(context, method, site, attributes):
                    found.append(_entry(context, method, site, handed, attributes))
    return found


def _other_method(context: Context, method: cst.FunctionDef, site: CallSite) -> cst.FunctionDef | None:
    """The method of the same object that calls another one."""
    caller = context.scopes.scope_of(site.call) if site.context is context else None
    if not isinstance(caller, cst.FunctionDef) or caller is method or not isinstance(site.call.func, cst.Attribute):
        return None
    is_own = dotted(site.call.func.value) == _owner(caller) != ""
    return caller if is_own and class_of(context, caller) is class_of(context, method) else None


def _comes(context: Context, entry: _Entry, site: CallSite) -> bool:
    """Whether a method that is called so comes to a call in it, while autograd records."""
    function = context.scopes.scope_of(site.call)
    mode = entry.trace.modes.get(id(context.tree.statement(site.call)))
    if mode != Tri.YES or not isinstance(function, cst.FunctionDef) or _is_tried(context, site.call, function):
        return False
    return comes_to(context, function, site.call, entry.handed)


def _made_with(context: Context, constructor: cst.FunctionDef, far: int) -> list[tuple[CallSite, dict[str, Value]]]:
    """The calls of a constructor by which an object keeps networks, or what requires grad, with what it keeps."""
    found = []
    for site in call_sites(context, constructor)[:_MOST]:
        with asking(site.context):
            handed = None if is_switched_off(site.context, site.call) else _handed(context, constructor, site, far, 0)
        if handed is not None:
            paths = dict(_kept_by_arguments(context, constructor, site)) if far else {}
            made = _called(context, constructor, site, handed, paths)
            attributes = {}
            for name, _, target in context.remember(_kept, constructor):
                if _is_telling(context, value := made.trace.value(target)) and not is_frozen(context, target):
                    attributes[name] = value
                    given = f"{_written(context, target)}."
                    known = {path.removeprefix(given): each for path, each in paths.items() if path.startswith(given)}
                    attributes.update({f"{name}.{rest}": each for rest, each in known.items()})
            if attributes:
                found.append((site, attributes))
    return found


def _written(context: Context, target: cst.Attribute) -> str | None:
    """The name that an attribute is assigned."""
    assign = context.tree.enclosing(target, cst.Assign)
    return dotted(assign.value) if isinstance(assign, cst.Assign) else None


def _kept_by_arguments(context: Context, constructor: cst.FunctionDef, site: CallSite) -> Iterator[tuple[str, Value]]:
    """What the objects that a constructor is given keep themselves, by its path in the constructor: `trainer.net`."""
    caller, call = site
    for arg in call.args:
        names = bound_to(constructor, arg, call, context, caller)
        with asking(caller):
            cls = value_of(caller, arg.value).node
        if len(names) != 1 or arg.star or not isinstance(cls, cst.ClassDef) or FREEZING.search(caller.tree.source.text):
            continue
        home = caller.home(cls)
        other = home.scopes.info(cls).methods.get("__init__")
        with asking(home):
            made = _made_with(home, other, 0) if other is not None and other is not constructor else []
        for by, kept in made:
            is_it = by.context is caller and _is_bound_to(caller, arg.value, by.call)
            if is_it and not _is_put_in(caller, arg.value, kept):
                yield from ((f"{names[0]}.{name}", value) for name, value in kept.items())


def _is_telling(context: Context, value: Value) -> bool:
    """Whether something that an object keeps requires grad, is a network to be trained, or may hold one of these."""
    if value.kind == Kind.OBJECT:
        return isinstance(value.node, cst.ClassDef) and not trainable.freezes(context.home(value.node), value.node)
    if value.kind == Kind.CONTAINER and (element := held(value)) is not None and is_trained_network(context, element):
        return True
    return _is_refused(value) or _is_list_of_refused(value) or is_trained_network(context, value)


def _kept_by_constructor(context: Context, method: cst.FunctionDef) -> list[_Attribute]:
    """The attributes that the constructor of a method's class makes of what it is given, and nothing else sets."""
    cls = class_of(context, method)
    constructor = context.scopes.info(cls).methods.get("__init__") if cls is not None else None
    if constructor is None or constructor is method or not method.params.params:
        return []
    return context.remember(_kept, constructor)


def _kept(context: Context, constructor: cst.FunctionDef) -> list[_Attribute]:
    cls, scopes = class_of(context, constructor), context.scopes
    found = []
    for assigned in context.tree.within(constructor.body, cst.AssignTarget):
        target = assigned.target
        if cls is not None and isinstance(target, cst.Attribute) and dotted(target) == f"self.{target.attr.value}":
            name = target.attr.value
            if len(scopes.attribute(cls, name).assigned) == 1 and not scopes.is_set_outside(cls, name):
                found.append(_Attribute(name, constructor, target))
    return found


def _is_of(made: CallSite, site: CallSite, kept: Iterable[str]) -> bool:
    """Whether a method is called on what a call of the constructor has made, where autograd records."""
    if site.context is not made.context or not isinstance(site.call.func, cst.Attribute):
        return False
    context, receiver = site.context, site.call.func.value
    is_bound = receiver is made.call or _is_bound_to(context, receiver, made.call)
    if not is_bound or _is_put_in(context, receiver, kept):
        return False
    return may_record(context, site.call) and records(context, site.call)


def _is_bound_to(context: Context, node: cst.BaseExpression, made: cst.Call) -> bool:
    """Whether a name or path is bound to what a call gives: in its scope, by the module, or by a method of `self`."""
    assign, path, scopes = context.tree.parent(made), dotted(node), context.scopes
    if path is None or not isinstance(assign, cst.Assign) or path not in [dotted(t.target) for t in assign.targets]:
        return False
    scope, other = scopes.scope_of(node), scopes.scope_of(made)
    if scope is other:
        return _is_bound_last(context, node, made)
    owner, _, name = path.rpartition(".")
    if not owner:
        is_global = isinstance(other, cst.Module) and scopes.owner(name, node) is other
        return is_global and len(targets(context, name, other)) == 1
    cls = class_of(context, scope) if isinstance(scope, cst.FunctionDef) else None
    if owner != "self" or cls is None or not isinstance(other, cst.FunctionDef) or class_of(context, other) is not cls:
        return False
    return len(scopes.attribute(cls, name).assigned) == 1 and not scopes.is_set_outside(cls, name)


def _is_bound_last(context: Context, node: cst.BaseExpression, made: cst.Call) -> bool:
    """Whether nothing else that a scope binds to a name or path can be meant."""
    scope, path = context.scopes.scope_of(node), dotted(node)
    if isinstance(node, cst.Name):
        return len(targets(context, node.value, scope)) == 1 or last_assigned(context, node) is made
    same = [each for each in context.tree.attributes(last_name(node)) if dotted(each) == path]
    bound = [each for each in same if isinstance(context.tree.parent(each), cst.AssignTarget)]
    return sum(context.scopes.scope_of(each) is scope for each in bound) == 1


def _is_put_in(context: Context, node: cst.BaseExpression, names: Iterable[str]) -> bool:
    """Whether a caller puts something else into an object that it uses, or freezes that: ``trainer.net = other``."""
    tree, path = context.tree, dotted(node)
    uses = [each for name in names for each in tree.attributes(name) if dotted(each.value) == path]
    if uses and FREEZING.search(tree.source.text):
        return True
    return any(isinstance(tree.parent(each), cst.AssignTarget) for each in uses)


def _place(context: Context, site: CallSite) -> str:
    if site.context is context:
        return ""
    name = context.codebase.relative(site.context)
    return f"{name}:{site.context.tree.row(site.call)}" if name.endswith(".py") else name


def _handed(
    context: Context, function: cst.FunctionDef, site: CallSite, far: int, least: int = 1
) -> dict[str, Handed] | None:
    """What a call hands to each parameter; None if that is not known, or less is seen to require grad than wanted."""
    caller, call = site
    if any(arg.star for arg in call.args) or context.scopes.scope_of(call) is function:
        return None
    found: dict[str, Handed] = {}
    refused, has_network = 0, False
    more: list[Value] = []
    starred = [each.name.value for each in parameters(function) if each.star]
    for arg in call.args:
        names = bound_to(function, arg, call, context, caller)
        if len(names) != 1:
            return None
        certain = _certain(caller, arg.value, call, far)
        has_network = has_network or (certain is None and is_network(caller, arg.value))
        refused += certain is not None
        value = certain or _unfrozen(caller, arg.value)
        if names[0] not in starred:
            found[names[0]] = Handed(value, arg.value)
        elif arg.keyword is None:
            more.append(value)
            found[names[0]] = Handed(container(items=tuple(more)), None)
    if refused < least:
        is_shown = has_network and are_networks_known(context, function, site)
        if not is_shown or not _is_shown(caller, Certainty.EXPECTED, call):
            return None
    for param in parameters(function):
        if param.name.value not in found and param.default is not None:
            found[param.name.value] = Handed(value_of(context, param.default), param.default)
    return found


def _unfrozen(caller: Context, node: cst.BaseExpression) -> Value:
    """What else is handed over; nothing is said of a network that the caller freezes, nor of what may hold one."""
    value = value_of(caller, node)
    if value.kind & Kind.MODULE and is_frozen(caller, node):
        return UNKNOWN
    if value.kind & Kind.OBJECT and FREEZING.search(caller.tree.source.text):
        return UNKNOWN
    return _doubtful(value)


def _certain(caller: Context, node: cst.BaseExpression, call: cst.Call, far: int) -> Value | None:
    """What an argument is that is seen to require grad, or to hold what does; None of all others."""
    value = value_of(caller, node)
    if value.kind & ~(Kind.TENSOR | Kind.UNKNOWN | Kind.CONTAINER | Kind.NUMBER):
        return None
    evidence = Evidence(Strength.USE, "a caller hands it over", call)
    if _is_shown(caller, certainty := requires_grad(caller, node), call):
        dtype = value.dtype & Dtype.FLOAT or Dtype.FLOAT
        ndim, known = value.ndim or Ndim.ANY, certainty or Certainty.EXPECTED
        return tensor(Tri.YES, ndim, dtype, certainty=known, evidence=evidence)
    if _is_shown(caller, lists.elements_require_grad(caller, node), call):
        element = held(value)
        return container(element if element is not None and _is_refused(element) else _requiring(evidence))
    return _handed_on(caller, node, call, far - 1, evidence) if far else None


def _handed_on(caller: Context, node: cst.BaseExpression, call: cst.Call, far: int, evidence: Evidence) -> Value | None:
    """What an argument is by what the function that it stands in was given itself."""
    for entry in _entries_at(caller, node, call, far):
        value = entry.trace.value(node)
        if _is_refused(value):
            return replace(value, evidence=evidence, symbols=())
        if _is_list_of_refused(value):
            return container(_requiring(evidence))
    return None


def _requiring(evidence: Evidence) -> Value:
    return tensor(Tri.YES, dtype=Dtype.FLOAT, certainty=Certainty.EXPECTED, evidence=evidence)


def _is_shown(caller: Context, certainty: Certainty | None, call: cst.Call) -> bool:
    """Whether something requires grad, and autograd records where it is handed over."""
    if certainty not in (Certainty.EXPECTED, Certainty.PROVED):
        return False
    if grad_enabled(caller, call) != Tri.YES or not may_record(caller, call):
        return False
    return certainty == Certainty.PROVED or records(caller, call)


def _doubtful(value: Value) -> Value:
    """A value of which nothing is known that would make a conversion wrong."""
    value = changed(value, _doubtful)
    if value.grad != Tri.YES:
        return replace(value, symbols=())
    return replace(value, grad=Tri.MAYBE, certainty=Certainty.SUPPOSED, symbols=())
