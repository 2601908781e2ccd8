"""What is a gradient, and which gradients a later ``backward()`` still needs: writing to one must be counted."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.file.text.python import parsed
from torchlint.model import Kind, Model, Role, Tri, Usage, Value
from torchlint.model.bindings import declares
from torchlint.model.codebase.exports import is_mentioned, keeper, leaver
from torchlint.model.codebase.second_order import assigns_gradients, leaves_graphs, writes_to_gradients
from torchlint.model.syntax import call_of, chain, has_stars, positional
from torchlint.rules.shared import memory
from torchlint.rules.shared.made_of_numbers import is_made_of_numbers


def is_gradient(value: Value, node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is the `.grad` of a tensor, and not an attribute of that name of a class of one's own."""
    if value.role == Role.GRADIENT:
        return True
    match node:
        case cst.Attribute(value=owner, attr=cst.Name("grad")):
            kind = model.value(owner).kind
            return bool(kind & Kind.TENSOR) or (bool(kind & Kind.UNKNOWN) and not model.ask(declares, "grad"))
    return False


def keep_graphs(model: Model) -> bool:
    """Whether gradients may carry a graph, those that `torch.autograd.grad` gives back among them."""
    return model.remember(_asks_for_graphs) or model.remember(_assigns_graphs) or model.ask(keeper) is not None


def may_have_graph(node: cst.BaseExpression, model: Model) -> bool:
    """Whether a gradient may carry a graph: this file, or another one, has ``backward(create_graph=True)``."""
    match node:
        case cst.Attribute(attr=cst.Name("grad")):  # what `torch.autograd.grad` gives is elsewhere
            return model.remember(_leaves_graphs) or model.ask(leaver) is not None
    return keep_graphs(model)


def _leaves_graphs(model: Model) -> bool:
    """Whether this file may leave gradients with a graph where they are read as `.grad`."""
    if model.remember(_assigns_graphs) or not model.remember(_asks_for_graphs):
        return model.remember(_assigns_graphs)
    text = model.tree.source.text
    data = text.encode(errors="replace")
    return assigns_gradients(data) or writes_to_gradients(data) or leaves_graphs(parsed(text))


def _assigns_graphs(model: Model) -> bool:
    """Whether a gradient is assigned that may have a graph, or gets one in place: ``p.grad = p.grad + 0.01 * p``.

    By another name as well (``g = p.grad; g += 0.01 * p``), or by what it is given to.
    """
    gradients = model.tree.attributes("grad")
    return any(_gets_graph(place, model) for node in gradients for place in _names(node, model)) or any(
        _is_given_graph(node, model) for node in gradients
    )


def _names(gradient: cst.Attribute, model: Model) -> Iterator[cst.BaseExpression]:
    """A gradient, and the uses of the name that it is given."""
    yield gradient
    match model.tree.parent(gradient):
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name) as target)]):
            uses = model.references(name, model.scopes.scope_of(target))
            yield from (use for use in uses if not isinstance(model.tree.parent(use), cst.AssignTarget))


def _is_given_graph(gradient: cst.Attribute, model: Model) -> bool:
    """Whether a gradient is put where something with a graph is written to it: ``decay(p.grad, p)``."""
    if not isinstance(model.tree.parent(gradient), (cst.Arg, cst.Element, cst.BaseComp, cst.DictElement)):
        return False
    return model.grad_enabled(gradient) != Tri.NO and model.usage(gradient) is Usage.WRITTEN


def _gets_graph(gradient: cst.BaseExpression, model: Model) -> bool:
    """Whether what may have a graph is written to a gradient in its own expression, by whichever step of it."""
    whole: cst.CSTNode = gradient
    given: list[cst.BaseExpression] = []
    for name, outer in chain(gradient, model.tree):
        if name == "requires_grad_":
            return True
        if isinstance(outer, cst.Call) and memory.is_inplace(name):
            given += [arg.value for arg in outer.args]
        elif name in ("data", "detach") or (name != "[]" and not memory.shares(name, outer)):
            break
        whole = outer
    match parent := model.tree.parent(whole):
        case cst.AssignTarget() if isinstance(assign := model.tree.parent(parent), cst.Assign):
            value = model.value(assign.value)
            return value.may_be_tensor and value.grad != Tri.NO and not is_made_of_numbers(assign.value, model)
        case cst.AugAssign(target=target, value=added) if target is whole:
            given.append(added)
        case cst.Element() | cst.StarredElement():
            return model.is_target(whole)
    values = map(model.value, given)
    is_with_graph = any(value.kind & Kind.TENSOR and value.grad != Tri.NO for value in values)
    return is_with_graph and model.grad_enabled(gradient) != Tri.NO


