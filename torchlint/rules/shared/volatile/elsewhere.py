"""What functions of other files do with volatile arguments, told from what they fill, keep and return."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.model import Kind, Model
from torchlint.model.bindings import bound_value, unpacked_from
from torchlint.model.syntax import dotted, parameters, root, without_subscripts
from torchlint.rules.shared import memory
from torchlint.rules.shared.variables import VARIABLE
from torchlint.rules.shared.volatile.values import EMPTY, UNKNOWN, Called

GROWING = frozenset(("append", "extend", "add", "insert", "appendleft"))
"""Methods that put something into a container."""


def called_elsewhere(model: Model, function: cst.FunctionDef, with_graphs: frozenset[str]) -> Called:
    """What a function of another file does: whatever it keeps may carry a graph.

    ``with_graphs`` are the parameters that are given what may have a graph of its own, and nothing volatile: what is
    returned may be computed from these alone.
    """
    home = model.home(function)
    tree = home.tree
    targets = [each.target for each in tree.within(function.body, cst.AssignTarget)]
    targets += [each.target for each in tree.within(function.body, cst.AugAssign)]
    called = [call.func for call in tree.within(function.body, cst.Call) if isinstance(call.func, cst.Attribute)]
    filled = [each.value for each in called if each.attr.value in GROWING]
    filled += [target for target in targets if isinstance(target, (cst.Attribute, cst.Subscript))]
    names = tree.within(function.body, cst.Global) + tree.within(function.body, cst.Nonlocal)
    keeps_graph = bool(names) or not all(_is_made_here(each, function, home) for each in filled)
    return Called(UNKNOWN if _may_give_alone(home, function, with_graphs) else EMPTY, keeps_graph)


def _may_give_alone(home: Model, function: cst.FunctionDef, with_graphs: frozenset[str]) -> bool:
    """Whether something is returned that is not made of the other parameters, too."""
    others = {param.name.value for param in parameters(function)} - with_graphs - {"self", "cls"}
    returned = [each.value for each in home.tree.within(function.body, cst.Return) if each.value is not None]
    return bool(with_graphs) and not all(others & _made_of(home, function, each) for each in returned)


def _made_of(home: Model, function: cst.FunctionDef, node: cst.BaseExpression) -> set[str]:
    """The names that an expression is made of, those that these are made of, and those of what is put into them."""
    found = set[str]()
    waiting: list[cst.CSTNode] = [node]
    while waiting:
        for name in home.tree.within(waiting.pop(), cst.Name):
            if name.value not in found:
                found.add(name.value)
                targets = home.targets(name.value, function)
                waiting += filter(None, (bound_value(each, home.tree) for each in targets))
                waiting += filter(None, (unpacked_from(each, home.tree) for each in targets))
                waiting += _put_into(home, function, name.value)
    return found


def _put_into(home: Model, function: cst.FunctionDef, name: str) -> Iterator[cst.CSTNode]:
    """What a function puts into something that a name stands for: ``res.append(x)``, ``res[0] = x``."""
    for call in home.tree.within(function.body, cst.Call):
        if isinstance(call.func, cst.Attribute) and call.func.attr.value in GROWING and root(call.func) == name:
            yield call
    for assign in home.tree.within(function.body, cst.Assign):
        if any(isinstance(each.target, cst.Subscript) and root(each.target) == name for each in assign.targets):
            yield assign.value


def _is_made_here(node: cst.BaseExpression, function: cst.FunctionDef, model: Model) -> bool:
    """Whether a list or tensor is filled that the function has made itself: ``res = []; res.append(x)``."""
    owner = without_subscripts(node)
    if not isinstance(owner, cst.Name) or owner.value in {param.name.value for param in parameters(function)}:
        return False
    bound = [bound_value(each, model.tree) for each in model.targets(owner.value, function) if _is_bound(each, model)]
    others = [each for each in bound if not _is_of_itself(each, owner.value)]
    return bool(others) and all(each is not None and _is_new(each, model) for each in others)


def _is_new(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression makes a list or a tensor that nobody else holds, wrapped or not, on whichever device."""
    match node:
        case cst.Call(func=cst.Attribute(value=owner)) if memory.is_transfer(node):
            return _is_new(owner, model)
        case cst.Call(func=func, args=[cst.Arg(value=wrapped, keyword=None, star=""), *_]):
            if model.qualified(func) == VARIABLE:
                return memory.is_new(wrapped, model)
    kind = model.value(node).kind
    if kind and not kind & ~(Kind.NDARRAY | Kind.NONE):
        return True  # that keeps no graph
    return isinstance(node, _DISPLAYS) or memory.is_new(node, model)


def _is_of_itself(value: cst.BaseExpression | None, name: str) -> bool:
    """Whether a name is bound to what a method of it gives: ``output = output.cuda()``."""
    return isinstance(value, cst.Call) and isinstance(value.func, cst.Attribute) and dotted(value.func.value) == name


_DISPLAYS = (cst.List, cst.ListComp, cst.Dict, cst.DictComp)


def _is_bound(name: cst.Name, model: Model) -> bool:
    """Whether a name is assigned itself, and not what is in it."""
    return not isinstance(model.tree.parent(name), (cst.Subscript, cst.Attribute))
