"""Tensors that a name or attribute has been bound to just before it is bound to their wrapper: nobody else has them.

Such a tensor has no graph yet, and none comes to the wrapper from it, nor to it from the wrapper.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import libcst as cst

from torchlint.model import Model, Tri, Usage
from torchlint.model.aliasing.here import only_metadata
from torchlint.model.bindings import owner
from torchlint.model.codebase.exports import is_mentioned
from torchlint.model.syntax import assignment_of, chain, parameters
from torchlint.model.torch import library
from torchlint.model.torch.schema import PlainResult, TensorResult, may_alias
from torchlint.rules.shared import identity, memory
from torchlint.rules.shared.captured import is_captured
from torchlint.rules.shared.lifetimes import wrapper_of
from torchlint.rules.shared.made_of_numbers import is_made_of_numbers
from torchlint.rules.shared.no_grad import small_statement
from torchlint.rules.shared.without_graph import stays_without_graph

_NEAR = 8
"""How many uses are gone back."""
_CALLS = 24
"""How many calls are looked at that run in between."""
_MANY = 40
"""An attribute with more uses is not followed."""
_SAME = memory.TRANSFERS | {"contiguous", "double", "float", "half", "int", "long"}
"""Methods that give a tensor itself, or a copy that has no other graph."""


def is_made_before(call: cst.Call, inner: cst.BaseExpression, model: Model) -> bool:
    """Whether what is wrapped replaces a new tensor that only its name has, as in ``x = zeros(n); x = Variable(x)``."""
    place = _before_own(inner, model)
    if not isinstance(place, (cst.Name, cst.Attribute)) or not _is_put_back(call, place, model):
        return False
    if place is not inner and (model.grad_enabled(call) == Tri.NO or _is_written(call, place, model)):
        return False  # a view that is made without autograd refuses to be written to
    uses = _uses(place, model)
    begun = _begun(call, place, uses, model) if uses else None
    if begun is None or (_is_shared(place, model) and not _is_undisturbed(begun, call, place, model)):
        return False
    return isinstance(place, cst.Name) or not model.ask(is_mentioned, rf"@{place.attr.value}\.setter\b")


def _before_own(node: cst.BaseExpression, model: Model) -> cst.BaseExpression:
    """``x`` of ``x.t().contiguous()``: what has the same elements, or shares them."""
    while isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        name = node.func.attr.value
        if not (name in _SAME or library.is_always_view(name)):
            break
        if any(arg.star or model.value(arg.value).may_be_tensor for arg in node.args):
            break
        node = node.func.value
    return node


def _is_written(call: cst.Call, place: cst.Name | cst.Attribute, model: Model) -> bool:
    """Whether anybody may write to what is put back, by an attribute of whatever object, too."""
    if isinstance(place, cst.Name):
        return model.usage(call) >= Usage.SAVED
    return model.remember(_is_attribute_written, place.attr.value)


def _is_attribute_written(model: Model, name: str) -> bool:
    used = model.tree.attributes(name)
    return len(used) > _MANY or any(_is_written_by(each, model) for each in used)


def _is_written_by(use: cst.Attribute, model: Model) -> bool:
    if model.is_target(use):
        return isinstance(model.tree.parent(use), (cst.Subscript, cst.AugAssign))
    return model.usage(use) > Usage.SAVED and not _is_wrapped_again(use, model)


def _is_wrapped_again(use: cst.Attribute, model: Model) -> bool:
    """Whether an attribute is only read to be put back with a wrapper."""
    whole: cst.CSTNode = use
    for name, outer in chain(use, model.tree):
        if not (name in _SAME or library.is_always_view(name)):
            return False
        whole = outer
    call = wrapper_of(whole, model)
    return call is not None and _is_put_back(call, use, model)


def is_put_back_as_it_is(call: cst.Call, inner: cst.BaseExpression, model: Model) -> bool:
    """Whether an attribute is assigned nothing but the wrapper of itself."""
    if not isinstance(inner, cst.Attribute) or not isinstance(model.tree.parent(call), cst.Assign):
        return False
    return _is_put_back(call, inner, model) and is_made_before(call, inner, model)


def _is_put_back(call: cst.Call, place: cst.Name | cst.Attribute, model: Model) -> bool:
    """Whether what wraps a name, or an attribute of `self`, is plainly assigned to it, brought to a device perhaps."""
    whole: cst.CSTNode = call
    for name, outer in chain(call, model.tree):
        if name not in _SAME:
            return False
        whole = outer
    match model.tree.parent(whole):
        case cst.Assign(targets=[cst.AssignTarget(target=target)]):
            return _is_same_place(target, place)
    return False


def _is_same_place(one: cst.CSTNode, other: cst.CSTNode) -> bool:
    match one, other:
        case cst.Name(value=name), cst.Name(value=same):
            return name == same
        case (
            cst.Attribute(value=cst.Name(value=own), attr=cst.Name(value=name)),
            cst.Attribute(value=cst.Name(value=same_own), attr=cst.Name(value=same)),
        ):
            return (own, name) == (same_own, same)
    return False


def _uses(place: cst.Name | cst.Attribute, model: Model) -> Sequence[cst.BaseExpression]:
    """Where a name or attribute occurs in its function; nothing where it may be more than a place for a tensor."""
    scope = model.scopes.scope_of(place)
    if isinstance(place, cst.Name):
        return model.references(place.value, scope) if model.ask(owner, place) is scope else ()
    cls = model.tree.enclosing(place, cst.ClassDef)
    if (
        not isinstance(scope, cst.FunctionDef)
        or not isinstance(cls, cst.ClassDef)
        or not isinstance(place.value, cst.Name)
    ):
        return ()
    own, name = next((each.name.value for each in parameters(scope)), None), place.attr.value
    if own != place.value.value or model.targets(own, scope) or model.scopes.info(cls).by_node.get(id(scope)) is None:
        return ()
    if model.find_method(cls, name) is not None or model.remember(_is_set_otherwise) or _is_of_class(name, model):
        return ()
    return model.tree.attributes(name, scope)


_SETTING = r"\b__(?:setattr|set|getattribute)__\b|\bproperty\s*\("


def _is_set_otherwise(model: Model) -> bool:
    """Whether a class of the project has a way of its own to set attributes."""
    return model.ask(is_mentioned, _SETTING)


def _is_of_class(name: str, model: Model) -> bool:
    """Whether the body of a class binds a name: to a property, perhaps."""
    return name in model.remember(_of_classes)


def _of_classes(model: Model) -> frozenset[str]:
    names = set[str]()
    for cls in model.tree.all(cst.ClassDef):
        lines = (line for line in cls.body.body if isinstance(line, cst.SimpleStatementLine))
        for small in (small for line in lines for small in line.body):
            match small:
                case cst.Assign(targets=targets):
                    names.update(each.target.value for each in targets if isinstance(each.target, cst.Name))
                case cst.AnnAssign(target=cst.Name(value=name)):
                    names.add(name)
    return frozenset(names)


def _begun(
    call: cst.Call, place: cst.Name | cst.Attribute, uses: Sequence[cst.BaseExpression], model: Model
) -> cst.CSTNode | None:
    """The statement since which a place has a new tensor, or what is made of it alone, when it comes to be wrapped."""
    tree, small = model.tree, small_statement(call, model)
    if small is None:
        return None
    suite, filled = tree.parent(tree.statement(call)), set[int]()
    last = bisect_left(uses, tree.order(small), key=tree.order)
    for use in reversed(uses[max(0, last - _NEAR) : last]):
        if model.scopes.scope_of(use) is not model.scopes.scope_of(call):
            return None
        if _is_own_step(use, model) or model.ask(only_metadata, use):
            continue
        assign = assignment_of(use, tree)
        if assign is None or len(assign.targets) != 1 or not _is_made(assign.value, model):
            return None
        if _is_view(assign.value, model) and _is_written(call, place, model):
            return None
        around = tree.parent(tree.statement(use))
        if around is suite:
            return small_statement(use, model)
        filled.add(id(around))
        choice = tree.parent(around) if around is not None else None
        if _is_filled(choice, filled) and choice is not None and tree.parent(choice) is suite:
            return choice
    return None


def _is_filled(choice: cst.CSTNode | None, filled: set[int]) -> bool:
    """Whether both arms of a branching make a tensor."""
    match choice:
        case cst.If(body=body, orelse=cst.Else(body=other)):
            return id(body) in filled and id(other) in filled
    return False


def _is_own_step(use: cst.BaseExpression, model: Model) -> bool:
    """Whether a place is assigned the same tensor, or a copy, or is read for that: ``x = x.cuda()``."""
    assign = model.tree.enclosing(use, cst.Assign)
    if not isinstance(assign, cst.Assign) or len(assign.targets) != 1:
        return False
    target, made = assign.targets[0].target, assign.value
    while isinstance(made, cst.Call) and isinstance(made.func, cst.Attribute) and made.func.attr.value in _SAME:
        if any(arg.star or model.value(arg.value).may_be_tensor for arg in made.args):
            return False
        made = made.func.value
    return use in (target, made) and made is not assign.value and _is_same_place(target, made)


def _is_made(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression makes a tensor that nobody else has, and that has no graph."""
    if isinstance(node, cst.Call) and model.qualified(node.func) == "torch.from_numpy":
        return stays_without_graph(node, model)
    if is_made_of_numbers(node, model):
        return True
    return identity.is_fresh(node, model) and (memory.is_new(node, model) or model.grad_enabled(node) != Tri.NO)


