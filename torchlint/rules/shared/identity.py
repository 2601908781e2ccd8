"""Whether a program can tell one tensor object from another one that shares its memory.

They have neither flags nor hooks nor an identity in common.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import libcst as cst

from torchlint.model import Dtype, Kind, Model, Role, Tri, Usage
from torchlint.model.aliasing.graph_writes import may_get_graph_later
from torchlint.model.aliasing.here import only_metadata, usage_of_object, usage_of_object_here
from torchlint.model.bindings import bound_value, own_references
from torchlint.model.interpret.loaders import is_from_loader
from torchlint.model.overriding import always
from torchlint.model.syntax import call_of, calls_method, last_name
from torchlint.model.torch import library, writers
from torchlint.model.torch.schema import TensorResult, may_alias
from torchlint.rules.shared import compared, given_batches, kept_memory, lifetimes, memory
from torchlint.rules.shared.lambdas import is_given_to_lambda
from torchlint.rules.shared.lifetimes import (
    OF_THE_OBJECT,
    comes_first,
    follows,
    is_bound,
    is_bound_to_array,
    is_bound_to_itself,
    is_bound_to_new,
    is_bound_to_own,
    is_given,
    is_kept_here,
    is_last_use,
    rebinds,
)
from torchlint.rules.shared.order import are_exclusive
from torchlint.rules.shared.without_graph import stays_without_graph


def may_be_one(call: cst.BaseExpression, inner: cst.BaseExpression, model: Model) -> bool:
    """Whether nothing can tell the wrapped tensor from the wrapper.

    They share memory and version counter, but neither shape nor flags nor graph.
    """
    if is_fresh(inner, model) or _is_new_view_of_integers(inner, model):
        return True
    if is_changed(inner, model) or model.remember(compared.are_asked_about):
        return False
    if _is_of_integers(inner, model) and not are_changed(model):
        return True
    if are_changed(model) and not _is_replaced_batch(call, inner, model) and not _stays(inner, model):
        return False
    if model.ask(usage_of_object_here, call) <= Usage.SAVED:
        return True
    if is_given_to_lambda(inner, model):
        return False  # a gradient that a hook keeps becomes `.grad` itself, unless autograd finds another tensor there
    is_replaced = isinstance(inner, cst.Name) and rebinds(call, inner, model)
    if not is_replaced and not memory.is_used_up(call, model) and model.ask(may_get_graph_later, inner):
        return False
    usage = model.ask(usage_of_object, call)
    if usage is Usage.WRITTEN or _is_of_batch(inner, model):
        return usage is not Usage.WRITTEN
    if not isinstance(inner, cst.Name):
        return usage <= Usage.SAVED
    scope = model.scopes.scope_of(inner)
    uses, written = model.remember(_uses, inner.value, scope)
    if _has_others(written, inner):
        return False
    if usage <= Usage.SAVED:
        return True
    # who gets it may change it: what an attribute, a list or another name holds is still there
    is_own = not is_given(inner, model) and model.remember(_is_own_object, inner.value, scope)
    return is_own and not _is_read_elsewhere(uses, call, inner, model)


def _is_new_view_of_integers(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression makes a tensor that nothing else refers to, and that no write can give a graph."""
    return _is_of_integers(node, model) and _is_view(node, model)


