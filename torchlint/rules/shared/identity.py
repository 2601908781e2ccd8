"""Whether a program can tell one tensor object from another one that shares its memory.

They have neither flags nor hooks nor an identity in common.
"""

from __future__ import annotations

import libcst as cst

from torchlint.model import Kind, Model, Role, Tri, Usage
from torchlint.model.syntax import parameters
from torchlint.model.torch import returned
from torchlint.rules.shared import memory


def may_be_one(call: cst.Call, inner: cst.BaseExpression, model: Model) -> bool:
    """Whether nothing can tell the wrapped tensor from the wrapper.

    They share memory and version counter, but neither shape nor flags nor graph.
    """
    if is_fresh(inner, model):
        return True
    usage = model.usage(call)
    if usage is Usage.WRITTEN or model.remember(_changes_objects):
        return False
    if not isinstance(inner, cst.Name):
        return usage <= Usage.SAVED
    scope = model.scopes.scope_of(inner)
    others = [n for n in model.references(inner.value, scope) if n is not inner and not model.is_target(n)]
    if any(model.usage(other) is Usage.WRITTEN for other in others):
        return False
    given = isinstance(scope, cst.FunctionDef) and inner.value in {p.name.value for p in parameters(scope)}
    return usage <= Usage.SAVED or not (others or given)


_OF_THE_OBJECT = memory.OF_THE_VIEW | {
    "requires_grad_",
    "retain_grad",
    "register_hook",
    "register_post_accumulate_grad_hook",
    "__setattr__",
}
"""Methods that change a tensor and not what shares its memory."""


def _changes_objects(model: Model) -> bool:
    """Whether anything in the file changes a tensor that is no parameter, beyond its elements, or asks which it is."""
    if any(node.attr.value in _OF_THE_OBJECT for node in model.tree.all(cst.Attribute)):
        return True
    for assigned in model.tree.all(cst.AssignTarget):
        match assigned.target:
            case cst.Attribute(value=owner, attr=cst.Name(value=name)):
                value = model.value(owner)
                if value.is_parameter:
                    continue
                if value.kind & Kind.TENSOR or (
                    value.kind & Kind.UNKNOWN and name in ("data", "grad", "requires_grad")
                ):
                    return True
    for call in model.tree.all(cst.Call):
        if isinstance(call.func, cst.Name) and call.func.value in ("setattr", "id"):
            if call.args and model.value(call.args[0].value).kind & Kind.TENSOR:
                return True
    return any(
        isinstance(target.operator, (cst.Is, cst.IsNot)) and model.value(target.comparator).kind & Kind.TENSOR
        for target in model.tree.all(cst.ComparisonTarget)
    )


def is_fresh(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression makes a new tensor that nothing else refers to and that has no graph."""
    value = model.value(node)
    if not value.is_tensor or value.grad != Tri.NO or value.role & Role.PARAMETER:
        return False
    if model.remember(_changes_objects):  # under another name one could be asked to require grad
        if any(model.value(name).may_be_tensor for name in model.tree.within(node, cst.Name)):
            return False
    if memory.is_new(node, model):
        return True
    if not isinstance(node, cst.Call):
        return False
    if isinstance(node.func, cst.Attribute) and not model.qualified(node.func):
        method = returned.data()["methods"].get(node.func.attr.value)
        is_same = isinstance(method, dict) and (method.get("alias") or method.get("self"))
        return bool(is_same) and is_fresh(node.func.value, model)
    ref = model.qualified(node.func) or ""
    return returned.class_kind(ref) == "tensor" and not any(model.value(a.value).may_be_tensor for a in node.args)
