"""Statements that are run for something else than what they compute: to be timed, recorded, traced or tested."""

from __future__ import annotations

import re

import libcst as cst

from torchlint.model import Model
from torchlint.model.syntax import last_name
from torchlint.rules.shared.order import loop_of
from torchlint.rules.shared.statements import is_probed

_CLOCKS = frozenset(
    """
    time time_ns perf_counter perf_counter_ns monotonic process_time elapsed_time synchronize record timeit
    max_memory_allocated memory_allocated reset_peak_memory_stats empty_cache
    """.split()  # noqa: SIM905
)
"""What is asked before and after something that is measured."""

_PLAIN_CONTEXTS = frozenset(
    """
    no_grad inference_mode enable_grad set_grad_enabled autocast device open tqdm nullcontext no_sync fork_rng
    detect_anomaly Pool ThreadPoolExecutor
    """.split()  # noqa: SIM905
)
"""Contexts that do nothing with what is computed in them."""

_MEASURING = re.compile(r"bench|warm_?up|profil|time_|_time", re.IGNORECASE)


def is_in_test(node: cst.CSTNode, model: Model) -> bool:
    """Whether a statement is part of a test, or of a function that one defines."""
    functions = (up for up in model.tree.ancestors(node) if isinstance(up, cst.FunctionDef))
    return any(each.name.value.startswith("test_") for each in functions)


def is_run_only(node: cst.Expr, model: Model) -> bool:
    """Whether a statement is run to see whether it raises, to be timed, recorded or traced."""
    child: cst.CSTNode = node
    for up in model.tree.ancestors(node):
        if isinstance(up, cst.With) and child is up.body and not all(_is_plain(item.item) for item in up.items):
            return True
        if isinstance(up, cst.FunctionDef):
            if _MEASURING.search(up.name.value):
                return True
            cls = model.class_of(up)
            if cls is not None and _MEASURING.search(cls.name.value):
                return True
            break
        child = up
    return is_probed(node, model) or _is_timed(node, model) or _is_handed_on(node, model) or _is_run_again(node, model)


def is_load(node: cst.Expr, model: Model) -> bool:
    """Whether a statement only keeps a machine busy: it is all that a function does, or is repeated unchanged."""
    line = model.tree.parent(node)
    block = model.tree.parent(line) if line is not None else None
    owner = model.tree.parent(block) if isinstance(block, cst.IndentedBlock) else None
    is_alone = isinstance(owner, cst.FunctionDef) and len(owner.body.body) == 1
    return is_alone or _only_repeats(node, model)


def _is_plain(context: cst.BaseExpression) -> bool:
    while isinstance(context, cst.Call):
        context = context.func
    return last_name(context) in _PLAIN_CONTEXTS


def _is_timed(node: cst.Expr, model: Model) -> bool:
    """Whether a clock is read before and after a statement in its function, or this runs warm what is measured."""
    at, scope = model.tree.order(node), model.scopes.scope_of(node)
    clocks = model.remember(_clocks, scope)
    if len(clocks) < 2 or at > clocks[-1]:
        return False
    return at > clocks[0] or _only_repeats(node, model) or _is_measured(node, clocks, scope, model)


def _is_handed_on(node: cst.Expr, model: Model) -> bool:
    """Whether a lambda of the same function computes the same, as in `timed(lambda: a @ b)`: this is a first run."""
    scope = model.scopes.scope_of(node)
    lambdas = model.tree.within(scope, cst.Lambda)
    text = model.tree.code(node.value) if lambdas else ""
    return any(model.tree.code(each.body) == text for each in lambdas)


def _is_run_again(node: cst.Expr, model: Model) -> bool:
    """Whether a magic on the next line computes the same, as `%timeit a @ b` does: then this is a first run."""
    lines, at = model.tree.siblings(model.tree.statement(node))
    match lines[at + 1 : at + 2]:
        case [cst.SimpleStatementLine(body=[_, cst.Expr(value=again) as timed])] if model.tree.is_shown(timed):
            return model.tree.code(again) == model.tree.code(node.value)
    return False


def _only_repeats(node: cst.Expr, model: Model) -> bool:
    """Whether a loop around a statement does nothing with what it counts, and drops all that it computes."""
    loop = loop_of(node, model)
    if not isinstance(loop, cst.For) or not isinstance(loop.target, cst.Name):
        return False
    if any(each.value == loop.target.value for each in model.tree.within(loop.body, cst.Name)):
        return False
    kept = (cst.Assign, cst.AugAssign, cst.AnnAssign, cst.Return)
    return not any(model.tree.within(loop.body, cls) for cls in kept)


def _is_measured(node: cst.Expr, clocks: list[int], scope: cst.FunctionDef | cst.Module, model: Model) -> bool:
    """Whether a statement stands between two readings as well."""
    text = model.tree.code(node.value)
    return any(
        clocks[0] < model.tree.order(each) < clocks[-1] and model.tree.code(each) == text
        for each in model.tree.within(scope, cst.Call)
    )


def _clocks(model: Model, scope: cst.FunctionDef | cst.Module) -> list[int]:
    """Where a scope reads a clock."""
    area = scope.body if isinstance(scope, cst.FunctionDef) else scope
    calls = model.tree.within(area, cst.Call) if isinstance(area, cst.CSTNode) else []
    return [model.tree.order(call) for call in calls if last_name(call.func) in _CLOCKS]
