"""How a name of torch is written in a file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.bound_by_then import is_bound_by_then
from torchlint.model.imports import binds
from torchlint.model.interpreted import bound_in
from torchlint.model.possibilities import Kind
from torchlint.model.reexports import imported, is_taken, module_named, stars
from torchlint.model.syntax import dotted, root
from torchlint.model.values import Value, reference
from torchlint.system.records import replace

if TYPE_CHECKING:
    from torchlint.model.context import Context


def spelling(context: Context, qualified: str, node: cst.CSTNode | None = None) -> tuple[str, bool]:
    """How to write a name of torch in this file, and whether ``import torch`` has to be added for it.

    Empty where it cannot be written: something else at ``node`` is called ``torch``, or the file can be imported
    without torch, which an import at its top would change.
    """
    hidden = context.scopes.hidden_at(node) if node is not None else frozenset()
    for name, spelled in context.remember(_spellings, qualified):
        if name not in hidden and (node is None or is_bound_by_then(context, name, node)):
            return spelled, False
    root, bindings = qualified.partition(".")[0], bound_in(context, context.tree.module)
    if node is not None and _imports_before(context, root, node):
        return qualified, False
    if root in hidden or root in bindings or is_taken(context, root) or not context.remember(_needs, root):
        return "", False
    return qualified, True


def _imports_before(context: Context, root: str, node: cst.CSTNode) -> bool:
    """Whether a function around a node has imported a package by its own name before."""
    function = context.tree.enclosing(node, cst.FunctionDef)
    while isinstance(function, cst.FunctionDef):
        for statement in context.tree.within(function.body, cst.Import):
            is_here = context.scopes.scope_of(statement) is function and context.tree.order(
                statement
            ) < context.tree.order(node)
            names = [dotted(alias.name) for alias in statement.names if alias.asname is None]
            if is_here and any(name is not None and name.partition(".")[0] == root for name in names):
                return True
        function = context.tree.enclosing(function, cst.FunctionDef)
    return False


def _spellings(context: Context, qualified: str) -> list[tuple[str, str]]:
    """Names of the module by which something of torch can be written, with that: first as the file writes."""
    found: list[tuple[str, str, str]] = []
    for name, ref in context.remember(_references).items():
        if qualified == ref or qualified.startswith(ref + "."):
            found.append((ref, name, name + qualified[len(ref) :]))
    found.sort(key=lambda each: (not _is_written(context, each[2]), -len(each[0])))
    return [(name, spelled) for _, name, spelled in found]


def _is_written(context: Context, spelled: str) -> bool:
    """Whether a file writes other names as this one is written: `nn.init.` for `nn.init.zeros_`."""
    owner = spelled.rpartition(".")[0]
    return not owner or re.search(rf"(?<![\w.]){re.escape(owner)}\.", context.tree.source.text) is not None


def _references(context: Context) -> Mapping[str, str]:
    """What the names of the module stand for that are imported, by other files of the project too."""
    found: dict[str, str] = {}
    bindings = bound_in(context, context.tree.module)
    for name, value in bindings.items():
        # `try: import torch` … `except ImportError: torch = None` is torch where a fix is wanted
        ref = reference(replace(value, kind=value.kind & ~Kind.NONE))
        if ref is not None and not value.kind & ~(Kind.REFERENCE | Kind.NONE):
            found[name] = (module_named(context, name) if ref in imported(context).get(name, ()) else None) or ref
    # of what a star may bring, only what the file itself relies on is there for sure
    roots = {root(each) for each in context.tree.all(cst.Attribute)} if stars(context) else set[str]()
    for name in sorted(roots - bindings.keys()):
        if not binds(context.tree, name) and (ref := module_named(context, name)) is not None:
            found[name] = ref
    return found


def _may_be_none(value: Value | None) -> bool:
    return value is not None and bool(value.kind & Kind.NONE)


def _needs(context: Context, root: str) -> bool:
    """Whether a file cannot be imported without a package: a statement at its top level imports something of it."""
    bindings = bound_in(context, context.tree.module)
    sure = {name: ref for name, ref in context.remember(_references).items() if not _may_be_none(bindings.get(name))}
    ours = {name for name, ref in sure.items() if ref.partition(".")[0] == root}
    for line in context.tree.module.body:
        for small in line.body if isinstance(line, cst.SimpleStatementLine) else ():
            match small:
                case cst.Import(names=aliases):
                    if any((dotted(alias.name) or "").partition(".")[0] == root for alias in aliases):
                        return True
                case cst.ImportFrom(names=cst.ImportStar()):
                    if ours:
                        return True
                case cst.ImportFrom(names=[*aliases]):
                    bound = (alias.asname.name if alias.asname is not None else alias.name for alias in aliases)
                    if any(isinstance(name, cst.Name) and name.value in ours for name in bound):
                        return True
    return False
