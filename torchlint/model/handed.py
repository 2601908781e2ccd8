"""What the callers of a function, in all of the project, hand it that requires grad, and what that makes of it.

A function that converts or keeps what it is given does so for whoever calls it. One call that is seen to hand it a
tensor that requires grad, where autograd records, is enough: that call goes wrong, whatever others do.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from torchlint.model import lists
from torchlint.model.aliasing.calls import bound_to
from torchlint.model.calls_elsewhere import CallSite, asking, call_sites, makings
from torchlint.model.certainty import Certainty
from torchlint.model.chosen_by_call import Handed, comes_to
from torchlint.model.classes import class_of
from torchlint.model.constructors import (
    calls_by_bases,
    constructor_of,
    has_method,
    heirs_with,
    kept_names,
    may_keep,
)
from torchlint.model.expressions import value_of
from torchlint.model.freezing import FREEZING, is_frozen
from torchlint.model.handed_networks import are_networks_known, are_own_networks_known, is_network, networks_by_use
from torchlint.model.interpret.summary import Trace
from torchlint.model.kept_attributes import add_defaults, is_list_of_refused, is_refused, kept_of, run_with
from torchlint.model.last_run import is_unrecorded
from torchlint.model.made_objects import is_bound_to, is_named, is_of, is_put_in
from torchlint.model.modes import grad_enabled, may_record
from torchlint.model.possibilities import Dtype, Kind, Ndim, Tri
from torchlint.model.recording_elsewhere import records
from torchlint.model.requires_grad import requires_grad
from torchlint.model.running import is_switched_off
from torchlint.model.scopes import target_names
from torchlint.model.sent_back_elsewhere import sent_back_by_caller
from torchlint.model.syntax import decorator_names, dotted, parameters
from torchlint.model.values import STRING, UNKNOWN, Evidence, Strength, Value, changed, container, held, mapping, tensor
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
    sends_back: bool = False
    """Whether it is what the call gets that shows it: gradients are sent back from that."""


class _Entry(NamedTuple):
    """One call of a function, and what is seen in the function then."""

    site: CallSite
    witness: Witness
    handed: dict[str, Handed]
    trace: Trace
    attributes: Mapping[str, Value]
    """What the object is known to keep, by the names of its attributes."""
    cls: cst.ClassDef | None = None
    """The class of the object, where that is known."""


class MadeObject(NamedTuple):
    """A call of a class, and what the object keeps that it gives."""

    site: CallSite
    cls: cst.ClassDef
    attributes: Mapping[str, Value]


def requires_grad_by_call(context: Context, node: cst.BaseExpression, at: cst.CSTNode) -> Witness | None:
    """A call by which an expression of the function is a tensor that requires grad, where ``at`` is evaluated."""
    if is_unrecorded(context, node):
        return None
    return next((e.witness for e in _entries_at(context, node, at, _FAR) if is_refused(e.trace.value(node))), None)


def proved_by_call(context: Context, node: cst.BaseExpression, at: cst.CSTNode) -> Witness | None:
    """A call by which that is so, as gradients are sent back from what it gives."""
    site = sent_back_by_caller(context, node, at)
    return None if site is None else Witness(site.call, _place(context, site), sends_back=True)


def holds_grad_by_call(context: Context, node: cst.BaseExpression, at: cst.CSTNode) -> Witness | None:
    """The same of a list that holds one."""
    entries = _entries_at(context, node, at, _FAR)
    return next((e.witness for e in entries if is_list_of_refused(e.trace.value(node))), None)


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
        if not context.remember(_may_keep, function):
            found -= {param.name.value for param in parameters(function)[:1]}
    making = [each for cls in _MAKING for each in context.tree.within(function.body, cls)]
    size = -1
    while len(found) > size:
        size = len(found)
        for each in making:
            if any(name.value in found for name in context.tree.within(each, cst.Name)):
                found.update(_bound(each))
    return frozenset(found)


def _may_keep(context: Context, method: cst.FunctionDef) -> bool:
    """Whether a method uses what a constructor of its object keeps."""
    cls = class_of(context, method)
    if cls is None or not method.params.params or method.name.value == "__init__":
        return False
    owner = _owner(method)
    used = {each.attr.value for each in context.tree.within(method.body, cst.Attribute) if dotted(each.value) == owner}
    if not used or not used.isdisjoint(context.remember(kept_names, cls)):
        return bool(used)
    return any(may_keep(context, each, used) for each in context.remember(heirs_with, method)[1:])


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
        paths = _kept_by_objects(context, function, site) if far else {}
        with asking(site.context):
            handed = _handed(context, function, site, far, 0 if paths else 1)
        if handed is not None:
            found.append(_entry(context, function, site, handed, paths))
    return [*found, *_by_constructor(context, function, far)] if context.remember(_may_keep, function) else found


def _kept_by_objects(context: Context, function: cst.FunctionDef, site: CallSite) -> dict[str, Value]:
    """What the objects keep that a call hands to a function, which uses it, where autograd records."""
    used = context.remember(_asked_of_parameters, function)
    if not used:
        return {}
    names = frozenset(path.partition(".")[0] for path in used)
    paths = {path: each for path, each in _kept_by_arguments(context, function, site, names) if path in used}
    if not paths or not all(path in paths or "." not in path for path in networks_by_use(context, function)):
        return {}
    with asking(site.context):
        return paths if _is_shown(site.context, Certainty.EXPECTED, site.call) else {}


def _asked_of_parameters(context: Context, function: cst.FunctionDef) -> frozenset[str]:
    """The paths in a function that begin with what it is given: ``trainer.model``."""
    given = {param.name.value for param in parameters(function)}
    paths = (dotted(each) for each in context.tree.within(function.body, cst.Attribute))
    return frozenset(path for path in paths if path is not None and path.partition(".")[0] in given)


def _entry(
    context: Context,
    function: cst.FunctionDef,
    site: CallSite,
    handed: dict[str, Handed],
    paths: dict[str, Value],
) -> _Entry:
    trace = run_with(context, function, handed, paths)
    return _Entry(site, Witness(site.call, _place(context, site)), handed, trace, {})


def _owner(method: cst.FunctionDef) -> str:
    """What a method calls its object."""
    return method.params.params[0].name.value if method.params.params else ""


def _by_constructor(context: Context, method: cst.FunctionDef, far: int) -> list[_Entry]:
    """The calls of a method of objects that were made with something that requires grad, and keep it.

    Also those by other methods of the object that are called so.
    """
    if not set(decorator_names(method)) <= _PLAIN or class_of(context, method) is None:
        return []
    found: list[_Entry] = []
    sites = _method_sites(context, method)
    made = [each for cls in _named_by(context, method, sites) for each in context.remember(made_with, cls, far)]
    for site in sites:
        if is_switched_off(site.context, site.call):
            continue
        for own in _objects_of(context, method, site, made, far)[:1]:
            with asking(site.context):
                handed = _handed(context, method, site, 0, 0)
            if handed is not None and are_own_networks_known(context, method, site, own.attributes):
                paths = {f"{_owner(method)}.{name}": each for name, each in own.attributes.items()}
                entry = _entry(context, method, site, handed, paths)
                found.append(entry._replace(attributes=own.attributes, cls=own.cls))
    return found


def _method_sites(context: Context, method: cst.FunctionDef) -> list[CallSite]:
    """The calls of a method that are looked at: those by bases of its class if nobody else is seen to call it."""
    sites = call_sites(context, method, needs_arguments=False)
    return sites[:_MOST] or [CallSite(*each) for each in calls_by_bases(context, method)][:_MOST]


def _named_by(context: Context, method: cst.FunctionDef, sites: list[CallSite]) -> list[cst.ClassDef]:
    """The classes with a method that a file names in which it is called: there its objects may be made."""
    trees = {id(site.context): site.context.tree for site in sites if _other_method(method, site) is None}
    found, own = [], class_of(context, method)
    for cls in context.remember(heirs_with, method) if trees else ():
        name = cls.name.value
        if any(tree.names(name) or tree.attributes(name) for tree in trees.values()):
            if own is None or cls is own or has_method(context.home(cls), cls, method, own):
                found.append(cls)
    return found


def _objects_of(
    context: Context, method: cst.FunctionDef, site: CallSite, made: list[MadeObject], far: int
) -> list[MadeObject]:
    """Which of the objects that are made a method is called on, by whoever has one, or by another of its methods."""
    caller = _other_method(method, site)
    if caller is None:
        return [each for each in made if is_of(each.site, site, each.attributes)]
    if not far:
        return []
    with asking(site.context):
        entries = site.context.remember(_by_constructor, caller, far - 1)
    owner = class_of(context, method)
    return [
        MadeObject(each.site, each.cls, each.attributes)
        for each in entries
        if each.cls is not None and owner is not None and _comes(each, site)
        if has_method(context.home(each.cls), each.cls, method, owner)
    ]


def _other_method(method: cst.FunctionDef, site: CallSite) -> cst.FunctionDef | None:
    """The method of the same object that calls another one."""
    caller = site.context.scopes.scope_of(site.call)
    if not isinstance(caller, cst.FunctionDef) or caller is method or not isinstance(site.call.func, cst.Attribute):
        return None
    is_own = dotted(site.call.func.value) == _owner(caller) != ""
    return caller if is_own and class_of(site.context, caller) is not None else None


def _comes(entry: _Entry, site: CallSite) -> bool:
    """Whether a method that is called so comes to a call in it, while autograd records."""
    context, function = site.context, site.context.scopes.scope_of(site.call)
    mode = entry.trace.modes.get(id(context.tree.statement(site.call)))
    if mode != Tri.YES or not isinstance(function, cst.FunctionDef) or _is_tried(context, site.call, function):
        return False
    return comes_to(context, function, site.call, entry.handed)


def made_with(context: Context, cls: cst.ClassDef, far: int) -> list[MadeObject]:
    """The calls of a class by which its objects keep networks, or what requires grad, with what they keep.

    ``far``: how many functions that hand on what they are given to go back.
    """
    home = context.home(cls)
    constructor = constructor_of(home, cls)
    names = context.remember(kept_names, cls) if constructor is not None else frozenset[str]()
    if constructor is None or not names:
        return []
    at, found = home.home(constructor), []
    for site in makings(context, home, cls, needs_arguments=bool(parameters(constructor)[1:]))[:_MOST]:
        with asking(site.context):
            handed = None if is_switched_off(site.context, site.call) else _handed(at, constructor, site, far, 0)
        if handed is not None:
            given = [each.name.value for each in parameters(constructor)]
            paths = dict(_kept_by_arguments(at, constructor, site, given)) if far else {}
            attributes = kept_of(at, constructor, handed, paths)
            attributes = {path: each for path, each in attributes.items() if path.partition(".")[0] in names}
            if attributes:
                found.append(MadeObject(site, cls, attributes))
    return found


def _kept_by_arguments(
    context: Context, function: cst.FunctionDef, site: CallSite, wanted: Container[str]
) -> Iterator[tuple[str, Value]]:
    """What the objects that a function is given keep themselves, by its path in the function: `trainer.net`."""
    caller, call = site
    for arg in call.args if not FREEZING.search(caller.tree.source.text) else ():
        names = bound_to(function, arg, call, context, caller)
        if len(names) != 1 or arg.star or names[0] not in wanted:
            continue
        with asking(caller):
            cls = value_of(caller, arg.value).node
        if not isinstance(cls, cst.ClassDef) or not is_named(caller, cls):
            continue
        if constructor_of(caller.home(cls), cls) is function:
            continue
        made = caller.remember(made_with, cls, 0)
        for each in made:
            is_it = each.site.context is caller and is_bound_to(caller, arg.value, each.site.call)
            if is_it and not is_put_in(caller, arg.value, each.attributes):
                yield from ((f"{names[0]}.{name}", value) for name, value in each.attributes.items())


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
    named: dict[str | int, Value] = {}
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
        else:
            named[arg.keyword.value] = value
            found[names[0]] = Handed(mapping(STRING, known=named), None)
    if refused < least:
        is_shown = has_network and are_networks_known(context, function, site)
        if not is_shown or not _is_shown(caller, Certainty.EXPECTED, call):
            return None
    add_defaults(context, function, found)
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
        return container(element if element is not None and is_refused(element) else _requiring(evidence))
    return _handed_on(caller, node, call, far - 1, evidence) if far else None


def _handed_on(caller: Context, node: cst.BaseExpression, call: cst.Call, far: int, evidence: Evidence) -> Value | None:
    """What an argument is by what the function that it stands in was given itself."""
    for entry in _entries_at(caller, node, call, far):
        value = entry.trace.value(node)
        if is_refused(value):
            return replace(value, evidence=evidence, symbols=())
        if is_list_of_refused(value):
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
