"""What a file that ``torch.load`` reads holds, by what is done with it and by what is saved at the same path."""

from __future__ import annotations

import enum
import itertools
import re
from collections.abc import Iterator

import libcst as cst

from torchlint.model import Kind, Model, Strength
from torchlint.model.names import MODULE_METHODS, MODULE_NAME
from torchlint.model.syntax import (
    assignment_of,
    call_of,
    has_stars,
    keyword,
    last_name,
    literal_key,
    positional,
    positional_parameters,
)
from torchlint.model.torch import library
from torchlint.rules.api import names


class Content(enum.Enum):
    """What a file holds."""

    WEIGHTS = "tensors, and containers of them"
    OBJECT = "a module, an array or another object"
    UNKNOWN = "nothing says what"


def content(call: cst.Call, model: Model) -> Content:
    """What a file holds, as far as this file tells: one object is enough for ``weights_only=True`` to raise."""
    told = set(_told_by_use(call, "", model, 0)) | set(_told_by_saving(call, model))
    return next((each for each in (Content.OBJECT, Content.WEIGHTS) if each in told), Content.UNKNOWN)


# ---------------------------------------------------------------------- by use

_OF_DICTS = frozenset(dir(dict))
_ONLY_OF_MODULES = frozenset(MODULE_METHODS) - frozenset(library.tensor_names())
_DEPTH = 4


def _told_by_use(node: cst.BaseExpression, key: str, model: Model, depth: int) -> Iterator[Content]:
    """What one use of the whole, or of what stands under a key, says."""
    parent = model.tree.parent(node)
    match parent:
        case cst.Call() if parent.func is node:
            yield Content.OBJECT
        case cst.Arg() if isinstance(call := model.tree.parent(parent), cst.Call):
            if last_name(call.func) == "load_state_dict":
                yield Content.WEIGHTS
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=index))]) if parent.value is node:
            if isinstance(name := literal_key(index), str):
                yield from _told_by_use(parent, name, model, depth)
        case cst.Attribute(attr=cst.Name(value=name)) if parent.value is node:
            yield from _told_by_attribute(parent, name, key, model, depth)
        case cst.AssignTarget() | cst.AugAssign() | cst.Del():
            return
        case cst.Assign(targets=targets) if depth < _DEPTH:
            for target in targets:
                for use in _uses_of(target.target, model):
                    yield from _told_by_use(use, key or last_name(target.target), model, depth + 1)


def _told_by_attribute(node: cst.Attribute, name: str, key: str, model: Model, depth: int) -> Iterator[Content]:
    call = call_of(node, model.tree)
    if name in ("get", "pop") and call is not None and call.args:
        if isinstance(under := literal_key(call.args[0].value), str):
            yield from _told_by_use(call, under, model, depth)
    elif name in _OF_DICTS:
        return
    elif name in _ONLY_OF_MODULES or name not in library.tensor_names():
        yield Content.OBJECT
    elif name in MODULE_METHODS:  # a tensor has it, too
        if MODULE_NAME.search(key):
            yield Content.OBJECT
        elif call is not None:
            yield from _told_by_use(call, key, model, depth)
    elif name in library.tensor_only():
        yield Content.WEIGHTS


def _uses_of(target: cst.BaseExpression, model: Model) -> list[cst.BaseExpression]:
    """The uses of a name until it is assigned again, or of an attribute of `self` in a file."""
    match target:
        case cst.Name(value=name):
            uses = model.references(name, model.scopes.scope_of(target))
            behind = uses[next(at for at, use in enumerate(uses) if use is target) + 1 :]
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


# ---------------------------------------------------------------------- by what is saved

_SETTINGS = re.compile(r"^(args|opts?|options|cfg|config|conf|hparams|flags|namespace)$", re.IGNORECASE)
"""Names of what holds settings: a `Namespace`, more often than not."""


_OBJECTS = (Kind.MODULE, Kind.OPTIMIZER, Kind.LOADER, Kind.NDARRAY, Kind.FUNCTION, Kind.OBJECT)


def _told_by_saving(call: cst.Call, model: Model) -> Iterator[Content]:
    """What is saved in this file at the path that a call loads from."""
    if not call.args or call.args[0].star:
        return
    path = model.tree.code(call.args[0].value)
    for node in model.tree.attributes("save"):
        saving = call_of(node, model.tree)
        if saving is None or len(saving.args) < 2:
            continue
        if "torch.save" not in (names.resolve(node, model) or ()) or model.tree.code(saving.args[1].value) != path:
            continue
        yield from _told_by_value(saving.args[0].value, model)


def _given(node: cst.Name, model: Model) -> list[cst.BaseExpression]:
    """What the callers in this file give for a parameter that is not assigned."""
    function = model.scopes.scope_of(node)
    if not isinstance(function, cst.FunctionDef) or model.bindings_of(node.value, node):
        return []
    names_ = [param.name.value for param in positional_parameters(function)]
    if node.value not in names_ or model.class_of(function) is not None:
        return []
    found = []
    for use in model.all_called(function.name.value):
        call = call_of(use, model.tree)
        if call is None or has_stars(call.args) or isinstance(use, cst.Attribute):
            continue
        arg = keyword(call.args, node.value) or positional(call.args, names_.index(node.value))
        if arg is not None:
            found.append(arg.value)
    return found


def _told_by_value(node: cst.BaseExpression, model: Model, depth: int = 0) -> Iterator[Content]:
    """What a value says that is saved; ``depth`` is how many calls lead to it."""
    match node:
        case cst.Dict(elements=elements):
            for element in elements:
                yield from _told_by_value(element.value, model, depth)
            return
        case cst.List(elements=items) | cst.Tuple(elements=items):
            for item in items:
                yield from _told_by_value(item.value, model, depth)
            return
        case cst.Call(func=cst.Attribute(attr=cst.Name("state_dict"))):
            yield Content.WEIGHTS
            return
        case cst.Name() if depth < _DEPTH and (given := _given(node, model)):
            for each in given:
                yield from _told_by_value(each, model, depth + 1)
            return
        case cst.Name(value=name):
            for bound in model.bindings_of(name, node):
                assign = assignment_of(bound, model.tree)
                if assign is not None and isinstance(assign.value, (cst.Dict, cst.List, cst.Tuple)):
                    yield from _told_by_value(assign.value, model, depth)
    value = model.value(node)
    is_numpy = isinstance(node, cst.Call) and (model.qualified(node.func) or "").startswith("numpy.")
    is_seen = value.strength is None or value.strength > Strength.NAME
    if (value.kind in _OBJECTS and is_seen) or is_numpy or _SETTINGS.match(last_name(node)):
        yield Content.OBJECT
    elif value.kind == Kind.TENSOR:
        yield Content.WEIGHTS
