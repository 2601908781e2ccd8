"""What a block of ``torch.no_grad()`` may take in without changing what the statements in it do for others."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Model


def may_hold(statement: cst.CSTNode, model: Model) -> bool:
    """Whether nothing in a statement takes the mode along, or keeps what was computed in it.

    ``yield`` and ``await`` hand the mode to whoever runs meanwhile; what ``:=`` binds is used later, with its graph.
    """
    leaving = (cst.Yield, cst.Await, cst.NamedExpr)
    return not any(runs_with(node, statement, model) for cls in leaving for node in model.tree.within(statement, cls))


def runs_with(node: cst.CSTNode, statement: cst.CSTNode, model: Model) -> bool:
    """Whether a node runs when the statement around it does."""
    for up in model.tree.ancestors(node):
        if isinstance(up, (cst.Lambda, cst.GeneratorExp, cst.FunctionDef, cst.ClassDef)):
            return False
        if up is statement:
            return True
    return True


def block_before(model: Model, statement: cst.CSTNode) -> cst.With | None:
    """The plain ``with torch.no_grad():`` block right before a statement, which could take it in."""
    match model.tree.sibling_before(statement):
        case (
            cst.With(
                items=[cst.WithItem(item=cst.Call(func=func, args=[]), asname=None)], body=cst.IndentedBlock()
            ) as block
        ) if model.qualified(func) == "torch.no_grad":
            return block
    return None
