"""Whether what a function returns is made of what it is given, by operations that autograd records.

Only syntax is looked at, so that the answers don't depend on how far the interpretation has come.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.file.tree.nodes import children
from torchlint.model.context import at_home
from torchlint.model.scopes import target_names
from torchlint.model.syntax import parameters

if TYPE_CHECKING:
    from torchlint.model.context import Context

_CUTTING = re.compile(r".*(?:no_grad|inference_mode|set_grad_enabled|requires_grad|detach).*|data")
"""Names in functions in which graphs begin or end."""
_WITHOUT_GRAPH = frozenset(
    (
        *("all", "any", "argmax", "argmin", "argsort", "bool", "ceil", "data_ptr", "device", "dim", "dtype"),
        *("eq", "equal", "float", "floor", "ge", "grad", "gt", "int", "isfinite", "isinf", "isnan", "item", "le"),
        *("len", "long", "lt", "ndim", "ne", "nonzero", "numel", "numpy", "range", "round", "searchsorted"),
        *("shape", "sign", "size", "str", "tolist", "topk", "type", "unique", "empty_like", "full_like"),
        *("ones_like", "rand_like", "randint_like", "randn_like", "zeros_like", "new_empty", "new_full"),
        *("new_ones", "new_tensor", "new_zeros"),
    )
)
"""Functions, methods and attributes whose results have no graph, or may have none: `torch.autograd.grad`."""
_FILLING = frozenset(("append", "appendleft", "extend", "extendleft", "insert"))
"""Methods that put something into a list."""
_MAKING = (cst.Assign, cst.AugAssign, cst.For, cst.Call)
"""What binds or fills something that may have a graph."""
_FEW = 16
"""How many conditions of a function are asked what they choose."""


@at_home
def hands_on(context: Context, function: cst.FunctionDef, name: str) -> bool:
    """Whether all that a function returns is made of a parameter, with the graph that this has."""
    return name in context.remember(_handed_on, function)


@at_home
def chosen_and_handed_on(context: Context, function: cst.FunctionDef) -> Sequence[tuple[cst.CSTNode, cst.CSTNode]]:
    """What the two branches of a condition bind the same name to, of which something is made that is returned."""
    return context.remember(_chosen, function)


def _chosen(context: Context, function: cst.FunctionDef) -> list[tuple[cst.CSTNode, cst.CSTNode]]:
    tree, scope_of = context.tree, context.scopes.scope_of
    conditions = [
        each
        for each in tree.within(function.body, cst.If)
        if isinstance(each.orelse, cst.Else) and scope_of(each) is function
    ]
    if not 0 < len(conditions) <= _FEW:
        return []
    returned, made = _returned(context, function), _made(context, function)
    found = []
    for condition in conditions:
        branches = (condition.body, condition.orelse.body) if condition.orelse is not None else ()
        one, other = map(_last_bound, branches)
        after = [
            each for each in made if tree.order(each) > tree.order(condition) and not tree.is_inside(each, condition)
        ]
        found += [
            (one[name], other[name])
            for name in sorted(one.keys() & other.keys())
            if any(_reaches(name, after, [value]) for value in returned)
        ]
    return found


def _last_bound(branch: cst.BaseSuite) -> dict[str, cst.CSTNode]:
    """What the statements of a branch bind names to, without those in it."""
    return {
        target.value: small.value
        for line in branch.body
        if isinstance(line, cst.SimpleStatementLine)
        for small in line.body
        if isinstance(small, cst.Assign) and isinstance(target := small.targets[0].target, cst.Name)
    }


def _handed_on(context: Context, function: cst.FunctionDef) -> frozenset[str]:
    """The parameters that a function hands on."""
    tree = context.tree
    if tree.within(function.body, cst.With) or any(map(_cuts, tree.within(function, cst.Name))):
        return frozenset()
    returned, made = _returned(context, function), _made(context, function)
    names = (param.name.value for param in parameters(function))
    return frozenset(name for name in names if returned and _reaches(name, made, returned))


def _returned(context: Context, function: cst.FunctionDef) -> list[cst.BaseExpression]:
    """What a function gives back, one expression for each place."""
    return [
        node.value
        for node in context.tree.within(function.body, cst.Return)
        if node.value is not None and context.scopes.scope_of(node) is function
    ]


def _made(context: Context, function: cst.FunctionDef) -> list[cst.CSTNode]:
    """What binds or fills something in a function, in the order of the file."""
    nodes = (node for cls in _MAKING for node in context.tree.within(function.body, cls))
    return sorted((node for node in nodes if context.scopes.scope_of(node) is function), key=context.tree.order)


def _cuts(name: cst.Name) -> bool:
    return _CUTTING.fullmatch(name.value) is not None


def _reaches(name: str, made: Sequence[cst.CSTNode], returned: Sequence[cst.BaseExpression]) -> bool:
    """Whether every returned expression is made of a name, by way of what is bound and filled, in that order."""
    carrying = {name}
    for node in made:
        match node:
            case cst.Assign(targets=targets, value=value):
                bound = {each for target in targets for each in target_names(target.target)}
                carrying = carrying | bound if _mentions(value, carrying) else carrying - bound
            case cst.AugAssign(target=target, value=value) | cst.For(target=target, iter=value) if _mentions(
                value, carrying
            ):
                carrying.update(target_names(target))
            case cst.Call(func=cst.Attribute(value=cst.Name(filled), attr=cst.Name(method)), args=args) if (
                method in _FILLING and any(_mentions(arg.value, carrying) for arg in args)
            ):
                carrying.add(filled)
    return all(_mentions(value, carrying) for value in returned)


def _mentions(expression: cst.CSTNode, names: set[str]) -> bool:
    """Whether an expression is computed from one of these names."""
    waiting: list[cst.CSTNode] = [expression]
    while waiting:
        node = waiting.pop()
        match node:
            case cst.Name(value=name) if name in names:
                return True
            case cst.Call(func=cst.Name(value=name)) | cst.Attribute(attr=cst.Name(value=name)):
                is_cut = name in _WITHOUT_GRAPH
            case cst.Call(func=cst.Attribute(attr=cst.Name(value=name))):
                is_cut = name in _WITHOUT_GRAPH and name != "float"
            case _:
                is_cut = isinstance(node, (cst.Comparison, cst.BaseComp, cst.Lambda, cst.BaseString))
        if not is_cut:
            waiting += _parts(node)
    return False


def _parts(node: cst.CSTNode) -> Iterable[cst.CSTNode]:
    """What of an expression decides on the graph of its value: not its keywords, conditions and indices."""
    match node:
        case cst.Call(func=func, args=args):
            return [func, *(arg.value for arg in args)]
        case cst.Subscript(value=inner) | cst.Attribute(value=inner):
            return [inner]
        case cst.IfExp(body=body, orelse=orelse):
            return [body, orelse]
    return children(node)
