"""What hooks are given: functions that modules call before and behind ``forward`` and ``backward``, and tensors."""

from __future__ import annotations

import enum
import re
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.codebase.exports import keeps_graphs
from torchlint.model.names import GROWING
from torchlint.model.possibilities import Kind, Tri
from torchlint.model.syntax import decorator_names, is_none, last_name, parameters
from torchlint.model.values import Evidence, Strength, Value, container, tensor

if TYPE_CHECKING:
    from torchlint.model.context import Context


class HookArgument(enum.Enum):
    """What stands at one position in the call of a hook."""

    MODULE = enum.auto()
    TENSORS = enum.auto()
    """The positional arguments of ``forward``, in a tuple."""
    TENSOR = enum.auto()
    """What ``forward`` gives, or the tensor itself that the hook belongs to."""
    GRADIENTS = enum.auto()
    GRADIENT = enum.auto()


_GIVEN = {
    "register_forward_hook": (HookArgument.MODULE, HookArgument.TENSORS, HookArgument.TENSOR),
    "register_forward_pre_hook": (HookArgument.MODULE, HookArgument.TENSORS),
    "register_backward_hook": (HookArgument.MODULE, HookArgument.GRADIENTS, HookArgument.GRADIENTS),
    "register_full_backward_hook": (HookArgument.MODULE, HookArgument.GRADIENTS, HookArgument.GRADIENTS),
    "register_full_backward_pre_hook": (HookArgument.MODULE, HookArgument.GRADIENTS),
    "register_hook": (HookArgument.GRADIENT,),
    "register_post_accumulate_grad_hook": (HookArgument.TENSOR,),
}
"""What registers a hook, and what the hook is called with then.

https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_forward_hook
"""


def given_to_hook(context: Context, function: cst.FunctionDef, name: str, *, is_method: bool) -> Value | None:
    """What a parameter is of a function that the file registers as a hook; None if it is no hook, or has no such."""
    if context.is_part:
        return None
    method = context.remember(_registered).get(function.name.value)
    if method is None:
        return None
    bound = is_method and "staticmethod" not in decorator_names(function)
    names = [param.name.value for param in parameters(function) if not param.star][bound:]
    given = _GIVEN[method]
    if name not in names or names.index(name) >= len(given):
        return None
    return _value(context, given[names.index(name)], Evidence(Strength.CONVENTION, f"`{method}` calls it so", function))


def given_to_lambda(context: Context, node: cst.Lambda) -> tuple[Value, ...]:
    """What a lambda is given that is registered as a hook where it is written; nothing if it is none."""
    arg = context.tree.parent(node)
    call = context.tree.parent(arg) if isinstance(arg, cst.Arg) else None
    match call:
        case cst.Call(func=cst.Attribute(attr=cst.Name(name)), args=[first, *_]) if first is arg and name in _GIVEN:
            evidence = Evidence(Strength.CONVENTION, f"`{name}` calls it so", node)
            return tuple(_value(context, what, evidence) for what in _GIVEN[name])
    return ()


def _value(context: Context, what: HookArgument, evidence: Evidence) -> Value:
    match what:
        case HookArgument.MODULE:
            return Value(Kind.MODULE, evidence=evidence)
        case HookArgument.TENSORS:
            return container(tensor(evidence=evidence))
        case HookArgument.TENSOR:
            return tensor(evidence=evidence)
        case HookArgument.GRADIENTS:
            return container(_gradient(context, evidence))
        case HookArgument.GRADIENT:
            return _gradient(context, evidence)


def is_differentiated(context: Context, backward: cst.FunctionDef) -> bool:
    """Whether what an autograd function does in `backward` may be recorded: for who wants gradients of gradients."""
    return "once_differentiable" not in decorator_names(backward) and keeps_graphs(context)


_REGISTERING = re.compile(rb"\bregister_(?:module_)?forward_hook *\(")
"""What registers a hook that may replace outputs."""
_MOST_FILES = 8
"""In how many other files hooks are looked at; with more of them, one is taken to replace outputs."""


def changes_outputs(context: Context) -> bool:
    """Whether a forward hook that the project registers gives something back, which takes the place of the output."""
    return context.remember(_changes_outputs) or context.remember(_others_change_outputs)


def _others_change_outputs(context: Context) -> bool:
    """Whether another file of the project registers such a hook."""
    paths = context.codebase.matching(context, _REGISTERING)
    others = (context.codebase.whole(path, context) for path in paths[:_MOST_FILES])
    return len(paths) > _MOST_FILES or any(other.remember(_changes_outputs) for other in others if other is not None)


def _changes_outputs(context: Context) -> bool:
    for method in ("register_forward_hook", "register_module_forward_hook"):
        for attribute in context.scopes.calls(method):
            call = context.tree.parent(attribute)
            if isinstance(call, cst.Call) and call.func is attribute and call.args:
                if _gives_something(context, call.args[0].value):
                    return True
    return False


def _gives_something(context: Context, hook: cst.BaseExpression) -> bool:
    match hook:
        case cst.Lambda(body=body):
            return last_name(body.func) not in _GIVING_NOTHING if isinstance(body, cst.Call) else True
        case cst.Call(func=func):
            name = context.remember(_makers).get(last_name(func))
        case _:
            name = last_name(hook)
    returns = (each for each in context.tree.all(cst.Return) if each.value is not None and not is_none(each.value))
    scopes = (context.scopes.scope_of(each) for each in returns)
    return any(isinstance(each, cst.FunctionDef) and each.name.value == name for each in scopes)


_GIVING_NOTHING = frozenset((*(GROWING - {"setdefault"}), "setattr", "print", "set", "put", "write", "info", "debug"))
"""Functions and methods that return None."""


def _gradient(context: Context, evidence: Evidence) -> Value:
    return tensor(Tri.MAYBE if keeps_graphs(context) else Tri.NO, evidence=evidence)


def _registered(context: Context) -> dict[str, str]:
    """The names of functions that are registered as hooks, with what registers them."""
    makers = context.remember(_makers)
    found: dict[str, str] = {}
    for method in _GIVEN:
        for attribute in context.tree.attributes(method):
            call = context.tree.parent(attribute)
            if not isinstance(call, cst.Call) or call.func is not attribute or not call.args:
                continue
            match call.args[0].value:
                case cst.Name() | cst.Attribute() as hook:
                    found.setdefault(last_name(hook), method)
                case cst.Call(func=func):  # register_forward_hook(save_to("fc")), where that returns a hook
                    if (made := makers.get(last_name(func))) is not None:
                        found.setdefault(made, method)
    return found


def _makers(context: Context) -> dict[str, str]:
    """The functions that return a function they define, with its name."""
    scope_of = context.scopes.scope_of
    defined = {(id(scope_of(each)), each.name.value) for each in context.tree.all(cst.FunctionDef)}
    found: dict[str, str] = {}
    for node in context.tree.all(cst.Return):
        scope = scope_of(node)
        if isinstance(scope, cst.FunctionDef) and isinstance(node.value, cst.Name):
            if (id(scope), node.value.value) in defined:
                found[scope.name.value] = node.value.value
    return found
