"""The values of attributes."""

from __future__ import annotations

import re
from functools import reduce
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model import freezing
from torchlint.model.attributes import class_attribute, class_use
from torchlint.model.certainty import Certainty
from torchlint.model.classes import class_kind
from torchlint.model.codebase.exports import leaver
from torchlint.model.interpret import learning, loaders, model_outputs, module_containers
from torchlint.model.interpret.frame import Frame
from torchlint.model.names import MODULE_METHODS, VIEWING
from torchlint.model.possibilities import Dtype, Kind, Ndim, Role, Tri
from torchlint.model.symbols import Origin, Symbol
from torchlint.model.syntax import dotted
from torchlint.model.torch import library, transfer
from torchlint.model.torch.arguments import literal_bool
from torchlint.model.torch.distributions import distribution_dtype, distribution_grad, is_distribution_attribute
from torchlint.model.torch.named import named
from torchlint.model.values import (
    NUMBER,
    OBJECT,
    STRING,
    UNKNOWN,
    Evidence,
    Method,
    Owner,
    Strength,
    Value,
    container,
    join,
    mapping,
    parameter,
    tensor,
    unknown,
)
from torchlint.system.records import replace

if TYPE_CHECKING:
    from torchlint.model.context import Context

_SETTINGS: dict[str | int, Value] = dict.fromkeys(("lr", "initial_lr", "weight_decay", "momentum", "eps"), NUMBER)


def expression(frame: Frame, node: cst.Attribute) -> Value:
    """``x.name``, written out: a path that something was assigned to is that."""
    base = frame.value(node.value)
    name = node.attr.value
    path = dotted(node)
    known = frame.env.get(path) if path is not None else None
    if known is not None:
        learning.learn_from_attribute(frame, base, name, node)
        return known
    value = attribute(frame, base, name, node)
    if value.kind & Kind.UNKNOWN and path in frame.believed:
        return frame.believed[path]
    if value.kind == Kind.UNKNOWN and loaders.is_data_set(base, node.value):
        return learning.resolve(frame, replace(value, grad=Tri.NO, symbols=loaders.of_data_set(node).symbols))
    return value


def attribute(frame: Frame, base: Value, name: str, node: cst.CSTNode) -> Value:
    """``base.name``."""
    if base.choices:
        return reduce(join, [attribute(frame, each, name, node) for each in base.choices])
    if base.kind & Kind.REFERENCE and base.is_named and not base.kind & ~(Kind.REFERENCE | Kind.NONE):
        if base.receiver is not None:
            return unknown(Symbol(Origin.ATTRIBUTE, id(node)))
        return named(f"{base.ref}.{name}")
    learning.learn_from_attribute(frame, base, name, node)
    result = _tensor_attribute(frame, base, name, node) if base.kind & Kind.TENSOR else None
    others: list[Value] = [result] if result is not None else []
    if base.kind & (Kind.MODULE | Kind.OBJECT):
        others.append(_member(frame, base, name, node))
    if base.kind & Kind.OPTIMIZER:
        others.append(_optimizer_attribute(frame, base, name, node))
    if (
        base.kind & (Kind.NDARRAY | Kind.CONTAINER | Kind.PACKED | Kind.LOADER | Kind.STRING | Kind.NUMBER)
        and not others
    ):
        others.append(plain_attribute(base, name, node))
    if base.kind & Kind.FUNCTION and isinstance(base.node, cst.ClassDef) and name == "apply":
        if class_kind(frame.context, base.node) == "function":
            return Value(Kind.REFERENCE, ref="torch.autograd.Function.apply")
    if base.kind & Kind.FUNCTION and isinstance(base.node, cst.ClassDef):
        others.append(class_attribute(frame.context, base.node, name, frame, base))
    if base.kind & Kind.UNKNOWN and not others:
        others.append(_unknown_attribute(frame, base, name, node))
    if not others:
        return unknown(Symbol(Origin.ATTRIBUTE, id(node)))
    value = others[0]
    for other in others[1:]:
        value = join(value, other)
    return value


