"""What loops go through: what is there already, or what computes something meanwhile."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.model import Kind, Model, Tri
from torchlint.model.syntax import is_label, parameters, without_brackets
from torchlint.rules.shared import no_grad
from torchlint.rules.shared.new_graphs import is_new

_LAZY = frozenset(("enumerate", "zip", "reversed", "sorted", "list", "tuple", "set", "iter"))
GIVING = frozenset(
    (
        *("parameters", "named_parameters", "buffers", "named_buffers", "modules", "named_modules"),
        *("children", "named_children", "items", "keys", "values", "state_dict", "split"),
    )
)
"""Methods that give what is there already."""


def gives_existing(node: cst.BaseExpression, model: Model) -> bool:
    """Whether going through something computes nothing: no rows of a tensor, and no generator that runs meanwhile."""
    node = without_brackets(node)
    if model.value(node).is_tensor and model.value(node).grad != Tri.NO:
        return False
    match node:
        case cst.Name(value=name):
            return not any(_is_lazy(each, model) for each in model.bindings_of(name, node))
        case cst.Attribute() | cst.SimpleString():
            return True
        case cst.Subscript(value=owner):
            return gives_existing(owner, model)
        case cst.Tuple(elements=elements) | cst.List(elements=elements) | cst.Set(elements=elements):
            return not any(is_new(each.value, model) for each in elements)
        case cst.IfExp(body=body, orelse=orelse):
            return gives_existing(body, model) and gives_existing(orelse, model)
        case cst.BinaryOperation(left=left, operator=cst.Add(), right=right):
            is_list = any(model.value(each).kind == Kind.CONTAINER for each in (left, right))
            return is_list and gives_existing(left, model) and gives_existing(right, model)
        case cst.ListComp(elt=elt, for_in=part) | cst.GeneratorExp(elt=elt, for_in=part):
            return _is_plain(elt, part, model)
        case cst.Call():
            return _call_gives_existing(node, model)
    return False


def _is_plain(elt: cst.BaseExpression, part: cst.CompFor, model: Model) -> bool:
    """Whether a comprehension only chooses among what is there."""
    if is_new(elt, model) or part.asynchronous is not None or not gives_existing(part.iter, model):
        return False
    return part.inner_for_in is None or _is_plain(elt, part.inner_for_in, model)


def _call_gives_existing(call: cst.Call, model: Model) -> bool:
    name = model.qualified(call.func) or ""
    if name == "builtins.range":
        return True
    if name == "builtins.filter" and len(call.args) == 2:
        return isinstance(call.args[0].value, (cst.Lambda, cst.Name)) and gives_existing(call.args[1].value, model)
    if name.removeprefix("builtins.") in _LAZY or name in ("itertools.chain", "itertools.product"):
        given = [arg.value for arg in call.args if arg.keyword is None]
        return all(model.value(each).kind == Kind.NUMBER or gives_existing(each, model) for each in given)
    match call.func:
        case cst.Attribute(attr=cst.Name(value=method)) if method in GIVING:
            return not any(no_grad.called(call.func, model))
    return False


def _is_lazy(name: cst.Name, model: Model) -> bool:
    """Whether a name is bound to what computes when somebody goes through it."""
    assign = model.tree.parent(model.tree.parent(name) or name)
    match assign:
        case cst.Assign(value=cst.GeneratorExp() as value):
            return not gives_existing(value, model)
        case cst.Assign(value=cst.Call(func=func)):
            if model.qualified(func) in ("builtins.map", "itertools.starmap"):
                return True
            return any(any(home.tree.within(f.body, cst.Yield)) for f, home in _functions(func, model))
    return False


def _functions(func: cst.BaseExpression, model: Model) -> Iterator[tuple[cst.FunctionDef, Model]]:
    yield from ((each, model.home(each)) for each in no_grad.called(func, model))


def may_be_unknown(iterated: cst.BaseExpression, model: Model) -> bool:
    """Whether a loop goes through something of which nothing is known."""
    names = (name for name in model.tree.within(iterated, cst.Name) if _is_gone_through(name, model))
    return any(model.value(name).kind & Kind.UNKNOWN or _may_be_generator(name, model) for name in names)


def _may_be_generator(name: cst.Name, model: Model) -> bool:
    """Whether callers decide what a loop goes through itself: ``for p in ps``, not ``for p in net.parameters()``."""
    parent, scope = model.tree.parent(name), model.scopes.scope_of(name)
    if isinstance(parent, cst.Attribute) or not isinstance(scope, cst.FunctionDef):
        return False
    return any(each.name.value == name.value for each in parameters(scope))


def _is_gone_through(name: cst.Name, model: Model) -> bool:
    """Whether a name stands for an object that a loop may go through, and not for a number of rounds."""
    if is_label(model.tree, name):
        return False
    call = model.tree.enclosing(name, cst.Call)
    return not isinstance(call, cst.Call) or model.qualified(call.func) not in ("builtins.range", "builtins.len")
