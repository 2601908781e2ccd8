"""Whether autograd records: where an expression is evaluated, and where a function begins."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.bindings import all_assigned, owner, references
from torchlint.model.classes import class_kind, class_of
from torchlint.model.decorators import RUNNING_AT_ONCE
from torchlint.model.hooks import is_differentiated
from torchlint.model.interpret.contexts import grad_context
from torchlint.model.interpret.turned_on import disables, is_turned_on_within
from torchlint.model.interpret.waiting import is_generator
from torchlint.model.interpreted import outside, trace_of
from torchlint.model.possibilities import Tri
from torchlint.model.scopes import sounds_like_no_grad
from torchlint.model.syntax import ending_name
from torchlint.model.values import reference
from torchlint.system.stack import deeper

if TYPE_CHECKING:
    from torchlint.model.context import Context
    from torchlint.model.interpret.frame import Frame

_LIGHTNING_NO_GRAD = frozenset(
    f"{prefix}{stage}_{suffix}"
    for prefix, suffixes in (
        ("", ("step", "epoch_end", "step_end")),
        ("on_", ("epoch_end", "batch_end", "epoch_start")),
    )
    for stage in ("validation", "test", "predict")
    for suffix in suffixes
)
"""Lightning runs these hooks under ``torch.no_grad()``: lightning.ai/docs, "Trainer", `Trainer.validate`."""

_SETTERS = ("set_grad_enabled", "enter_context")
"""What changes the mode for what comes after it, without a block of its own."""

_NO_GRAD = ("no_grad", "nograd", "inference_mode", "inferencemode", "set_grad_enabled")
"""What some code runs under if a function is only called where autograd does not record, in small letters."""


def grad_enabled(context: Context, node: cst.CSTNode) -> Tri:
    """Whether autograd records where ``node`` is evaluated."""
    within = context.tree.enclosing(node, cst.Lambda, cst.GeneratorExp, cst.FunctionDef)
    if isinstance(within, (cst.Lambda, cst.GeneratorExp)):
        return Tri.YES  # it runs later, and nobody knows where
    scope, statement = context.scopes.scope_of(node), context.tree.statement(node)
    if _is_as_at_start(context, scope, statement):
        return Tri.YES if isinstance(scope, cst.Module) else start_grad(context, scope)
    usual = Tri.MAYBE if context.budget.is_spent else Tri.YES
    mode = trace_of(context, scope).modes.get(id(statement), usual)
    return Tri.MAYBE if mode == Tri.NO and is_turned_on_within(context, scope) else mode


def _is_as_at_start(context: Context, scope: cst.FunctionDef | cst.Module, statement: cst.CSTNode) -> bool:
    """Whether nothing between the start of a scope and a statement can change the mode, so no value matters."""
    if isinstance(scope, cst.FunctionDef) and scope.decorators:
        return False
    if any(context.tree.names(name) for name in _SETTERS):
        return False
    return not isinstance(context.tree.enclosing(statement, cst.With, cst.FunctionDef), cst.With)


def start_grad(context: Context, function: cst.FunctionDef) -> Tri:
    """Whether autograd records when a function begins."""
    if function.decorators and (mode := _decorated_grad(context, function)) is not None:
        return mode
    name = function.name.value
    is_of_function, is_of_module = name in ("forward", "backward"), name in _LIGHTNING_NO_GRAD
    cls = class_of(context, function) if is_of_function or is_of_module else None
    if cls is not None:
        kind = class_kind(context, cls)
        if kind == "function" and is_of_function:
            return Tri.MAYBE if name == "backward" and is_differentiated(context, function) else Tri.NO
        if kind == "module" and is_of_module:
            return Tri.NO
    return Tri.MAYBE if _only_without_grad(context, function) else Tri.YES  # others may call it otherwise


def _decorated_grad(context: Context, function: cst.FunctionDef) -> Tri | None:
    """The grad mode that a decorator says a function runs in; None if none does.

    That of the one that stands next to the function counts. Others between may run the function later, or elsewhere;
    and what a coroutine does it does when all decorators are through with making it.
    """
    if function.asynchronous is not None or any(context.tree.attributes("__wrapped__")):
        return None
    outer = context.scopes.scope_of(function)
    at = outside(context) if context.is_part else context.interpreter.begin(context, outer, trace_of(context, outer))
    is_run_at_once = True
    for decorator in reversed(function.decorators):
        if context.is_part:
            at.value(decorator.decorator)
        mode = grad_context(at, decorator.decorator)
        if mode is not None:
            is_run_at_once = is_run_at_once and (
                not is_generator(context, function) or _is_of_torch(at, decorator.decorator)
            )
            return mode if is_run_at_once else Tri.MAYBE
        is_run_at_once = is_run_at_once and ending_name(decorator.decorator) in RUNNING_AT_ONCE
    return None


def _is_of_torch(frame: Frame, decorator: cst.BaseExpression) -> bool:
    """Whether a decorator is one of torch's, which run also what a generator does in their mode."""
    name = decorator.func if isinstance(decorator, cst.Call) else decorator
    return (reference(frame.values.get(id(name))) or "").startswith("torch.")


