"""Whether the networks that a function is given by its callers, or its object by who makes it, are ones to be trained.

In the file of a function only its use says that something is a network: ``model.eval()``. Where a call in another file
is what counts, that call says which one it is, and whether it is frozen, or without parameters.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model import trainable
from torchlint.model.aliasing.calls import bound_to
from torchlint.model.calls_elsewhere import CallSite, asking, call_sites
from torchlint.model.classes import class_of
from torchlint.model.context import at_home
from torchlint.model.expressions import value_of
from torchlint.model.freezing import is_frozen
from torchlint.model.lineage import lineage_of
from torchlint.model.possibilities import Kind, Tri
from torchlint.model.syntax import dotted, parameters
from torchlint.model.torch import library
from torchlint.model.torch.grads import has_parameters
from torchlint.model.values import Value

if TYPE_CHECKING:
    from torchlint.model.context import Context

_CUTTING = re.compile(r".*(?:no_grad|inference_mode|set_grad_enabled|requires_grad|detach|freeze|frozen).*|data")
"""Names in classes of modules whose outputs may have no graph."""
_ANY_MODULE = "torch.nn.Module"


def is_network(context: Context, node: cst.BaseExpression) -> bool:
    """Whether an expression is a module whose output requires grad where autograd records, as the project shows."""
    value = value_of(context, node)
    return not is_frozen(context, node) and is_trained_network(context, value)


def is_trained_network(context: Context, value: Value) -> bool:
    """Whether a value is a module whose output requires grad where autograd records, as its class shows."""
    return value.kind == Kind.MODULE and all(_is_trained(context, each) for each in value.choices or (value,))


def _is_trained(context: Context, value: Value) -> bool:
    if isinstance(value.node, cst.ClassDef):
        home = context.home(value.node)
        lineage = list(lineage_of(home, value.node).classes())
        return not any(_cuts(where, cls) for where, cls in lineage) and any(
            trainable.of_class(where, cls) for where, cls in lineage
        )
    if value.node is not None or value.ref is None:
        return False
    if value.items is not None:
        return any(_is_trained(context, each) for each in value.items)
    return value.bound is not None and has_parameters(library.module_info(value.ref), value.bound) == Tri.YES


@at_home
def _cuts(context: Context, cls: cst.ClassDef) -> bool:
    return any(_CUTTING.fullmatch(name.value) for name in context.tree.within(cls, cst.Name))


def are_networks_known(context: Context, function: cst.FunctionDef, site: CallSite) -> bool:
    """Whether all that a function calls as networks are known to be ones: what this call hands over, what is kept."""
    given = [each.name.value for each in parameters(function)]
    cls = class_of(context, function)
    if cls is not None and given:
        given = given[1:]
    for path in networks_by_use(context, function):
        if path not in given or not _hands_network(context, function, site, path):
            return False
    kept = networks_by_use(context, cls) if cls is not None else []
    return cls is None or all(
        context.remember(_keeps_network, cls, path.removeprefix("self.")) for path in kept if path.startswith("self.")
    )


def are_own_networks_known(context: Context, method: cst.FunctionDef, site: CallSite, kept: Container[str]) -> bool:
    """The same of a method whose object is known to keep something under some names."""
    cls = class_of(context, method)
    own = networks_by_use(context, cls) if cls is not None else []
    return all(path.split(".")[1] in kept for path in own) and all(
        _hands_network(context, method, site, path) for path in networks_by_use(context, method)
    )


def networks_by_use(context: Context, area: cst.ClassDef | cst.FunctionDef) -> list[str]:
    """The paths under which networks are called of which only their use in the file says that they are ones.

    Of a function those that are no attributes of its object.
    """
    return context.remember(_networks_by_use, area)


def _networks_by_use(context: Context, area: cst.ClassDef | cst.FunctionDef) -> list[str]:
    found = set[str]()
    for call in context.tree.within(area, cst.Call):
        path = dotted(call.func)
        if path is not None and path.startswith("self.") is isinstance(area, cst.ClassDef):
            if trainable.of_use(context, call.func) and not _is_known(value_of(context, call.func)):
                found.add(path)
    return sorted(found)


def _is_known(value: Value) -> bool:
    """Whether the class of a module is known."""
    known: Sequence[Value] = value.choices or (value,)
    return value.kind == Kind.MODULE and all(
        isinstance(each.node, cst.ClassDef) or each.ref not in (None, _ANY_MODULE) for each in known
    )


def _hands_network(context: Context, function: cst.FunctionDef, site: CallSite, name: str) -> bool:
    """Whether a call hands over a network for a parameter."""
    caller, call = site
    with asking(caller):
        return any(
            bound_to(function, arg, call, context, caller) == [name] and is_network(caller, arg.value)
            for arg in call.args
            if not arg.star
        )


def _keeps_network(context: Context, cls: cst.ClassDef, attribute: str) -> bool:
    """Whether all who are seen to make objects of a class give them a network that these keep under a name."""
    constructor = context.scopes.info(cls).methods.get("__init__")
    assigned = context.scopes.attribute(cls, attribute).assigned
    if constructor is None or len(assigned) != 1 or context.scopes.is_set_outside(cls, attribute):
        return False
    target = context.tree.parent(assigned[0])
    assign = context.tree.parent(target) if isinstance(target, cst.AssignTarget) else None
    if not isinstance(assign, cst.Assign) or context.scopes.scope_of(assign) is not constructor:
        return False
    given = _moved(assign.value)
    if given is None or given not in [each.name.value for each in parameters(constructor)[1:]]:
        return False
    sites = call_sites(context, constructor)
    return bool(sites) and all(_hands_network(context, constructor, site, given) for site in sites)


def _moved(node: cst.BaseExpression) -> str | None:
    """The name of what is kept, itself or on another device: ``model.to(device)``."""
    match node:
        case cst.Name(value=name):
            return name
        case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name("to" | "cuda" | "cpu" | "eval" | "train"))):
            return _moved(inner)
    return None