def _is_of_integers(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is a tensor of integers or booleans, which no write can give a graph."""
    value = model.value(node)
    return value.is_tensor and not value.is_parameter and not value.dtype & Dtype.FLOAT


def _is_view(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression makes a tensor object of its own that may share the memory of another one."""
    match node:
        case cst.Subscript(value=base, slice=indices):
            is_cut = len(indices) > 1 and any(isinstance(each.slice, cst.Slice) for each in indices)  # no list is
            return is_cut or model.is_tensor(base)
        case cst.Call(func=cst.Attribute(value=base, attr=cst.Name(value=name))) if model.is_tensor(base):
            result = library.method(name)
            return isinstance(result, TensorResult) and not (result.is_input or result.same)
    return False


def _is_of_batch(node: cst.BaseExpression, model: Model) -> bool:
    """Whether a tensor is a batch of a loader, or what methods make of one: ``x.unsqueeze(0).cuda()``."""
    if given_batches.is_given(node, model):
        return True
    while not is_from_loader(model.value(node)):
        if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
            return False
        if any(model.value(arg.value).may_be_tensor for arg in node.args):
            return False
        node = node.func.value
    return True


def _is_replaced_batch(call: cst.BaseExpression, inner: cst.BaseExpression, model: Model) -> bool:
    """Whether what a loader gave is replaced by its wrapper: ``x = Variable(x)``. By convention nobody else has it."""
    return isinstance(inner, cst.Name) and is_from_loader(model.value(inner)) and rebinds(call, inner, model)


def _has_others(ids: frozenset[int], node: cst.CSTNode) -> bool:
    """Whether there is more in a set of ``id`` than that of a node. It may be large, so nothing is made of it."""
    return len(ids) > (id(node) in ids)


def _is_read_elsewhere(uses: Sequence[cst.Name], call: cst.BaseExpression, inner: cst.Name, model: Model) -> bool:
    """Whether the name has another use than this one; of the uses, the first two are asked."""
    other = next((use for use in uses if use is not inner), None)
    if other is None:
        return False
    # what comes behind `x = Variable(x)` is about the wrapper
    return not rebinds(call, inner, model) or not follows(other, call, model)


def _stays(node: cst.BaseExpression, model: Model) -> bool:
    """Whether the tensors in an expression are of this function alone, which changes none of them."""
    if kept_memory.is_of_others(node, model):
        return False
    names = [name for name in model.tree.within(node, cst.Name) if model.value(name).may_be_tensor]
    return all(
        (is_from_loader(model.value(name)) or _is_of_its_own(name, model))
        and model.remember(_is_kept, name.value, model.scopes.scope_of(name))
        for name in names
    )


def _is_kept(model: Model, name: str, scope: cst.FunctionDef | cst.Module) -> bool:
    """Whether what a name stands for is neither changed nor given away."""
    uses = (node for node in model.references(name, scope) if not model.is_target(node))
    return isinstance(scope, cst.FunctionDef) and all(model.usage(use) <= Usage.SAVED for use in uses)


def _uses(model: Model, name: str, scope: cst.FunctionDef | cst.Module) -> tuple[tuple[cst.Name, ...], frozenset[int]]:
    """Where what a name stands for is first read beyond its metadata, twice, and where it is written to, by ``id``."""
    uses = [node for node in model.ask(own_references, name, scope) if not model.is_target(node)]
    read = (node for node in uses if not model.ask(only_metadata, node) and not rebinds(node, node, model))
    written = (node for node in uses if model.usage(node) is Usage.WRITTEN)
    return tuple(islice(read, 2)), frozenset(map(id, written))


WITH_GRAPH = frozenset(("retain_grad", "register_hook", "register_post_accumulate_grad_hook"))
"""Others of that kind, which raise where a tensor does not require grad: so none has been called where it is known."""


def are_told_apart(model: Model) -> bool:
    """Whether anything in the file changes a tensor that is no parameter, beyond its elements, or asks which it is."""
    return are_changed(model) or model.remember(compared.are_asked_about)


def are_changed(model: Model, *, but: frozenset[str] = frozenset()) -> bool:
    """Whether anything in the file but some methods changes a tensor that is no parameter, beyond its elements."""
    return model.remember(_are_changed, but)


def _are_changed(model: Model, but: frozenset[str]) -> bool:
    """Whether flags, hooks or attributes of a tensor are set that is no parameter: what is asked about is none."""
    named = (node for node in model.tree.all(cst.Attribute) if node.attr.value in OF_THE_OBJECT - but)
    changing = (node for node in named if not model.value(node.value).is_parameter)
    if not all(_is_view_of_data(node, model) or _is_of_its_own(node.value, model) for node in changing):
        return True
    return not all(_is_of_its_own(owner, model) for owner in model.remember(_with_assigned_attributes))


def may_get_graph(model: Model) -> bool:
    """Whether a tensor of the file may be asked to require grad, or be given an attribute by its name as a text."""
    return model.remember(_may_get_graph)


def _may_get_graph(model: Model) -> bool:
    if any(model.tree.names(name) for name in ("setattr", "__setattr__", "requires_grad_")):
        return True
    return any(model.is_target(node) for node in model.tree.attributes("requires_grad"))


def _is_view_of_data(node: cst.Attribute, model: Model) -> bool:
    """Whether only the shape of what `.data` gives is changed, as by ``x.data.squeeze_()``: it stays another tensor."""
    match node:
        case cst.Attribute(value=cst.Attribute(value=owner, attr=cst.Name("data")), attr=cst.Name(value=name)):
            return name in writers.OF_THE_VIEW and model.is_tensor(owner)
    return False


def _with_assigned_attributes(model: Model) -> tuple[cst.BaseExpression, ...]:
    """The tensors, parameters left out, of which an attribute is assigned."""
    targets = (assigned.target for assigned in model.tree.all(cst.AssignTarget))
    attributes = [target for target in targets if isinstance(target, cst.Attribute)]
    return tuple(target.value for target in attributes if _is_attribute_of_tensor(target, model))


def _is_attribute_of_tensor(target: cst.Attribute, model: Model) -> bool:
    value, name = model.value(target.value), target.attr.value
    if value.is_parameter or (last_name(target.value) in ("weight", "bias") and name == "data"):
        return False
    is_told = value.kind & Kind.UNKNOWN and name in ("data", "grad", "requires_grad")
    return bool(value.kind & Kind.TENSOR or is_told)


def _is_of_its_own(node: cst.BaseExpression, model: Model) -> bool:
    """Whether a tensor that is changed is a new one, so that only what is made of its name can be the same."""
    match node:
        case cst.Name():
            pass
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value=name))) if memory.is_inplace(name):
            return _is_of_its_own(owner, model)
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=name))) if name == "detach" or name.startswith("new"):
            return True
        case cst.Subscript(value=base) if model.is_tensor(base) or (
            isinstance(base, cst.Call) and memory.gives_two(base, model)
        ):
            return True
        case _:
            return memory.is_new(node, model)
    scope = model.scopes.scope_of(node)
    if not isinstance(scope, cst.FunctionDef) or is_given(node, model):
        return False
    return model.remember(_is_own_name, node.value, scope)


