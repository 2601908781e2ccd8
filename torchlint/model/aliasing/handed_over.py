"""What a function of the project does with memory that it is handed: keeps it, gives it back, or only reads it."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.aliasing.calls import bound_to
from torchlint.model.aliasing.uses import Follower
from torchlint.model.bindings import references
from torchlint.model.expressions import value_of
from torchlint.model.values import Usage

if TYPE_CHECKING:
    from torchlint.model.context import Context


class Handover(enum.Enum):
    """What has become of some memory when a call is over."""

    READ = enum.auto()
    """Nobody has it by way of the call."""
    RETURNED = enum.auto()
    """Its result is that memory, or holds it."""
    KEPT = enum.auto()
    """Something else holds it."""


def outcome(context: Context, arg: cst.Arg, call: cst.Call) -> Handover | None:
    """What becomes of an argument; None if it is not a function of the project that is called."""
    function = value_of(context, call.func).node
    if not isinstance(function, cst.FunctionDef):
        return None
    home = context.home(function)
    names = bound_to(function, arg, call, home, context)
    inside = Follower(context).through_parameters(home, function, tuple(names))
    if inside.is_returned:
        return Handover.RETURNED
    if inside.worst is Usage.OVERWRITTEN:  # what is only written to is not kept by that
        return Handover.KEPT if any(_is_stored(home, function, name) for name in names) else Handover.READ
    return Handover.KEPT if inside.worst >= Usage.RETURNED else Handover.READ


def _is_stored(context: Context, function: cst.FunctionDef, name: str) -> bool:
    """Whether a parameter is assigned to what is no name: ``self.state = t``."""
    for use in references(context, name, function):
        match context.tree.parent(use):
            case cst.Assign(targets=targets) if not all(isinstance(each.target, cst.Name) for each in targets):
                return True
    return False
