"""Whether a name of the module is bound when a node runs: it may be bound below, or in a branch that does not run.

It is where it is bound above by something that always runs, and where the code reads it anyway before it comes there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.branches import branches
from torchlint.model.imports import alias_of
from torchlint.model.reexports import stars
from torchlint.model.syntax import dotted, is_global, is_label, is_target

if TYPE_CHECKING:
    from torchlint.model.context import Context


def is_bound_by_then(context: Context, name: str, node: cst.CSTNode) -> bool:
    """Whether a name of the module is sure to be bound when a node runs."""
    if _is_deleted(context, name, node):
        return False
    if _is_never_run(context, node):
        return True
    always = context.remember(_bound_at, name)
    return (always is not None and always < context.tree.order(_outermost(context, node))) or _is_read_anyway(
        context, name, node
    )


def _outermost(context: Context, node: cst.CSTNode) -> cst.CSTNode:
    """What a node waits in at the top of the module, as functions do; or itself."""
    found: cst.CSTNode = node
    while (up := context.tree.enclosing(found, cst.FunctionDef, cst.Lambda)) is not None:
        found = up
    return found


def _bound_at(context: Context, name: str) -> int | None:
    """Where a name of the module is first bound by what always runs; None if nowhere."""
    tree = context.tree
    bindings = [each for each in tree.names(name) if _binds(context, each)]
    places = [tree.order(each) for each in bindings if _runs_always(context, each)]
    if not bindings and stars(context):
        last = [each for each in tree.all(cst.ImportFrom) if isinstance(each.names, cst.ImportStar)]
        places += [tree.order(each) for each in last[-1:] if all(_runs_always(context, star) for star in last)]
    return min(places, default=None)


def _binds(context: Context, name: cst.Name) -> bool:
    at = alias_of(context.tree, name)
    if at is None:
        return is_target(context.tree, name) and is_global(name, context.tree)
    return is_global(at, context.tree)


def _runs_always(context: Context, node: cst.CSTNode) -> bool:
    """Whether a node of the module runs whenever that does, or all that would need it fails with it.

    What stands first in the body of a ``try`` does: an import that fails there fails for want of the package.
    """
    child = node
    for up in context.tree.ancestors(node):
        if isinstance(up, (cst.FunctionDef, cst.Lambda, cst.ClassDef, cst.For, cst.While, cst.If, cst.Match)):
            return False
        if isinstance(up, (cst.ExceptHandler, cst.Else, cst.Finally)):
            return False
        if isinstance(up, (cst.Try, cst.TryStar)) and not _is_among_imports(up.body, node, context):
            return False
        child = up
    return isinstance(child, cst.Module)


def _is_among_imports(body: cst.BaseSuite, node: cst.CSTNode, context: Context) -> bool:
    """Whether nothing stands before a node in a block but imports of the same package."""
    for line in body.body:
        if any(up is line for up in context.tree.ancestors(node)):
            return True
        if not isinstance(line, cst.SimpleStatementLine) or not all(map(_is_of_torch, line.body)):
            return False
    return False


def _is_of_torch(statement: cst.BaseSmallStatement) -> bool:
    match statement:
        case cst.Import(names=aliases):
            return all((dotted(each.name) or "").partition(".")[0] == "torch" for each in aliases)
        case cst.ImportFrom(module=module, relative=()):
            return module is not None and (dotted(module) or "").partition(".")[0] == "torch"
    return False


def _is_read_anyway(context: Context, name: str, node: cst.CSTNode) -> bool:
    """Whether code that has run when a node does, in its function or around that, reads a name of the module.

    What a statement reads counts as a whole, but for what waits in it and for blocks below it.
    """
    reads = [each for each in context.tree.names(name) if _reads(context, each)]
    for scope, anchor in _scopes(context, node):
        taken = branches(context, anchor)
        statement = context.tree.statement(anchor)
        for read in reads:
            if context.scopes.scope_of(read) is not scope or _waits(context, read, scope):
                continue
            is_before = context.tree.order(read) < context.tree.order(anchor)
            if (is_before or context.tree.statement(read) is statement) and _goes_with(context, read, taken):
                return True
    return False


def _goes_with(context: Context, read: cst.CSTNode, taken: Mapping[int, int]) -> bool:
    return branches(context, read).items() <= taken.items()


def _reads(context: Context, name: cst.Name) -> bool:
    if is_target(context.tree, name) or is_label(context.tree, name):
        return False
    return context.tree.enclosing(name, cst.Import, cst.ImportFrom) is None


def _waits(context: Context, node: cst.CSTNode, scope: cst.CSTNode) -> bool:
    """Whether something in a scope runs later, or perhaps not at all: in a lambda, a loop, behind ``and``."""
    for up in context.tree.ancestors(node):
        if up is scope:
            return False
        if isinstance(up, (cst.Lambda, cst.GeneratorExp, cst.BooleanOperation, cst.Annotation, cst.For, cst.While)):
            return True
    return False


def _scopes(context: Context, node: cst.CSTNode) -> Iterator[tuple[cst.CSTNode, cst.CSTNode]]:
    """The function of a node, and those around it up to the module, each with what of it has been reached."""
    anchor: cst.CSTNode = node
    while True:
        scope = context.scopes.scope_of(anchor)
        yield scope, anchor
        if not isinstance(scope, cst.FunctionDef):
            return
        anchor = scope


def _is_deleted(context: Context, name: str, node: cst.CSTNode) -> bool:
    """Whether ``del`` may have taken a name from the module when a node runs: functions are called whenever."""
    deleted = context.remember(_deletions).get(name)
    if deleted is None:
        return False
    return context.scopes.scope_of(node) is not context.tree.module or deleted < context.tree.order(node)


def _deletions(context: Context) -> Mapping[str, int]:
    """Where ``del`` first takes each name from the module."""
    found: dict[str, int] = {}
    for statement in context.tree.all(cst.Del):
        if is_global(statement, context.tree):
            for name in context.tree.within(statement, cst.Name):
                found.setdefault(name.value, context.tree.order(statement))
    return found


def _is_never_run(context: Context, node: cst.CSTNode) -> bool:
    """Whether a node is an annotation that is kept as a text."""
    if context.tree.enclosing(node, cst.Annotation) is None:
        return False
    return isinstance(node, cst.SimpleString) or context.remember(_keeps_annotations)


def _keeps_annotations(context: Context) -> bool:
    """Whether a file begins with ``from __future__ import annotations``."""
    for each in context.tree.all(cst.ImportFrom):
        if each.module is None or dotted(each.module) != "__future__" or isinstance(each.names, cst.ImportStar):
            continue
        if any(dotted(alias.name) == "annotations" for alias in each.names):
            return True
    return False
