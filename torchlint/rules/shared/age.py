"""What `Variable` was given in a file from before PyTorch 0.4: tensors had no graph then, and variables it refused.

So in such a file ``Variable(x)`` is ``x``, unless a caller is seen to hand over what has a graph: that caller has been
written since. That the file has not been changed since is nothing that a safe fix may rest on.
"""

from __future__ import annotations

import re

import libcst as cst

from torchlint.model import Kind, Model, Role, Tri, Value
from torchlint.model.codebase.exports import is_mentioned_elsewhere
from torchlint.model.syntax import dotted
from torchlint.rules.shared.compared import names_asked_about
from torchlint.rules.shared.identity import are_changed, is_changed
from torchlint.rules.shared.lifetimes import targets_of
from torchlint.rules.shared.resized import RESIZING, is_resized_before
from torchlint.rules.shared.uncomputed import is_uncomputed

_OF_THAT_TIME = re.compile(
    r"\bvolatile\s*=|\.data\[0\](?!\s*\[)|\basync\s*=\s*True\b|\bclip_grad_norm\("
    r"|\bisinstance\([^()\n]*\bVariable\)|loss\w*(?:\.cpu\(\))?\.data(?:\.cpu\(\))?\.numpy\(\)\[0\]"
    r"|\binit\.(?:(?:xavier|kaiming)_(?:uniform|normal)|uniform|normal|constant|orthogonal)\("
    r"|\btransforms\.(?:Scale|RandomSizedCrop)\(|\bNLLLoss2d\("
)
"""What is hardly written since: it has no effect, raises for a 0-dim tensor, does not parse, or has another name.

Nobody asks since either whether something is a `Variable`: each tensor is.
"""
_NEVER_THEN = re.compile(r"\bno_grad\b|\bset_grad_enabled\b|\.item\(\)|\btorch\.device\b")
"""What there was none of: a file, or a project, that has both has been changed since."""


def is_plain_tensor(call: cst.Call, inner: cst.BaseExpression, model: Model) -> bool:
    """Whether what is wrapped had to be a tensor without a graph when the file was written, and it is only used."""
    if _is_asked_about(call, model) or _is_all_of_suite(call, inner, model):
        return False
    if is_resized_before(call, inner, model):
        return is_of_that_time(model) and not are_changed(model, but=RESIZING) and _was_uncomputed(inner, model)
    return not _is_changed(call, model) and was_plain(inner, model)


def was_plain(inner: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression had to be a tensor without a graph when the file was written, or `Variable` refused it."""
    if not is_of_that_time(model) or is_changed(inner, model) or are_changed(model):
        return False
    return _was_uncomputed(inner, model)


def _was_uncomputed(inner: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression may be a tensor without a graph, and is made of nothing that was computed."""
    value = model.value(inner)
    if not value.kind & (Kind.TENSOR | Kind.UNKNOWN) or not _may_be_plain(value):
        return False
    return is_uncomputed(inner, model)


def is_of_that_time(model: Model) -> bool:
    """Whether the file, as it was before any fix, is from before PyTorch 0.4 throughout, or all of its project is."""
    return model.remember(_is_of_that_time)


def _is_of_that_time(model: Model) -> bool:
    text = model.original
    if not text or _NEVER_THEN.search(text) is not None:
        return False  # without unsafe fixes there is no such text, and no age
    return _OF_THAT_TIME.search(text) is not None or _is_in_project_of_that_time(model)


def _is_in_project_of_that_time(model: Model) -> bool:
    """Whether other files of the project tell its age, and none has been changed since."""
    is_old = model.ask(is_mentioned_elsewhere, _OF_THAT_TIME.pattern)
    return is_old and not model.ask(is_mentioned_elsewhere, _NEVER_THEN.pattern)


def _is_all_of_suite(call: cst.Call, inner: cst.BaseExpression, model: Model) -> bool:
    """Whether a branch does nothing but bind a name to the wrapper of it: it would be empty."""
    assign = model.tree.parent(call)
    path = dotted(inner)
    if path is None or not isinstance(assign, cst.Assign) or all(dotted(t.target) != path for t in assign.targets):
        return False
    line = model.tree.parent(assign)
    suite = model.tree.parent(line) if line is not None else None
    if not isinstance(suite, cst.IndentedBlock) or len(suite.body) > 1:
        return False
    branch = model.tree.parent(suite)
    return not isinstance(branch, cst.Else) or "#" in model.tree.code(branch)  # `else:` goes with all that is in it


def _is_changed(call: cst.Call, model: Model) -> bool:
    """Whether a wrapper, or what is wrapped, is changed beyond its elements."""
    return any(is_changed(each, model) for each in (call, *targets_of(call, model)))


def _is_asked_about(call: cst.Call, model: Model) -> bool:
    """Whether it is asked which of several tensors a wrapper, or what is wrapped, is."""
    asked = model.remember(names_asked_about)
    if not asked:
        return False
    keys = [key for each in model.tree.within(call, cst.SubscriptElement) for key in model.tree.within(each, cst.Name)]
    names = {name.value for name in (*model.tree.within(call, cst.Name), *targets_of(call, model)) if name not in keys}
    return not asked.isdisjoint(names - {"self"})


def _may_be_plain(value: Value) -> bool:
    return value.grad != Tri.YES and not value.is_parameter and not value.role & (Role.PARAMETER | Role.GRADIENT)
