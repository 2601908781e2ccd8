"""What was made volatile and is used only where autograd does not record: there it needs no detach."""

from __future__ import annotations

import re

import libcst as cst

from torchlint.model import Kind, Model, Tri
from torchlint.model.aliasing.here import only_metadata
from torchlint.model.codebase.exports import is_mentioned
from torchlint.model.syntax import chain, last_name
from torchlint.model.torch.arguments import literal_bool
from torchlint.rules.shared import criteria
from torchlint.rules.shared.identity import is_changed
from torchlint.rules.shared.lifetimes import targets_of
from torchlint.rules.shared.memory import TRANSFERS
from torchlint.rules.shared.order import loops_around


def volatile_argument(call: cst.Call) -> cst.Arg | None:
    """The argument `volatile` of a call of `Variable`."""
    for index, arg in enumerate(call.args):
        if arg.star:
            return None
        if (arg.keyword.value == "volatile") if arg.keyword is not None else (index == 2):
            return arg
    return None


def is_unrecorded_input(call: cst.Call, model: Model) -> bool:
    """Whether a wrapper is only read, and only where autograd does not record.

    That is in the block that has been made for it, as a rule. What is called there may still find out whether it has a
    graph, or give it back as it is: without unsafe fixes, it counts for what asks for `volatile` only.
    """
    asked = volatile_argument(call)
    if literal_bool(asked.value) is not True if asked is not None else not model.original:
        return False
    value = model.value(call.args[0].value)
    if not value.may_be_tensor and not value.kind & Kind.UNKNOWN:
        return False
    if value.grad != Tri.MAYBE or value.is_parameter:
        return False
    whole = [call, *(outer for _, outer in chain(call, model.tree))][-1]
    names = targets_of(whole, model)
    if not names and model.grad_enabled(call) == Tri.NO:
        return _is_given_to_network(whole, model) and not is_changed(call, model)
    if not names or model.grad_enabled(call) == Tri.NO or any(is_changed(each, model) for each in (call, *names)):
        return False
    uses = [use for name in names for use in _uses_since(name, call, model)]
    return bool(uses) and all(_is_unrecorded(use, model) for use in uses)


def _is_given_to_network(node: cst.CSTNode, model: Model) -> bool:
    """Whether something is given to what may be a network or a function, and keeps nothing: ``self.net(x)``."""
    arg = model.tree.parent(node)
    call = model.tree.parent(arg) if isinstance(arg, cst.Arg) and not arg.star else None
    if not isinstance(call, cst.Call) or not isinstance(call.func, (cst.Name, cst.Attribute)):
        return False
    called = model.value(call.func)
    is_layer = called.kind == Kind.MODULE and called.node is None
    if is_layer and re.fullmatch(rf"torch\.nn\.{_LAYERS}", called.ref or "") is None:
        return False  # `nn.Dropout` hands on what it is given
    return not last_name(call.func).endswith(_KEEPING) and not called.kind & Kind.REFERENCE


_KEEPING = (
    *("append", "add", "extend", "insert", "put", "push", "update", "setdefault", "list", "tuple", "dict", "set"),
    *("store", "save", "remember", "record", "collect", "register", "log", "write", "send"),
)
"""How names end of what keeps what it is given."""


def _uses_since(name: cst.Name, call: cst.Call, model: Model) -> list[cst.Name]:
    """Where a name is read that is assigned what a call gives, as far as it may have that."""
    uses = model.references(name.value, model.scopes.scope_of(name))
    loops, order = loops_around(call, model), model.tree.order
    read = [use for use in uses if not model.is_target(use) and not model.tree.is_inside(use, call)]
    return [use for use in read if order(use) > order(call) or any(model.tree.is_inside(use, loop) for loop in loops)]


def _is_unrecorded(use: cst.Name, model: Model) -> bool:
    return model.grad_enabled(use) == Tri.NO or model.ask(only_metadata, use)


_LAYERS = r"(?:Linear|Bilinear|Conv[123]d|ConvTranspose[123]d|Embedding|BatchNorm[123]d|LSTM|GRU|RNN)"
"""Layers that compute something of all that they are given: `nn.Dropout` may hand it on as it is."""
_WATCHING = (
    r"register_\w*forward_\w*hook|\bforward\s*=|[\"']forward[\"']"
    r"|\b(?:_modules|setattr|__setattr__|add_module|register_module|__dict__|vars)\b"
)
"""How others get what a layer is given, or put another one in its place."""


def is_input_of_layer(call: cst.Call, model: Model) -> bool:
    """Whether a wrapper only goes to a layer of torch, where autograd does not record: nothing is left of it then."""
    if model.grad_enabled(call) != Tri.NO:
        return False
    steps = list(chain(call, model.tree))
    if any(name not in TRANSFERS for name, _ in steps):
        return False
    arg = model.tree.parent(steps[-1][1] if steps else call)
    layer = model.tree.parent(arg) if isinstance(arg, cst.Arg) else None
    if not isinstance(layer, cst.Call) or len(layer.args) != 1:
        return False
    if layer.args[0].star or layer.args[0].keyword is not None:
        return False
    match layer.func:
        case cst.Attribute(value=cst.Name("self"), attr=cst.Name(value=name)) as func:
            cls = model.tree.enclosing(func, cst.ClassDef)
        case _:
            return False
    value = model.value(func)
    is_known = value.kind == Kind.MODULE and re.fullmatch(rf"torch\.nn\.{_LAYERS}", value.ref or "") is not None
    if not is_known or not isinstance(cls, cst.ClassDef) or model.ask(is_mentioned, _WATCHING):
        return False
    return not model.remember(criteria.is_set_elsewhere, name, cls, _LAYERS)
