"""What decorators make of a function: whether what it returns is what its callers get."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.definitions import follow
from torchlint.model.interpret.home_made import grad_mode_of
from torchlint.model.interpreted import outside, trace_of
from torchlint.model.possibilities import Tri
from torchlint.model.scopes import sounds_like_no_grad
from torchlint.model.syntax import ending_name, parameters

if TYPE_CHECKING:
    from torchlint.model.context import Context

RUNNING_AT_ONCE = frozenset(
    (
        *("staticmethod", "classmethod", "property", "cached_property", "setter", "getter", "abstractmethod", "wraps"),
        *("override", "final", "overload", "deprecated", "cache", "lru_cache", "compile", "script", "export", "unused"),
        *("parametrize", "skipif", "skip", "xfail", "fixture", "once_differentiable", "rank_zero_only", "autocast"),
    )
)
"""Decorators that call the function when they are called themselves, or that leave it as it is."""
_HANDING_ON = RUNNING_AT_ONCE | frozenset(
    (
        *(
            "lazy_property",
            "abstractproperty",
            "abstractclassmethod",
            "abstractstaticmethod",
            "script_method",
            "ignore",
        ),
        *("no_grad", "enable_grad", "inference_mode", "set_grad_enabled", "script_if_tracing", "disable", "njit"),
        *("custom_fwd", "custom_bwd", "rename_privateuse1_backend", "singledispatchmethod", "typechecked", "jaxtyped"),
    )
)
"""Decorators that give back what the function does, as it is."""


def returns_as_it_is(context: Context, function: cst.FunctionDef) -> bool:
    """Whether callers get what a function returns: no decorator makes something else of it, as far as one sees."""
    return all(
        ending_name(each.decorator) in _HANDING_ON
        or sounds_like_no_grad(each.decorator)
        or context.remember(_hands_on, each)
        for each in function.decorators
    )


def _hands_on(context: Context, decorator: cst.Decorator) -> bool:
    """Whether a decorator of the project calls the function with what it is given, and returns what comes back."""
    node, is_made = decorator.decorator, False
    if isinstance(node, cst.Call):
        node, is_made = node.func, True
    outer = context.scopes.scope_of(decorator)
    value = outside(context).value(node) if context.is_part else trace_of(context, outer).value(node)
    maker = follow(context, value).node
    if not isinstance(maker, cst.FunctionDef):
        return False
    home = context.home(maker)
    if grad_mode_of(home.tree, maker) == Tri.NO:
        return True
    proper = _inner(home, maker) if is_made else (maker,)
    return any(_is_handing_on(home, each) for each in proper)


def _inner(context: Context, function: cst.FunctionDef) -> Iterator[cst.FunctionDef]:
    """The functions that a function defines."""
    for each in context.tree.within(function.body, cst.FunctionDef):
        if context.scopes.scope_of(each) is function:
            yield each


def _is_handing_on(context: Context, decorator: cst.FunctionDef) -> bool:
    """Whether a function returns what it is given, or a function that returns what that gives for its arguments."""
    given = {param.name.value for param in parameters(decorator)}
    inner = {each.name.value: each for each in _inner(context, decorator)}
    returned = _returned(context, decorator)
    if not returned or not all(isinstance(each, cst.Name) for each in returned):
        return False
    names = {each.value for each in returned if isinstance(each, cst.Name)}
    return names <= given | inner.keys() and all(
        _calls_only(context, inner[name], given) for name in names & inner.keys()
    )


def _calls_only(context: Context, wrapper: cst.FunctionDef, given: set[str]) -> bool:
    """Whether all that a function returns is what another one gives for the same arguments."""
    returned = _returned(context, wrapper)
    own = {param.name.value for param in parameters(wrapper)}
    results = set[str]()
    for assign in context.tree.within(wrapper.body, cst.Assign):
        match assign:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(name))], value=value):
                if _is_same_call(value, given, own):
                    results.add(name)
    once = {name for name in results if len(_bound(context, wrapper, name)) == 1}
    return bool(returned) and all(
        each is not None and (_is_same_call(each, given, own) or (isinstance(each, cst.Name) and each.value in once))
        for each in returned
    )


def _bound(context: Context, function: cst.FunctionDef, name: str) -> list[cst.BaseExpression]:
    """The places where an assignment in a function binds a name."""
    targets = [each.target for each in context.tree.within(function.body, cst.AssignTarget)]
    targets += [each.target for each in context.tree.within(function.body, cst.AugAssign)]
    return [each for each in targets if isinstance(each, cst.Name) and each.value == name]


def _is_same_call(node: cst.BaseExpression, given: set[str], own: set[str]) -> bool:
    """``f(*args, **kwargs)``, ``f(self, x)`` with the arguments of the wrapper."""
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Name) or node.func.value not in given - own:
        return False
    return all(isinstance(arg.value, cst.Name) and arg.value.value in own for arg in node.args)


def _returned(context: Context, function: cst.FunctionDef) -> list[cst.BaseExpression | None]:
    nodes = context.tree.within(function.body, cst.Return)
    return [each.value for each in nodes if context.scopes.scope_of(each) is function]
