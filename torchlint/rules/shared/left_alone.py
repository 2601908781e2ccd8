"""Which modules a step of an optimizer leaves alone: what is frozen, and what it does not have the parameters of."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from torchlint.model import Model
from torchlint.model.syntax import call_of, dotted, is_label, last_name, parameters
from torchlint.model.torch.arguments import literal_bool
from torchlint.rules.shared.made_of import made, modules_of

_PARAMETERS = ("parameters", "named_parameters")
_UPDATES = re.compile(r"update|ema|averag|sync|copy_|soft|polyak|momentum|mix|blend", re.IGNORECASE)
"""What functions are called that change the parameters of what they are given."""


def is_left_alone(step: cst.CSTNode, module: str, model: Model) -> bool:
    """Whether a step is seen not to change a module that its scope knows by a path."""
    scope = model.scopes.scope_of(step)
    if model.remember(_is_changed_by_hand, module, scope):
        return False
    return model.remember(_is_frozen, module, scope) or _has_others(step, module, model)


def _has_others(step: cst.CSTNode, module: str, model: Model) -> bool:
    """Whether the optimizer was made of the parameters of other modules, and of nothing else."""
    match step:
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name("step"))):
            optimizer = made(owner, model)
        case _:
            return False
    if not isinstance(optimizer, cst.Call) or not optimizer.args or not _are_all_seen(optimizer.args[0], model):
        return False
    trained = modules_of(step, model)
    related = model.remember(_relatives, _key(module), model.scopes.scope_of(step))
    return bool(trained) and related.isdisjoint(_key(path) for path in trained)


def _are_all_seen(arg: cst.Arg, model: Model) -> bool:
    """Whether all names in an argument are those of modules that are asked for their parameters, or its own."""
    own = {name.value for name in model.tree.within(arg, cst.Name) if model.is_target(name)}
    own |= {each.name.value for function in model.tree.within(arg, cst.Lambda) for each in parameters(function)}
    for name in model.tree.within(arg, cst.Name):
        if name.value in own or is_label(model.tree, name):
            continue
        path: cst.CSTNode = name
        while isinstance(up := model.tree.parent(path), cst.Attribute):
            path = up
        if call_of(path, model.tree) is None:
            return False
    return True


def _key(path: str) -> str:
    """What two paths have in common where one may be part of the other: `net` of `net.head`, `self.net`."""
    parts = path.split(".")
    return ".".join(parts[: 2 if parts[0] == "self" else 1])


def _relatives(model: Model, key: str, scope: cst.FunctionDef | cst.Module) -> frozenset[str]:
    """What may share parameters with a module, for one is assigned something in which the other one is mentioned."""
    cls = model.tree.enclosing(scope, cst.ClassDef) if isinstance(scope, cst.FunctionDef) else None
    areas = [scope.body if isinstance(scope, cst.FunctionDef) else scope, *([cls] if cls is not None else [])]
    links = [link for area in areas for link in _links(area, model)]
    found, size = {key}, 0
    while size < len(found):
        size = len(found)
        for link in links:
            if not found.isdisjoint(link):
                found |= link
    return frozenset(found)


def _links(area: cst.CSTNode, model: Model) -> Iterator[set[str]]:
    """What each assignment binds, with what it is made of, but for copies."""
    for assign in model.tree.within(area, cst.Assign):
        if isinstance(assign.value, cst.Call) and last_name(assign.value.func) == "deepcopy":
            continue
        if isinstance(assign.value, cst.Call) and last_name(assign.value.func) in ("state_dict", *_PARAMETERS):
            continue
        paths = (dotted(each) for each in _paths(assign, model))
        yield {_key(path) for path in paths if path is not None}


def _paths(node: cst.CSTNode, model: Model) -> Iterator[cst.CSTNode]:
    """The outermost paths of names and attributes in a statement, but for what is called."""
    for each in model.tree.walk(node):
        parent = model.tree.parent(each)
        if isinstance(each, (cst.Name, cst.Attribute)) and not isinstance(parent, cst.Attribute):
            if not is_label(model.tree, each) and call_of(each, model.tree) is None:
                yield each


def _is_frozen(model: Model, module: str, scope: cst.FunctionDef | cst.Module) -> bool:
    """Whether a scope freezes a module, and never lets it learn again."""
    asked = [
        literal_bool(call.args[0].value) if call.args else True
        for method in model.tree.attributes("requires_grad_", scope)
        if (call := call_of(method, model.tree)) is not None and model.scopes.scope_of(method) is scope
        if dotted(method.value) == module or _is_parameter_of(method.value, module, model)
    ]
    for flag in model.tree.attributes("requires_grad", scope):
        assign = model.tree.enclosing(flag, cst.Assign) if model.is_target(flag) else None
        if isinstance(assign, cst.Assign) and _is_parameter_of(flag.value, module, model):
            if model.scopes.scope_of(flag) is scope:
                asked.append(literal_bool(assign.value))
    return bool(asked) and all(each is False for each in asked)


def _is_parameter_of(node: cst.BaseExpression, module: str, model: Model) -> bool:
    """Whether a name goes over all parameters of a module."""
    loop = model.tree.enclosing(node, cst.For)
    return isinstance(loop, cst.For) and dotted(node) == dotted(loop.target) and _goes_over(loop, module)


def _goes_over(loop: cst.For, module: str) -> bool:
    match loop.iter:
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name("parameters"))):
            return dotted(owner) == module
    return False


def _is_changed_by_hand(model: Model, module: str, scope: cst.FunctionDef | cst.Module) -> bool:
    """Whether a scope writes to the parameters of a module, or calls what may by its name."""
    area: cst.CSTNode = scope.body if isinstance(scope, cst.FunctionDef) else scope
    for call in model.tree.within(area, cst.Call):
        is_given = any(dotted(arg.value) == module for arg in call.args)
        is_own = isinstance(call.func, cst.Attribute) and dotted(call.func.value) == module
        if (is_given or is_own) and _UPDATES.search(last_name(call.func)):
            return True
    loops = [
        model.tree.enclosing(each, cst.For)
        for name in _PARAMETERS
        for each in model.tree.attributes(name, area)
        if dotted(each.value) == module and model.scopes.scope_of(each) is scope
    ]
    return any(isinstance(loop, cst.For) and _writes(loop, model) for loop in loops)


def _writes(loop: cst.For, model: Model) -> bool:
    """Whether something is written in place in a loop, but for what freezes."""
    called = (each.attr.value for each in model.tree.within(loop.body, cst.Attribute))
    is_called = any(name == "data" or (name.endswith("_") and name != "requires_grad_") for name in called)
    return is_called or bool(model.tree.within(loop.body, cst.AugAssign))