def _is_own_name(model: Model, name: str, scope: cst.FunctionDef | cst.Module) -> bool:
    """Whether a name is bound to nothing but new tensors."""
    bound = model.targets(name, scope)
    return bool(bound) and all(is_bound_to_new(target, model) for target in bound)


def _is_own_object(model: Model, name: str, scope: cst.FunctionDef | cst.Module) -> bool:
    """Whether a name is bound to nothing but new tensors, new views of one, and what methods make of itself."""
    bound = [target for target in model.targets(name, scope) if is_bound(target, model)]
    ways = is_bound_to_new, is_bound_to_itself, is_bound_to_array, _is_bound_to_view
    return bool(bound) and all(any(way(target, model) for way in ways) for target in bound)


def _is_bound_to_view(target: cst.Name, model: Model) -> bool:
    """Whether a name is plainly assigned a view of a tensor, of which a wrapper would be one, too.

    One that is made without autograd refuses to be written to, and its wrapper does not.
    """
    made = bound_value(target, model.tree)
    return made is not None and _is_view(made, model) and model.grad_enabled(target) != Tri.NO


def is_replaced(call: cst.Call, inner: cst.BaseExpression, model: Model) -> bool:
    """Whether a name of a new tensor is assigned what wraps it, a copy or a view, and nobody else has the tensor."""
    inner = memory.before_views(inner, model)
    if not isinstance(inner, cst.Name) or not rebinds(call, inner, model) or is_given(inner, model):
        return False
    value = model.value(inner)
    if not value.is_tensor or model.remember(compared.are_asked_about) or not stays_without_graph(inner, model):
        return False
    if _is_made_before(call, inner, model):
        return True
    scope, statement = model.scopes.scope_of(inner), model.tree.statement(call)
    targets = model.targets(inner.value, scope)
    loop = model.tree.enclosing(call, cst.For, cst.While, cst.FunctionDef)
    if isinstance(loop, (cst.For, cst.While)) and not any(
        model.tree.is_inside(each, loop) and is_bound_to_own(each, model) for each in targets
    ):
        return False  # in the next round, others may have it
    if not all(
        model.tree.statement(each) is statement or is_bound_to_own(each, model) or is_bound_to_itself(each, model)
        for each in targets
    ):
        return False
    uses = model.references(inner.value, scope)
    before = (use for use in uses if not model.is_target(use) and use is not inner and not follows(use, call, model))
    return all(is_kept_here(use, model) or _is_given_size(use, model) for use in before)


