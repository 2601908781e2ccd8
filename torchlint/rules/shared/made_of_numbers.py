"""Tensors that are made on the spot of numbers: whoever gives these, nothing else has the tensor, and it has no graph.

What the model can't know is a number counts as one here where it would have to be a tensor that requires grad to make a
difference, and is written as numbers are: a size, a factor whose default is a number, what `fill_` writes.
"""

from __future__ import annotations

import libcst as cst

from torchlint.model import Kind, Model, Tri
from torchlint.model.aliasing import by_name
from torchlint.model.aliasing.here import only_metadata
from torchlint.model.bindings import bound_value, declares, owner
from torchlint.model.codebase.exports import is_mentioned
from torchlint.model.overriding import is_set_by_others
from torchlint.model.syntax import assigned_value, assignment_of, parameters
from torchlint.model.torch import library
from torchlint.model.torch.schema import TensorResult
from torchlint.rules.shared import criteria, memory
from torchlint.rules.shared.captured import is_captured
from torchlint.rules.shared.number_by_use import needs_no_graph
from torchlint.rules.shared.order import is_in_same_suite, loops_around

_MANY = 8
"""A name that occurs more often is not followed."""
_HANDING_ON = frozenset(
    (
        *("fill_", "zero_", "uniform_", "normal_", "random_", "exponential_", "bernoulli_", "resize_"),
        *("cuda", "cpu", "float", "double", "half", "long", "int", "byte", "contiguous"),
        *("view", "reshape", "unsqueeze", "squeeze", "expand", "repeat", "t", "transpose", "permute"),
    )
)
"""Methods that give a new tensor with its own values or with numbers they are given."""
_LIKE = frozenset(("expand_as", "view_as", "reshape_as", "resize_as_", "type_as"))
"""Those that take nothing but the size or the type from a tensor that they are given."""
_COMPUTING = frozenset(("add_", "sub_", "mul_", "div_", "add", "sub", "mul", "div"))
"""Those that compute with a number that they are given."""


