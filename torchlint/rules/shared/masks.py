"""What becomes of a tensor that may be a mask: where it is one, by how many names ever."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from torchlint.model import Dtype, Model
from torchlint.model.syntax import integer, is_bound, last_name, positional
from torchlint.rules.shared import indices
from torchlint.rules.shared.order import is_in_same_suite

_MASKING = indices.TAKING_MASK | {"where"}
_ARRANGING = frozenset(
    """
    t transpose permute view reshape expand expand_as unsqueeze squeeze flatten repeat repeat_interleave tril triu flip
    roll contiguous clone detach cuda cpu view_as reshape_as movedim swapaxes swapdims zero_ tril_ triu_ t_ unsqueeze_
    """.split()  # noqa: SIM905
)
"""Methods whose results have the elements of what they are called on, and its dtype."""
_SAME_OF_BOTH = frozenset(("size", "dim", "shape", "ndim", "numel", "device", "is_cuda", "stride"))
"""What bytes and booleans have alike."""
_MANY = 64
"""How many expressions are looked at."""


@dataclass(slots=True)
class MaskUses:
    """What becomes of a tensor."""

    as_mask: bool = False
    """It is a mask somewhere."""
    otherwise: bool = False
    """It is something else as well, or not all is seen."""


def uses(node: cst.BaseExpression, model: Model) -> MaskUses:
    """What becomes of the value of an expression, through names, attributes of `self`, views and logic."""
    found = MaskUses()
    todo = [node]
    seen: set[int] = set()
    while todo and not (found.as_mask and found.otherwise):
        each = todo.pop()
        if id(each) in seen:
            continue
        if len(seen) == _MANY:
            found.otherwise = True
            break
        seen.add(id(each))
        if is_mask(each, model):
            found.as_mask = True
            continue
        following = _following(each, model, found)
        if following is None:
            found.otherwise = True
        else:
            todo += following
    return found


def is_mask(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is an index of a tensor, or the mask of one of the masking functions."""
    parent = model.tree.parent(node)
    match parent:
        case cst.Index():
            element = model.tree.parent(parent)
            subscript = model.tree.parent(element) if element is not None else None
            return isinstance(subscript, cst.Subscript) and model.value(subscript.value).is_tensor
        case cst.Arg(keyword=None | cst.Name("mask" | "condition")):
            call = model.tree.parent(parent)
            if not isinstance(call, cst.Call) or last_name(call.func) not in _MASKING:
                return False
            is_function = isinstance(call.func, cst.Name) or model.qualified(call.func) is not None
            at = 1 if is_function and last_name(call.func) != "where" else 0
            return parent.keyword is not None or positional(call.args, at) is parent
    return False


def _following(node: cst.BaseExpression, model: Model, found: MaskUses) -> Sequence[cst.BaseExpression] | None:
    """The expressions that have the same elements by what is done with it; None if it is used in another way."""
    parent = model.tree.parent(node)
    match parent:
        case cst.Expr():
            return ()
        case cst.Attribute(attr=cst.Name(value=name)) if parent.value is node:
            return _of_attribute(name, parent, model)
        case cst.Subscript() if parent.value is node:
            return _of_element(parent, model)
        case cst.BinaryOperation(operator=cst.BitAnd() | cst.BitOr() | cst.BitXor()):
            other = parent.right if parent.left is node else parent.left
            return (parent,) if model.value(other).is_tensor else None
        case cst.BinaryOperation(operator=cst.Subtract()) if integer(parent.left) == 1:
            found.otherwise = True  # what would raise if it were boolean
            return (parent,)
        case cst.UnaryOperation(operator=cst.BitInvert()):
            return (parent,)
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(comparator=other)]) if left is node:
            return () if integer(other) in (0, 1) else None
        case cst.AugAssign(operator=cst.BitAndAssign() | cst.BitOrAssign() | cst.BitXorAssign()):
            return () if parent.target is node and model.value(parent.value).dtype == Dtype.BOOL else None
        case cst.Arg(keyword=None) if isinstance(call := model.tree.parent(parent), cst.Call):
            return _of_call(parent, call, model, found)
        case cst.AssignTarget(target=target) if target is node:
            return ()
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name() as target)]):
            return _read(target, model, found)
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Attribute(value=cst.Name("self")) as target)]):
            return _read_of_self(target.attr.value, parent, model, found)
    return None


def _of_attribute(name: str, attribute: cst.Attribute, model: Model) -> Sequence[cst.BaseExpression] | None:
    call = model.tree.parent(attribute)
    if name in _SAME_OF_BOTH:
        return ()
    if name in ("data", "T"):
        return (attribute,)
    if not isinstance(call, cst.Call) or call.func is not attribute:
        return None
    if name in ("eq", "ne") and len(call.args) == 1 and integer(call.args[0].value) in (0, 1):
        return ()
    if name == "fill_" and len(call.args) == 1 and integer(call.args[0].value) in (0, 1):
        return (call,)
    is_moved = name == "to" and len(call.args) == 1 and _is_device(call.args[0], model)
    return (call,) if name in _ARRANGING or is_moved else None


