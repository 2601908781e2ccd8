"""What a tensor went through last: softmax, sigmoid or a logarithm of these, by names, modules and ``forward``."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.bindings import last_assigned
from torchlint.model.classes import find_method
from torchlint.model.expressions import value_of
from torchlint.model.imports import imported_path
from torchlint.model.interpret.module_containers import WRAPPERS
from torchlint.model.possibilities import Kind
from torchlint.model.syntax import assignment_of, decorator_names, last_name
from torchlint.model.torch import library
from torchlint.model.torch.named import named
from torchlint.model.values import Value, reference

if TYPE_CHECKING:
    from torchlint.model.context import Context

_FAR = 4
"""How many names and calls of modules are gone back."""
_PASSING = frozenset(
    """
    squeeze unsqueeze view reshape flatten permute transpose t contiguous float double half to cpu cuda clone type
    gather index_select take_along_dim masked_select select narrow
    """.split()  # noqa: SIM905
)
"""Methods that leave the numbers alone, or take some of them."""


class Activation(enum.Enum):
    """What a tensor went through last."""

    SOFTMAX = "softmax"
    SIGMOID = "a sigmoid"
    LOGARITHM = "log_softmax"


_BY_NAME = {
    "softmax": Activation.SOFTMAX,
    "sigmoid": Activation.SIGMOID,
    "log_softmax": Activation.LOGARITHM,
    "logsigmoid": Activation.LOGARITHM,
}
_MODULES = {
    "torch.nn.Softmax": Activation.SOFTMAX,
    "torch.nn.Softmax2d": Activation.SOFTMAX,
    "torch.nn.Sigmoid": Activation.SIGMOID,
    "torch.nn.LogSoftmax": Activation.LOGARITHM,
    "torch.nn.LogSigmoid": Activation.LOGARITHM,
}


def activation(context: Context, node: cst.BaseExpression, far: int = _FAR) -> Activation | None:
    """What an expression went through last, on every path; None if that is not known, or nothing of the kind."""
    passed: list[cst.Attribute] = []
    while True:
        match node:
            case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(value=name)) as func) if name in _PASSING:
                passed.append(func)
                node = inner
            case cst.Subscript(value=inner):
                node = inner
            case _:
                break
    found = _of_source(context, node, far)
    return None if found is None or any(_is_function(context, func) for func in passed) else found


def _of_source(context: Context, node: cst.BaseExpression, far: int) -> Activation | None:
    """The same of what is left when methods are gone that leave the numbers alone, and what takes a part."""
    match node:
        case cst.Name():
            assigned = last_assigned(context, node) if far else None
            return activation(context, assigned, far - 1) if assigned is not None else None
        case cst.Call():
            return _of_call(context, node, far)
    return None


def _is_function(context: Context, func: cst.Attribute) -> bool:
    """Whether a function of a module is called, and not a method of an object."""
    return reference(value_of(context, func)) is not None and bool(value_of(context, func.value).kind & Kind.REFERENCE)


def _of_call(context: Context, node: cst.Call, far: int) -> Activation | None:
    if _is_other_layer(context, node.func) or _is_other_function(context, node.func):
        return None
    func = value_of(context, node.func)
    if func.kind == Kind.MODULE:
        return _of_module(context, func, far)
    match node.func:
        case cst.Attribute(value=owner, attr=cst.Name("forward")):
            module = value_of(context, owner)
            return _of_module(context, module, far) if module.kind == Kind.MODULE else None
    ref = reference(func)
    if ref is not None:
        return _BY_NAME.get(ref.rpartition(".")[2]) if ref.startswith("torch.") and library.is_function(ref) else None
    match node.func:
        case cst.Attribute(value=owner, attr=cst.Name(value=name)) if name in _BY_NAME:
            return _BY_NAME[name] if value_of(context, owner).kind & (Kind.TENSOR | Kind.UNKNOWN) else None
    return None


def _is_other_function(context: Context, func: cst.BaseExpression) -> bool:
    """Whether a function of torch is called that is none of these, by its import."""
    path = imported_path(context, func)
    ref = named(path).ref if path is not None else None
    return ref is not None and library.is_function(ref) and ref.rpartition(".")[2] not in _BY_NAME


def _is_other_layer(context: Context, func: cst.BaseExpression) -> bool:
    """Whether ``self.x`` is seen to be a layer of torch that is none of these, without interpreting anything."""
    cls = context.tree.enclosing(func, cst.ClassDef)
    match func:
        case cst.Attribute(value=cst.Name("self"), attr=cst.Name(value=name)) if isinstance(cls, cst.ClassDef):
            made = [assignment_of(each, context.tree) for each in context.scopes.attribute(cls, name).assigned]
            return bool(made) and all(
                each is not None and isinstance(each.value, cst.Call) and last_name(each.value.func) in _LAYERS
                for each in made
            )
    return False


_LAYERS = frozenset(("Linear", "Conv1d", "Conv2d", "Conv3d", "Embedding", "LayerNorm", "Dropout"))
"""Layers that outputs come from, as a rule."""


def _of_module(context: Context, module: Value, far: int) -> Activation | None:
    """What the output of a module went through last."""
    if isinstance(module.node, cst.ClassDef):
        forward = find_method(context, module.node, "forward")
        return _returned(context.home(forward), forward, far - 1) if forward is not None and far > 0 else None
    if module.ref == "torch.nn.Sequential":
        return _of_module(context, module.items[-1], far) if module.items else None
    if module.ref in WRAPPERS:
        return _of_module(context, module.item, far) if module.item is not None else None
    return _MODULES.get(module.ref or "")


def _returned(context: Context, forward: cst.FunctionDef, far: int) -> Activation | None:
    """What ``forward`` returns on all paths."""
    if "abstractmethod" in decorator_names(forward):
        return None
    returns = [
        each for each in context.tree.within(forward.body, cst.Return) if context.scopes.scope_of(each) is forward
    ]
    found = {activation(context, each.value, far) if each.value is not None else None for each in returns}
    return found.pop() if len(found) == 1 else None