def _asks_for_graphs(model: Model) -> bool:
    if "create_graph" in model.tree.source.text:
        return True
    for name, before in _BEFORE_CREATE_GRAPH.items():
        for node in model.tree.attributes(name):
            call = call_of(node, model.tree)
            if call is not None and (positional(call.args, before) is not None or has_stars(call.args)):
                return True
    return False


_BEFORE_CREATE_GRAPH = {"backward": 2, "grad": 4}
"""How many arguments stand before ``create_graph`` where it is given by position, of the function that has fewest."""


def may_be_saved(model: Model) -> bool:
    """Whether a gradient may be kept for a later ``backward()``: it is computed with where autograd records."""
    return keep_graphs(model) or model.remember(_is_recorded)


def _is_recorded(model: Model) -> bool:
    return any(
        isinstance(model.tree.parent(node), (cst.BinaryOperation, cst.Arg)) and model.grad_enabled(node) == Tri.YES
        for node in model.tree.attributes("grad")
    )


def are_written(model: Model) -> bool:
    """Whether a file writes to gradients in place, or clips them, which does."""
    return model.remember(_are_written)


def _are_written(model: Model) -> bool:
    if any(model.tree.names(name) for name in _CLIPPING):
        return True
    parents = (model.tree.parent(node) for node in model.tree.attributes("grad"))
    return any(isinstance(each, cst.Attribute) and memory.is_inplace(each.attr.value) for each in parents)


def are_replaced(model: Model) -> bool:
    """Whether anything in the project gives gradients other memory, so that what was read before has the old one."""
    return model.remember(_are_replaced)


def _are_replaced(model: Model) -> bool:
    return model.ask(is_mentioned, r"\.grad\.data\s*=(?!=)")


_CLIPPING = ("clip_grad_norm_", "clip_grad_norm", "clip_grad_value_", "clip_grads_with_norm_")


def are_saved(model: Model) -> bool:
    """Whether some result of a file that may require grad is computed with a gradient, which it then has saved."""
    return model.remember(_are_saved)


def _are_saved(model: Model) -> bool:
    return any(_is_saved(place, model) for node in model.tree.attributes("grad") for place in _places(node, model))


def _places(node: cst.Attribute, model: Model) -> Iterator[cst.BaseExpression]:
    """Where a gradient is used: there, or by the name that it is given."""
    whole = _same_memory(node, model)
    yield whole
    match model.tree.parent(whole):
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name) as target)]):
            for use in model.references(name, model.scopes.scope_of(target)):
                yield _same_memory(use, model)


def _same_memory(node: cst.BaseExpression, model: Model) -> cst.BaseExpression:
    """All of an expression that gives the same memory: ``w.grad.data[0]``."""
    whole = node
    for name, outer in chain(node, model.tree):
        if name != "[]" and not memory.shares(name, outer):
            break
        assert isinstance(outer, cst.BaseExpression)
        whole = outer
    return whole


def _is_saved(node: cst.BaseExpression, model: Model) -> bool:
    if model.grad_enabled(node) == Tri.NO:
        return False
    match model.tree.parent(node):
        case cst.BinaryOperation() as operation:
            return _may_require_grad(operation, model)
        case cst.Arg() as arg:
            call = model.tree.parent(arg)
            return isinstance(call, cst.Call) and _may_require_grad(call, model)
    return False


def _may_require_grad(node: cst.BaseExpression, model: Model) -> bool:
    value = model.value(node)
    if value.kind & Kind.TENSOR:
        return value.grad != Tri.NO
    return bool(value.kind & Kind.UNKNOWN) and not isinstance(model.tree.parent(node), cst.Expr)