def _tensor_attribute(frame: Frame, base: Value, name: str, node: cst.CSTNode) -> Value | None:
    if name == "grad":
        gradient = tensor(_grad_of_gradient(frame, node), base.ndim, base.dtype, role=Role.GRADIENT)
        return gradient.because(Strength.SIGNATURE, "`.grad` of a tensor", node)
    if name == "data":
        role = base.role if base.role == Role.GRADIENT else Role.PLAIN
        return replace(tensor(Tri.NO, base.ndim, base.dtype, role=role), evidence=base.evidence)
    if library.method(name) is not None:
        return Value(Kind.REFERENCE, ref=f"torch.Tensor.{name}", receiver=base)
    if (known := library.attribute(name)) is not None:
        evidence = Evidence(Strength.SIGNATURE, f"`.{name}` of a tensor", node)
        return transfer.apply(known, base, (), frame.grad, evidence)
    return None


def _grad_of_gradient(frame: Frame, node: cst.CSTNode) -> Tri:
    """A gradient carries no graph, but where ``backward(create_graph=True)`` may have run."""
    for call in frame.context.remember(_keeping_graph):
        scope = frame.context.scopes.scope_of(call)
        if frame.scope is not frame.tree.module or scope is not frame.tree.module:
            return Tri.MAYBE
        before = frame.tree.order(call) < frame.tree.order(node)
        loops = [up for up in frame.tree.ancestors(call) if isinstance(up, (cst.For, cst.While))]
        if before or any(frame.context.tree.is_inside(node, loop) for loop in loops):
            return Tri.MAYBE
    return Tri.MAYBE if leaver(frame.context) is not None else Tri.NO


def _member(frame: Frame, base: Value, name: str, node: cst.CSTNode) -> Value:
    if isinstance(base.node, cst.ClassDef):
        found = class_attribute(frame.context, base.node, name, frame, base)
        if found is not None and found.kind != Kind.UNKNOWN:
            return found
    if base.kind & Kind.MODULE:
        member = _module_attribute(frame, base, name, node)
        if member is not None:
            return member
    if base.ref is not None and base.ref.startswith("torch.distributions."):
        return _distribution_attribute(base, name, node)
    if (output := model_outputs.attribute(base, name)) is not None:
        return output
    if name == "_replace" and base.items is not None:
        return Value(Kind.REFERENCE, inner=Method(Owner.PLAIN, name), receiver=base)
    if isinstance(base.node, cst.ClassDef):
        return _self_unknown(frame, base.node, name, node)
    if base.kind & (Kind.MODULE | Kind.UNKNOWN) or base.is_named:
        return learning.unknown(frame, Symbol(Origin.MEMBER, id(node)))
    return Value(Kind.OBJECT)


def _distribution_attribute(base: Value, name: str, node: cst.CSTNode) -> Value:
    if is_distribution_attribute(name):
        grad, dtype = distribution_grad(base, name), distribution_dtype(base, name)
        statistic = replace(tensor(grad, dtype=dtype), certainty=base.certainty)
        return statistic.because(Strength.SIGNATURE, "a statistic of a distribution", node)
    return Value(Kind.REFERENCE, ref=f"torch.distributions.Distribution.{name}", receiver=base)


def _self_unknown(frame: Frame, cls: cst.ClassDef, name: str, node: cst.CSTNode) -> Value:
    """An attribute of this class that nothing is known of: what the whole class does with it may tell."""
    evidence = class_use(frame.context, cls, name)
    if evidence is not None:
        return tensor(evidence=evidence)
    return learning.unknown(frame, Symbol(Origin.SELF, id(cls), name))


def _module_attribute(frame: Frame, base: Value, name: str, node: cst.CSTNode) -> Value | None:
    if base.ref is not None:
        evidence = Evidence(Strength.SIGNATURE, f"`{name}` is a parameter or buffer of `{base.ref}`", node)
        frozen = isinstance(node, cst.Attribute) and freezing.is_frozen(frame.context, node.value)
        certainty = Certainty.SUPPOSED if frozen or not isinstance(node, cst.Attribute) else Certainty.PROVED
        found = transfer.member(library.module_info(base.ref), name, evidence, certainty)
        if found is not None:
            return found
    if (part := module_containers.attribute(base, name)) is not None:
        return part
    if module_containers.is_number(name) and (base.is_named or name == "training"):
        return NUMBER
    if name in ("forward", "__call__"):
        return base
    if name in MODULE_METHODS:
        return Value(Kind.REFERENCE, ref=f"torch.nn.Module.{name}", receiver=base)
    if name in ("weight", "bias", "weight_hh_l0", "weight_ih_l0", "in_proj_weight"):
        evidence = Evidence(Strength.CONVENTION, f"`{name}` of a module", node)
        return learning.likely(frame, parameter(evidence), Symbol(Origin.MEMBER, id(node)))
    return None


