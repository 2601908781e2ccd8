"""What may give a graph to a tensor that has been made without one, by another name than its own.

The interpreter follows names and attributes through what is assigned. A graph also comes to a tensor where one is
written to memory that it shares (``part = total[0]; part += loss``, ``self.sums[i] += loss`` in another method), and it
requires grad once it is told to by whatever holds it (``for p in self.params: p.requires_grad_()``).
"""

from __future__ import annotations

import enum
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from torchlint.file.tree.nodes import children
from torchlint.model.aliasing import by_name, kept_results, related
from torchlint.model.aliasing.calls import LIKE_METHODS
from torchlint.model.aliasing.how import How
from torchlint.model.aliasing.origins import bound_to_target
from torchlint.model.aliasing.put_in import handed_to, may_carry, put_in, registered
from torchlint.model.aliasing.uses import Follower
from torchlint.model.bindings import all_called, own_references
from torchlint.model.codebase.exports import setter
from torchlint.model.definitions import is_ours
from torchlint.model.expressions import qualified, value_of
from torchlint.model.imports import imported_path
from torchlint.model.interpret.loaders import is_part_of_batch
from torchlint.model.possibilities import Dtype, Kind, Tri
from torchlint.model.scopes import target_names
from torchlint.model.syntax import bound_name, is_target, last_name, parameters
from torchlint.model.torch import library
from torchlint.model.torch.schema import TensorResult
from torchlint.model.values import Usage

if TYPE_CHECKING:
    from torchlint.model.context import Context

_FOLLOWING = ("follow", "first")
_HOW = How(through_data=False, for_graph=True)
_CUTTING = frozenset(
    (
        *("data", "detach", "shape", "dtype", "device", "ndim", "size", "dim", "numel", "item", "tolist", "numpy"),
        *("requires_grad", "grad_fn", "is_leaf", "argmax", "argmin", "new_zeros", "new_ones", "new_full", "new_empty"),
    )
)
"""Attributes and methods whose results have no graph of the tensor."""


_WITH_NAMES = (
    *(cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp),
    *(cst.ClassDef, cst.FunctionDef, cst.Lambda),
)
"""What has names of its own."""


class Way(enum.Enum):
    """How something is come to, and so what of it the interpreter has followed, in its order."""

    START = enum.auto()
    """It is what is asked about, in its own scope: what the name itself is bound to, and what is written by it."""
    LATER = enum.auto()
    """The same, of what lives on by another name: what is written by the name itself may come when that is done."""
    BOUND = enum.auto()
    """It is what that is bound to in the same scope: only what it is bound to."""
    FOREIGN = enum.auto()
    """It is in another scope, or a part of something: nothing."""


_AT_FIRST = (Way.START, Way.LATER)
_HolderKey = tuple[int, int, str, Way, tuple[int, int]]
_ANYWHERE = (0, sys.maxsize)
"""All of a file."""


class _Holder(NamedTuple):
    """Something that holds tensors: a name in a scope, an attribute of whatever object, what a function gives back."""

    home: Context
    name: str
    scope: cst.FunctionDef | cst.Module | cst.ClassDef | None = None
    """Where a name is bound; the function whose results are meant if the name is empty; whose object has it."""
    way: Way = Way.FOREIGN
    part: tuple[int, int] = _ANYWHERE
    """The part of the file outside of which the name stands for something else, by its first and last place."""

    @property
    def key(self) -> _HolderKey:
        """What tells it from others."""
        return id(self.home), id(self.scope), self.name, self.way, self.part


def may_get_graph(context: Context, node: cst.BaseExpression) -> bool:
    """Whether what an expression is made of may be given a graph, wherever in the file, by whatever name.

    It is gone back from there through all that names and attributes are bound to. If nothing is found, that is known of
    all holders on the way from then on.
    """
    return _is_found(context, node, Way.START)


def may_get_graph_later(context: Context, node: cst.BaseExpression) -> bool:
    """The same of what lives on by another name: a graph that the interpreter sees come later counts as well."""
    return _is_found(context, node, Way.LATER)


def _is_found(context: Context, node: cst.BaseExpression, way: Way) -> bool:
    if value_of(context, node).is_tensor and not value_of(context, node).dtype & Dtype.FLOAT:
        return False
    waiting = list(_holders(context, node, way))
    asked: dict[_HolderKey, _Holder] = {}
    while waiting:
        holder = waiting.pop()
        if holder.key in asked:
            continue
        known = holder.home.remember(_known)
        if holder.key not in known and _is_given(holder):
            known[holder.key] = True
        if known.get(holder.key):
            return True
        if holder.key not in known:
            asked[holder.key] = holder
            waiting += _others(holder)
    for holder in asked.values():
        holder.home.remember(_known)[holder.key] = False
    return False


def _known(context: Context) -> dict[_HolderKey, bool]:
    """Of which holders it is known whether they are given a graph."""
    return {}


