"""What a module keeps where neither ``parameters()`` nor ``to()`` nor ``eval()`` look: in lists, tuples and dicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import libcst as cst

from torchlint.model import Kind, Model
from torchlint.model.imports import is_class_or_builtin
from torchlint.model.syntax import assignment_of, dotted, last_name, without_subscripts
from torchlint.rules.shared.displays import elements, is_written
from torchlint.rules.shared.made_of import made

IsWanted = Callable[[cst.BaseExpression, Model], bool]

_REGISTERING = frozenset(("add_module", "register_module", "register_parameter", "setattr", "__setattr__"))
_CONTAINERS = frozenset(("ModuleList", "ModuleDict", "Sequential", "ParameterList", "ParameterDict"))
_BY_HAND = frozenset(
    ("to", "cuda", "cpu", "half", "float", "train", "eval", "parameters", "named_parameters", "state_dict", "apply")
)
"""What is called on elements of a container by who looks after them."""
_OVERRIDDEN = ("parameters", "named_parameters", "_apply", "named_modules", "modules", "children")


@dataclass(frozen=True)
class KeptPlain:
    """Something that a module keeps without registering it."""

    attribute: cst.BaseExpression
    """``self.x``."""
    value: cst.BaseExpression
    """The display or comprehension; or what is put into a container."""
    added: cst.CSTNode | None = None
    """The call or target that puts it there; None where the value is assigned."""


def assigned(node: cst.Assign | cst.AnnAssign, is_wanted: IsWanted, model: Model) -> Iterator[KeptPlain]:
    """Displays and comprehensions with something wanted that a method of a module assigns to ``self.x``."""
    target = node.target if isinstance(node, cst.AnnAssign) else node.targets[0].target
    value = node.value
    if value is None or (isinstance(node, cst.Assign) and len(node.targets) != 1):
        return
    if isinstance(target, cst.Subscript):
        if _may_make(value) and _is_in_plain_container(target.value, value, is_wanted, model):
            yield KeptPlain(without_subscripts(target), value, target)
        return
    if not is_own(target) or not isinstance(target, cst.Attribute) or not _may_be_lost(target, model):
        return
    held = list(_elements(value))
    if target.attr.value.startswith("_") and len(held) == 1 and not isinstance(value, cst.BaseComp):
        return  # it is hidden from the module on purpose
    if any(is_wanted(each, model) for each in held) or _is_filled_elsewhere(value, is_wanted, model):
        if _is_of_module(target, model):
            yield KeptPlain(target, value)


def appended(node: cst.Call | cst.AugAssign, is_wanted: IsWanted, model: Model) -> KeptPlain | None:
    """Something wanted that is added to a plain list in ``self.x``, alone or in a display."""
    match node:
        case cst.Call(
            func=cst.Attribute(value=owner, attr=cst.Name("append" | "insert")), args=[*_, cst.Arg(value=value)]
        ):
            added = [_made_here(value, model)]
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name("extend" | "update")), args=[cst.Arg(value=value)]):
            added = list(_elements(value))
        case cst.AugAssign(target=owner, operator=cst.AddAssign(), value=value):
            added = list(_elements(value))
        case _:
            return None
    lost = (each for each in added if _may_make(each) and _is_in_plain_container(owner, each, is_wanted, model))
    return KeptPlain(without_subscripts(owner), value, node) if any(True for _ in lost) else None


def _made_here(value: cst.BaseExpression, model: Model) -> cst.BaseExpression:
    """What a local name was made of that is only called and looked at besides, so that nothing registers it."""
    if not isinstance(value, cst.Name):
        return value
    for use in model.references(value.value, model.scopes.scope_of(value)):
        parent = model.tree.parent(use)
        is_looked_at = isinstance(parent, cst.Attribute) or (isinstance(parent, cst.Call) and parent.func is use)
        if use is not value and not is_looked_at and not _is_only_target(parent, model):
            return value
    return made(value, model) or value


def _is_only_target(node: cst.CSTNode | None, model: Model) -> bool:
    assign = model.tree.parent(node) if isinstance(node, cst.AssignTarget) else None
    return isinstance(assign, cst.Assign) and len(assign.targets) == 1


def is_own(node: cst.CSTNode) -> bool:
    """Whether an expression is ``self.x``."""
    return isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name) and node.value.value == "self"


def _elements(value: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """What is in a display or comprehension, also in displays that are in it."""
    for each in elements(value):
        if is_written(each):
            yield from _elements(each)
        else:
            yield each


def _is_filled(name: cst.Name, is_wanted: IsWanted, model: Model) -> bool:
    """Whether a local name is bound once, to a list, and something wanted is appended to that."""
    uses = model.references(name.value, model.scopes.scope_of(name))
    targets = [node for node in uses if model.is_target(node)]
    assign = model.tree.enclosing(targets[0], cst.Assign) if len(targets) == 1 else None
    if not isinstance(assign, cst.Assign) or not isinstance(assign.value, cst.List) or _is_given_on(name, model):
        return False
    for use in uses:
        attribute = model.tree.parent(use)
        match model.tree.parent(attribute) if isinstance(attribute, cst.Attribute) else None:
            case cst.Call(func=cst.Attribute(attr=cst.Name("append")), args=[cst.Arg(value=added)]):
                if _may_make(added) and is_wanted(added, model):
                    return True
    return False


def _may_make(node: cst.BaseExpression) -> bool:
    """Whether an expression begins with the call of something that is called like a class, or of a function."""
    called: cst.BaseExpression | None = None
    while isinstance(node, (cst.Call, cst.Attribute)):
        called = node.func if isinstance(node, cst.Call) else called
        node = node.func if isinstance(node, cst.Call) else node.value
    return isinstance(called, cst.Name) or (called is not None and last_name(called).lstrip("_")[:1].isupper())


def _is_filled_elsewhere(value: cst.BaseExpression, is_wanted: IsWanted, model: Model) -> bool:
    """Whether something wanted is in a local list, or in a list that a function of the project makes and returns."""
    match value:
        case cst.Name():
            return _is_filled(value, is_wanted, model)
        case cst.Call(func=cst.Name() | cst.Attribute(value=cst.Name("self")) as called):
            if model.ask(is_class_or_builtin, called):
                return False
            function = model.value(called).node
            return isinstance(function, cst.FunctionDef) and _gives_filled(function, is_wanted, model)
    return False


def _gives_filled(function: cst.FunctionDef, is_wanted: IsWanted, model: Model) -> bool:
    """Whether all that a function returns is a list or dict with something wanted in it."""
    if function.decorators:
        return False
    home = model.home(function)
    returned = [each.value for each in home.tree.within(function.body, cst.Return)]
    return bool(returned) and all(each is not None and _holds(each, is_wanted, home) for each in returned)


def _holds(value: cst.BaseExpression, is_wanted: IsWanted, model: Model) -> bool:
    if isinstance(value, cst.Name):
        return _is_filled(value, is_wanted, model)
    return any(is_wanted(each, model) for each in _elements(value))


def _is_given_on(name: cst.Name, model: Model) -> bool:
    """Whether a local list is given to something that may register what is in it."""
    for use in model.references(name.value, model.scopes.scope_of(name)):
        parent = model.tree.parent(use)
        if isinstance(parent, cst.Arg) and last_name(getattr(model.tree.parent(parent), "func", parent)) != "len":
            return True
    return False


def _is_in_plain_container(
    owner: cst.BaseExpression, added: cst.BaseExpression, is_wanted: IsWanted, model: Model
) -> bool:
    """Whether something wanted is put into a plain list or dict of a module, which looks after nothing in it."""
    if isinstance(owner, cst.Subscript) and model.value(owner).kind != Kind.CONTAINER:
        return False  # it may be one of torch's
    owner = without_subscripts(owner)
    if not is_own(owner) or not _may_be_lost(owner, model) or _is_registered(owner, model):
        return False
    if not is_wanted(added, model):
        return False
    is_plain = model.value(owner).kind == Kind.CONTAINER or _is_multiplied(made(owner, model))
    return is_plain and _is_of_module(owner, model)


def _is_multiplied(value: cst.BaseExpression | None) -> bool:
    """Whether an expression is a list of places that are still to be filled: `[None] * n`."""
    match value:
        case cst.BinaryOperation(left=left, operator=cst.Multiply(), right=right):
            return isinstance(left, cst.List) or isinstance(right, cst.List)
    return False


def _is_registered(owner: cst.BaseExpression, model: Model) -> bool:
    """Whether an attribute is assigned containers of torch only, by their names."""
    cls = model.tree.enclosing(owner, cst.ClassDef)
    found = model.scopes.attribute(cls, last_name(owner)).assigned if isinstance(cls, cst.ClassDef) else ()
    assigns = [assignment_of(each, model.tree) for each in found]
    values = [each.value if each is not None else None for each in assigns]
    return bool(values) and all(isinstance(each, cst.Call) and last_name(each.func) in _CONTAINERS for each in values)


def _may_be_lost(attribute: cst.BaseExpression, model: Model) -> bool:
    """Whether an attribute is one of a class with bases in which nothing registers or looks after what it holds."""
    cls = model.tree.enclosing(attribute, cst.ClassDef)
    if not isinstance(cls, cst.ClassDef) or not cls.bases or model.remember(_registers, cls):
        return False
    path = dotted(attribute)
    return path not in model.remember(_looked_after, cls) and path not in model.remember(_deleted, cls)


def _is_of_module(attribute: cst.BaseExpression, model: Model) -> bool:
    """Whether an attribute is one of a module, which does not say itself what is part of it."""
    cls = model.tree.enclosing(attribute, cst.ClassDef)
    if not isinstance(cls, cst.ClassDef) or model.class_kind(cls) != "module":
        return False
    return all(model.find_method(cls, name) is None for name in _OVERRIDDEN)


def _registers(model: Model, cls: cst.ClassDef) -> bool:
    """Whether a class registers anything by name."""
    return any(last_name(call.func) in _REGISTERING for call in model.tree.within(cls, cst.Call))


def _looked_after(model: Model, cls: cst.ClassDef) -> frozenset[str]:
    """The attributes of a class that are given to containers of modules, or whose elements are moved by hand."""
    found: set[str | None] = set()
    for call in model.tree.within(cls, cst.Call):
        if last_name(call.func) in _CONTAINERS:
            found.update(dotted(name) for arg in call.args for name in model.tree.within(arg, cst.Attribute))
        elif last_name(call.func).lstrip("_")[:1].isupper():  # what is made of it or of an element may register it
            found.update(dotted(without_subscripts(arg.value)) for arg in call.args)
        elif isinstance(call.func, cst.Attribute) and call.func.attr.value in _BY_HAND:
            owner = without_subscripts(call.func.value)
            found.add(dotted(owner))
            found.update(_looped(owner, model) if isinstance(owner, cst.Name) else ())
    return frozenset(path for path in found if path is not None)


def _deleted(model: Model, cls: cst.ClassDef) -> frozenset[str]:
    """The attributes that a class deletes and does not assign after that: they were made to make something else of."""
    found: dict[str, cst.CSTNode] = {}
    for statement in model.tree.within(cls, cst.Del):
        target = statement.target
        targets = [each.value for each in target.elements] if isinstance(target, cst.Tuple) else [target]
        found.update((f"self.{last_name(each)}", statement) for each in targets if is_own(each))
    for call in model.tree.within(cls, cst.Call):
        match call:
            case cst.Call(
                func=cst.Name("delattr"),
                args=[cst.Arg(value=cst.Name("self")), cst.Arg(value=cst.SimpleString(evaluated_value=str(name)))],
            ):
                found[f"self.{name}"] = call
    return frozenset(path for path, place in found.items() if not _is_assigned_after(place, path, cls, model))


def _is_assigned_after(place: cst.CSTNode, path: str, cls: cst.ClassDef, model: Model) -> bool:
    """Whether an attribute is assigned in the same function below the place at which it is deleted."""
    function, at = model.scopes.scope_of(place), model.tree.order(place)
    assigned = model.scopes.attribute(cls, path.removeprefix("self.")).assigned
    return any(model.scopes.scope_of(each) is function and model.tree.order(each) > at for each in assigned)


def _looped(name: cst.Name, model: Model) -> Iterator[str | None]:
    """What a loop goes over that binds a name, around it."""
    for up in model.tree.ancestors(name):
        if isinstance(up, cst.FunctionDef):
            break
        loops = [up] if isinstance(up, cst.For) else []
        loops += model.tree.within(up, cst.CompFor) if isinstance(up, cst.BaseComp) else []  # type: ignore[arg-type]
        for loop in loops:
            if any(isinstance(each, cst.Name) and each.value == name.value for each in model.tree.walk(loop.target)):
                yield from (dotted(each) for each in model.tree.within(loop.iter, cst.Attribute))
