"""Whether `backward()` begins with a value: on the spot, by its name, behind a mean or a scaler."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from torchlint.model import Model, Strength
from torchlint.model.syntax import call_of, dotted, keyword, positional

_FAR = 4
"""How many names are followed."""
_BACKWARD = frozenset(("backward", "manual_backward"))
_REDUCING = frozenset(("mean", "sum", "scale", "clone", "squeeze", "requires_grad_", "to"))
"""Methods through which a loss goes before `backward()`, of the loss or of what is given it."""
_READ = frozenset(("grad", "register_hook", "retain_grad"))
"""Attributes that ask a leaf for the gradient of its own."""


def is_begun_with(node: cst.BaseExpression, model: Model, far: int = _FAR) -> bool:
    """Whether `backward()` is called on what an expression gives, or on what is made of it, in its function."""
    while True:
        parent = model.tree.parent(node)
        match parent:
            case cst.Attribute(attr=cst.Name(value=name)) if (call := call_of(parent, model.tree)) is not None:
                if name == "backward":
                    return not _is_given_gradient(call)
                if name not in _REDUCING:
                    return False
                node = call
            case cst.BinaryOperation(left=left, operator=cst.Divide()) if left is node:
                node = parent
            case cst.Arg(star=""):
                outer = model.tree.parent(parent)
                if not isinstance(outer, cst.Call) or outer.args[0] is not parent:
                    return False
                match outer.func:
                    case cst.Attribute(value=owner, attr=cst.Name(value=name)) if name in _BACKWARD:
                        return not model.is_tensor(owner, Strength.ANNOTATION)
                    case cst.Attribute(attr=cst.Name("scale")):
                        node = outer
                    case _:
                        return False
            case cst.Assign(targets=[cst.AssignTarget(target=target)]) if far:
                return _is_named_begun_with(target, model, far - 1)
            case _:
                return False


def is_named_begun_with(loss: cst.BaseExpression, model: Model) -> bool:
    """The same of a name or path, behind a place in its function and before it is bound again."""
    return _is_named_begun_with(loss, model, _FAR)


def _is_named_begun_with(loss: cst.BaseExpression, model: Model, far: int) -> bool:
    path, at, scope = dotted(loss), model.tree.order(model.tree.statement(loss)), model.scopes.scope_of(loss)
    if path is None:
        return False
    uses = [each for each in _uses(loss, path, model) if model.scopes.scope_of(each) is scope]
    if any(_is_of_leaf(each, model) for each in uses):
        return False
    placed = [(model.tree.order(model.tree.statement(each)), each) for each in uses]
    end = min((place for place, each in placed if place > at and model.is_target(each)), default=None)
    later = [each for place, each in placed if place > at and (end is None or place <= end)]
    return any(is_begun_with(each, model, far) for each in later if not model.is_target(each))


def _uses(node: cst.BaseExpression, path: str, model: Model) -> Sequence[cst.BaseExpression]:
    """Where a name or path occurs in the function of a node."""
    if isinstance(node, cst.Name):
        return model.references(node.value, model.scopes.scope_of(node))
    return [each for each in model.tree.attributes(path.rpartition(".")[2]) if dotted(each) == path]


def _is_of_leaf(use: cst.BaseExpression, model: Model) -> bool:
    """Whether something shows that a leaf is meant: its gradient is read, or it is optimised."""
    parent = model.tree.parent(use)
    if isinstance(parent, cst.Attribute):
        return parent.attr.value in _READ
    return isinstance(parent, cst.Element) and isinstance(model.tree.parent(parent), cst.List)


def _is_given_gradient(call: cst.Call) -> bool:
    return positional(call.args, 0) is not None or keyword(call.args, "gradient") is not None