def _holders(context: Context, expression: cst.BaseExpression, way: Way) -> Iterator[_Holder]:
    """Where the tensors of floats come from that an expression is made of."""
    for node in _made_of(context, expression):
        match node:
            case cst.Name(value=name):
                scope = _scope_of(context, node)
                if scope is not context.scopes.scope_of(node):
                    way = Way.FOREIGN
                part = _one_batch(context, node) if way in _AT_FIRST else _ANYWHERE
                yield _Holder(context, name, scope, way, part)
            case cst.Attribute(value=owner, attr=cst.Name(value=name)):
                yield _Holder(context, name, None)
                if not value_of(context, owner).kind & Kind.TENSOR:
                    yield from _of_object(context, owner, name)
            case cst.Call(func=func):
                function = value_of(context, func).node
                if isinstance(function, cst.FunctionDef):
                    yield _Holder(context.home(function), "", function)
                    if kept_results.gives_kept(context, function):
                        yield _Holder(context, f"{last_name(func)}()")


def _of_object(context: Context, owner: cst.BaseExpression, name: str) -> Iterator[_Holder]:
    """An attribute as other files write it: of whatever object, and those of the classes that this one may be of."""
    cls = value_of(context, owner).node
    if not isinstance(cls, cst.ClassDef):
        yield _Holder(context, f".{name}", context.tree.module if _is_global(context, owner, name) else None)
        return
    yield _Holder(context, f".{name}", cls)
    yield from (_Holder(home, name) for home in context.remember(related.homes_writing, cls, name))


def _is_global(context: Context, owner: cst.BaseExpression, name: str) -> bool:
    """Whether an attribute is a global of another file: ``settings.scale``."""
    module = imported_path(context, owner)
    if module is None or not is_ours(module):
        return False
    found = context.codebase.definition(f"{module}.{name}", context)
    return found is not None and not found[2]


def _one_batch(context: Context, name: cst.Name) -> tuple[int, int]:
    """The part of the file in which a name stands for the batch of a loader that it stands for where it is read.

    It ends with the assignment that the name stands in, if that replaces the batch by it, and begins with the loop.
    """
    assign = context.tree.enclosing(name, cst.Assign)
    if not isinstance(assign, cst.Assign) or not _is_of_batch(context, name):
        return _ANYWHERE
    bound = {each for target in assign.targets for each in target_names(target.target)}
    if name.value not in bound:
        return _ANYWHERE
    loop = context.tree.enclosing(name, cst.For, cst.While, cst.FunctionDef)
    is_begun = isinstance(loop, cst.For) and name.value in target_names(loop.target)
    return context.tree.order(loop) if loop is not None and is_begun else 0, context.tree.order(assign)


def _is_given(holder: _Holder) -> bool:
    """Whether a graph is written to what a holder has, or it is told there to require grad."""
    context, name, scope, way, (first, last) = holder
    if name.startswith("."):
        if scope is context.tree.module or setter(context, name[1:]) is not None:
            return True  # what another file does with its globals is not looked at
        if isinstance(scope, cst.ClassDef):
            return by_name.is_given(context, name[1:], scope)
        return by_name.is_given_to_any(context, name[1:])
    if name.endswith("()"):
        return kept_results.is_result_written(context, name[:-2])
    uses = [use for use in _uses(holder) if first <= context.tree.order(use) < last]
    if scope is context.tree.module and name in context.remember(_taken_from_others):
        return True  # what its own file does with it is not looked at
    written = (use for use in uses if way is not Way.START or not _is_plain_write(context, use, scope))
    if any(Follower(context, _HOW).of_use(use) is Usage.WRITTEN for use in written):
        return True
    is_foreign = way is Way.FOREIGN
    others = (use for use in uses if is_foreign or context.scopes.scope_of(use) is not scope or _is_aside(context, use))
    given = (value for use in others if not _is_of_batch(context, use) for value in put_in(context, use))
    if any(may_carry(context, value) for value in given):
        return True
    return scope is None and any(may_carry(context, value) for value in registered(context, name))


def _is_aside(context: Context, use: cst.BaseExpression) -> bool:
    """Whether a name of a scope is bound where it has others of its own: in a comprehension, in the body of a class."""
    if not is_target(context.tree, use):
        return False
    around = context.tree.enclosing(use, *_WITH_NAMES)
    if isinstance(around, cst.ClassDef):
        return any(_lists(each, use) for each in context.tree.within(around.body, cst.Global))
    is_comprehension = around is not None and not isinstance(around, (cst.FunctionDef, cst.Lambda))
    return is_comprehension and isinstance(context.tree.parent(use), cst.NamedExpr)


def _lists(node: cst.Global, use: cst.BaseExpression) -> bool:
    return isinstance(use, cst.Name) and any(item.name.value == use.value for item in node.names)


def _taken_from_others(context: Context) -> frozenset[str]:
    """The names that a file takes out of other ones."""
    names = (each.names for each in context.tree.all(cst.ImportFrom))
    return frozenset(bound_name(alias) for each in names if not isinstance(each, cst.ImportStar) for alias in each)


def _uses(holder: _Holder) -> Sequence[cst.BaseExpression]:
    context, name, scope, *_ = holder
    if scope is None:
        return all_called(context, name) if context.is_checked else related.attributes_called(context, name)
    return own_references(context, name, scope) if name and not isinstance(scope, cst.ClassDef) else ()


