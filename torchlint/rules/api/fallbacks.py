"""Code for an older torch than the one at hand, which decides by itself when it runs: all rules leave that alone."""

from __future__ import annotations

import re

import libcst as cst

from torchlint.file.tree.nearest import Nearest
from torchlint.file.tree.placeholders import ASYNC
from torchlint.model import Model
from torchlint.model.syntax import last_name
from torchlint.rules.api.guards import is_left, is_raised
from torchlint.rules.api.version_checks import Holds, holds, imports_torch

_OLD_WORDS = frozenset(("data", "Variable", "volatile"))
"""Names by which code from before PyTorch 0.4 is known."""
_OF_API = re.compile(r"AttributeError|TypeError|NameError|NotImplementedError")
"""What is raised where torch does not have what is asked for."""
_OF_IMPORTS = re.compile(r"ImportError|ModuleNotFoundError")
_OF_ANYTHING = re.compile(r"\bException|RuntimeError|IndexError")


def is_fallback(node: cst.CSTNode, model: Model) -> bool:
    """Whether something runs under old versions only, or may: behind a check of the version, or where others fail.

    Not what keeps all of the file from running, whatever the version of torch: the keyword `async`.
    """
    if isinstance(node, cst.Name) and node.value == ASYNC:
        return False
    return model.remember(_checked).of(node) is not None or _is_other_way(node, model)


# ---------------------------------------------------------------------- checks


def _checked(model: Model) -> Nearest:
    return model.tree.nearest(lambda child, up: _is_for_old(child, up, model))


def _is_for_old(child: cst.CSTNode, up: cst.CSTNode, model: Model) -> bool:
    """Whether an ancestor lets one of its children run under old versions only."""
    match up:
        case cst.If(test=test, body=chosen) | cst.IfExp(test=test, body=chosen) if child is not test:
            return _may_be_old(test, model, denied=child is not chosen)
        case cst.BooleanOperation(left=left, operator=operator, right=right) if child is right:
            return _may_be_old(left, model, denied=isinstance(operator, cst.Or))
        case cst.IndentedBlock() | cst.Module():
            return model.remember(_first_leaving, up) < model.tree.siblings(child)[1] or _is_replaced(child, model)
    return False


def _may_be_old(test: cst.BaseExpression, model: Model, *, denied: bool = False) -> bool:
    """Whether what runs where a condition holds, or where it does not, may be for old versions."""
    found = holds(test, model)
    if found is None:
        return False
    return (found.denied() if denied else found) is not Holds.NEW


def _first_leaving(model: Model, block: cst.IndentedBlock | cst.Module) -> int:
    """Which statement of a block is the first to leave it for new versions; one behind the last if none does.

    What raises has no other way.
    """
    for index, statement in enumerate(block.body):
        match statement:
            case cst.If(test=test, body=body) if is_left(body) and not is_raised(body):
                if _may_be_old(test, model, denied=True):
                    return index
    return len(block.body)


def _is_replaced(statement: cst.CSTNode, model: Model) -> bool:
    """Whether what a statement assigns is assigned again right behind it, for new versions."""
    body, index = model.tree.siblings(statement)
    match (statement, *body[index + 1 : index + 2]):
        case (
            cst.SimpleStatementLine(body=[cst.Assign(targets=[cst.AssignTarget(target=target)])]),
            cst.If(test=test, body=inner),
        ) if _may_be_old(test, model, denied=True):
            return f"{model.tree.code(target)} =" in model.remember(_done, inner)
    return False


# ---------------------------------------------------------------------- trying


def _is_other_way(node: cst.CSTNode, model: Model) -> bool:
    """Whether a `try` around something has a newer way to do the same, on the other side of its error."""
    tries = model.remember(_tries)
    child, up = tries.way_to(node)
    while isinstance(up, cst.Try):
        if isinstance(child, cst.ExceptHandler) and _is_older_way(node, child, up, model):
            return True
        if child is up.body:
            if any(_does_same(each, up, model) and _is_older(up.body, each.body, model) for each in up.handlers):
                return True
        child, up = tries.way_to(up)
    return False


def _tries(model: Model) -> Nearest:
    return model.tree.nearest(lambda child, up: isinstance(up, cst.Try))


def _is_older_way(node: cst.CSTNode, handler: cst.ExceptHandler, tried: cst.Try, model: Model) -> bool:
    """Whether a handler is for a torch that does not have what was tried, or does the same in an older way."""
    caught = _caught(handler, model)
    if _OF_API.search(caught) or (_OF_IMPORTS.search(caught) and imports_torch(tried.body, model)):
        is_new_here = last_name(node) in model.remember(_words, handler.body) - model.remember(_words, tried.body)
        return is_new_here or _is_older(handler.body, tried.body, model)
    return _does_same(handler, tried, model) and _is_older(handler.body, tried.body, model)


def _caught(handler: cst.ExceptHandler, model: Model) -> str:
    return model.tree.code(handler.type) if handler.type is not None else "Exception"


def _does_same(handler: cst.ExceptHandler, tried: cst.Try, model: Model) -> bool:
    """Whether a handler does the same as what was tried, when that fails."""
    caught = _caught(handler, model)
    if not _OF_ANYTHING.search(caught) and not _OF_API.search(caught):
        return False
    if not any(model.tree.within(handler.body, cls) for cls in (cst.Call, cst.Attribute)):
        return False  # `a = None` is no way to do it
    return not model.remember(_done, tried.body).isdisjoint(model.remember(_done, handler.body))


def _is_older(block: cst.BaseSuite, other: cst.BaseSuite, model: Model) -> bool:
    """Whether a block does something in an old way that another one does not know of."""
    return not model.remember(_words, block) & _OLD_WORDS <= model.remember(_words, other)


def _words(model: Model, block: cst.BaseSuite) -> frozenset[str]:
    return frozenset(name.value for name in model.tree.within(block, cst.Name))


def _done(model: Model, block: cst.BaseSuite) -> frozenset[str]:
    """What a block does, as far as another one may do the same: what it binds and calls, and that it returns."""
    code, within = model.tree.code, model.tree.within
    bound = [f"{code(each.target)} =" for assign in within(block, cst.Assign) for each in assign.targets]
    grown = [f"{code(each.target)} +=" for each in within(block, cst.AugAssign)]
    called = [f"{code(each.value.func)}()" for each in within(block, cst.Expr) if isinstance(each.value, cst.Call)]
    return frozenset((*bound, *grown, *called, *(["return"] if within(block, cst.Return) else [])))
