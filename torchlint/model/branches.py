"""Which branches of ``if``, ``match`` and ``try`` something is in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.syntax import LEAVING, last_statement, parameters

if TYPE_CHECKING:
    from torchlint.model.context import Context

_CHOOSING = (cst.If, cst.IfExp, cst.Match)
_BRANCHING = (*_CHOOSING, cst.Try, cst.ExceptHandler, cst.MatchCase)
"""With those that may run several of their parts one after the other: the body of a ``try``, and a handler."""


def excludes(context: Context, one: cst.CSTNode, other: cst.CSTNode) -> bool:
    """Whether two nodes are in different branches of one statement, so that one pass runs only one of them."""
    of_one, of_other = branches(context, one, _CHOOSING), branches(context, other, _CHOOSING)
    return any(of_one[key] != of_other[key] for key in of_one.keys() & of_other.keys())


def branches(context: Context, node: cst.CSTNode, kinds: tuple[type[cst.CSTNode], ...] = _BRANCHING) -> dict[int, int]:
    """The branches around a node in its function: of each statement the part that it is in, but for what that asks."""
    found: dict[int, int] = {}
    child = node
    for up in context.tree.ancestors(node):
        if isinstance(up, (cst.FunctionDef, cst.Lambda)):
            break
        if isinstance(up, kinds) and not _is_question(child, up):
            found[id(up)] = id(child)
        child = up
    return found


def _is_question(child: cst.CSTNode, statement: cst.CSTNode) -> bool:
    """Whether a part of a statement is what it asks, which is done whatever the answer: ``if (x := f()) is None:``."""
    match statement:
        case cst.If(test=asked) | cst.IfExp(test=asked) | cst.Match(subject=asked):
            return asked is child
    return False


def is_chosen(context: Context, forward: cst.FunctionDef, node: cst.CSTNode) -> bool:
    """Whether the mode of a module, or an argument of its ``forward``, says if that comes to a node.

    ``if not self.training:`` and ``if return_array:``; also behind ``if self.training: return x``.
    """
    given = {param.name.value for param in parameters(forward)[1:]}
    child = node
    for up in context.tree.ancestors(node):
        if up is forward:
            break
        if isinstance(up, (cst.If, cst.IfExp)) and child is not up.test and _mentions(context, up.test, given):
            return True
        if isinstance(up, cst.IndentedBlock):
            for statement in up.body:
                if statement is child:
                    break
                is_left = isinstance(statement, cst.If) and isinstance(last_statement(statement.body), LEAVING)
                if is_left and isinstance(statement, cst.If) and _mentions(context, statement.test, given):
                    return True
        child = up
    return False


def _mentions(context: Context, test: cst.BaseExpression, given: set[str]) -> bool:
    """Whether a condition is about the mode of a module or what a function is given."""
    return any(name.value == "training" or name.value in given for name in context.tree.within(test, cst.Name))
