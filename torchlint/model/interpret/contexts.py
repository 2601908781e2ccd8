"""What context managers and decorators do to the grad mode, and what ``with`` binds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from torchlint.model.definitions import follow
from torchlint.model.interpret import learning, special_methods
from torchlint.model.interpret.frame import Frame
from torchlint.model.interpret.home_made import grad_mode_of, may_set_mode, may_turn_on
from torchlint.model.names import GRAD_CONTEXTS, SET_GRAD
from torchlint.model.possibilities import Kind, Tri
from torchlint.model.scopes import sounds_like_no_grad
from torchlint.model.symbols import Origin, Symbol
from torchlint.model.syntax import dotted
from torchlint.model.torch.arguments import given_bool
from torchlint.model.values import UNKNOWN, Argument, Value, iterated, reference, truth


def grad_context(frame: Frame, node: cst.BaseExpression) -> Tri | None:
    """What a context manager or decorator does to the grad mode; None if nothing is known of it."""
    if isinstance(node, cst.IfExp):
        modes = [grad_context(frame, side) for side in (node.body, node.orelse)]
        return (modes[0] or frame.grad) | (modes[1] or frame.grad) if any(modes) else None
    if isinstance(node, cst.BooleanOperation) and (entered_side := _entered_side(frame, node)) is not None:
        return grad_context(frame, entered_side)
    made = frame.values.get(id(node), UNKNOWN)
    if made.kind & Kind.OBJECT and made.grad and (made.ref in GRAD_CONTEXTS or made.ref in SET_GRAD):
        return made.grad if made.kind == Kind.OBJECT else made.grad | frame.grad
    if made.kind == Kind.OBJECT and made.ref == "contextlib.nullcontext":
        return made.grad if made.grad == Tri.MAYBE else None
    value = follow(frame.context, frame.values.get(id(node.func), UNKNOWN) if isinstance(node, cst.Call) else made)
    ref = reference(value)
    if ref in GRAD_CONTEXTS:
        return GRAD_CONTEXTS[ref]
    if value.kind == Kind.REFERENCE and ref is None and value.grad:  # one of several
        return value.grad | frame.grad
    if isinstance(value.node, (cst.FunctionDef, cst.ClassDef)) and (tree := frame.context.home(value.node).tree):
        if frame.grad == Tri.NO and may_turn_on(tree, value.node):
            return Tri.MAYBE
        if isinstance(value.node, cst.FunctionDef):
            return grad_mode_of(tree, value.node)
        if may_set_mode(tree, value.node):
            return Tri.MAYBE
    is_named = sounds_like_no_grad(node) or any(map(sounds_like_no_grad, _keywords(node)))
    return Tri.MAYBE if is_named else None  # a name is no proof, of either


def _keywords(node: cst.BaseExpression) -> Iterator[cst.Name]:
    """The names of arguments: ``evaluating(net, no_grad=True)``."""
    args = node.args if isinstance(node, cst.Call) else ()
    return (arg.keyword for arg in args if arg.keyword is not None)


def _entered_side(frame: Frame, node: cst.BooleanOperation) -> cst.BaseExpression | None:
    """Which of two contexts is entered: ``with A and B`` does nothing but raise unless that is ``B``."""
    if isinstance(node.operator, cst.And):
        return node.right
    left = frame.values.get(id(node.left), UNKNOWN)
    is_true = left.kind == Kind.OBJECT and (left.ref or "").startswith("torch.")
    return node.left if is_true and isinstance(node.left, cst.Call) else None


def entered(frame: Frame, value: Value, item: cst.WithItem) -> Value:
    """What ``with value as x`` binds."""
    call = item.item
    made = frame.values.get(id(call.func)) if isinstance(call, cst.Call) else None
    if reference(made) == "contextlib.nullcontext":
        return value
    if made is not None and isinstance(made.node, cst.FunctionDef) and _is_context_manager(made.node):
        return iterated(value) or learning.unknown(frame, Symbol(Origin.CONTEXT, id(item)))
    own = special_methods.by_method(frame, value, "enter", call)
    if own is not None:
        return own
    return (
        value if value.kind & (Kind.OBJECT | Kind.MODULE) else learning.unknown(frame, Symbol(Origin.CONTEXT, id(item)))
    )


def _is_context_manager(function: cst.FunctionDef) -> bool:
    names = [(dotted(d.decorator) or "").rpartition(".")[2] for d in function.decorators]
    return "contextmanager" in names or "asynccontextmanager" in names


def grad_mode(ref: str, arguments: Sequence[Argument]) -> Tri:
    """The grad mode that a context sets. ``inference_mode(False)`` lets autograd record (torch/csrc, InferenceMode)."""
    if ref in SET_GRAD:
        return truth(given_bool(arguments, "mode", 0, False)) if arguments else Tri.MAYBE
    if ref.endswith("inference_mode"):
        mode = given_bool(arguments, "mode", 0, True)
        return truth(None if mode is None else not mode)
    return GRAD_CONTEXTS[ref]