def _only_without_grad(context: Context, function: cst.FunctionDef) -> bool:
    """Whether all that this file does with functions of that name is to call them where autograd does not record."""
    if context.is_part:  # its callers are elsewhere
        return False
    known, key = context.memo.table(_only_without_grad), function.name.value
    if key in known:
        return known[key]
    known[key] = False
    name = function.name.value
    if name.startswith("__") or name in ("forward", "training_step", "main"):
        return False
    if not context.remember(_turns_grad_off):
        return False
    references = context.scopes.calls(name)
    known[key] = bool(references) and all(_called_without_grad(context, node) for node in references)
    return known[key]


def may_record(context: Context, node: cst.CSTNode) -> bool:
    """Whether autograd may record where ``node`` is evaluated, as far as all of the project shows.

    A function that others of the project call only under ``no_grad`` does not. That is worth a look at all files, so
    it is asked last.
    """
    if grad_enabled(context, node) != Tri.YES:
        return False
    if context.remember(_is_off_by_import) and not is_turned_on(context, node):
        return False
    function = context.scopes.scope_of(node)
    return not isinstance(function, cst.FunctionDef) or not context.remember(_is_only_called_without_grad, function)


def is_made_without_grad(context: Context, node: cst.BaseExpression) -> bool:
    """Whether a name stands for nothing but results of calls that are made where autograd does not record.

    That proves nothing of a graph, since a call may hand back a parameter: it is what the author takes for granted.
    """
    scope = owner(context, node) if isinstance(node, cst.Name) else None
    if scope is None or not isinstance(node, cst.Name):
        return False
    made = all_assigned(context, node.value, scope)
    if not made or not all(isinstance(each, cst.Call) and grad_enabled(context, each) == Tri.NO for each in made):
        return False
    uses = (context.tree.parent(use) for use in references(context, node.value, scope))
    return not any(isinstance(use, cst.Attribute) and _may_give_graph(use.attr.value) for use in uses)


def _may_give_graph(attribute: str) -> bool:
    """Whether the flag is meant, or a method that writes in place."""
    return attribute == "requires_grad" or attribute.endswith("_")


def _is_off_by_import(context: Context) -> bool:
    """Whether an import turns autograd off."""
    return context.codebase.is_switched_off(context)


def is_turned_on(context: Context, node: cst.CSTNode) -> bool:
    """Whether a context or decorator around a node turns autograd on, or something before it may."""
    if any(context.tree.order(name) < context.tree.order(node) for name in context.tree.names(_SETTERS[0])):
        return True
    for up in context.tree.ancestors(node):
        made = [item.item for item in up.items] if isinstance(up, cst.With) else []
        made += [each.decorator for each in up.decorators] if isinstance(up, cst.FunctionDef) else []
        if any(ending_name(each) == "enable_grad" for each in made):
            return True
    return False


def _is_only_called_without_grad(context: Context, function: cst.FunctionDef) -> bool:
    name, outer = function.name.value, context.scopes.scope_of(function)
    if context.is_part or name.startswith("__") or name in ("forward", "training_step", "main"):
        return False
    if not isinstance(outer, cst.Module) or any(
        not _called_without_grad(context, n) for n in context.scopes.calls(name)
    ):
        return False
    is_method = class_of(context, function) is not None
    return context.codebase.without_grad(context, name, is_method=is_method) is True


def _called_without_grad(context: Context, node: cst.CSTNode) -> bool:
    call = context.tree.parent(node)
    if not isinstance(call, cst.Call) or call.func is not node:
        return False
    child: cst.CSTNode = call
    for up in context.tree.ancestors(call):
        if isinstance(up, cst.With) and child is up.body:
            if any(sounds_like_no_grad(item.item) or disables(item.item) for item in up.items):
                return True
        if isinstance(up, cst.FunctionDef) and child is up.body:
            decorated = any(sounds_like_no_grad(d.decorator) for d in up.decorators)
            return decorated or deeper(partial(_only_without_grad, context, up))
        child = up
    return False


def _turns_grad_off(context: Context) -> bool:
    text = context.tree.source.text.lower()
    return any(name in text for name in _NO_GRAD)