def _is_view(node: cst.BaseExpression, model: Model) -> bool:
    """Whether what is made may be a view of another new tensor: made without autograd, it refuses to be written to."""
    if not isinstance(node, cst.Call):
        return False
    ref = model.qualified(node.func)
    if ref is not None:
        result = library.function(ref)
        return library.class_kind(ref) != "tensor" and (not isinstance(result, TensorResult) or may_alias(result))
    if not isinstance(node.func, cst.Attribute):
        return True
    result = library.method(node.func.attr.value)
    if not isinstance(result, TensorResult) or (may_alias(result) and not (result.same and result.copy)):
        return True
    return may_alias(result) and _is_view(node.func.value, model)


def _is_shared(place: cst.Name | cst.Attribute, model: Model) -> bool:
    """Whether others than the lines of its own function can read a place."""
    scope = model.scopes.scope_of(place)
    if isinstance(place, cst.Attribute) or isinstance(scope, cst.Module):
        return True
    return model.remember(is_captured, place.value, scope)


def _is_undisturbed(begun: cst.CSTNode, call: cst.Call, place: cst.Name | cst.Attribute, model: Model) -> bool:
    """Whether nothing of the project runs between a statement and a call, and none of it gets the object."""
    tree = model.tree
    first = tree.order(begun) if isinstance(begun, cst.If) else tree.last_below(begun)
    last = tree.order(small_statement(call, model) or call)
    calls = tree.all(cst.Call)
    at, end = (bisect_left(calls, rank, key=tree.order) for rank in (first + 1, last))
    if end - at > _CALLS or not all(_is_of_library(each, model) for each in calls[at:end]):
        return False
    for kind in (cst.Yield, cst.Await):
        nodes = tree.all(kind)
        found = bisect_left(nodes, first, key=tree.order)
        if found < len(nodes) and tree.order(nodes[found]) < tree.order(call):
            return False
    if not isinstance(place, cst.Attribute) or not isinstance(place.value, cst.Name):
        return True
    hidden = tree.attributes("__dict__")
    if any(first < tree.order(each) < tree.order(call) for each in hidden[: _CALLS + 1]) or len(hidden) > _CALLS:
        return False
    own = tree.names(place.value.value, model.scopes.scope_of(place))
    at, end = (bisect_left(own, rank, key=tree.order) for rank in (first + 1, last))
    return end - at <= _CALLS and all(isinstance(tree.parent(each), cst.Attribute) for each in own[at:end])


_CALLING = ("apply", "vectorize", "piecewise", "from")
"""Parts of the names of functions of numpy that call what they are given."""
_CLASSES = ("tensor", "module", "size", "device")
_PLAIN = ("builtins.int", "builtins.float", "builtins.len", "builtins.range", "builtins.type", "builtins.round")


def _is_of_library(call: cst.Call, model: Model) -> bool:
    """Whether a call runs no code of the project: a function of torch, or a method of a tensor."""
    ref = model.qualified(call.func) or ""
    if ref in _PLAIN or ref.startswith("math."):
        return True
    if ref.startswith("numpy."):
        return not any(part in ref for part in _CALLING)
    if ref.startswith("torch."):
        is_plain = isinstance(library.function(ref), (TensorResult, PlainResult))
        return (is_plain and not ref.startswith("torch.autograd.")) or library.class_kind(ref) in _CLASSES
    if not isinstance(call.func, cst.Attribute):
        return False
    return model.is_tensor(call.func.value) and library.method(call.func.attr.value) is not None
