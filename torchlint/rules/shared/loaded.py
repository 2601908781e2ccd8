"""What a file that ``torch.load`` reads holds, by what is done with it and by what is saved at the same path."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

import libcst as cst

from torchlint.file.tree.nearest import Nearest
from torchlint.model import Model
from torchlint.model.branches import excludes
from torchlint.model.names import MODULE_METHODS, MODULE_NAME
from torchlint.model.syntax import (
    assignment_of,
    call_of,
    dotted,
    last_name,
    literal_key,
)
from torchlint.model.torch import library
from torchlint.rules.api import guards
from torchlint.rules.shared.arguments import parameter_of
from torchlint.rules.shared.checkpoints import holds_objects
from torchlint.rules.shared.saved import ALLOWED_ATTRIBUTES, Content, saved_at


def content(call: cst.Call, model: Model) -> Content:
    """What a file holds, as far as this file tells: what is saved there decides, if that is seen."""
    path = call.args[0].value if call.args and not call.args[0].star else None
    saved = saved_at(path, model) if path is not None else frozenset()
    used = _by_use(call, model)
    if saved == {Content.WEIGHTS}:
        return Content.UNKNOWN if used is Content.OBJECT else Content.WEIGHTS  # else it may be another path
    if saved == {Content.OBJECT} or used is Content.OBJECT:
        return Content.OBJECT
    if Content.OBJECT in saved:
        return Content.UNKNOWN
    if used is Content.UNKNOWN and holds_objects(frozenset(_keys_read(call, model, 0)), model):
        return Content.OBJECT
    return used


# ---------------------------------------------------------------------- by use

_ONLY_OF_MODULES = frozenset(MODULE_METHODS) - frozenset(library.tensor_names())
_DEPTH = 4


def _by_use(call: cst.Call, model: Model) -> Content:
    """What the uses say: a state dict of which nothing else is used, or a tensor, is all that there is in the file."""
    used = set(_told_by_use(call, "", model, 0))
    return next((each for each in (Content.OBJECT, Content.UNKNOWN, Content.WEIGHTS) if each in used), Content.UNKNOWN)


def _told_by_use(
    node: cst.BaseExpression, key: str, model: Model, depth: int, *, is_part: bool = False
) -> Iterator[Content]:
    """What one use of the whole, or of what stands under a key (a part of it), says.

    What is done where its type was asked is done with one of several things that the file may hold.
    """
    parent = model.tree.parent(node)
    if _is_one_of_several(node, model):
        return
    match parent:
        case cst.Call() if parent.func is node:
            yield Content.OBJECT
        case cst.Arg() if isinstance(call := model.tree.parent(parent), cst.Call):
            if last_name(call.func) == "load_state_dict":
                is_own = isinstance(model.value(call.func).node, cst.FunctionDef)  # what its state holds is not seen
                yield Content.UNKNOWN if is_part or is_own else Content.WEIGHTS
            elif depth < _DEPTH and _is_object_for(call, parent, key, model, depth, is_part=is_part):
                yield Content.OBJECT
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=index))]) if parent.value is node:
            if isinstance(name := literal_key(index), str):
                yield from _told_by_use(parent, name, model, depth, is_part=True)
        case cst.Attribute(attr=cst.Name(value=name)) if parent.value is node:
            yield from _told_by_attribute(parent, name, key, model, depth, is_part=is_part)
        case cst.AssignTarget() | cst.AugAssign() | cst.Del():
            return
        case _ if depth < _DEPTH:
            for target in _bound_to(parent):
                for use in _uses_of(target, model):
                    yield from _told_by_use(use, key or last_name(target), model, depth + 1, is_part=is_part)


def _is_one_of_several(node: cst.BaseExpression, model: Model) -> bool:
    """Whether a name or path is used where its type was asked: ``if isinstance(state, nn.Module): …``."""
    path, asking = dotted(node), model.remember(_questions)
    at = asking.of(node) if path is not None else None
    while isinstance(at, (cst.If, cst.IfExp)):
        if any(dotted(each) == path for each in _asked(at.test, model)):
            return True
        at = asking.of(at)
    return False


def _questions(model: Model) -> Nearest:
    def asks(child: cst.CSTNode, up: cst.CSTNode) -> bool:
        return isinstance(up, (cst.If, cst.IfExp)) and child is not up.test and bool(_asked(up.test, model))

    return model.tree.nearest(asks)


def _asked(test: cst.BaseExpression, model: Model) -> list[cst.BaseExpression]:
    """What a condition asks for its type, or for an attribute."""
    calls = model.tree.within(test, cst.Call)
    return [each.args[0].value for each in calls if last_name(each.func) in ("isinstance", "hasattr") and each.args]


def _told_by_attribute(
    node: cst.Attribute, name: str, key: str, model: Model, depth: int, *, is_part: bool
) -> Iterator[Content]:
    call = call_of(node, model.tree)
    if name in ("get", "pop") and call is not None and call.args:
        if isinstance(under := literal_key(call.args[0].value), str):
            yield from _told_by_use(call, under, model, depth, is_part=True)
    elif name in ALLOWED_ATTRIBUTES:
        return
    elif name in _ONLY_OF_MODULES or name not in library.tensor_names():
        yield Content.OBJECT
    elif name in MODULE_METHODS:  # a tensor has it, too
        if MODULE_NAME.search(key):
            yield Content.OBJECT
        elif call is not None:
            yield from _told_by_use(call, key, model, depth, is_part=is_part)
    elif name in library.tensor_only() and not is_part:
        yield Content.WEIGHTS


def _is_object_for(call: cst.Call, arg: cst.Arg, key: str, model: Model, depth: int, *, is_part: bool) -> bool:
    """Whether a function of the project uses what it is given as an object, or something in it."""
    found = parameter_of(call, arg, model)
    if found is None:
        return False
    function, name = found
    home = model.home(function)
    uses = itertools.takewhile(lambda use: not home.is_target(use), home.references(name, function))
    told = (_told_by_use(use, key or name, home, depth + 1, is_part=is_part) for use in uses)
    return any(Content.OBJECT in each for each in told)


def _keys_read(node: cst.BaseExpression, model: Model, depth: int) -> Iterator[str]:
    """The keys that are read of what is loaded."""
    parent = model.tree.parent(node)
    match parent:
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=index))]) if parent.value is node:
            if isinstance(key := literal_key(index), str):
                yield key
        case cst.Attribute(attr=cst.Name("get" | "pop")) if parent.value is node:
            call = call_of(parent, model.tree)
            if call is not None and call.args and isinstance(key := literal_key(call.args[0].value), str):
                yield key
        case _ if depth < _DEPTH:
            for target in _bound_to(parent):
                for use in _uses_of(target, model):
                    yield from _keys_read(use, model, depth + 1)


def _bound_to(parent: cst.CSTNode | None) -> list[cst.BaseExpression]:
    """What an assignment of which a value is the whole right side binds it to, and such an expression itself."""
    match parent:
        case cst.NamedExpr(target=target):
            return [target, parent]
        case cst.Assign(targets=targets):
            return [each.target for each in targets]
        case cst.AnnAssign(target=target):
            return [target]
    return []


def _uses_of(target: cst.BaseExpression, model: Model) -> list[cst.BaseExpression]:
    """The uses of a name until it is assigned again, or of an attribute of `self` in a file."""
    match target:
        case cst.NamedExpr():
            return [target]
        case cst.Name(value=name):
            uses = model.references(name, model.scopes.scope_of(target))
            behind = uses[next(at for at, use in enumerate(uses) if use is target) + 1 :]
            behind = [use for use in behind if not model.ask(excludes, target, use)]
            read = list(itertools.takewhile(lambda use: not model.is_target(use), behind))
            again = assignment_of(behind[len(read)], model.tree) if len(read) < len(behind) else None
            if again is None:
                return [*read]
            return [*read, *(use for use in behind if model.tree.is_inside(use, again.value))]  # `x = x.float()`
        case cst.Attribute(value=cst.Name("self"), attr=cst.Name(value=name)):
            return [
                each
                for each in model.tree.attributes(name)
                if isinstance(each.value, cst.Name) and each.value.value == "self" and not model.is_target(each)
            ]
    return []


# ---------------------------------------------------------------------- another way

_LOADING = re.compile(r"(?<!down)(?<!up)load(?!_?state|er)|from_pretrained|unpickler", re.IGNORECASE)


def is_left_alone(node: cst.CSTNode, model: Model) -> bool:
    """Whether a call is for one version, or one of several ways to load: a handler that prints is no other way."""
    if guards.is_behind_check(node, model):
        return True
    return model.remember(_other_ways).of(node) is not None


def _other_ways(model: Model) -> Nearest:
    def has_other_way(child: cst.CSTNode, up: cst.CSTNode) -> bool:
        if not isinstance(up, cst.Try):
            return False
        if child is up.body:
            return any(_is_other_way(handler, model) for handler in up.handlers)
        return isinstance(child, cst.ExceptHandler) and (_awaits_keyword(child, model) or _loads(up.body, model))

    return model.tree.nearest(has_other_way)


def _is_other_way(handler: cst.ExceptHandler, model: Model) -> bool:
    return _awaits_keyword(handler, model) or _loads(handler.body, model)


def _awaits_keyword(handler: cst.ExceptHandler, model: Model) -> bool:
    """Whether a handler is for `TypeError`, which versions raise that do not have the keyword."""
    return handler.type is not None and "TypeError" in model.tree.code(handler.type)


def _loads(block: cst.BaseSuite, model: Model) -> bool:
    return any(_LOADING.search(last_name(call.func)) for call in model.tree.within(block, cst.Call))
