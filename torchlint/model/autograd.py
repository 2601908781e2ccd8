"""Where graphs go: what reaches ``backward()``, what leaves a function, which loops train."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.file.tree.nodes import children
from torchlint.model.expressions import qualified
from torchlint.model.syntax import dotted, last_name, parameters

if TYPE_CHECKING:
    from torchlint.model.context import Context

_BACKWARD = frozenset(("backward", "manual_backward", "autograd_backward", "scaled_backward"))
_BACKWARD_OF = frozenset(("accelerator", "fabric", "engine", "autograd", "strategy", "trainer", "self"))
"""What is called like one of these is given what its ``backward`` begins with."""
_GRAD_FUNCTIONS = frozenset(("grad", "jacobian", "hessian", "vjp", "jvp"))
_READERS = frozenset(
    [
        "print",
        "format",
        "float",
        "int",
        "str",
        "len",
        "round",
        "isnan",
        "isinf",
        "isinstance",
        "info",
        "debug",
        "warning",
        "log",
        "add_scalar",
        "add_scalars",
        "append",
        "item",
        "tolist",
        "numpy",
        "cpu",
        "detach",
        "mean",
        "sum",
        "write",
        "update",
        "set_postfix",
        "set_description",
        "isfinite",
        "min",
        "max",
        "abs",
        "join",
        "range",
        "zip",
        "enumerate",
        "sorted",
        "list",
        "tuple",
        "dict",
        "array",
        "asarray",
        "save",
        "plot",
        "average",
        "exp",
    ]
)
"""Callables that read what they are given, and no more: they never call ``backward`` on it."""


def reaches_backward(context: Context, name: str, node: cst.CSTNode) -> bool:
    """Whether anything computed from a name (``total``, ``self.losses``) is given to ``backward`` or may be.

    A plain name is followed through the assignments of its scope, an attribute through its whole class. What is given
    to a function that is not known to be a reader counts as reaching ``backward`` there.
    """
    flows = context.remember(_flows, _area(context, name, node))
    tainted, waiting = {name}, [name]
    while waiting:
        each = waiting.pop()
        if any(_consumes(context, call) for call in flows.calls.get(each, ())):
            return True
        new = flows.targets.get(each, set()) - tainted
        tainted |= new
        waiting += new
    return False


@dataclass
class _Flows:
    """Where the names that are mentioned below a node lead to: each with all that it is the beginning of."""

    targets: dict[str, set[str]] = field(default_factory=dict)
    """What is bound to something computed from a name."""
    calls: dict[str, list[cst.Call]] = field(default_factory=dict)
    """The calls that are given it, or that are ``backward`` of it."""


def _flows(context: Context, area: cst.CSTNode) -> _Flows:
    flows, within = _Flows(), context.tree.within
    for cls in (cst.Assign, cst.AugAssign, cst.AnnAssign, cst.For):
        for statement in within(area, cls):
            for name in _sources(statement):
                flows.targets.setdefault(name, set()).update(_targets(statement))
    for call in within(area, cst.Call):
        used: list[cst.BaseExpression] = [arg.value for arg in call.args]
        if isinstance(call.func, cst.Attribute) and call.func.attr.value in _BACKWARD:
            used.append(call.func.value)
        for name in {name for each in used for name in _mentioned(each)}:
            flows.calls.setdefault(name, []).append(call)
    return flows


def _area(context: Context, name: str, node: cst.CSTNode) -> cst.CSTNode:
    if "." in name:
        for up in context.tree.ancestors(node):
            if isinstance(up, cst.ClassDef):
                return up
    return context.scopes.scope_of(node)


def _sources(statement: cst.CSTNode) -> Iterator[str]:
    """The names that a statement binds something computed from."""
    match statement:
        case cst.For(iter=source) | cst.Assign(value=source) | cst.AugAssign(value=source):
            yield from _mentioned(source)
        case cst.AnnAssign(value=source) if source is not None:
            yield from _mentioned(source)


def _targets(statement: cst.CSTNode) -> Iterator[str]:
    match statement:
        case cst.Assign(targets=targets):
            nodes: list[cst.CSTNode] = [t.target for t in targets]
        case cst.AugAssign(target=target) | cst.AnnAssign(target=target) | cst.For(target=target):
            nodes = [target]
        case _:
            return
    while nodes:
        node = nodes.pop()
        if isinstance(node, (cst.Tuple, cst.List)):
            nodes += [e.value for e in node.elements]
        elif isinstance(node, cst.Subscript):
            nodes.append(node.value)
        elif (name := dotted(node)) is not None:
            yield name


_CUTS = frozenset(("item", "detach", "tolist", "float", "int", "len", "data", "numpy"))


def _mentioned(node: cst.CSTNode) -> Iterator[str]:
    """The names whose graph an expression hands on: ``a``, ``a.b`` and ``a.b.c`` of ``a.b.c``."""
    waiting = [node]
    while waiting:
        at = waiting.pop()
        match at:
            case cst.Name() | cst.Attribute():
                if isinstance(at, cst.Attribute) and at.attr.value in _CUTS:
                    continue
                name = dotted(at)
                if name is not None:
                    parts = name.split(".")
                    yield from (".".join(parts[:number]) for number in range(1, len(parts) + 1))
                elif isinstance(at, cst.Attribute):
                    waiting.append(at.value)
                continue
            case cst.Call(func=func):
                last = (dotted(func) or "").rpartition(".")[2]
                if last in _CUTS or (isinstance(func, cst.Attribute) and func.attr.value in _CUTS):
                    continue
            case cst.FormattedString():
                continue
        waiting += children(at)


def _consumes(context: Context, call: cst.Call) -> bool:
    """Whether a call may run ``backward`` on what it is given: so may a function of which nothing is known."""
    last = last_name(call.func)
    if last in _BACKWARD or last in _GRAD_FUNCTIONS:
        return True
    if last in _READERS:
        return False
    ref = qualified(context, call.func)
    if ref is not None and ref.startswith(("torch.", "builtins.", "numpy.", "math.", "logging.")):
        return False
    if any(word in last.lower() for word in ("log", "print", "report", "record", "plot", "meter", "write", "format")):
        return False
    return not _is_formatting(context, call)


def _is_formatting(context: Context, call: cst.Call) -> bool:
    return isinstance(context.tree.parent(call), cst.FormattedStringExpression)


def calls_backward(context: Context, area: cst.CSTNode) -> bool:
    """Whether ``backward`` (or an optimizer's ``step``) is called below a node."""
    if isinstance(area, cst.Module):
        named = [each for name in sorted(_BACKWARD | {"step"}) for each in context.tree.attributes(name)]
        calls = [call for each in named if isinstance(call := context.tree.parent(each), cst.Call)]
    else:
        calls = context.tree.within(area, cst.Call)
    for node in calls:
        match node:
            case cst.Call(func=cst.Attribute(value=value, attr=cst.Name(value=name))):
                if name in _BACKWARD:
                    return True
                if name == "step" and "optim" in (dotted(value) or "").lower():
                    return True
    return False


def backward_calls(context: Context, function: cst.FunctionDef | cst.Module) -> list[cst.Call]:
    """The calls in a scope itself that send gradients back."""
    return context.remember(_backward_calls, function)


def _backward_calls(context: Context, scope: cst.FunctionDef | cst.Module) -> list[cst.Call]:
    found = []
    for name in sorted(_BACKWARD):
        for node in context.tree.attributes(name):
            call = context.tree.parent(node)
            if isinstance(call, cst.Call) and call.func is node and context.scopes.scope_of(call) is scope:
                found.append(call)
    return found


def backpropagated(call: cst.Call) -> cst.BaseExpression | None:
    """What a call of ``backward`` begins with: ``loss`` of ``loss.backward()`` and of ``fabric.backward(loss)``."""
    if not isinstance(call.func, cst.Attribute):
        return None
    owner = call.func.value
    if call.func.attr.value != "backward" or last_name(owner) in _BACKWARD_OF:
        return call.args[0].value if call.args and not call.args[0].star else None
    match owner:  # scaler.scale(loss).backward()
        case cst.Call(func=cst.Attribute(attr=cst.Name("scale")), args=[cst.Arg(star="", value=scaled)]):
            return scaled
    return owner


def backwarded(context: Context, area: cst.CSTNode) -> set[str]:
    """Names and paths on which ``backward()`` is called below a node."""
    found = set()
    for node in context.tree.within(area, cst.Call):
        match node:
            case cst.Call(func=cst.Attribute(value=value, attr=cst.Name("backward"))):
                found.add(dotted(value) or "")
    return found - {""}


def leaves_function(context: Context, name: str, node: cst.CSTNode) -> bool:
    """Whether a name, or what is computed from it, is returned, yielded, or stored in an object."""
    scope = context.scopes.scope_of(node)
    left = context.remember(_leaving, scope)
    if name in left.returned:
        return True
    for target in left.targets.get(name, ()):
        other = dotted(target)
        if other != name:
            if isinstance(target, (cst.Attribute, cst.Subscript)) or other in left.returned:
                return True
    if isinstance(scope, cst.Module):
        return False
    return name in {p.name.value for p in parameters(scope)}


@dataclass
class _Leaving:
    """What leaves a function, and what is assigned from what in it."""

    returned: set[str] = field(default_factory=set)
    targets: dict[str, list[cst.BaseAssignTargetExpression]] = field(default_factory=dict)


def _leaving(context: Context, scope: cst.CSTNode) -> _Leaving:
    left = _Leaving()
    for at in context.tree.walk(scope):
        match at:
            case cst.Return(value=value) | cst.Yield(value=value) if value is not None:
                left.returned.update(_mentioned(value))
            case cst.Assign(targets=targets, value=value):
                for name in set(_mentioned(value)):
                    left.targets.setdefault(name, []).extend(target.target for target in targets)
    return left


def without_backward(context: Context, node: cst.CSTNode) -> bool:
    """Whether a node is in a function of a file that never trains, so that grad may be off in whoever calls."""
    return context.scopes.scope_of(node) is not context.tree.module and not context.remember(_trains)


def _trains(context: Context) -> bool:
    return calls_backward(context, context.tree.module)
