"""Batches of a loader that a function is given, wherever it is called: ``for x, y in loader: self.step(x, y)``.

What comes out of a loop over a loader carries no graph by convention, so what it is handed to gets none, either.
"""

from __future__ import annotations

import sys

import libcst as cst

from torchlint.model import Kind, Model, Tri, Usage
from torchlint.model.aliasing.graph_writes import may_get_graph
from torchlint.model.bindings import bound_value, owner, unpacked_from
from torchlint.model.given_everywhere import are_calls_known, given_everywhere
from torchlint.model.interpret.loaders import is_part_of_batch
from torchlint.model.syntax import parameters
from torchlint.model.torch import library, writers
from torchlint.model.torch.grads import grad_of_inputs
from torchlint.model.torch.schema import TensorResult
from torchlint.rules.shared.lifetimes import OF_THE_OBJECT, is_bound
from torchlint.rules.shared.order import loop_of

_FAR = 4
"""How many names are gone back through."""
_LONG = 8
"""How many methods that are called one on the other are gone back through."""
_MANY = 24
"""A name with more uses is not followed."""
_Seen = frozenset[tuple[int, str]]
"""The names that are being asked about, each with the ``id`` of its function: what is made of one adds nothing."""


def is_given(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is a batch, or part of one, that all calls in the project give, and nobody writes to it."""
    return _is_given(node, model, frozenset())


def _is_given(node: cst.BaseExpression, model: Model, seen: _Seen) -> bool:
    name = _source(node, model)
    scope = model.scopes.scope_of(node)
    if name is None or not isinstance(scope, cst.FunctionDef) or model.ask(owner, name) is not scope:
        return False
    if not model.ask(are_calls_known, scope) or not model.remember(_is_kept, name.value, scope):
        return False
    return model.remember(_holds_batch, name.value, scope, _end(name, scope, model), seen)


def _is_kept(model: Model, name: str, scope: cst.FunctionDef) -> bool:
    """Whether nobody changes what a name of a function stands for, as far as that is seen."""
    uses = model.references(name, scope)
    if len(uses) > _MANY or model.scopes.rebinders(scope, name):
        return False
    return not any(_is_changed(use, model) for use in uses)


def _end(name: cst.Name, scope: cst.FunctionDef, model: Model) -> int:
    """The place behind which nothing that a name is bound to counts where it stands."""
    if not model.targets(name.value, scope) or loop_of(name, model) is not None:
        return sys.maxsize
    return model.tree.order(model.tree.statement(name))


def _source(node: cst.BaseExpression, model: Model) -> cst.Name | None:
    """``x`` of ``x[0].unsqueeze(0).cuda()``: what methods make of a name alone, or take out of it."""
    for _ in range(_LONG):
        match node:
            case cst.Name():
                return node
            case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(value=method)), args=args):
                if method in writers.TELLING or not all(_brings_no_graph(arg, method, model) for arg in args):
                    return None
                node = inner
            case cst.Subscript(value=inner) | cst.Attribute(value=inner, attr=cst.Name("data")):
                node = inner
            case _:
                break
    return None


def _brings_no_graph(argument: cst.Arg, method: str, model: Model) -> bool:
    """Whether an argument of a method is no tensor, and nothing unknown that may be one which is computed with."""
    value = model.value(argument.value)
    if argument.star or value.may_be_tensor:
        return False
    result = library.method(method)
    is_of_first = isinstance(result, TensorResult) and (result.grad in ("first", "never") or result.alias)
    return is_of_first or not isinstance(result, TensorResult) or grad_of_inputs([value]) == Tri.NO


def _holds_batch(model: Model, name: str, scope: cst.FunctionDef, end: int, seen: _Seen) -> bool:
    """Whether a name of a function stands for nothing but what it is given, or what is made of that, up to a place."""
    key = (id(scope), name)
    if len(seen) >= _FAR:
        return False
    targets = [use for use in model.targets(name, scope) if is_bound(use, model) and model.tree.order(use) < end]
    if not all(_is_bound_to_batch(use, model, seen | {key}) for use in targets):
        return False
    if not any(each.name.value == name for each in parameters(scope)):
        return bool(targets)
    given = () if key in seen else model.ask(given_everywhere, scope, name)
    return all(each is not None and _is_batch(each, model.home(each), seen | {key}) for each in given)


def _is_bound_to_batch(target: cst.Name, model: Model, seen: _Seen) -> bool:
    """Whether a name is assigned what is made of a name that stands for a batch, of itself perhaps."""
    made = bound_value(target, model.tree) or unpacked_from(target, model.tree)
    made = _unwrapped(made) if made is not None else None
    source = _source(made, model) if made is not None else None
    if made is None or source is None:
        return False
    return source.value == target.value or _is_given(made, model, seen)


def _is_changed(use: cst.Name, model: Model) -> bool:
    """Whether somebody writes to what a name stands for, or changes it beyond its elements."""
    parent = model.tree.parent(use)
    if is_bound(use, model):
        return isinstance(parent, (cst.AugAssign, cst.Del))
    if isinstance(parent, cst.Attribute) and (parent.attr.value in OF_THE_OBJECT or model.is_target(parent)):
        return True
    return model.is_target(use) or model.usage(use) is Usage.WRITTEN


def _unwrapped(node: cst.BaseExpression) -> cst.BaseExpression:
    """``x.cuda()`` of ``Variable(x.cuda())``."""
    match node:
        case cst.Call(func=cst.Name("Variable"), args=[cst.Arg(value=inner, star=""), *others]) if all(
            each.keyword is not None and each.keyword.value == "volatile" for each in others
        ):
            return inner
    return node


def _is_batch(node: cst.BaseExpression, home: Model, seen: _Seen) -> bool:
    """Whether an argument is a batch of a loader in whose loop it stands, or was given as one itself."""
    value = home.value(node)
    if value.kind & ~(Kind.TENSOR | Kind.UNKNOWN | Kind.CONTAINER) or not is_part_of_batch(value):
        return _is_given(node, home, seen)
    if value.grad != Tri.NO or home.ask(may_get_graph, node):
        return False
    name = _source(node, home)
    uses = home.references(name.value, home.scopes.scope_of(name)) if name is not None else []
    return 0 < len(uses) <= _MANY and not any(_is_changed(use, home) for use in uses)
