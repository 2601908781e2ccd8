"""Tensors that have one element for certain.

They are made of one number, or ``backward()`` without a gradient went through them, which takes that.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping

import libcst as cst

from torchlint.model import Kind, Model, bindings
from torchlint.model.syntax import integer, is_none, last_name

_OF_NUMBERS = frozenset(("Tensor", "FloatTensor", "DoubleTensor", "HalfTensor", "tensor"))
_OF_SIZES = frozenset(("ones", "zeros", "rand", "randn", "new_ones", "new_zeros"))
_KEEPING = frozenset(("cuda", "cpu", "to", "float", "double", "half", "clone", "detach", "neg", "type_as"))
"""Methods whose results have the elements of what they are called on, but for the sign."""
_ARITHMETIC = frozenset(("mul", "mul_", "div", "div_", "fill_"))
_GRAPH_KEPT = frozenset(("retain_graph", "create_graph", "retain_variables"))


def is_sent_back(node: cst.BaseExpression, model: Model) -> bool:
    """Whether on each way to where a name is read `backward()` has been called on what it is bound to."""
    if not isinstance(node, cst.Name):
        return False
    sent = model.remember(_sent)
    end = model.tree.order(node)
    for statement in model.tree.ancestors(node):
        if isinstance(statement, (cst.FunctionDef, cst.ClassDef, cst.Lambda)):
            return False
        if isinstance(statement, (cst.For, cst.While)):  # what its body binds is read in the next round
            end = model.tree.last_below(statement)
        before = sent.get((id(model.tree.parent(statement)), node.value))
        if before:
            number = bisect_left(before, model.tree.order(statement))
            if number:
                return not _is_bound_between(before[number - 1], end, node, model) and not _may_be_in_list(node, model)
    return False


def _may_be_in_list(node: cst.Name, model: Model) -> bool:
    """Whether a name is bound to what is reduced along a dimension: its one element may be that of a list."""
    scope = model.ask(bindings.owner, node)
    made = model.ask(bindings.all_assigned, node.value, scope) if scope is not None else ()
    return any(each is not None and (_is_reduced_along(each) or _gives_list(each, model)) for each in made)


def _gives_list(node: cst.BaseExpression, model: Model) -> bool:
    """Whether a function or module of the project returns what it reduces along a dimension."""
    called = model.value(node.func).node if isinstance(node, cst.Call) else None
    function = model.find_method(called, "forward") if isinstance(called, cst.ClassDef) else called
    if not isinstance(function, cst.FunctionDef):
        return False
    returns = model.home(function).tree.within(function.body, cst.Return)
    return any(each.value is not None and _is_reduced_along(each.value) for each in returns)


def _is_reduced_along(node: cst.BaseExpression) -> bool:
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name("mean" | "sum")), args=args):
            return any(arg.keyword is None or arg.keyword.value in ("dim", "axis") for arg in args)
    return False


def _sent(model: Model) -> Mapping[tuple[int, str], list[int]]:
    """Where statements are `loss.backward()`, in document order: by the suite that they stand in, and the name."""
    found = defaultdict[tuple[int, str], list[int]](list)
    for attribute in model.tree.attributes("backward"):
        call = model.tree.parent(attribute)
        statement = model.tree.parent(call) if call is not None else None
        match attribute.value, call, statement:
            case cst.Name(value=name), cst.Call(func=func, args=args), cst.Expr() if func is attribute:
                if all(_keeps_gradient(arg) for arg in args):
                    line = model.tree.statement(attribute)
                    found[id(model.tree.parent(line)), name].append(model.tree.order(line))
    return found


def _keeps_gradient(arg: cst.Arg) -> bool:
    """Whether an argument of `backward` leaves the gradient to it, which is one then."""
    name = arg.keyword.value if arg.keyword is not None else ""
    return name in _GRAPH_KEPT or (not arg.star and name in ("", "gradient") and is_none(arg.value))


def _is_bound_between(start: int, end: int, node: cst.Name, model: Model) -> bool:
    """Whether a name is bound again between two places of the document order."""
    bound = model.remember(_bound, node.value, model.scopes.scope_of(node))
    return bisect_right(bound, start) != bisect_right(bound, end)


def _bound(model: Model, name: str, scope: cst.FunctionDef | cst.Module) -> list[int]:
    return [model.tree.order(target) for target in model.targets(name, scope)]


def is_one(node: cst.BaseExpression) -> bool:
    """Whether an expression makes a tensor of one dimension with the number one: ``torch.ones(1)``."""
    match node:
        case cst.Call(func=func, args=[cst.Arg(value=given, keyword=None, star=""), *rest]):
            if any(arg.keyword is None or arg.keyword.value not in ("dtype", "device") for arg in rest):
                return False
            if last_name(func) == "ones":
                return integer(given) == 1
            return last_name(func) in _OF_NUMBERS and _single(given) in ("1", "1.", "1.0")
    return False


def is_made_of_one(node: cst.BaseExpression, model: Model) -> bool:
    """Whether all that an expression can be is a tensor with one dimension and one element, as it is written."""
    scope = model.ask(bindings.owner, node) if isinstance(node, cst.Name) else None
    if isinstance(node, cst.Name) and scope is not None:
        return model.remember(_is_named_one, node.value, scope)
    return _is_made_of_one(node, model, set())


def _is_named_one(model: Model, name: str, scope: cst.FunctionDef | cst.Module) -> bool:
    return _is_bound_to_one(name, scope, model, set())


def _is_bound_to_one(name: str, scope: cst.FunctionDef | cst.Module, model: Model, seen: set[tuple[int, str]]) -> bool:
    """``seen`` are names on the way: what is made of itself is what it is made of elsewhere."""
    if (id(scope), name) in seen:
        return True
    seen.add((id(scope), name))
    made = model.ask(bindings.all_assigned, name, scope)
    return bool(made) and all(each is not None and _is_made_of_one(each, model, seen) for each in made)


def _is_made_of_one(node: cst.BaseExpression, model: Model, seen: set[tuple[int, str]]) -> bool:
    match node:
        case cst.Name(value=name):
            scope = model.ask(bindings.owner, node)
            return scope is not None and _is_bound_to_one(name, scope, model, seen)
        case cst.UnaryOperation(operator=cst.Minus(), expression=operand):
            return _is_made_of_one(operand, model, seen)
        case cst.BinaryOperation(left=left, right=right):
            sides = [side for side in (left, right) if model.value(side).kind != Kind.NUMBER]
            return len(sides) == 1 and _is_made_of_one(sides[0], model, seen)
        case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(value=name)), args=args):
            if name in _KEEPING:
                return _is_made_of_one(inner, model, seen)
            if name in _ARITHMETIC:
                with_numbers = all(model.value(arg.value).kind == Kind.NUMBER for arg in args)
                return with_numbers and _is_made_of_one(inner, model, seen)
    return _is_factory_of_one(node)


def _is_factory_of_one(node: cst.BaseExpression) -> bool:
    match node:
        case cst.Call(func=func, args=[cst.Arg(value=given, keyword=None, star=""), *rest]):
            if last_name(func) == "Variable":
                return _is_factory_of_one(given)
            if any(arg.keyword is None for arg in rest):
                return False
            name = last_name(func)
            is_size = name in _OF_SIZES or name.endswith("Tensor")
            return (is_size and integer(given) == 1) or (name in _OF_NUMBERS and _single(given) is not None)
    return False


def _single(node: cst.BaseExpression) -> str | None:
    """The only number in a list, as it is written."""
    match node:
        case cst.List(elements=[cst.Element(value=cst.Integer(value=number) | cst.Float(value=number))]):
            return number
        case cst.List(elements=[cst.Element(value=cst.UnaryOperation(expression=cst.Integer() | cst.Float()))]):
            return ""
    return None
