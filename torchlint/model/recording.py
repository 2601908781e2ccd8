"""Whether it is shown that autograd records, where nothing says that it doesn't.

A function runs in the grad mode of whoever calls it. So that it records is shown by a caller that does, or by the
function itself, where it calls ``backward()``, or a function of the file that does in any case; a module, a test and
what is called ``main`` are begun by nobody who would have turned it off.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.autograd import backward_calls
from torchlint.model.branches import branches, is_chosen
from torchlint.model.classes import class_kind, class_of
from torchlint.model.expressions import qualified
from torchlint.model.graphs.always import runs_with
from torchlint.model.interpreted import seen
from torchlint.model.modes import grad_enabled, is_turned_on
from torchlint.model.module_uses import calls_of_modules
from torchlint.model.possibilities import Tri
from torchlint.model.running import may_run
from torchlint.model.standing import stands
from torchlint.model.syntax import last_name
from torchlint.system.stack import deeper

if TYPE_CHECKING:
    from torchlint.model.context import Context

_NamesByName = dict[str | None, set[str]]
_FAR = 4
"""How many callers of callers to ask."""
_SWITCH = re.compile(r"^[ \t]*(?:torch\.)?(?:autograd\.)?(?:_C\.)?_?set_grad_enabled *\(", re.MULTILINE)
"""The setter as a statement of its own, which lasts."""
_STARTED = re.compile(r"main|test_\w+|training_step")
"""Functions that a program, a test runner or a trainer begins with."""
_MAY_SWITCH = re.compile(r"grad|infer|eval|frozen|freeze|predict", re.IGNORECASE)
"""What a context manager that turns autograd off may be called, where nothing else is known of it."""


def shows_recording(context: Context, node: cst.CSTNode) -> bool:
    """Whether the file shows that autograd can record where ``node`` is evaluated."""
    return (
        may_show_recording(context, node) and grad_enabled(context, node) == Tri.YES and _is_shown(context, node, _FAR)
    )


def may_show_recording(context: Context, node: cst.CSTNode) -> bool:
    """Whether a file may show that autograd records where ``node`` is evaluated, by the names in it alone.

    A constructor counts as if it did, and with it what it calls; so does a ``forward``, which is called by other names,
    where anything is begun. Asked first, for it takes no interpretation.
    """
    function = context.tree.enclosing(node, cst.FunctionDef)
    return not isinstance(function, cst.FunctionDef) or function.name.value in context.remember(_begun)


def _begun(context: Context) -> frozenset[str]:
    """The names of functions that may be begun where autograd records, and of all that these call."""
    called = context.remember(_called_by)
    waiting = ["__init__", *called.get(None, ())]
    for function in context.tree.all(cst.FunctionDef):
        is_begun = _STARTED.fullmatch(function.name.value) is not None or _enables(function)
        if is_begun or backward_calls(context, function):
            waiting.append(function.name.value)
    classes = {each.name.value for each in context.scopes.all_classes()}
    if any(name in called or name in classes for name in waiting[1:]):
        waiting.append("forward")
    return _reached([*waiting, *context.remember(_sending)], called)


def _called_by(context: Context) -> _NamesByName:
    """The last names of what functions call, by their own names; None for what is in no function."""
    found: _NamesByName = {}
    for call in context.tree.all(cst.Call):
        caller = context.tree.enclosing(call, cst.FunctionDef)
        name = caller.name.value if isinstance(caller, cst.FunctionDef) else None
        found.setdefault(name, set()).add(last_name(call.func))
    return found


def _sending(context: Context) -> frozenset[str]:
    """The names of functions that may send gradients back: they call ``backward()``, or one of these functions."""
    callers: _NamesByName = {}
    for caller, names in context.remember(_called_by).items():
        if caller is not None:
            for name in names:
                callers.setdefault(name, set()).add(caller)
    functions = context.tree.all(cst.FunctionDef)
    return _reached([each.name.value for each in functions if backward_calls(context, each)], callers)


def _reached(names: list[str], further: _NamesByName) -> frozenset[str]:
    """Names with all that they lead to, directly and by way of others."""
    found, waiting = set[str](), list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += further.get(name, ())
    return frozenset(found)


def _is_shown(context: Context, node: cst.CSTNode, far: int) -> bool:
    if context.tree.enclosing(node, cst.Lambda, cst.GeneratorExp, cst.FunctionDef) is None:
        return not _is_under_unknown(context, node)
    scope = context.scopes.scope_of(node)
    if not isinstance(scope, cst.FunctionDef) or not is_left_to_callers(context, node):
        return False
    calls = backward_calls(context, scope)
    if any(goes_with(context, call, node) for call in calls) or _is_sure_of_one(context, calls, node):
        return True
    if any(goes_with(context, call, node) for call in context.remember(_calls_that_send, scope, far)):
        return True
    if scope.name.value == "forward" and class_of(context, scope) is not None and is_chosen(context, scope, node):
        return False
    return context.remember(_is_begun_recording, scope, far)


def is_left_to_callers(context: Context, node: cst.CSTNode) -> bool:
    """Whether nothing in a function may change the mode of whoever calls it, where a node is evaluated."""
    if context.tree.enclosing(node, cst.Lambda) is not None:
        return False
    return not context.remember(_switches) and not _is_under_unknown(context, node)


def _calls_that_send(context: Context, scope: cst.FunctionDef, far: int) -> list[cst.Call]:
    """The calls in a function of others of the file that send gradients back in any case, in the mode of who calls."""
    names = context.remember(_sending) if far else frozenset()
    found = []
    for call in context.tree.within(scope.body, cst.Call) if names else ():
        if last_name(call.func) in names and context.scopes.scope_of(call) is scope:
            function = seen(context, call.func).node
            if isinstance(function, cst.FunctionDef) and context.home(function) is context:
                if context.remember(_always_sends, function, far - 1):
                    found.append(call)
    return found


def _always_sends(context: Context, function: cst.FunctionDef, far: int) -> bool:
    """Whether a function sends gradients back whenever it is called, and does not turn autograd on for that."""
    calls = [*backward_calls(context, function), *context.remember(_calls_that_send, function, far)]
    calls = [call for call in calls if not is_turned_on(context, call)]
    return not _enables(function) and runs_with(context, calls, function.body.body[0])


def _is_begun_recording(context: Context, function: cst.FunctionDef, far: int) -> bool:
    """Whether somebody who is seen begins a function where autograd records."""
    name, cls = function.name.value, class_of(context, function)
    if _enables(function):
        return True
    if _STARTED.fullmatch(name) and not function.decorators:
        return name != "training_step" or (cls is not None and class_kind(context, cls) == "module")
    if not far or context.is_part or (name.startswith("__") and name != "__init__"):
        return False
    for call in callers_of(context, function):
        if context.scopes.scope_of(call) is function or not may_run(context, call):
            continue
        if grad_enabled(context, call) == Tri.YES and deeper(partial(_is_shown, context, call, far - 1)):
            return True
    return False


def _enables(function: cst.FunctionDef) -> bool:
    """Whether a decorator turns autograd on."""
    return any("enable_grad" in last_name(_called(each.decorator)) for each in function.decorators)


def callers_of(context: Context, function: cst.FunctionDef) -> list[cst.Call]:
    """The calls of a function in its file: of a constructor those of its class, of a ``forward`` those of modules."""
    name = function.name.value
    cls = class_of(context, function) if name in ("__init__", "forward") else None
    wanted = cls if cls is not None and name == "__init__" else function
    found = context.remember(_calls, wanted.name.value).get(id(wanted), []) if stands(context, wanted) else []
    return found if cls is None or wanted is cls else [*found, *calls_of_modules(context, cls)]


def calls_of(context: Context, function: cst.FunctionDef) -> list[cst.Call]:
    """All calls of a function that are seen in its file; none if it is also used in other ways."""
    calls = context.remember(_calls, function.name.value).get(id(function), [])
    return calls if len(calls) == len(context.scopes.calls(function.name.value)) else []


def _calls(context: Context, name: str) -> dict[int, list[cst.Call]]:
    """The calls by a name, for each function or class that it stands for."""
    found: dict[int, list[cst.Call]] = {}
    for reference in context.scopes.calls(name):
        call = context.tree.parent(reference)
        if isinstance(call, cst.Call) and call.func is reference:
            found.setdefault(id(seen(context, reference).node), []).append(call)
    return found


def _called(node: cst.BaseExpression) -> cst.BaseExpression:
    return node.func if isinstance(node, cst.Call) else node


def _switches(context: Context) -> bool:
    """Whether the file sets the grad mode for all that comes after."""
    return bool(_SWITCH.search(context.tree.source.text))


def _is_under_unknown(context: Context, node: cst.CSTNode) -> bool:
    """Whether a context manager around a node may turn autograd off, as far as its name says."""
    for up in context.tree.ancestors(node):
        if isinstance(up, (cst.FunctionDef, cst.Lambda)):
            break
        if isinstance(up, cst.With):
            for item in up.items:
                func = _called(item.item)
                known = qualified(context, func) or ""
                if _MAY_SWITCH.search(last_name(func)) and not known.startswith("torch."):
                    return True
    return False


def _is_sure_of_one(context: Context, calls: list[cst.Call], node: cst.CSTNode) -> bool:
    """Whether one of some calls that show the mode runs in whatever branch: ``if amp: … else: loss.backward()``."""
    recording = [call for call in calls if grad_enabled(context, call) == Tri.YES]
    return len(recording) > 1 and runs_with(context, recording, node)


def goes_with(context: Context, call: cst.CSTNode, node: cst.CSTNode) -> bool:
    """Whether a call that shows the mode runs whenever a node does, or a node whenever the call does."""
    if grad_enabled(context, call) != Tri.YES:
        return False
    of_call, of_node = branches(context, call), branches(context, node)
    return of_call.items() <= of_node.items() or of_node.items() <= of_call.items()
