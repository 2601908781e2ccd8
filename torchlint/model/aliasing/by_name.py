"""What gives an attribute of an object a graph without writing its name.

``setattr(self, name, value)``, ``self.__dict__.update(given)`` and ``for buffer in module.buffers()`` write attributes
whose names do not stand there; after those nothing is known of the attributes of that class.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from torchlint.model.aliasing.how import How
from torchlint.model.aliasing.put_in import may_carry, put_in
from torchlint.model.aliasing.related import relatives
from torchlint.model.aliasing.uses import Follower
from torchlint.model.classes import class_kind, class_of
from torchlint.model.codebase.exports import is_mentioned
from torchlint.model.expressions import value_of
from torchlint.model.overriding import has_many_heirs, is_bound_by_unknown_heir
from torchlint.model.possibilities import Kind
from torchlint.model.syntax import calls_method, decorator_names, has_stars, keyword
from torchlint.model.values import Usage

if TYPE_CHECKING:
    from torchlint.model.context import Context

_HOW = How(through_data=False, for_graph=True)
_RESTORING = frozenset(("__setstate__", "__setattr__", "load_state_dict"))
"""Methods that give an object what it, or one like it, has had before, or what is assigned to it where that is seen."""
_COMPUTING = ("__getattribute__", "__setattr__")
"""The methods that each attribute is asked of, or given to."""
_OF_BUFFERS = ("buffers", "named_buffers", "_buffers", "get_buffer")
"""What leads to the buffers of a module without their names."""
_FUNCTIONAL = r"\bfunctional_call\s*\("
_INTO_BUFFERS = r"\._buffers\s*\[[^\]\n]*\]\s*[-+*/]?=(?!=)"
_VALUES = ("values", "items")
_UPDATING = ("update", "setdefault", "__setitem__")
_MANY = 16
"""From more beginnings of names than these, nothing is learnt of which names are meant."""

_Class = tuple[str | None, str]
"""A class by its file and name: it may have been read twice."""


_NO_CLASS: _Class = (None, "")
"""Stands for what is known to be no object of a class of the project: a namespace of options."""


class _ByName(NamedTuple):
    """Attributes that are given a graph without their names."""

    cls: _Class | None
    """Whose they are; None if that is not known."""
    beginning: str
    """What their names begin with."""


def is_given(context: Context, name: str, cls: cst.ClassDef) -> bool:
    """Whether an attribute of an object of a class is given a graph by what does not write its name."""
    if has_many_heirs(context.home(cls), cls) or is_bound_by_unknown_heir(context.home(cls), cls, name):
        return True
    classes = context.remember(relatives, cls)
    if any(_is_field(home, each, name) or _is_computed(home, each, name) for home, each in classes):
        return True
    if any(each is not cls and name in home.scopes.info(each).methods for home, each in classes):
        return True
    if any(home.scopes.attribute(each, name).registered for home, each in classes):
        if context.remember(_are_buffers_given):
            return True
    known = {_key(home, each) for home, each in classes}
    homes = {id(home): home for home, _ in classes} | {id(context): context}
    given = (each for home in homes.values() for each in home.remember(_given))
    return any(name.startswith(each.beginning) and (each.cls is None or each.cls in known) for each in given)


def is_given_to_any(context: Context, name: str) -> bool:
    """Whether an attribute of an object of which no class is known is given a graph that way, in this file."""
    given = context.remember(_given)
    return any(name.startswith(each.beginning) and each.cls in (None, _NO_CLASS) for each in given)


def _key(context: Context, cls: cst.ClassDef) -> _Class:
    return context.path, cls.name.value


def _is_computed(context: Context, cls: cst.ClassDef, name: str) -> bool:
    """Whether a class makes something of its own of what an attribute is assigned: by its setter, or of all of them."""
    info = context.scopes.info(cls)
    if not info.methods.keys().isdisjoint(_COMPUTING):
        return True
    return name in context.remember(_with_setters, cls)


def _with_setters(context: Context, cls: cst.ClassDef) -> frozenset[str]:
    bodies = context.scopes.info(cls).bodies
    return frozenset(each.name.value for each in bodies if "setter" in decorator_names(each))


def _is_field(context: Context, cls: cst.ClassDef, name: str) -> bool:
    """Whether a class declares an attribute that its constructor may be given: that of a dataclass."""
    if name not in context.scopes.info(cls).declared:
        return False
    return bool(cls.decorators) or (bool(cls.bases) and class_kind(context, cls) == "unknown")


def _given(context: Context) -> tuple[_ByName, ...]:
    """What a file gives a graph without the names."""
    found = dict.fromkeys(_by_texts(context))
    return tuple(found) if len(found) <= _MANY else tuple(dict.fromkeys(each._replace(beginning="") for each in found))


def _by_texts(context: Context) -> Iterator[_ByName]:
    for node in context.tree.names("setattr"):
        call = context.tree.parent(node)
        if isinstance(call, cst.Call) and len(call.args) == len(("object", "name", "value")):
            yield from _set(context, call.args[0].value, call.args[1].value, call.args[2].value)
        elif isinstance(call, cst.Call) and call.args and has_stars(call.args):
            yield from _of(context, call.args[0].value, "")
    for node in context.tree.names("getattr"):
        call = context.tree.parent(node)
        if isinstance(call, cst.Call) and len(call.args) > 1 and _is_written(context, call):
            yield from _of(context, call.args[0].value, _beginning(call.args[1].value))
    for attribute in context.tree.attributes("__dict__"):
        if _is_put_into(context, attribute):
            yield from _of(context, attribute.value, "")
    for node in context.tree.names("vars"):
        call = context.tree.parent(node)
        if isinstance(call, cst.Call) and len(call.args) == 1 and _is_put_into(context, call):
            yield from _of(context, call.args[0].value, "")


def _set(
    context: Context, owner: cst.BaseExpression, name: cst.BaseExpression, value: cst.BaseExpression
) -> Iterator[_ByName]:
    if may_carry(context, value):
        yield from _of(context, owner, _beginning(name))


def _is_put_into(context: Context, use: cst.BaseExpression) -> bool:
    """Whether what may have a graph is put into the dictionary of an object, which stands there."""
    if any(may_carry(context, each) for each in put_in(context, use)):
        return True
    method = context.tree.parent(use)
    call = context.tree.parent(method) if isinstance(method, cst.Attribute) and method.value is use else None
    if isinstance(call, cst.Call) and calls_method(call, _VALUES) and _is_written(context, call):
        return True
    if not isinstance(call, cst.Call) or not calls_method(call, _UPDATING):
        return False
    return any(_may_hold(context, arg.value) for arg in call.args)


def _may_hold(context: Context, node: cst.BaseExpression) -> bool:
    """Whether a dictionary, or a value of one, may bring a graph: of what callers give nothing is known."""
    value = value_of(context, node)
    is_open = value.kind == Kind.CONTAINER and value.items is None and value.item is None
    return may_carry(context, node) or (is_open and not isinstance(node, cst.Dict))


def _of(context: Context, owner: cst.BaseExpression, beginning: str) -> Iterator[_ByName]:
    """What is written of an object where that stands."""
    function = context.tree.enclosing(owner, cst.FunctionDef)
    if isinstance(function, cst.FunctionDef) and function.name.value in _RESTORING:
        return
    cls = value_of(context, owner).node
    if isinstance(owner, cst.Name) and owner.value in ("self", "cls") and function is not None:
        cls = class_of(context, function)
    if isinstance(cls, cst.ClassDef):
        yield _ByName(_key(context.home(cls), cls), beginning)
    elif value_of(context, owner).kind & Kind.UNKNOWN and context.is_checked:
        yield _ByName(None, beginning)
    elif context.is_checked:
        yield _ByName(_NO_CLASS, beginning)


def _beginning(name: cst.BaseExpression) -> str:
    """What a name that is put together begins with for sure; all of a text."""
    match name:
        case cst.SimpleString():
            return str(name.raw_value)
        case cst.FormattedString(parts=[cst.FormattedStringText(value=text), *_]):
            return text
        case cst.BinaryOperation(left=cst.SimpleString() as left, operator=cst.Add()):
            return str(left.raw_value)
        case cst.BinaryOperation(left=cst.SimpleString() as left, operator=cst.Modulo()):
            return str(left.raw_value).partition("%")[0]
    return ""


def _is_written(context: Context, node: cst.BaseExpression) -> bool:
    """Whether what an expression gives is written with a graph."""
    if Follower(context, _HOW).usage(node) is Usage.WRITTEN:
        return True
    return any(may_carry(context, each) for each in put_in(context, node))


def _are_buffers_given(context: Context) -> bool:
    """Whether buffers of modules are given graphs without their names, in this file or by what others call."""
    if is_mentioned(context, _FUNCTIONAL) or is_mentioned(context, _INTO_BUFFERS):
        return True
    for name in _OF_BUFFERS:
        for attribute in context.tree.attributes(name):
            call = context.tree.parent(attribute)
            use = call if isinstance(call, cst.Call) and call.func is attribute else attribute
            if _is_written(context, use):
                return True
    if any(_is_written(context, each) for each in _kept_states(context)):
        return True
    if any(_is_given_to_all(context, each) for each in context.tree.attributes("_apply")):
        return True
    return any(_is_loaded(context, each) for each in context.tree.attributes("load_state_dict"))


def _kept_states(context: Context) -> Iterator[cst.Call]:
    """The calls that give the tensors of a module themselves by their names: ``m.state_dict(keep_vars=True)``."""
    for attribute in context.tree.attributes("state_dict"):
        call = context.tree.parent(attribute)
        if isinstance(call, cst.Call) and call.func is attribute and keyword(call.args, "keep_vars") is not None:
            yield call


def _is_given_to_all(context: Context, attribute: cst.Attribute) -> bool:
    """Whether a function is applied to all tensors of a module that may give them a graph: ``lambda t: t + w``."""
    call = context.tree.parent(attribute)
    if not isinstance(call, cst.Call) or len(call.args) != 1 or not isinstance(call.args[0].value, cst.Lambda):
        return False
    function = call.args[0].value
    own = {param.name.value for param in function.params.params}
    names = (each for each in context.tree.within(function.body, cst.Name) if each.value not in own)
    return any(value_of(context, each).may_be_tensor and may_carry(context, each) for each in names)


def _is_loaded(context: Context, attribute: cst.Attribute) -> bool:
    """Whether tensors that may have graphs take the place of those of a module: ``load_state_dict(s, assign=True)``."""
    call = context.tree.parent(attribute)
    if not isinstance(call, cst.Call) or call.func is not attribute or not call.args:
        return False
    assigns = keyword(call.args, "assign")
    return assigns is not None and may_carry(context, call.args[0].value)
