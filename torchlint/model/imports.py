"""What a name stands for that one import binds and nothing else in the file: syntax tells, no flow is followed."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from torchlint.file.tree.tree import Tree
from torchlint.model.syntax import dotted, is_global, is_label, is_target

if TYPE_CHECKING:
    from torchlint.model.context import Context


class _Imported(NamedTuple):
    """What an import binds."""

    path: str
    assigned: frozenset[str]
    """Paths below the name that are assigned to: ``torch.load = …``."""


def imported_path(context: Context, node: cst.CSTNode) -> str | None:
    """The path that a name or a path of attributes can only stand for, as it is imported: ``torch.nn.Linear``.

    None if it can stand for something else, is imported relative to the file, or is part of an import.
    """
    if _is_label(context.tree, node):
        return None
    return _path_of(context, dotted(node) or "")


def path_in_file(context: Context, node: cst.CSTNode) -> str | None:
    """The same where the import may stand in another part of the file."""
    path, name = imported_path(context, node), dotted(node) or ""
    first = name.partition(".")[0]
    if path is not None or not context.is_part or context.path is None or binds(context.tree, first):
        return path
    part = context.codebase.member(context.path, first, context)
    return _path_of(part, name) if part is not None else None


def _path_of(context: Context, name: str) -> str | None:
    first, _, rest = name.partition(".")
    found = context.remember(_imported, first)
    if found is None or any(f"{name}.".startswith(f"{each}.") for each in found.assigned):
        return None
    return f"{found.path}.{rest}" if rest else found.path


def _whole_path(tree: Tree, node: cst.CSTNode) -> cst.CSTNode:
    """``a.b.c`` for the ``a`` or ``a.b`` that it begins with."""
    up = tree.parent(node)
    while isinstance(up, cst.Attribute) and up.value is node:
        node, up = up, tree.parent(up)
    return node


def _is_label(tree: Tree, node: cst.CSTNode) -> bool:
    """Whether a name is none that is looked up: in an import, behind a dot, of an argument."""
    path = _whole_path(tree, node)
    return isinstance(tree.parent(path), (cst.ImportFrom, cst.ImportAlias, cst.AsName)) or is_label(tree, path)


def only_import(context: Context, name: str) -> str | None:
    """The path of what one ``from … import`` binds to a name of a module; None if anything else may bind it there."""
    tree = context.tree
    found: set[str | None] = set()
    for node in tree.names(name):
        alias = alias_of(tree, node)
        statement = tree.parent(alias) if alias is not None else None
        if alias is None:
            found.update([None] if _is_bound(tree, node) else [])
        elif isinstance(statement, cst.ImportFrom) and is_global(statement, tree):
            found.add(f"{module_of(context, statement)}.{dotted(alias.name)}")
        else:
            found.add(None)
    return found.pop() if len(found) == 1 else None


def module_of(context: Context, statement: cst.ImportFrom) -> str:
    """The module that names are imported from, absolute if it is found; its dots are kept if it is not."""
    module = dotted(statement.module) or "" if statement.module else ""
    if not statement.relative:
        return module
    dots = len(statement.relative)
    return context.codebase.absolute(dots, module, context) or "." * dots + module


def binds(tree: Tree, name: str) -> bool:
    """Whether anything in a file binds a name, in whatever scope."""
    return any(is_bound_here(tree, node) for node in tree.names(name))


def is_bound_here(tree: Tree, node: cst.Name) -> bool:
    """Whether a name is bound where it stands, by whatever."""
    return alias_of(tree, node) is not None or _is_bound(tree, node)


def path_bound(context: Context, node: cst.Name) -> str | None:
    """The path of what an import of the module binds to a name in it; None for a relative one, or no import."""
    alias = alias_of(context.tree, node)
    return _bound(context.tree, alias) if alias is not None else None


def is_class_or_builtin(context: Context, node: cst.BaseExpression) -> bool:
    """Whether a name can only stand for a class of this file or for a builtin: no interpretation is needed for that."""
    return isinstance(node, cst.Name) and not context.is_part and context.remember(_only_classes, node.value)


def is_builtin(context: Context, node: cst.BaseExpression) -> bool:
    """Whether a name can only stand for a builtin, for nothing in the file binds it."""
    return isinstance(node, cst.Name) and not context.is_part and context.remember(_is_builtin, node.value)


def _only_classes(context: Context, name: str) -> bool:
    bound = [context.tree.parent(node) for node in context.tree.names(name) if is_bound_here(context.tree, node)]
    if not bound:
        return _is_builtin(context, name)
    return all(isinstance(each, cst.ClassDef) for each in bound)


def _is_builtin(context: Context, name: str) -> bool:
    if not hasattr(builtins, name) or binds(context.tree, name):
        return False
    return not any(isinstance(each.names, cst.ImportStar) for each in context.tree.all(cst.ImportFrom))


def _imported(context: Context, name: str) -> _Imported | None:
    tree = context.tree
    paths: set[str | None] = set()
    assigned: set[str] = set()
    for node in tree.names(name):
        if (alias := alias_of(tree, node)) is not None:
            paths.add(_bound(tree, alias))
        elif _is_bound(tree, node):
            return None
        else:
            assigned.update(_assigned(tree, node))
    path = paths.pop() if len(paths) == 1 else None
    return None if path is None else _Imported(path, frozenset(assigned))


def alias_of(tree: Tree, node: cst.CSTNode) -> cst.ImportAlias | None:
    """The import that binds a name; None if none does."""
    up = tree.parent(_whole_path(tree, node))
    if isinstance(up, cst.ImportAlias):
        return up if up.asname is None else None
    alias = tree.parent(up) if isinstance(up, cst.AsName) else None
    return alias if isinstance(alias, cst.ImportAlias) else None


def _bound(tree: Tree, alias: cst.ImportAlias) -> str | None:
    """The path of what an import at the top of the file binds; None if it is elsewhere, or relative."""
    path = dotted(alias.name) or ""
    match tree.parent(alias):
        case cst.ImportFrom(relative=[], module=module) as statement if module is not None:
            found = f"{dotted(module)}.{path}"
        case cst.Import() as statement:
            found = path if alias.asname is not None else path.partition(".")[0]
        case _:
            return None
    return found if is_global(statement, tree) else None


def _is_bound(tree: Tree, node: cst.Name) -> bool:
    """Whether anything but an import binds a name here."""
    parent = tree.parent(node)
    match parent:
        case cst.FunctionDef() | cst.ClassDef() | cst.Param():
            return parent.name is node
        case cst.NameItem():
            return True
    return is_target(tree, node)


def _assigned(tree: Tree, node: cst.CSTNode) -> list[str]:
    """The path that begins with a name, if it is assigned to."""
    path = _whole_path(tree, node)
    return [dotted(path) or ""] if isinstance(path, cst.Attribute) and is_target(tree, path) else []