def optimised(node: cst.CSTNode) -> Value:
    """The list under ``"params"`` in a group of an optimizer."""
    return container(parameter(Evidence(Strength.CONVENTION, "it comes from an optimizer's `param_groups`", node)))


def _param_groups(node: cst.CSTNode) -> Value:
    return container(mapping(STRING, None, {"params": optimised(node), **_SETTINGS}))


def _optimizer_attribute(frame: Frame, base: Value, name: str, node: cst.CSTNode) -> Value:
    if name == "param_groups":
        return _param_groups(node)
    if isinstance(base.node, cst.ClassDef):
        return class_attribute(frame.context, base.node, name, frame, base) or UNKNOWN
    return Value(Kind.REFERENCE, inner=Method(Owner.OPTIMIZER, name), receiver=base) if name == "step" else OBJECT


def plain_attribute(base: Value, name: str, node: cst.CSTNode) -> Value:
    """An attribute of an array, a container, a packed sequence, a loader, a string or a number."""
    if base.kind & Kind.PACKED and name in ("data", "batch_sizes"):
        evidence = Evidence(Strength.SIGNATURE, f"`.{name}` of a PackedSequence", node)
        if name == "batch_sizes":
            return tensor(Tri.NO, Ndim.MORE, Dtype.INT, evidence=evidence)
        return tensor(base.grad or Tri.MAYBE, Ndim.MORE, base.dtype or Dtype.ANY, evidence=evidence)
    if base.kind & Kind.PACKED and name in ("is_cuda", "is_pinned"):
        return NUMBER
    if base.kind & Kind.CONTAINER and base.keys is not None and name in base.keys.known:
        return base.keys.known[name]
    field = library.field_named(base, name)
    if field is not None:
        return field
    if base.kind == Kind.LOADER and name in ("batch_size", "num_workers", "prefetch_factor"):
        return NUMBER
    return Value(Kind.REFERENCE, inner=Method(Owner.PLAIN, name), receiver=base)


def _unknown_attribute(frame: Frame, base: Value, name: str, node: cst.CSTNode) -> Value:
    if name == "param_groups":
        return _param_groups(node)
    symbols = learning.symbols_of_attribute(base, name, 2) or (Symbol(Origin.ATTRIBUTE, id(node)),)
    if name in ("weight", "bias"):
        value = parameter(Evidence(Strength.NAME, f"it is called `{name}`", node))
        return learning.likely(frame, value, symbols[0])
    if name == "grad" and base.symbols:
        value = tensor(_grad_of_gradient(frame, node), role=Role.GRADIENT)
        value = value.because(Strength.CONVENTION, "`.grad` of something", node)
        return learning.likely(frame, value, Symbol(Origin.ATTRIBUTE, name=name, of=base.symbols[0]))
    value = learning.resolve(frame, unknown(*symbols))
    if value.kind == Kind.TENSOR and _is_of_batch(frame, base, name, node):  # what only holds tensors may be filled
        value = replace(value, grad=Tri.NO, symbols=(*value.symbols, Symbol(Origin.BATCH, id(node))))
    return replace(value, receiver=base, ref=None, inner=Method(Owner.UNKNOWN, name))


def _is_of_batch(frame: Frame, base: Value, name: str, node: cst.CSTNode) -> bool:
    """Whether an attribute is asked of a batch: of a loader, or of torchtext, which is handed on by this name."""
    if loaders.is_batch(base):
        return True
    is_named = isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name) and node.value.value == "batch"
    if not is_named or name in VIEWING or not any(symbol.origin is Origin.PARAMETER for symbol in base.symbols):
        return False
    return frame.context.remember(_has_to_do_with_torchtext)


_TORCHTEXT = re.compile(rb"\btorchtext\b")


def _has_to_do_with_torchtext(context: Context) -> bool:
    return bool(context.tree.names("torchtext")) or bool(context.codebase.matching(context, _TORCHTEXT))


def _keeping_graph(context: Context) -> list[cst.CSTNode]:
    """All calls of ``backward`` in a file that may keep the graph of the gradients."""
    calls = [context.tree.parent(node) for node in context.scopes.calls("backward")]
    return [c for c in calls if isinstance(c, cst.Call) and _may_keep_graph(c)]


def _may_keep_graph(call: cst.Call) -> bool:
    for at, arg in enumerate(call.args):
        if arg.star or (arg.keyword is None and at > 1) or (arg.keyword and arg.keyword.value == "create_graph"):
            return literal_bool(arg.value) is not False
    return False
