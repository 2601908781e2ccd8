"""What was made volatile and is used only where autograd does not record: there it needs no detach."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Kind, Model, Tri
from torchlint.model.aliasing.here import only_metadata
from torchlint.model.syntax import chain
from torchlint.model.torch.arguments import literal_bool
from torchlint.rules.shared.identity import is_changed
from torchlint.rules.shared.lifetimes import targets_of
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
    """Whether a wrapper that asks for `volatile` is only read, and only where autograd does not record.

    That is in the block that has been made for it, as a rule. What is called there may still find out whether it has a
    graph, or give it back as it is.
    """
    asked = volatile_argument(call)
    if asked is None or literal_bool(asked.value) is not True:
        return False
    value = model.value(call.args[0].value)
    if not value.may_be_tensor and not value.kind & Kind.UNKNOWN:
        return False
    if value.grad != Tri.MAYBE or value.is_parameter:
        return False
    whole = [call, *(outer for _, outer in chain(call, model.tree))][-1]
    names = targets_of(whole, model)
    if not names or model.grad_enabled(call) == Tri.NO or any(is_changed(each, model) for each in (call, *names)):
        return False
    return all(_is_unrecorded(use, model) for name in names for use in _uses_since(name, call, model))


def _uses_since(name: cst.Name, call: cst.Call, model: Model) -> list[cst.Name]:
    """Where a name is read that is assigned what a call gives, as far as it may have that."""
    uses = model.references(name.value, model.scopes.scope_of(name))
    loops, order = loops_around(call, model), model.tree.order
    read = [use for use in uses if not model.is_target(use) and not model.tree.is_inside(use, call)]
    return [use for use in read if order(use) > order(call) or any(model.tree.is_inside(use, loop) for loop in loops)]


def _is_unrecorded(use: cst.Name, model: Model) -> bool:
    return model.grad_enabled(use) == Tri.NO or model.ask(only_metadata, use)
