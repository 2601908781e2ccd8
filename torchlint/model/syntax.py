"""Questions about syntax alone."""

from __future__ import annotations

import libcst as cst

from torchlint.model.scopes import dotted, parameters
from torchlint.tree import children


def last_name(node: cst.BaseExpression) -> str:
    """``c`` of ``a.b.c``; of any other attribute its name; else nothing."""
    return (dotted(node) or (node.attr.value if isinstance(node, cst.Attribute) else "")).rpartition(".")[2]


def is_dotted(node: cst.BaseExpression) -> bool:
    """Whether an expression is a name or a path of attributes."""
    return dotted(node) is not None


def integer(node: cst.BaseExpression) -> int | None:
    """The value of an integer literal; None for all else."""
    match node:
        case cst.Integer(value=digits):
            return int(digits.replace("_", ""), 0)
        case cst.UnaryOperation(operator=cst.Minus(), expression=cst.Integer(value=digits)):
            return -int(digits.replace("_", ""), 0)
    return None


def alternatives(node: cst.BaseExpression) -> list[cst.BaseExpression]:
    """The classes of ``isinstance(x, (A, B))`` or ``isinstance(x, A | B)``."""
    match node:
        case cst.Tuple(elements=elements):
            return [e.value for e in elements]
        case cst.BinaryOperation(left=left, operator=cst.BitOr(), right=right):
            return [*alternatives(left), *alternatives(right)]
    return [node]


def has_break(suite: cst.BaseSuite) -> bool:
    """Whether a loop's body can end the loop."""
    stack: list[cst.CSTNode] = list(suite.body)
    while stack:
        node = stack.pop()
        if isinstance(node, cst.Break):
            return True
        if isinstance(node, cst.SimpleStatementLine):
            stack += node.body
        elif isinstance(node, (cst.If, cst.With, cst.Try, cst.Else, cst.ExceptHandler, cst.Finally)):
            stack += node.body.body
            for name in ("orelse", "handlers", "finalbody"):
                more = getattr(node, name, None)
                stack += more if isinstance(more, (list, tuple)) else [more] if more is not None else []
    return False


def pattern_names(pattern: cst.CSTNode) -> list[cst.Name]:
    """The names that a pattern of a ``match`` binds."""
    names: list[cst.Name] = []
    stack: list[cst.CSTNode] = [pattern]
    while stack:
        node = stack.pop()
        if isinstance(node, (cst.MatchAs, cst.MatchStar)) and node.name is not None:
            names.append(node.name)
        if isinstance(node, cst.MatchMapping) and node.rest is not None:
            names.append(node.rest)
        stack += [c for c in node.children if not isinstance(c, (cst.BaseParenthesizableWhitespace, cst.Comma))]
    return names


def enters_no_grad(function: cst.FunctionDef) -> bool:
    """Whether a home-made decorator or context manager runs things under ``no_grad``."""
    stack: list[cst.CSTNode] = [function.body]
    while stack:
        node = stack.pop()
        if isinstance(node, (cst.Name, cst.Attribute)):
            name = node.value if isinstance(node, cst.Name) else node.attr.value
            if name in ("no_grad", "inference_mode"):
                return True
        stack += children(node)
    return False


def is_stub(function: cst.FunctionDef) -> bool:
    """Whether a function has no body to speak of: ``pass``, ``...``, a docstring, ``raise NotImplementedError``."""
    for statement in function.body.body:
        for small in statement.body if isinstance(statement, cst.SimpleStatementLine) else (statement,):
            match small:
                case cst.Pass() | cst.Raise() | cst.Expr(value=cst.Ellipsis() | cst.BaseString()):
                    continue
            return False
    return True


_TARGETS = {
    cst.AssignTarget: "target",
    cst.AnnAssign: "target",
    cst.AugAssign: "target",
    cst.For: "target",
    cst.NamedExpr: "target",
    cst.AsName: "name",
}
_OWN_SCOPE = frozenset((cst.Lambda, cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp))
_DEFINITIONS = frozenset((cst.FunctionDef, cst.ClassDef))


def bound_names(function: cst.FunctionDef) -> frozenset[str]:
    """Names that are local to a function: its parameters and all it binds."""
    names = {p.name.value for p in parameters(function)}
    stack: list[cst.CSTNode] = [function.body]
    while stack:
        node = stack.pop()
        cls = type(node)  # `isinstance` and `match` are slow where the answer is no: nodes are abstract classes
        if cls in _DEFINITIONS:
            names.add(node.name.value)  # type: ignore[attr-defined]
        elif cls not in _OWN_SCOPE:
            if cls in _TARGETS:
                names.update(target_names(getattr(node, _TARGETS[cls])))
            stack += children(node)
    return frozenset(names)


def target_names(target: cst.CSTNode) -> list[str]:
    """The names that an assignment to a target binds."""
    match target:
        case cst.Name(value=name):
            return [name]
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            return [name for e in elements for name in target_names(e.value)]
        case cst.StarredElement(value=value):
            return target_names(value)
    return []
