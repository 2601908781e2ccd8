"""Calls of modules (``nn.Module``), and of the methods that every module has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model import freezing, hooks, trainable
from torchlint.model.certainty import Certainty
from torchlint.model.classes import find_method
from torchlint.model.functions import call_function, may_give_without_graph
from torchlint.model.interpret import learning, model_outputs, module_containers
from torchlint.model.interpret.calls import lambdas
from torchlint.model.interpret.frame import Frame
from torchlint.model.names import MODULE_METHODS, NETWORK_MAKER
from torchlint.model.possibilities import Dtype, Kind, Ndim, Role, Tri
from torchlint.model.symbols import Origin, Symbol
from torchlint.model.syntax import dotted, has_stars, is_dotted, keyword, positional
from torchlint.model.torch import library, transfer
from torchlint.model.torch.arguments import UNSEEN, literal_bool
from torchlint.model.torch.grads import has_parameters
from torchlint.model.torch.schema import TensorResult
from torchlint.model.values import (
    MODULE,
    STRING,
    Argument,
    Evidence,
    Strength,
    Value,
    changed,
    container,
    held,
    mapping,
    parameter,
    tensor,
)
from torchlint.system.records import replace

if TYPE_CHECKING:
    from torchlint.model.context import Context

_PERHAPS_TENSOR = Kind.UNKNOWN | Kind.TENSOR | Kind.NONE


def call(frame: Frame, func: Value, node: cst.Call, arguments: Sequence[Argument]) -> Value:
    """A call of a module: what its ``forward`` returns, or the modules it is made of; else a tensor by convention."""
    text = f"it comes from the module `{dotted(node.func)}`" if is_dotted(node.func) else "it comes from a module"
    evidence = Evidence(Strength.CONVENTION, text, node)
    if func.node is not None and any(_holds_packed(arg.value) for arg in arguments):
        return learning.unknown(frame, Symbol(Origin.CALL, id(node)))  # packed in, so perhaps packed out
    if isinstance(func.node, cst.ClassDef):
        method = find_method(frame.context, func.node, "forward")
        if method is not None:
            value = call_function(frame.context, method, func, node, arguments, frame)
            if frame.grad != Tri.NO and hooks.changes_outputs(frame.context):
                value = _of_hook(value)
            if not value.kind & Kind.UNKNOWN or value.kind & ~_PERHAPS_TENSOR:
                return _through_module(frame, value, func.node, method, node)
    if (inner := _call_inner(frame, func, node, arguments)) is not None:
        return inner
    if func.ref is not None:
        known = _call_torch_module(frame, func, arguments, Evidence(Strength.SIGNATURE, text, node), node)
        if known is not None:
            return known
    return of_unknown(frame, func, node, evidence)


def _of_hook(value: Value) -> Value:
    """An output that a hook may have put another tensor in the place of."""
    value = changed(value, _of_hook)
    if not value.kind & Kind.TENSOR:
        return value
    return replace(value, grad=value.grad | Tri.MAYBE, ndim=Ndim.ANY, dtype=Dtype.ANY, leaf=Tri.MAYBE)


def _holds_packed(value: Value) -> bool:
    """Whether a value is a packed sequence, or holds one."""
    inside = held(value) if value.kind & Kind.CONTAINER else None
    return bool(value.kind & Kind.PACKED) or (inside is not None and bool(inside.kind & Kind.PACKED))


def of_unknown(frame: Frame, func: Value, node: cst.Call, evidence: Evidence) -> Value:
    """What a module gives of which nothing is known but who made it and what the file does with it."""
    certainty = trainable.of_use(frame.context, node.func)
    if isinstance(func.node, cst.ClassDef) and not freezing.is_frozen(frame.context, node.func):
        certainty = max(certainty, trainable.of_output(frame.context, func.node))
    if NETWORK_MAKER.fullmatch(func.ref or ""):
        if func.ref != "torch.hub.load" and not freezing.is_frozen(frame.context, node.func):
            certainty = (
                Certainty.EXPECTED
            )  # what a repository of the hub makes may have no parameters, or record nothing
        if model_outputs.is_made_by(func.ref):
            return model_outputs.output(frame.tree, node, frame.grad, certainty, evidence)
    return learning.likely(
        frame, tensor(frame.grad, certainty=certainty, evidence=evidence), Symbol(Origin.CALL, id(node))
    )


def _call_inner(frame: Frame, func: Value, node: cst.Call, arguments: Sequence[Argument]) -> Value | None:
    """What the modules in a ``Sequential`` or a wrapper make of an input; None if they are not known."""
    parts = func.items if func.items is not None else (func.item,) if func.item is not None else ()
    if not parts or not arguments or any(part.kind != Kind.MODULE for part in parts):
        return None
    if func.ref != module_containers.SEQUENTIAL:
        is_wrapper = module_containers.stands_for_inner(func) and len(parts) == 1
        return frame.call(parts[0], node, arguments) if is_wrapper else None
    value = arguments[0].value
    for part in parts if func.items is not None else parts * 2:
        value = frame.call(part, node, [Argument(None, value, arguments[0].node)])
    return value


def _call_torch_module(
    frame: Frame, func: Value, arguments: Sequence[Argument], evidence: Evidence, node: cst.Call
) -> Value | None:
    """What a module of torch returns, which can depend on the arguments of its constructor."""
    info = library.module_info(func.ref)
    output = info.output if info is not None else None
    if output is None:
        return None
    made = UNSEEN if func.bound is None else func.bound
    if isinstance(output, TensorResult) and output.ndim == "loss" and frame.context.remember(_sets_reduction):
        made = UNSEEN
    value = transfer.apply(output, None, arguments, frame.grad, evidence, made=made)
    certainty = Certainty.SUPPOSED if freezing.is_frozen(frame.context, node.func) else Certainty.PROVED
    value = _trained(frame, value, has_parameters(info, made), certainty)
    if value.items and arguments and arguments[0].value.kind == Kind.PACKED:  # packed in, packed out
        out = replace(arguments[0].value, grad=value.items[0].grad, dtype=Dtype.FLOAT)
        value = replace(value, items=(out, *value.items[1:]))
    return value


def _trained(frame: Frame, value: Value, trained: Tri, certainty: Certainty) -> Value:
    """An output of a module whose parameters, if it has some, every output depends on.

    ``certainty`` says how certain it is that they require grad.
    """
    if value.items is not None:
        return replace(value, items=tuple(_trained(frame, v, trained, certainty) for v in value.items))
    if not value.kind & Kind.TENSOR or not value.dtype & Dtype.FLOAT:
        return value
    if Tri.NO in (trained, frame.grad):
        return value
    if trained == frame.grad == Tri.YES:
        known = value.certainty if value.grad == Tri.YES else Certainty.SUPPOSED
        leaf = value.leaf if value.grad == Tri.YES else Tri.NO
        return replace(value, grad=Tri.YES, certainty=max(known, certainty), leaf=leaf)
    return value if value.grad == Tri.YES else replace(value, grad=Tri.MAYBE, leaf=Tri.MAYBE)


def _through_module(frame: Frame, value: Value, cls: cst.ClassDef, forward: cst.FunctionDef, node: cst.Call) -> Value:
    """An output of a module of a file: it carries a graph where autograd records and nothing says otherwise."""
    if value.items is not None:
        return replace(value, items=tuple(_through_module(frame, item, cls, forward, node) for item in value.items))
    if not value.kind & Kind.TENSOR or not value.dtype & Dtype.FLOAT:
        return value
    is_frozen = freezing.is_frozen(frame.context, node.func) or trainable.is_frozen_by_base(frame.context, cls)
    if value.grad == Tri.YES and value.certainty:
        return (
            replace(value, certainty=Certainty.SUPPOSED)
            if is_frozen or trainable.freezes(frame.context, cls)
            else value
        )
    if frame.grad == Tri.NO:
        return value if value.grad == Tri.YES else replace(value, grad=Tri.NO)
    if frame.grad == Tri.YES and value.grad in (Tri.MAYBE, Tri.YES):
        is_given = value.evidence is not None and isinstance(value.evidence.node, cst.FunctionDef)  # an argument of it
        is_doubtful = is_frozen or is_given
        if value.grad == Tri.MAYBE:
            is_doubtful |= _is_counted(value) or may_give_without_graph(frame.context, forward)
        known = trainable.of_class(frame.context, cls) or trainable.of_use(frame.context, node.func)
        return replace(value, grad=Tri.YES, certainty=Certainty.SUPPOSED if is_doubtful else known, leaf=Tri.NO)
    return value


def _is_counted(value: Value) -> bool:
    """Whether a tensor is made of a comparison: of ``(y == x).sum() / n``, what is not known of ``n`` is no graph."""
    return value.evidence is not None and isinstance(value.evidence.node, cst.Comparison)


def method(context: Context, name: str, receiver: Value, node: cst.Call) -> Value | None:
    """``module.name()``: what it gives of any module, and of what is called like one; None if that says nothing."""
    known = MODULE_METHODS[name]
    text = f"it comes from `{name}()`"
    evidence = Evidence(Strength.CONVENTION, text, node)
    certainty = Certainty.PROVED if receiver.kind == Kind.MODULE else Certainty.EXPECTED
    if isinstance(node.func, cst.Attribute) and freezing.is_frozen(context, node.func.value):
        certainty = Certainty.SUPPOSED
    param = parameter(evidence, certainty)
    buffer = tensor(Tri.NO, role=Role.BUFFER, evidence=evidence)
    module = replace(MODULE, evidence=evidence)
    match known:
        case "parameters":
            return container(param)
        case "named_parameters":
            return container(container(items=(STRING, param)))
        case "buffers":
            return container(buffer)
        case "named_buffers":
            return container(container(items=(STRING, buffer)))
        case "state_dict":
            if _keeps_parameters(node):
                buffer = replace(buffer, grad=Tri.MAYBE, role=Role.PARAMETER | Role.BUFFER)
            if receiver.kind & Kind.MODULE:
                return mapping(STRING, buffer)
            weaker = replace(evidence, strength=Strength.NAME)  # schedulers, loggers and others have a state as well
            return mapping(STRING, replace(buffer, kind=Kind.TENSOR | Kind.UNKNOWN, evidence=weaker))
        case "modules":
            return container(module)
        case "named_modules":
            return container(container(items=(STRING, module)))
        case "self":
            return receiver if receiver.kind != Kind.UNKNOWN else None
    return None


def _keeps_parameters(call: cst.Call) -> bool:
    """Whether `state_dict` may be asked for the parameters themselves: ``net.state_dict(keep_vars=True)``."""
    kept = keyword(call.args, "keep_vars") or positional(call.args, 2)
    return has_stars(call.args) or (kept is not None and literal_bool(kept.value) is not False)


def apply_to_modules(frame: Frame, argument: Argument) -> None:
    """``module.apply(lambda m: …)`` evaluates the body for a module."""
    if isinstance(argument.node, cst.Lambda):
        evidence = Evidence(Strength.CONVENTION, "`apply` calls it with modules", argument.node)
        lambdas.call(frame, argument.node, (replace(MODULE, evidence=evidence),))


_SETS_REDUCTION = re.compile(r"(?<!\bself)\.reduction\s*=(?!=|\s*(?:'(?:mean|sum)'|\"(?:mean|sum)\"))")


def _sets_reduction(context: Context) -> bool:
    """Whether a file may take the reduction from a criterion that it has made: ``criterion.reduction = "none"``."""
    return bool(_SETS_REDUCTION.search(context.tree.source.text))
