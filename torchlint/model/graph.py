"""Where graphs go: what reaches ``backward()``, what leaves a function, which loops train."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.scopes import dotted, parameters
from torchlint.tree import children

if TYPE_CHECKING:
    from torchlint.model import Model

_BACKWARD = frozenset(("backward", "manual_backward", "autograd_backward", "scaled_backward"))
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


def reaches_backward(model: Model, name: str, node: cst.CSTNode) -> bool:
    """Whether anything computed from a name (``total``, ``self.losses``) is given to ``backward`` or may be.

    A plain name is followed through the assignments of its scope, an attribute through its whole class. What is given
    to a function that is not known to be a reader counts as reaching ``backward`` there.
    """
    area = _area(model, name, node)
    tainted = {name}
    within = model.tree.within
    statements: list[cst.Assign | cst.AugAssign | cst.AnnAssign | cst.For]
    statements = [
        *within(area, cst.Assign),
        *within(area, cst.AugAssign),
        *within(area, cst.AnnAssign),
        *within(area, cst.For),
    ]
    calls = within(area, cst.Call)
    grew = True
    while grew:
        grew = False
        for statement in statements:
            source = statement.iter if isinstance(statement, cst.For) else statement.value
            if source is None or not _mentions(source, tainted):
                continue
            for target in _targets(statement):
                if target not in tainted:
                    tainted.add(target)
                    grew = True
    return any(_consumes(model, call, tainted) for call in calls)


def _area(model: Model, name: str, node: cst.CSTNode) -> cst.CSTNode:
    if "." in name:
        for up in model.tree.ancestors(node):
            if isinstance(up, cst.ClassDef):
                return up
    return model.scopes.scope_of(node)


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


def _mentions(node: cst.CSTNode, names: set[str]) -> bool:
    """Whether an expression hands on the graph of one of the names."""
    match node:
        case cst.Name() | cst.Attribute():
            if isinstance(node, cst.Attribute) and node.attr.value in _CUTS:
                return False
            name = dotted(node)
            if name is not None and any(name == n or name.startswith(n + ".") for n in names):
                return True
            return isinstance(node, cst.Attribute) and _mentions(node.value, names)
        case cst.Call(func=func):
            last = (dotted(func) or "").rpartition(".")[2]
            if last in _CUTS or (isinstance(func, cst.Attribute) and func.attr.value in _CUTS):
                return False
        case cst.FormattedString():
            return False
    return any(_mentions(child, names) for child in children(node))


def _consumes(model: Model, call: cst.Call, tainted: set[str]) -> bool:
    func = call.func
    last = func.attr.value if isinstance(func, cst.Attribute) else func.value if isinstance(func, cst.Name) else ""
    given = any(_mentions(arg.value, tainted) for arg in call.args)
    if last in _BACKWARD:
        return given or (isinstance(func, cst.Attribute) and _mentions(func.value, tainted))
    if not given:
        return False
    if last in _GRAD_FUNCTIONS:
        return True
    if last in _READERS:
        return False
    ref = model.qualified(func)
    if ref is not None and ref.startswith(("torch.", "builtins.", "numpy.", "math.", "logging.")):
        return False
    if any(word in last.lower() for word in ("log", "print", "report", "record", "plot", "meter", "write", "format")):
        return False
    # an unknown function could call backward on it
    return not _is_formatting(model, call)


def _is_formatting(model: Model, call: cst.Call) -> bool:
    return isinstance(model.tree.parent(call), cst.FormattedStringExpression)


def calls_backward(model: Model, area: cst.CSTNode) -> bool:
    """Whether ``backward`` (or an optimizer's ``step``) is called below a node."""
    if isinstance(area, cst.Module):
        named = [each for name in sorted(_BACKWARD | {"step"}) for each in model.tree.attributes(name)]
        calls = [call for each in named if isinstance(call := model.tree.parent(each), cst.Call)]
    else:
        calls = model.tree.within(area, cst.Call)
    for node in calls:
        match node:
            case cst.Call(func=cst.Attribute(value=value, attr=cst.Name(value=name))):
                if name in _BACKWARD:
                    return True
                if name == "step" and "optim" in (dotted(value) or "").lower():
                    return True
    return False


def backwarded(model: Model, area: cst.CSTNode) -> set[str]:
    """Names and paths on which ``backward()`` is called below a node."""
    found = set()
    for node in model.tree.within(area, cst.Call):
        match node:
            case cst.Call(func=cst.Attribute(value=value, attr=cst.Name("backward"))):
                found.add(dotted(value) or "")
    return found - {""}


def leaves_function(model: Model, name: str, node: cst.CSTNode) -> bool:
    """Whether a name, or what is computed from it, is returned, yielded, or stored in an object."""
    scope = model.scopes.scope_of(node)
    for at in model.tree.walk(scope):
        match at:
            case cst.Return(value=value) | cst.Yield(value=value) if value is not None:
                if _mentions(value, {name}):
                    return True
            case cst.Assign(targets=targets, value=value) if _mentions(value, {name}):
                for target in targets:
                    if dotted(target.target) != name:
                        if isinstance(target.target, (cst.Attribute, cst.Subscript)):
                            return True
                        other = dotted(target.target)
                        if other is not None and other != name and _returned(model, other, scope):
                            return True
    if isinstance(scope, cst.Module):
        return False
    return name in {p.name.value for p in parameters(scope)}


def _returned(model: Model, name: str, scope: cst.CSTNode) -> bool:
    for at in model.tree.walk(scope):
        match at:
            case cst.Return(value=value) | cst.Yield(value=value) if value is not None and _mentions(value, {name}):
                return True
    return False
