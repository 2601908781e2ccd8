"""Names that only say that a tensor is wrapped: ``input_var = Variable(input)``. They go with the wrapper."""

from __future__ import annotations

import re

import libcst as cst

from torchlint import edit
from torchlint.model import Model
from torchlint.model.bindings import owner
from torchlint.rule import Edit
from torchlint.rules.shared.captured import is_captured

_MANY = 8
"""Uses of a name, of which more are not renamed: the name is worth its line then."""
_WITH_NAMES = (
    *(cst.FunctionDef, cst.Lambda, cst.ClassDef),
    *(cst.GeneratorExp, cst.ListComp, cst.SetComp, cst.DictComp, cst.FormattedStringExpression),
)
"""What has names of its own, or shows those that are written in it."""

_DEFINING = (cst.FunctionDef, cst.ClassDef, cst.AsName, cst.ImportAlias)
"""What binds a name that stands right below it."""


def renamed(call: cst.Call, inner: cst.BaseExpression, model: Model) -> tuple[Edit, ...]:
    """The edits that remove ``input_var = Variable(input)`` and write `input` for it; none where that may differ."""
    assign = model.tree.parent(call)
    match assign:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name) as target)]) if assign.value is call:
            pass
        case _:
            return ()
    scope = model.scopes.scope_of(call)
    if not isinstance(inner, cst.Name) or not isinstance(scope, cst.FunctionDef):
        return ()
    if not _says_only_that(name, inner.value) or not all(_is_own(each, scope, model) for each in (target, inner)):
        return ()
    order, end = model.tree.order, model.tree.order(assign)
    if any(order(each) > end for each in model.targets(inner.value, scope)) or len(model.targets(name, scope)) > 1:
        return ()
    if any(isinstance(model.tree.parent(each), _DEFINING) for each in model.tree.names(inner.value, scope)):
        return ()
    block = model.tree.parent(model.tree.statement(assign))
    uses = [use for use in model.references(name, scope) if use is not target]
    is_seen = 0 < len(uses) <= _MANY and block is not None
    if not is_seen or not all(order(use) > end and _is_plain(use, block, scope, model) for use in uses):
        return ()
    removal = edit.remove_statement(model.tree, assign)
    return (removal, *(edit.replace(use, inner.value) for use in uses)) if removal is not None else ()


def _says_only_that(name: str, wrapped: str) -> bool:
    """Whether a name is that of what is wrapped with `var` beside it."""
    return (
        re.fullmatch(rf"{re.escape(wrapped)}_?(?:v|var|variable)|(?:v|var)_?{re.escape(wrapped)}", name, re.I)
        is not None
    )


def _is_own(name: cst.Name, scope: cst.FunctionDef, model: Model) -> bool:
    return model.ask(owner, name) is scope and not is_captured(model, name.value, scope)


def _is_plain(use: cst.Name, block: cst.CSTNode | None, scope: cst.FunctionDef, model: Model) -> bool:
    """Whether a use stands in the block of the assignment, and what is around it has no names of its own."""
    is_in_block = block is not None and model.tree.is_inside(use, block)
    return is_in_block and model.tree.enclosing(use, *_WITH_NAMES) is scope and not model.is_target(use)