def _is_given_size(use: cst.Name, model: Model) -> bool:
    """Whether a statement gives a tensor another size and does nothing else: ``x.resize_(3)``. Its wrapper has that."""
    attribute = model.tree.parent(use)
    call = call_of(attribute, model.tree) if isinstance(attribute, cst.Attribute) else None
    if call is None or not calls_method(call, ("resize_", "resize_as_")):
        return False
    return isinstance(model.tree.parent(call), cst.Expr)


def _is_made_before(node: cst.CSTNode, name: cst.Name, model: Model) -> bool:
    """Whether a name has been bound to a new tensor before, whichever way was taken, and nobody has got that since."""
    scope, order, statement = model.scopes.scope_of(name), model.tree.order, model.tree.statement(node)
    uses = [use for use in model.references(name.value, scope) if use is not name]
    before = [use for use in uses if order(use) < order(statement)]
    bound = max((use for use in before if is_bound(use, model)), key=order, default=None)
    if bound is None or not is_bound_to_own(bound, model) or not comes_first(bound, node, model):
        return False
    since = [use for use in before if follows(use, bound, model)]
    since += [use for use in uses if model.tree.is_inside(use, statement) and not is_bound(use, model)]
    since = [use for use in since if not are_exclusive(use, name, model)]
    return all(is_kept_here(use, model) for use in since)


def is_changed(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is made of a name of which the tensor is changed beyond its elements."""
    names = model.remember(_changed_names)
    return bool(names) and any(name.value in names for name in model.tree.within(node, cst.Name))


def _changed_names(model: Model) -> frozenset[str]:
    found = [node.value for node in model.tree.all(cst.Attribute) if node.attr.value in OF_THE_OBJECT]
    found += model.remember(_with_assigned_attributes)
    return frozenset(node.value for node in found if isinstance(node, cst.Name))


def _is_never_recorded(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression has no graph, whatever its tensors require: it is made of a comparison, or of integers."""
    value = model.value(node)
    if value.is_tensor and not value.dtype & Dtype.FLOAT:
        return True
    match node:
        case cst.Call(func=cst.Attribute(value=receiver), args=args) if not any(
            model.value(arg.value).may_be_tensor for arg in args
        ):
            return model.is_tensor(receiver) and _is_never_recorded(receiver, model)
    return False


def _returns_fresh(model: Model, function: cst.FunctionDef) -> bool:
    """Whether a function, and what overrides it, returns a new tensor each time, which nobody else has."""
    return model.ask(always, function, lambda each: model.home(each).remember(_makes_fresh, each))


def _makes_fresh(model: Model, function: cst.FunctionDef) -> bool:
    returned = lifetimes.returned(function, model)
    return bool(returned) and all(
        each.value is not None and (memory.is_new(each.value, model) or is_last_use(each, each.value, model))
        for each in returned
    )


def is_fresh(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression makes a new tensor that nothing else refers to and that has no graph."""
    value = model.value(node)
    if not value.is_tensor or value.role & Role.PARAMETER or not stays_without_graph(node, model):
        return False
    if not _is_never_recorded(node, model) and (are_told_apart(model) or is_changed(node, model)):
        # under another name one could be asked to require grad
        names = (name for name in model.tree.within(node, cst.Name) if model.value(name).may_be_tensor)
        if not all(model.ask(only_metadata, name) for name in names):
            return False
    if memory.is_new(node, model):
        return True
    if not isinstance(node, cst.Call):
        return False
    if isinstance(made_by := model.value(node.func).node, cst.FunctionDef):
        return model.home(made_by).remember(_returns_fresh, made_by)
    if isinstance(node.func, cst.Attribute) and not model.qualified(node.func):
        given = any(model.value(arg.value).may_be_tensor for arg in node.args)
        is_same = may_alias(library.method(node.func.attr.value))
        return is_same and not given and is_fresh(node.func.value, model)
    ref = model.qualified(node.func) or ""
    tensors = [arg.value for arg in node.args if model.value(arg.value).may_be_tensor]
    if may_alias(library.function(ref)):  # a view of a new tensor: `torch.transpose(torch.ones(2, 3), 0, 1)`
        return len(tensors) == 1 and is_fresh(tensors[0], model)
    return library.class_kind(ref) == "tensor" and not tensors
