"""Whether a function makes what it returns of nothing but what it is given, by functions and methods of torch.

Then no graph gets into it but those of its arguments. Only syntax is looked at, so that the answers don't depend on how
far the interpretation has come.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.file.tree.nodes import children
from torchlint.model.context import at_home
from torchlint.model.imports import path_in_file
from torchlint.model.names import INPLACE
from torchlint.model.syntax import parameters
from torchlint.model.torch import library
from torchlint.model.torch.schema import TensorResult

if TYPE_CHECKING:
    from torchlint.model.context import Context

_STATEMENTS = (cst.Assign, cst.Return)
_ASKING = frozenset(("requires_grad", "out", "create_graph"))
"""Arguments that ask for more than a tensor made of the others."""
_PARTS = (
    *(cst.BaseNumber, cst.SimpleString, cst.UnaryOperation, cst.BinaryOperation, cst.Comparison, cst.ComparisonTarget),
    *(cst.Subscript, cst.SubscriptElement, cst.Index, cst.Slice, cst.Tuple, cst.List, cst.Element),
    *(cst.BaseUnaryOp, cst.BaseBinaryOp, cst.BaseCompOp, cst.LeftSquareBracket, cst.RightSquareBracket),
    *(cst.LeftParen, cst.RightParen, cst.Comma, cst.Colon, cst.Dot),
)
"""What only puts together what it is made of."""


@at_home
def is_made_of_given(context: Context, function: cst.FunctionDef) -> bool:
    """Whether all that a function computes is made of its arguments and of literals, one statement after the other."""
    return context.remember(_is_made_of_given, function)


def _is_made_of_given(context: Context, function: cst.FunctionDef) -> bool:
    if function.decorators or function.asynchronous is not None or not isinstance(function.body, cst.IndentedBlock):
        return False
    params = parameters(function)
    if any(param.star or not _is_literal(param.default) for param in params):
        return False
    names = context.scopes.locals_of(function) | {param.name.value for param in params}
    return all(_is_plain(context, line, names) for line in function.body.body)


def _is_literal(node: cst.CSTNode | None) -> bool:
    is_constant = isinstance(node, cst.Name) and node.value in ("None", "True", "False")
    return node is None or is_constant or isinstance(node, (cst.BaseNumber, cst.SimpleString))


def _is_plain(context: Context, line: cst.BaseStatement, names: frozenset[str]) -> bool:
    """Whether a line binds names, or returns something, that is made of names and literals alone."""
    if not isinstance(line, cst.SimpleStatementLine):
        return False
    for small in line.body:
        match small:
            case cst.Expr(value=cst.SimpleString() | cst.ConcatenatedString()):
                continue
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name())], value=value):
                pass
            case cst.Return(value=cst.BaseExpression() as value):
                pass
            case _:
                return False
        if not _is_made_of(context, value, names):
            return False
    return True


def _is_made_of(context: Context, expression: cst.CSTNode, names: frozenset[str]) -> bool:
    """Whether an expression is made of names and literals, by what is known of torch."""
    waiting: list[cst.CSTNode] = [expression]
    while waiting:
        node = waiting.pop()
        match node:
            case cst.Name(value=name):
                if name not in names and not _is_literal(node):
                    return False
            case cst.Attribute(value=owner, attr=cst.Name(value=name)):
                if library.attribute(name) is None or name == "grad":
                    return False
                waiting.append(owner)
            case cst.Call(func=func, args=args):
                if any(arg.keyword is not None and arg.keyword.value in _ASKING for arg in args):
                    return False
                waiting += [arg.value for arg in args]
                if isinstance(library.function(path_in_file(context, func)), TensorResult):
                    continue
                if not isinstance(func, cst.Attribute) or not _is_method(func.attr.value):
                    return False
                waiting.append(func.value)
            case _:
                if not isinstance(node, _PARTS):
                    return False
                waiting += children(node)
    return True


def _is_method(name: str) -> bool:
    """Whether a method of tensors makes something of its tensor and leaves that as it is."""
    return library.method(name) is not None and INPLACE.search(name) is None and name != "backward"
