"""Objects that collect the networks of a project: ``MODELS = Registry("models")``, then ``@MODELS.register_module()``.

Their class is mostly one of an installed package that is not seen (mmengine, fvcore). It is told by its name, and so is
what its methods do.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

_REGISTRY = re.compile("registry", re.IGNORECASE)
_REGISTERING = "register"


def is_registry(tree: ast.Module, name: str) -> bool:
    """Whether a file makes a registry of that name, once, which is no part of another one."""
    match [value for target, value in _assigned(tree) if isinstance(target, ast.Name) and target.id == name]:
        case [ast.Call(func=func, keywords=keywords)]:
            is_alone = all(each.arg != "parent" for each in keywords)
            return is_alone and _REGISTRY.search(name_of(func) or "") is not None
    return False


def _assigned(tree: ast.Module) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=targets, value=value):
                yield from ((target, value) for target in targets)
            case ast.AnnAssign(target=target, value=value):
                yield target, value


def registered(tree: ast.Module, registry: str) -> list[str] | None:
    """The names of a file that it puts into a registry; None if it may put something else into it."""
    found, known = [], set[int]()
    for statement in tree.body:
        for call, names in _registrations(statement):
            if _owner(call, registry) is None:
                continue
            if len(names) != 1:
                return None
            found += names
            known.add(id(call))
    for node in ast.walk(tree):
        if id(node) not in known and _puts_more(node, registry):
            return None
    return found


def _registrations(statement: ast.stmt) -> Iterator[tuple[ast.expr, list[str]]]:
    """The functions that a statement gives something of the file, each with the names of that."""
    match statement:
        case ast.ClassDef(name=name, decorator_list=decorators) | ast.FunctionDef(name=name, decorator_list=decorators):
            yield from ((called(each), [name]) for each in decorators)
        case ast.Expr(value=ast.Call(func=func) as call):
            given = (*call.args, *(each.value for each in call.keywords))
            yield called(func), [each.id for each in given if isinstance(each, ast.Name)]


def _owner(function: ast.AST, registry: str) -> ast.expr | None:
    """The registry that something is registered in by a function."""
    match function:
        case ast.Attribute(value=owner, attr=name) if name.startswith(_REGISTERING) and name_of(owner) == registry:
            return owner
    return None


def _puts_more(node: ast.AST, registry: str) -> bool:
    """Whether something is registered elsewhere than in a statement of a file, or the registry gets another name."""
    if _owner(node, registry) is not None:
        return True
    match node:
        case ast.Assign(value=value) | ast.AnnAssign(value=value) | ast.keyword(arg="parent", value=value):
            return value is not None and name_of(value) == registry
    return False


def called(node: ast.expr) -> ast.expr:
    """What a decorator is called by: ``register`` of ``@register("name")``."""
    return node.func if isinstance(node, ast.Call) else node


def name_of(node: ast.AST) -> str | None:
    """The last name of ``a.b.c``."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return None