def is_made_of_numbers(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression makes a tensor of numbers alone."""
    match node:
        case cst.Call(func=cst.Attribute(value=like, attr=cst.Name("new")), args=args) if _is_tensor(like, model):
            return memory.are_sizes(args, model) or all(model.value(arg.value).kind == Kind.NUMBER for arg in args)
        case cst.Call(func=cst.Attribute(value=made, attr=cst.Name(value=name)), args=args) if name in _HANDING_ON:
            if any(arg.star or model.value(arg.value).kind & Kind.TENSOR for arg in args):
                return False
            return is_made_of_numbers(made, model)
        case cst.Call(func=cst.Attribute(value=made, attr=cst.Name(value=name)), args=[cst.Arg(star="", value=given)]):
            if name in _LIKE or (name in _COMPUTING and _is_number(given, model)):
                return is_made_of_numbers(made, model)
        case cst.Name():
            return model.remember(_is_name_of_made, node)
        case cst.BinaryOperation(left=left, right=right):
            sides = [is_made_of_numbers(left, model), is_made_of_numbers(right, model)]
            others = [side for side, is_made in zip((left, right), sides, strict=True) if not is_made]
            return any(sides) and all(_is_number(side, model) for side in others)
        case cst.UnaryOperation(operator=cst.Minus(), expression=inner):
            return is_made_of_numbers(inner, model)
    match node:
        case cst.Call(func=func, args=[cst.Arg(star="", value=made)]) if model.qualified(func) == "torch.bernoulli":
            return is_made_of_numbers(made, model)
        case cst.Call():
            value = model.value(node)
            return value.is_tensor and value.grad == Tri.NO and not value.is_parameter and _is_made(node, model)
    return False


def _is_name_of_made(model: Model, node: cst.Name) -> bool:
    """Whether a name has just been bound to such a tensor, and stands nowhere else but where it is bound again.

    Nobody can tell what wraps the tensor from the tensor then.
    """
    scope, tree = model.scopes.scope_of(node), model.tree
    if not isinstance(scope, cst.FunctionDef) or model.ask(owner, node) is not scope:
        return False
    uses = model.references(node.value, scope)
    if len(uses) > _MANY or model.remember(is_captured, node.value, scope):
        return False
    order, statement = tree.order, tree.statement(node)
    bound = [use for use in uses if assignment_of(use, tree) is not None and model.is_target(use)]
    before = [use for use in bound if order(use) < order(statement)]
    if not before or before[0] is not uses[0] or not is_in_same_suite(node, before[-1], model):
        return False
    if loops_around(before[0], model) != loops_around(node, model):
        return False  # a round could read what the one before has left
    is_tried = tree.enclosing(node, cst.Try, cst.TryStar, cst.With, cst.FunctionDef) is not scope
    later = [] if is_tried else bound[len(before) :]  # an error leaves out what comes behind it
    bound_again = (tree.statement(use) for use in later if is_in_same_suite(node, use, model))
    again = next(map(tree.last_below, bound_again), order(uses[-1]))
    begun = tree.last_below(tree.statement(before[-1]))
    read = [use for use in uses if begun < order(use) <= again and use is not node and use not in bound]
    if not all(model.ask(only_metadata, use) for use in read):
        return False
    made = bound_value(before[-1], tree)
    return made is not None and is_made_of_numbers(made, model)


def _is_tensor(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is a tensor, or `.data` of something: `new` makes another one like it.

    What is not known is one where no class of the file has such a method: others have no `new` that `Variable` takes.
    """
    if isinstance(node, cst.Attribute) and node.attr.value == "data":
        return True
    return model.is_tensor(node) or (model.value(node).kind == Kind.UNKNOWN and not model.ask(declares, "new"))


def _is_made(call: cst.Call, model: Model) -> bool:
    """Whether a class of tensors or a factory is called, ``torch.zeros``, and given no other tensor."""
    ref = model.qualified(call.func) or ""
    result = library.function(ref)
    is_factory = isinstance(result, TensorResult) and result.grad == "factory"
    if library.class_kind(ref) != "tensor" and not is_factory:
        return False
    return memory.is_new(call, model) and not any(model.value(arg.value).kind & Kind.TENSOR for arg in call.args)


def _is_number(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is a number, or a parameter whose default is one."""
    if model.value(node).kind == Kind.NUMBER:
        return True
    if isinstance(node, cst.Attribute):
        return _is_number_of_object(node, model)
    if isinstance(node, cst.BinaryOperation):
        return _is_number(node.left, model) and _is_number(node.right, model)
    scope = model.scopes.scope_of(node)
    if not isinstance(node, cst.Name) or not isinstance(scope, cst.FunctionDef):
        return False
    if any(model.value(node).kind & kind for kind in (Kind.TENSOR, Kind.MODULE)):
        return False
    return _has_number(node.value, scope) or needs_no_graph(node, scope, model)


def _has_number(name: str, function: cst.FunctionDef) -> bool:
    """Whether the default of a parameter is a number."""
    defaults = (each.default for each in parameters(function) if each.name.value == name)
    return any(isinstance(default, (cst.Integer, cst.Float)) for default in defaults)


def _is_number_of_object(node: cst.Attribute, model: Model) -> bool:
    """Whether an attribute of an object is only ever assigned a parameter whose default is a number: ``self.std``."""
    cls, name = model.tree.enclosing(node, cst.ClassDef), node.attr.value
    if not isinstance(cls, cst.ClassDef) or not isinstance(node.value, cst.Name) or node.value.value != "self":
        return False
    if model.value(node).kind & (Kind.TENSOR | Kind.MODULE):
        return False
    if model.ask(is_set_by_others, cls, name) or model.ask(by_name.is_given, name, cls):
        return False
    uses = model.scopes.attribute(cls, name)
    assigned = uses.assigned
    if uses.registered or uses.grown or not assigned or not all(_is_assigned_number(each, model) for each in assigned):
        return False
    if model.ask(is_mentioned, rf"\bsetattr\s*\([^\n]*[\"']{name}[\"']"):
        return False
    return not model.remember(criteria.is_set_elsewhere, name, cls, _NOTHING)


_NOTHING = "(?!)"
"""A pattern that no class of torch has the name of."""


def _is_assigned_number(target: cst.CSTNode, model: Model) -> bool:
    """Whether what is assigned is a number, or a parameter whose default is one, that is not bound again."""
    scope = model.scopes.scope_of(target)
    match assigned_value(target, model.tree):
        case cst.Integer() | cst.Float():
            return True
        case cst.Name(value=name) if isinstance(scope, cst.FunctionDef) and not model.targets(name, scope):
            return _has_number(name, scope)
    return False