def _is_device(arg: cst.Arg, model: Model) -> bool:
    is_named = "device" in last_name(arg.value) or model.value(arg.value).ref == "torch.device"
    return is_named or isinstance(arg.value, cst.SimpleString)


def _of_element(subscript: cst.Subscript, model: Model) -> Sequence[cst.BaseExpression] | None:
    """What is read of an index of it; what is put there has to be as good for booleans."""
    match model.tree.parent(subscript):
        case cst.AssignTarget() as target if isinstance(assign := model.tree.parent(target), cst.Assign):
            put = assign.value
            is_truth = integer(put) in (0, 1) or (isinstance(put, cst.Name) and put.value in ("True", "False"))
            return () if is_truth or isinstance(put, cst.Comparison) else None
        case cst.AugAssign() | cst.Del():
            return None
    return (subscript,)


def _of_call(arg: cst.Arg, call: cst.Call, model: Model, found: MaskUses) -> Sequence[cst.BaseExpression] | None:
    """Functions that arrange what they are given, and what is registered as a buffer."""
    name = last_name(call.func)
    if name in _ARRANGING and call.args[0] is arg and (model.qualified(call.func) or "").startswith("torch."):
        return (call,)
    match call:
        case cst.Call(func=cst.Attribute(value=cst.Name("self")), args=[cst.Arg(value=cst.SimpleString() as key), *_]):
            if name == "register_buffer" and positional(call.args, 1) is arg and isinstance(key.evaluated_value, str):
                return _read_of_self(key.evaluated_value, call, model, found)
    return None


def _read(target: cst.Name, model: Model, found: MaskUses) -> Sequence[cst.BaseExpression]:
    """Where a name is read that may hold what was assigned to it."""
    scope = model.scopes.scope_of(target)
    bindings = model.remember(_bindings, target.value, scope)
    reads = model.remember(_reads, target.value, scope)
    if len(bindings) == 1:
        return reads[: _MANY + 1]

    def place(node: cst.CSTNode) -> int:
        return model.tree.order(model.tree.statement(node))

    after = bisect_right(bindings, place(target), key=place)
    again = bindings[after] if after < len(bindings) else None
    first = bisect_right(reads, place(target), key=place)
    last = bisect_right(reads, place(again), key=place) if again is not None else len(reads)
    reached = reads[first : min(last, first + _MANY + 1)]
    is_replaced = again is not None and is_in_same_suite(target, again, model)
    if not is_replaced or not all(is_in_same_suite(each, target, model) for each in reached):
        found.otherwise = True
    return reached


def _bindings(model: Model, name: str, scope: cst.FunctionDef | cst.Module) -> list[cst.Name]:
    """Where a name is given another value."""
    bound = (each for each in model.references(name, scope) if _binds(each, model))
    return sorted(bound, key=lambda each: model.tree.order(model.tree.statement(each)))


def _reads(model: Model, name: str, scope: cst.FunctionDef | cst.Module) -> list[cst.Name]:
    """Where a name is read, or changed in place."""
    read = (each for each in model.references(name, scope) if not _binds(each, model))
    return sorted(read, key=lambda each: model.tree.order(model.tree.statement(each)))


def _binds(node: cst.Name, model: Model) -> bool:
    parent = model.tree.parent(node)
    is_augmented = isinstance(parent, cst.AugAssign)
    return isinstance(parent, cst.Del) or (is_bound(model.tree, node) and not is_augmented)


def _read_of_self(name: str, place: cst.CSTNode, model: Model, found: MaskUses) -> Sequence[cst.BaseExpression] | None:
    """Where the methods of a class read an attribute that is assigned once."""
    cls = model.tree.enclosing(place, cst.ClassDef)
    if not isinstance(cls, cst.ClassDef):
        return None
    assigned, read = model.remember(_of_classes, name).get(id(cls), ([], []))
    is_assigned_here = any(model.tree.is_inside(each, place) for each in assigned[:1])
    if len(assigned) > is_assigned_here or len(assigned) + len(read) < len(model.tree.attributes(name)):
        found.otherwise = True
    return read[: _MANY + 1]


def _of_classes(model: Model, name: str) -> dict[int, tuple[list[cst.Attribute], list[cst.Attribute]]]:
    """Where each class of a file assigns an attribute of ``self`` of that name, and where it reads it."""
    found: dict[int, tuple[list[cst.Attribute], list[cst.Attribute]]] = {}
    for each in model.tree.attributes(name):
        cls = model.tree.enclosing(each, cst.ClassDef)
        if cls is not None and _is_of_self(each):
            assigned, read = found.setdefault(id(cls), ([], []))
            (assigned if is_bound(model.tree, each) else read).append(each)
    return found


def _is_of_self(node: cst.Attribute) -> bool:
    return isinstance(node.value, cst.Name) and node.value.value == "self"
