"""``step()`` of an optimizer runs under ``no_grad`` as a whole, as those of torch do, not in a block for each write."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import libcst as cst

from torchlint import edit
from torchlint.model import Model, Tri
from torchlint.model.syntax import last_name, positional_parameters
from torchlint.rule import Applicability, Block, Edit, Fix
from torchlint.rules.shared import memory, no_grad

_RISK = "all of `step` runs under `no_grad`: what it computes has no graph, and what autograd saved may not be written"
_WITH_GRAPHS = frozenset(
    (
        *(
            "backward",
            "grad_fn",
            "enable_grad",
            "set_grad_enabled",
            "requires_grad",
            "requires_grad_",
            "inference_mode",
        ),
        *("jacobian", "hessian", "jvp", "vjp", "hvp", "create_graph", "retain_graph"),
    )
)
"""Names of what a step that needs graphs mentions."""


def decorated(fix: Fix, node: cst.CSTNode, model: Model) -> Fix | None:
    """A fix that does without ``.data`` and its block where the ``step`` of an optimizer around it gets a decorator.

    None where it gets none. All fixes of one ``step`` have the edits that decorate it; they are applied once.
    """
    function = model.tree.enclosing(node, cst.FunctionDef, cst.Lambda)
    if not isinstance(function, cst.FunctionDef) or function.name.value != "step":
        return None
    found = model.remember(_decorator, function)
    if found is None:
        return None
    edits, block = found
    imports = ("torch",) if model.spelling("torch.no_grad", node)[1] else ()
    said = "Remove `.data`, and decorate `step` with `@torch.no_grad()`"
    return replace(
        fix,
        message=said,
        edits=(*fix.edits, *edits),
        applicability=Applicability.UNSAFE,
        imports=imports,
        block=block,
        risk=_RISK,
    )


def _decorator(model: Model, function: cst.FunctionDef) -> tuple[tuple[Edit, ...], Block | None] | None:
    """What decorates ``step``, and the block in which it calls its closure; None where that cannot be, or need not."""
    cls = model.class_of(function)
    if cls is None or function.decorators or function.asynchronous is not None:
        return None
    if not _is_used_apart(function, model) or model.class_kind(cls) != "optimizer" or _needs_graphs(function, model):
        return None
    name, _ = model.spelling("torch.no_grad", function)
    enabled, _ = model.spelling("torch.enable_grad", function)
    params = positional_parameters(function)
    if not name or not enabled or not params:
        return None
    block = None
    for param in params[1:]:
        uses = [use for use in model.references(param.name.value, function) if not _is_asked_for(use, model)]
        if param.name.value != "closure" and not any(_call(use, model) for use in uses):
            continue
        calls = [call for use in uses if (call := _call(use, model)) is not None]
        if len(calls) != len(uses) or len(calls) > 1 or (calls and block is not None):
            return None  # it is given on, or called more than once
        for call in calls:
            small = no_grad.small_statement(call, model)
            if small is None or not no_grad.may_hold(small, model) or model.grad_enabled(call) != Tri.YES:
                return None
            block = Block(f"with {enabled}():", small)
    indent = f"{model.tree.source.newline}{model.tree.indentation(function)}"
    return (edit.insert_before(function, f"@{name}(){indent}"),), block


def _call(use: cst.CSTNode, model: Model) -> cst.Call | None:
    """The call of which a name is what is called."""
    call = model.tree.parent(use)
    return call if isinstance(call, cst.Call) and call.func is use else None


def _is_asked_for(use: cst.CSTNode, model: Model) -> bool:
    """Whether a name is only compared with something, or asked whether it is there at all."""
    parent = model.tree.parent(use)
    return isinstance(parent, (cst.ComparisonTarget, cst.Comparison, cst.Param)) or (
        isinstance(parent, cst.If) and parent.test is use
    )


def _is_used_apart(function: cst.FunctionDef, model: Model) -> bool:
    """Whether a function writes through `.data`, and no single block could hold all that does or reads it."""
    used = [node for node in model.tree.within(function.body, cst.Attribute) if _is_data(node)]
    if not any(_is_written(node, model) for node in used):
        return False
    lines = {id(line): line for node in used if (line := model.tree.statement(node)) is not None}
    return any(model.tree.sibling_before(line) is not before for before, line in pairwise(lines.values()))


def _is_data(node: cst.Attribute) -> bool:
    """Whether an attribute is a `.data`, but for that of a gradient, which is not recorded anyway."""
    return node.attr.value == "data" and last_name(node.value) != "grad"


def _is_written(node: cst.Attribute, model: Model) -> bool:
    """Whether an attribute is the `.data` that its statement writes to: by a method, an operator or an assignment."""
    write = memory.write_through(node, model)
    if write is None:
        return isinstance(model.tree.parent(node), cst.AssignTarget)
    return no_grad.own_statement(write, model) is not None


def _needs_graphs(function: cst.FunctionDef, model: Model) -> bool:
    """Whether something in a step asks for a graph or for the mode, or leaves the function with it."""
    tree = model.tree
    if any(tree.within(function.body, cls) for cls in (cst.Yield, cst.Await, cst.FunctionDef, cst.Lambda)):
        return True
    if any(each.attr.value in _WITH_GRAPHS for each in tree.within(function, cst.Attribute)):
        return True
    called = tree.within(function, cst.Call)
    if any(model.qualified(call.func) == "torch.autograd.grad" for call in called):
        return True
    return any(
        last_name(call.func) in _WITH_GRAPHS
        or any(arg.keyword is not None and arg.keyword.value in _WITH_GRAPHS for arg in call.args)
        for call in called
    )
