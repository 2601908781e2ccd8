"""What a block of ``torch.no_grad()`` may take in without changing what the statements in it do for others."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Model
from torchlint.model.syntax import chain, last_name
from torchlint.rule import Applicability, Block, Edit, Fix


def moved(
    small: cst.BaseSmallStatement, said: str, edits: tuple[Edit, ...], applicability: Applicability, model: Model
) -> Fix | None:
    """Put a simple statement into a block, with some edits in it; None where that cannot be."""
    line = model.tree.parent(small)
    if line is None or model.remember(is_by_hand, line) or not may_hold(small, model) or differentiates(model, small):
        return None
    begins = isinstance(line, cst.SimpleStatementLine) and line.body[0] is small
    into = block_before(model, line) if begins else None
    name, missing = model.spelling("torch.no_grad", small)
    if not name:
        return None
    imports = ("torch",) if missing and into is None else ()
    return Fix(said, edits, applicability, imports, block=Block(f"with {name}():", small, into=into))


def is_by_hand(model: Model, line: cst.CSTNode) -> bool:
    """Whether lines of their own for the statements of a line are left to the author: one spreads over several."""
    match line:
        case cst.SimpleStatementLine(body=body) if len(body) == 1:
            return False
    return "\n" in model.tree.code(line).strip()


def may_hold(statement: cst.CSTNode, model: Model) -> bool:
    """Whether nothing in a statement takes the mode along, or keeps what was computed in it.

    ``yield`` and ``await`` hand the mode to whoever runs meanwhile; what ``:=`` binds is used later, with its graph.
    """
    leaving = (cst.Yield, cst.Await, cst.NamedExpr)
    return not any(runs_with(node, statement, model) for cls in leaving for node in model.tree.within(statement, cls))


_DIFFERENTIATING = frozenset(
    (
        *("grad", "backward", "grad_and_value"),
        *("jacobian", "hessian", "jvp", "vjp", "hvp", "vhp", "jacrev", "jacfwd"),
    )
)
_FAR = 3
"""How many calls away what needs a graph is looked for."""


def differentiates(model: Model, node: cst.CSTNode, far: int = _FAR) -> bool:
    """Whether gradients are computed in a statement or in functions of the project that it calls: it needs a graph.

    Not so if they are those of a loss that was made before the statement: ``grad(loss, w)``.
    """
    for call in model.tree.within(node, cst.Call):
        if last_name(call.func) in _DIFFERENTIATING and (far < _FAR or not all(map(_is_made_before, call.args))):
            return True
        function = model.value(call.func).node if far else None
        if isinstance(function, cst.FunctionDef) and model.home(function).remember(
            differentiates, function.body, far - 1
        ):
            return True
    return False


def _is_made_before(arg: cst.Arg) -> bool:
    return isinstance(arg.value, (cst.Name, cst.Attribute))


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


def own_statement(write: cst.CSTNode, model: Model) -> cst.BaseSmallStatement | None:
    """The statement that a write is, if its result is not used."""
    small = small_statement(write, model)
    line = model.tree.parent(small) if small is not None else None
    if not isinstance(line, (cst.SimpleStatementLine, cst.SimpleStatementSuite)) or model.remember(is_by_hand, line):
        return None
    match small:
        case cst.Expr(value=value):
            is_it = value is write or any(value is outer for _, outer in chain(write, model.tree))
            if is_it and not model.tree.is_shown(small):
                return small
        case cst.Assign(targets=[target]) if target is write:
            return small
        case cst.AugAssign() if small is write:
            return small
    return None


def small_statement(node: cst.CSTNode, model: Model) -> cst.BaseSmallStatement | None:
    """The simple statement that a node is part of, or is; None if it stands in a header."""
    up: cst.CSTNode | None = node
    while up is not None and not isinstance(up, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
        up = model.tree.parent(up)
    return up if isinstance(up, cst.BaseSmallStatement) else None
