"""Whether autograd is seen to record in a function because of who calls it in all of the project.

What only defines classes and functions says nothing of the mode that they run in. A script that makes an object and
calls a method of it does: with that, the method is run where autograd records, whatever others do.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.aliasing.calls import bound_to
from torchlint.model.branches import is_chosen
from torchlint.model.calls_elsewhere import CallSite, asking, call_sites
from torchlint.model.chosen_by_call import Handed, comes_to
from torchlint.model.expressions import value_of
from torchlint.model.handed_networks import are_networks_known
from torchlint.model.modes import grad_enabled, may_record
from torchlint.model.possibilities import Tri
from torchlint.model.recording import is_left_to_callers, shows_recording
from torchlint.model.running import is_switched_off
from torchlint.model.syntax import decorator_names, parameters
from torchlint.system.stack import deeper

if TYPE_CHECKING:
    from torchlint.model.context import Context

_FAR = 3
"""How many callers of callers to ask."""
_PLAIN = frozenset(("staticmethod", "classmethod", "property"))
"""Decorators that leave a function in the mode of its caller."""


def records(context: Context, node: cst.CSTNode) -> bool:
    """Whether this file or another one shows that autograd can record where ``node`` is evaluated."""
    return shows_recording(context, node) or is_begun_elsewhere(context, node)


def is_begun_elsewhere(context: Context, node: cst.CSTNode, far: int = _FAR) -> bool:
    """Whether a function of another file leads to a node where autograd records.

    A condition on what the function is given must be one that the call decides.
    """
    function = context.scopes.scope_of(node)
    if not far or not isinstance(function, cst.FunctionDef) or grad_enabled(context, node) != Tri.YES:
        return False
    if not set(decorator_names(function)) <= _PLAIN or not is_left_to_callers(context, node):
        return False
    if context.tree.enclosing(node, cst.Try, cst.FunctionDef) is not function:
        return False
    if function.name.value == "forward" and is_chosen(context, function, node):
        return False
    return any(comes_to(context, function, node, each) for each in context.remember(_beginnings, function, far))


def _beginnings(context: Context, function: cst.FunctionDef, far: int) -> list[dict[str, Handed]]:
    """What calls of a function hand over that run it where autograd records, as another file shows."""
    found = []
    for site in call_sites(context, function, needs_arguments=False):
        if site.context is context and context.scopes.scope_of(site.call) is function:
            continue
        handed = handed_by(context, function, site)
        if handed is None or not are_networks_known(context, function, site):
            continue
        if _records_there(context, site, far):
            found.append(handed)
    return found


def _records_there(context: Context, site: CallSite, far: int) -> bool:
    """Whether autograd records where a function is called, as a file other than its own shows."""
    caller, call = site
    with asking(caller):
        if is_switched_off(caller, call) or not may_record(caller, call):
            return False
        if caller is not context and shows_recording(caller, call):
            return True
        return deeper(partial(is_begun_elsewhere, caller, call, far - 1))


def handed_by(context: Context, function: cst.FunctionDef, site: CallSite) -> dict[str, Handed] | None:
    """What a call hands to each parameter; None if that is not known."""
    caller, call = site
    if any(arg.star for arg in call.args):
        return None
    found: dict[str, Handed] = {}
    with asking(caller):
        for arg in call.args:
            names = bound_to(function, arg, call, context, caller)
            if len(names) != 1:
                return None
            found[names[0]] = Handed(value_of(caller, arg.value), arg.value)
    for param in parameters(function):
        if param.name.value not in found and param.default is not None:
            found[param.name.value] = Handed(value_of(context, param.default), param.default)
    return found
