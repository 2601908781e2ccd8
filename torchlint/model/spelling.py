"""How a name of torch is written in a file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.interpreted import bound_in
from torchlint.model.possibilities import Kind
from torchlint.model.syntax import dotted
from torchlint.model.values import reference

if TYPE_CHECKING:
    from torchlint.model.context import Context


def spelling(context: Context, qualified: str, node: cst.CSTNode | None = None) -> tuple[str, bool]:
    """How to write a name of torch in this file, and whether ``import torch`` has to be added for it.

    Empty where it cannot be written: something else at ``node`` is called ``torch``, or the file can be imported
    without torch, which an import at its top would change.
    """
    hidden = context.scopes.hidden_at(node) if node is not None else frozenset()
    for name, spelled in context.remember(_spellings, qualified):
        if name not in hidden:
            return spelled, False
    root, bindings = qualified.partition(".")[0], bound_in(context, context.tree.module)
    if node is not None and _imports_before(context, root, node):
        return qualified, False
    if root in hidden or root in bindings or not context.remember(_needs, root):
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
    """Names of the module by which something of torch can be written, with that, those that say the most first."""
    found: list[tuple[str, str, str]] = []
    for name, value in bound_in(context, context.tree.module).items():
        # `try: import torch` … `except ImportError: torch = None` is torch where a fix is wanted
        ref = reference(replace(value, kind=value.kind & ~Kind.NONE))
        if ref is None or value.kind & ~(Kind.REFERENCE | Kind.NONE):
            continue
        if qualified == ref or qualified.startswith(ref + "."):
            found.append((ref, name, name + qualified[len(ref) :]))
    found.sort(key=lambda each: -len(each[0]))
    return [(name, spelled) for _, name, spelled in found]


def _needs(context: Context, root: str) -> bool:
    """Whether a file cannot be imported without a package: a statement at its top level imports something of it."""
    bindings = bound_in(context, context.tree.module)
    ours = {name for name, value in bindings.items() if (reference(value) or "").partition(".")[0] == root}
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
