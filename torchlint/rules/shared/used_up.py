"""Whether nothing but the elements of a tensor goes on from where it stands, or what is new."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Kind, Model
from torchlint.model.replaced import is_replaced
from torchlint.model.torch import library
from torchlint.model.torch.schema import makes_new, may_alias
from torchlint.rules.shared import compared, discrete, memory
from torchlint.rules.shared.identity import WITH_GRAPH
from torchlint.rules.shared.lifetimes import OF_THE_OBJECT


def is_used_up(node: cst.BaseExpression, model: Model, followed: frozenset[str] = frozenset()) -> bool:
    """Whether nothing but the elements of a tensor goes on from where it stands: nobody can tell which one it was."""
    parent = model.tree.parent(node)
    match parent:
        case cst.BinaryOperation() | cst.UnaryOperation() | cst.Subscript():
            return True
        case cst.Attribute(attr=cst.Name(value=name)) if not model.is_target(parent):
            is_same = may_alias(library.method(name)) or name in OF_THE_OBJECT or name in WITH_GRAPH
            return name in library.tensor_names() and not is_same
        case cst.Arg(star=""):
            call = model.tree.parent(parent)
            return isinstance(call, cst.Call) and _computes(call, model)
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name) as target)]):
            scope = model.scopes.scope_of(target)
            if not isinstance(scope, cst.FunctionDef) or name in followed:
                return name in followed  # what a module has others may import
            uses = [use for use in model.references(name, scope) if not model.is_target(use)]
            return all(is_used_up(use, model, followed | {name}) for use in uses)
    return False


def _computes(call: cst.Call, model: Model) -> bool:
    """Whether a function or method of torch is called that gives back none of its arguments."""
    match call.func:
        case cst.Attribute(value=owner, attr=cst.Name(value=name)) if compared.can_be_tensor(owner, model):
            return library.method(name) is not None and name not in OF_THE_OBJECT and name not in WITH_GRAPH
    if _communicates(call, model):
        return True
    result = library.function(model.qualified(call.func))
    return result is not None and not may_alias(result)


def is_computed_with(arg: cst.Arg, model: Model) -> bool:
    """Whether an argument goes into a function, method, loss or layer of torch that makes a new tensor."""
    call = model.tree.parent(arg)
    if not isinstance(call, cst.Call):
        return False
    return makes_new(discrete.result_of(call, model)) or memory.takes_extremes(call, model) or _is_run_anew(call, model)


def _is_run_anew(call: cst.Call, model: Model) -> bool:
    """Whether a loss or a layer with weights of torch is called: what these give shares no memory with their input.

    A class that derives from one may give back what it is given, and so may a `forward` that a file assigns.
    """
    value = model.value(call.func)
    is_torchs = value.kind == Kind.MODULE and value.node is None and not model.ask(is_replaced, "forward")
    info = library.module_info(value.ref) if is_torchs and not value.choices else None
    return info is not None and (bool(info.params) or (value.ref or "").endswith("Loss"))


def is_communicated(node: cst.BaseExpression, model: Model) -> bool:
    """Whether other processes are sent a tensor where it stands, or send it: ``dist.all_reduce(w.grad)``."""
    arg = model.tree.parent(node)
    call = model.tree.parent(arg) if isinstance(arg, cst.Arg) and not arg.star else None
    return isinstance(call, cst.Call) and _communicates(call, model)


def _communicates(call: cst.Call, model: Model) -> bool:
    return (model.qualified(call.func) or "").startswith("torch.distributed.")
