"""How long a name has a tensor: where it is bound, whether somebody else gets it from there, where it is used last."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import libcst as cst

from torchlint.model import Model, Tri, Usage
from torchlint.model.aliasing.calls import LIKE_METHODS
from torchlint.model.aliasing.here import usage_here
from torchlint.model.bindings import bound_value, owner, unpacked_from
from torchlint.model.interpret.loaders import is_from_loader
from torchlint.model.overriding import always
from torchlint.model.syntax import chain, last_name, parameters
from torchlint.model.torch import library, writers
from torchlint.model.torch.schema import TensorResult, may_alias
from torchlint.rules.shared import compared, memory
from torchlint.rules.shared.no_grad import small_statement
from torchlint.rules.shared.order import are_exclusive, is_in_same_suite, loops_around
from torchlint.rules.shared.without_graph import stays_without_graph


def is_last_use(call: cst.CSTNode, inner: cst.BaseExpression, model: Model) -> bool:
    """Whether the name of a new tensor stands here for the last time, and nobody else has got the tensor before.

    The last time before it is bound again, that is. In a module it has to be: what that has bound can be read by others
    when it has come to its end.
    """
    inner = _before_own(inner, call, model)
    scope, order = model.scopes.scope_of(inner), model.tree.order
    if not isinstance(inner, cst.Name) or model.ask(owner, inner) is not scope:
        return False
    if model.remember(compared.are_asked_about):
        return False
    value = model.value(inner)
    if not value.is_tensor or not stays_without_graph(inner, model):
        return False
    names = model.references(inner.value, scope)
    if isinstance(scope, cst.Module):
        names = [name for name in names if not isinstance(model.ask(owner, name), cst.FunctionDef)][: _MANY + 1]
        if len(names) > _MANY:
            return False
    before = _before_bound_again(names, call, model)
    if before is None or any(model.scopes.scope_of(name) is not scope for name in before):
        return False
    names = [name for name in before if name is not inner and not are_exclusive(name, inner, model)]
    bound = max((name for name in names if is_bound(name, model)), key=order, default=None)
    if bound is None or not comes_first(bound, call, model):
        return False
    if is_bound_to_new(bound, model):
        since = [name for name in names if follows(name, bound, model)]
    elif not is_given(inner, model) and model.remember(_is_own_memory, inner.value, scope):
        since = [name for name in names if not is_bound(name, model)]
    else:
        return False
    return all(is_kept_here(name, model) for name in since) and _is_left_by_no_round(names, call, model)


def _before_own(node: cst.BaseExpression, call: cst.CSTNode, model: Model) -> cst.BaseExpression:
    """``x`` of ``x.view(1, -1).type_as(y)``: what is the tensor itself, a view of it or a copy, and of no other one."""
    is_recorded = model.grad_enabled(call) != Tri.NO  # a view that is made without autograd refuses to be written to
    while isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        name, result = node.func.attr.value, library.method(node.func.attr.value)
        if memory.is_inplace(name) or not isinstance(result, TensorResult) or not may_alias(result):
            break
        if not is_recorded and not (result.same and result.copy):
            break
        if name not in LIKE_METHODS and any(model.value(arg.value).may_be_tensor for arg in node.args):
            break
        node = node.func.value
    return node


_MANY = 100
"""A name of a module with more occurrences is not followed."""
_FAR = 8
"""How many occurrences behind the last use are looked at."""


def _before_bound_again(names: Sequence[cst.Name], call: cst.CSTNode, model: Model) -> list[cst.Name] | None:
    """Where a name stands before a call, behind which it is bound anew; None if it may be read before that.

    What the statement of the call binds is bound behind it.
    """
    order, statement = model.tree.order, small_statement(call, model)
    place = bisect_right(names, model.tree.last_below(call), key=order)
    is_of_module = isinstance(model.scopes.scope_of(call), cst.Module)
    if len(names) - place > _FAR:
        return None
    own = [
        name
        for name in names[max(0, place - _FAR) : place]
        if statement is not None and model.tree.is_inside(name, statement) and is_bound(name, model)
    ]
    left = {id(name) for name in own}
    before = [name for name in names[:place] if id(name) not in left]
    if place == len(names) and not is_of_module:  # as it is mostly
        return before
    later = [name for name in names[place:] if not are_exclusive(name, call, model)]
    again = [name for name in own if _is_bound_anew(name, model, call)]
    again += [name for name in later if _is_bound_anew(name, model)]
    bound = {id(name) for name in again}
    for name in later:
        if statement is not None and model.tree.is_inside(name, statement):
            return None
        if id(name) not in bound and not any(
            order(each) < order(name) and comes_first(each, name, model) for each in again
        ):
            return None
    if is_of_module and not any(is_in_same_suite(call, each, model) for each in again):
        return None
    return before


def _is_bound_anew(name: cst.Name, model: Model, call: cst.CSTNode | None = None) -> bool:
    """Whether a name is plainly assigned what is not made of what it stood for, but for what is made by a call."""
    made = bound_value(name, model.tree) or unpacked_from(name, model.tree) if is_bound(name, model) else None
    if made is None:
        return False
    read = [each for each in model.tree.within(made, cst.Name) if each.value == name.value]
    return all(call is not None and model.tree.is_inside(each, call) for each in read)


def _is_left_by_no_round(names: Sequence[cst.Name], node: cst.CSTNode, model: Model) -> bool:
    """Whether none of the names in the loops around a node can mean what the round before has left there."""
    return all(_is_bound_first(names, loop, node, model) for loop in loops_around(node, model))


def _is_bound_first(names: Sequence[cst.Name], loop: cst.CSTNode, node: cst.CSTNode, model: Model) -> bool:
    """Whether the first of the names in a loop is bound there, to what is not made of it, on the way to a node."""
    first = min((name for name in names if model.tree.is_inside(name, loop)), key=model.tree.order, default=None)
    return first is not None and _is_bound_anew(first, model) and comes_first(first, node, model)


def is_bound(name: cst.Name, model: Model) -> bool:
    """Whether a name itself is assigned, deleted or bound by a loop, not what is in it: ``x = …``, not ``x[0] = …``."""
    return model.is_target(name) and not isinstance(model.tree.parent(name), (cst.Subscript, cst.Attribute))


def comes_first(target: cst.Name, node: cst.CSTNode, model: Model) -> bool:
    """Whether whoever comes to a node has come by a statement that binds a name, in the same round of a loop."""
    suite = model.tree.parent(model.tree.statement(target))
    is_round = model.tree.enclosing(target, *_AROUND) is model.tree.enclosing(node, *_AROUND)
    return is_round and suite is not None and model.tree.is_inside(node, suite)


_AROUND = (cst.For, cst.While, cst.FunctionDef)


def is_kept_here(use: cst.Name, model: Model) -> bool:
    """Whether nobody gets a tensor where its name stands, other than that name."""
    return model.ask(usage_here, use) <= Usage.READ or _is_filled(use, model) or rebinds(use, use, model)


def _is_filled(use: cst.Name, model: Model) -> bool:
    """Whether a statement writes to a tensor and does nothing else: ``x.fill_(1)``, ``x[0] = 1``, ``x[0].fill_(1)``."""
    whole: cst.CSTNode = use
    for name, outer in chain(use, model.tree):
        if isinstance(outer, cst.Subscript) and model.is_target(outer):
            return True
        if not isinstance(outer, cst.Subscript) and not _keeps_memory(name, outer):
            return False
        whole = outer
    is_written = isinstance(whole, cst.Call) and memory.is_inplace(last_name(whole.func))
    return is_written and isinstance(model.tree.parent(whole), cst.Expr)


def _keeps_memory(name: str, outer: cst.CSTNode) -> bool:
    """Whether a method writes to a tensor or gives a view of it, and changes nothing else about it."""
    if not isinstance(outer, cst.Call) or name in OF_THE_OBJECT:
        return False
    return memory.is_inplace(name) or library.is_always_view(name)


OF_THE_OBJECT = writers.OF_THE_VIEW | {"requires_grad_", "__setattr__"}
"""Methods that change a tensor and not what shares its memory."""


def rebinds(node: cst.BaseExpression, name: cst.Name, model: Model) -> bool:
    """Whether a name is assigned what methods make of it, as in ``x = x.cuda()``: nothing else is left of it."""
    at: cst.CSTNode = node
    for _, at in chain(node, model.tree):
        if not isinstance(at, (cst.Attribute, cst.Call)):
            return False
    at = _wrapper(at, model)
    return at is not name and name.value in (target.value for target in targets_of(at, model))


def _wrapper(node: cst.CSTNode, model: Model) -> cst.CSTNode:
    """The ``Variable(…)`` around an expression, if there is one; else the expression."""
    return wrapper_of(node, model) or node


def wrapper_of(node: cst.CSTNode, model: Model) -> cst.Call | None:
    """The ``Variable(…)`` around an expression; None if there is none."""
    arg = model.tree.parent(node)
    call = model.tree.parent(arg) if isinstance(arg, cst.Arg) else None
    if isinstance(call, cst.Call) and call.args[0] is arg and last_name(call.func) == "Variable":
        return call
    return None


def targets_of(value: cst.CSTNode, model: Model) -> list[cst.Name]:
    """The name that an expression is plainly assigned to, if it is: alone, as one of several, or in one case of two."""
    parent = model.tree.parent(value)
    while isinstance(parent, cst.IfExp) and value is not parent.test:
        value, parent = parent, model.tree.parent(parent)
    values = model.tree.parent(parent) if isinstance(parent, cst.Element) else None
    match model.tree.parent(values) if isinstance(values, cst.Tuple) else parent:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name() as target)]):
            return [target]
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Tuple(elements=places))]):
            names = [place.value for place in places if isinstance(place.value, cst.Name)]
            return [name for name in names if bound_value(name, model.tree) is value]
    return []


def follows(use: cst.CSTNode, node: cst.CSTNode, model: Model) -> bool:
    """Whether something stands behind the statement of a node."""
    statement = small_statement(node, model) or model.tree.statement(node)
    return model.tree.order(use) > model.tree.order(node) and not model.tree.is_inside(use, statement)


def is_bound_to_itself(target: cst.Name, model: Model) -> bool:
    """Whether a name is assigned what methods make of it: ``x = Variable(x).cuda()``."""
    made = bound_value(target, model.tree)
    while isinstance(made, cst.Call):
        is_wrapper = isinstance(made.func, cst.Name) and made.func.value == "Variable" and bool(made.args)
        made = made.args[0].value if is_wrapper else made.func.value if isinstance(made.func, cst.Attribute) else None
    return isinstance(made, cst.Name) and made.value == target.value


def is_bound_to_own(target: cst.Name, model: Model) -> bool:
    """Whether a name is assigned a new tensor, or gets one of a batch: from a loop over a loader, from ``next``."""
    loop = model.tree.enclosing(target, cst.For, cst.SimpleStatementLine)
    if isinstance(loop, cst.For) and not model.tree.is_inside(target, loop.body):
        return is_from_loader(model.value(target))
    made = bound_value(target, model.tree) or unpacked_from(target, model.tree)
    if isinstance(made, cst.Call) and last_name(made.func) == "next" and is_from_loader(model.value(target)):
        return True
    return is_bound_to_new(target, model)


def is_bound_to_new(target: cst.Name, model: Model) -> bool:
    """Whether a name is plainly assigned a new tensor, or one of several: ``_, pred = out.max(1)``."""
    made = bound_value(target, model.tree)
    if made is not None:
        return memory.is_new(made, model)
    several = unpacked_from(target, model.tree)
    if not isinstance(several, cst.Call):
        return False
    return memory.is_new(several, model) or memory.gives_two(several, model) or _is_made_for(target, several, model)


def _is_made_for(target: cst.Name, call: cst.Call, model: Model) -> bool:
    """Whether a function of the project that gives several tensors makes the one that a name gets anew each time."""
    function, element = model.value(call.func).node, model.tree.parent(target)
    several = model.tree.parent(element) if isinstance(element, cst.Element) else None
    if not isinstance(function, cst.FunctionDef) or not isinstance(several, cst.Tuple):
        return False
    place = next(i for i, each in enumerate(several.elements) if each is element)
    if any(isinstance(each, cst.StarredElement) for each in several.elements):
        return False
    return model.home(function).remember(_gives_own, function, place, len(several.elements))


def returned(function: cst.FunctionDef, model: Model) -> list[cst.Return]:
    """The statements by which a function returns what its caller gets as it is; none of a generator and the like."""
    if function.decorators or function.asynchronous is not None or any(model.tree.within(function, cst.Yield)):
        return []
    return [each for each in model.tree.within(function, cst.Return) if model.scopes.scope_of(each) is function]


def _gives_own(model: Model, function: cst.FunctionDef, place: int, length: int) -> bool:
    """Whether what a function, or what overrides it, returns in a place of a tuple is a new tensor of nobody else."""
    return model.ask(always, function, lambda each: model.home(each).remember(_makes_own, each, place, length))


def _makes_own(model: Model, function: cst.FunctionDef, place: int, length: int) -> bool:
    found = returned(function, model)
    return bool(found) and all(_is_own_in(each, place, length, model) for each in found)


def _is_own_in(node: cst.Return, place: int, length: int, model: Model) -> bool:
    if not isinstance(node.value, cst.Tuple) or len(node.value.elements) != length:
        return False
    if any(isinstance(each, cst.StarredElement) for each in node.value.elements):
        return False
    given = node.value.elements[place].value
    return memory.is_new(given, model) or is_last_use(node, given, model)


def is_bound_to_array(target: cst.Name, model: Model) -> bool:
    """Whether a name is plainly assigned a tensor that has been made for the memory of an array."""
    made = bound_value(target, model.tree)
    return isinstance(made, cst.Call) and model.qualified(made.func) == "torch.from_numpy"


def _is_own_memory(model: Model, name: str, scope: cst.FunctionDef | cst.Module) -> bool:
    """Whether no other tensor than what methods make of one another has the memory of what a name is bound to."""
    bound = [target for target in model.targets(name, scope) if is_bound(target, model)]
    ways = is_bound_to_new, is_bound_to_itself, is_bound_to_array
    return bool(bound) and all(any(way(target, model) for way in ways) for target in bound)


def is_given(name: cst.Name, model: Model) -> bool:
    """Whether a name is that of a parameter of its function."""
    scope = model.scopes.scope_of(name)
    return isinstance(scope, cst.FunctionDef) and name.value in {param.name.value for param in parameters(scope)}