def _is_of_batch(context: Context, node: cst.BaseExpression) -> bool:
    """Whether a loader gives it: it is another one in each round, unless that is what holds it."""
    return not isinstance(node, cst.Attribute) and is_part_of_batch(value_of(context, node))


def _others(holder: _Holder) -> Iterator[_Holder]:
    """What else holds the tensors of a holder: what it is bound to, and for containers what they are given to."""
    context, name, scope, way, _ = holder
    if name.startswith(".") or name.endswith("()"):
        return
    if scope is not None and not name:
        returned = (each.value for each in context.tree.within(scope, cst.Return) if each.value is not None)
        yield from (each for value in returned for each in _holders(context, value, Way.FOREIGN))
        return
    further = Way.BOUND if way is Way.START else way
    for use in _uses(holder):
        if is_target(context.tree, use):
            if not _is_of_batch(context, use):
                yield from (
                    each for value in bound_to_target(context, use) for each in _holders(context, value, further)
                )
        elif value_of(context, use).kind == Kind.CONTAINER:
            yield from (_Holder(*parameter) for parameter in handed_to(context, use))
            match context.tree.parent(use):
                case cst.Assign(targets=[cst.AssignTarget(target=cst.Name() | cst.Attribute() as other)]):
                    yield from _holders(context, other, Way.FOREIGN)


def _scope_of(context: Context, node: cst.Name) -> cst.FunctionDef | cst.Module:
    """The scope that a name is bound in."""
    scope = context.scopes.scope_of(node)
    while isinstance(scope, cst.FunctionDef):
        kinds = {type(each) for each in context.remember(_declared, scope).get(node.value, ())}
        if cst.Global in kinds:
            return context.tree.module
        is_parameter = any(each.name.value == node.value for each in parameters(scope))
        if cst.Nonlocal not in kinds and (is_parameter or node.value in context.scopes.locals_of(scope)):
            return scope
        scope = context.scopes.scope_of(scope)
    return context.tree.module


def _declared(context: Context, scope: cst.FunctionDef) -> dict[str, list[cst.Global | cst.Nonlocal]]:
    """The names that a function declares to be those of others."""
    found: dict[str, list[cst.Global | cst.Nonlocal]] = {}
    declared: list[cst.Global | cst.Nonlocal] = [*context.tree.within(scope.body, cst.Global)]
    for each in (*declared, *context.tree.within(scope.body, cst.Nonlocal)):
        if context.scopes.scope_of(each) is scope:
            for item in each.names:
                found.setdefault(item.name.value, []).append(each)
    return found


def _is_plain_write(context: Context, name: cst.BaseExpression, scope: cst.CSTNode | None) -> bool:
    """Whether a name is written by itself where it is bound, which the interpreter follows in its order."""
    if context.scopes.scope_of(name) is not scope:
        return False
    parent = context.tree.parent(name)
    match parent:
        case cst.AugAssign(target=target):
            return target is name
        case cst.Subscript(value=inner):
            return inner is name and isinstance(context.tree.parent(parent), cst.AssignTarget)
        case cst.Attribute(attr=cst.Name("requires_grad")):
            return is_target(context.tree, parent)
        case cst.Attribute(attr=cst.Name(value=method)):
            call = context.tree.parent(parent)
            return isinstance(call, cst.Call) and call.func is parent and method.endswith("_")
    return False


def _made_of(context: Context, expression: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """The names, attributes and calls that bring a tensor of floats into an expression."""
    waiting: list[cst.CSTNode] = [expression]
    while waiting:
        node = waiting.pop()
        match node:
            case cst.Name() if _carries(context, node):
                yield node
            case cst.Attribute(value=inner, attr=cst.Name(value=name)):
                if name not in _CUTTING and _carries(context, node):
                    yield node
                    waiting.append(inner)
            case cst.Call(func=func, args=args):
                if isinstance(func, cst.Attribute):
                    if func.attr.value in _CUTTING:
                        continue
                    waiting.append(func.value)
                    if func.attr.value in LIKE_METHODS:
                        continue
                yield node
                waiting += [arg.value for arg in args] if not _is_made_anew(context, func) else ()
            case cst.Comparison() | cst.BaseNumber() | cst.BaseString() | cst.Lambda():
                continue
            case cst.Subscript(value=inner):
                waiting.append(inner)
            case _:
                waiting += children(node)


def _is_made_anew(context: Context, func: cst.BaseExpression) -> bool:
    """Whether what a function of torch gives has no graph of anything that it is given: ``torch.zeros``."""
    ref = qualified(context, func) or ""
    result = library.function(ref)
    return library.class_kind(ref) == "tensor" or (isinstance(result, TensorResult) and result.grad not in _FOLLOWING)


def _carries(context: Context, node: cst.BaseExpression) -> bool:
    """Whether something is a tensor of floats that is taken to have no graph, or holds such."""
    value = value_of(context, node)
    if value.kind & Kind.TENSOR:
        return value.grad == Tri.NO and bool(value.dtype & Dtype.FLOAT)
    return bool(value.kind & Kind.CONTAINER) or (value.grad == Tri.NO and is_part_of_batch(value))
