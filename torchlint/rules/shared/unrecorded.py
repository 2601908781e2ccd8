"""Whether a statement does the same where autograd does not record: nothing unknown is called in it."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Kind, Model, Value
from torchlint.model.names import GROWING
from torchlint.model.syntax import decorator_names, keyword, last_name, parameters
from torchlint.model.values import Method, Owner
from torchlint.rules.shared import memory, no_grad

_HARMLESS = ("torch.", "builtins.", "numpy.", "math.")


def knows_all_calls(write: cst.CSTNode, model: Model) -> bool:
    """Whether nothing unknown is called in the statement: under ``no_grad`` it could compute something else.

    Properties, and operators of classes that the file defines, are called as well.
    """
    statement = no_grad.small_statement(write, model) or model.tree.statement(write)
    return not any(is_unknown_call(node, model) for node in model.tree.walk(statement))


def is_unknown_call(node: cst.CSTNode, model: Model) -> bool:
    """Whether a node calls something unknown, be it by a property or an operator."""
    match node:
        case cst.Call(func=func):
            value = model.value(func)
            if value.kind & Kind.REFERENCE and _is_harmless(value):
                return _may_keep(node, model)
            if isinstance(func, cst.Attribute) and (memory.is_inplace(func.attr.value) or _is_size(func, value, model)):
                return False
            return not _is_computing(value, model)
        case cst.Attribute(attr=cst.Name(value=name)):
            return name in model.remember(_properties) and not model.is_target(node)
        case cst.BinaryOperation(left=left, right=right):
            return model.remember(_defines_operators) and not all(map(model.is_tensor, (left, right)))
        case cst.Subscript(value=taken_from) if not model.is_target(node):
            return model.remember(_defines, "__getitem__") and not model.is_tensor(taken_from)
    return False


def _is_size(func: cst.Attribute, value: Value, model: Model) -> bool:
    """Whether something unknown is asked how large it is, by a method that no class of the file has: a number."""
    name = func.attr.value
    return name in _SIZES and value.node is None and not value.choices and not model.remember(_defines, name)


_SIZES = ("size", "dim", "numel", "nelement", "ndimension")


def _may_keep(call: cst.Call, model: Model) -> bool:
    """Whether a call puts something into a container, or calls what it is given: ``d.setdefault("w", w * 2)``."""
    name = last_name(call.func)
    if name in GROWING and isinstance(call.func, cst.Attribute) and not model.is_tensor(call.func.value):
        return True
    if not (model.qualified(call.func) or "").startswith("builtins."):
        return False
    return name in _CALLING or keyword(call.args, "key") is not None


_CALLING = ("next", "map", "filter", "iter", "getattr")
"""Builtins that run what they are given, or what a class has in the place of an attribute."""


def _is_harmless(value: Value) -> bool:
    """Whether nothing that is called computes something else under ``no_grad``, or asks for what that forbids."""
    is_plain = isinstance(value.inner, Method) and value.inner.owner is Owner.PLAIN
    ref = value.ref or ""
    return is_plain or (ref.startswith(_HARMLESS) and not ref.startswith("torch.autograd."))


def _properties(model: Model) -> frozenset[str]:
    """The names of what the classes of the file compute when it is asked for."""
    functions = (each for each in model.tree.all(cst.FunctionDef) if each.decorators)
    return frozenset(
        each.name.value for each in functions if any(name.endswith("property") for name in decorator_names(each))
    )


def _defines_operators(model: Model) -> bool:
    """Whether a class of the file says what an arithmetic operator does."""
    return _defines(model, *_OPERATORS)


def _defines(model: Model, *methods: str) -> bool:
    """Whether a class of the file has one of some special methods."""
    return any(not model.scopes.info(cls).methods.keys().isdisjoint(methods) for cls in model.scopes.all_classes())


_ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
_OPERATORS = (
    *(f"__{side}{name}__" for name in _ARITHMETIC for side in ("", "r")),
    *("__getattr__", "__getattribute__"),
)


_MODULES = ("torch.", "numpy.", "math.")
_BUILTINS = frozenset(
    f"builtins.{name}"
    for name in (
        *("abs", "bool", "dict", "enumerate", "float", "int", "isinstance", "len", "list", "max", "min", "range"),
        *("reversed", "round", "set", "sorted", "str", "sum", "tuple", "zip"),
    )
)
_KEEPING = (
    cst.Global,
    cst.Nonlocal,
    cst.Yield,
    cst.Await,
    cst.Lambda,
    cst.FunctionDef,
    cst.ClassDef,
    cst.With,
    cst.AugAssign,
)
"""What lets something outlive a call, writes to what was given, or changes the mode."""


def _is_computing(function: Value, model: Model) -> bool:
    """Whether a function of the project gives a result and does nothing else, and nothing that the mode changes."""
    node = function.node
    if not isinstance(node, cst.FunctionDef) or node.decorators or node.asynchronous is not None:
        return False
    return model.home(node).remember(_only_computes, node)


def _only_computes(model: Model, function: cst.FunctionDef) -> bool:
    tree, body = model.tree, function.body
    if any(tree.within(body, cls) for cls in _KEEPING):
        return False
    if any("grad" in node.attr.value or model.is_target(node) for node in tree.within(body, cst.Attribute)):
        return False
    if any(
        model.is_target(node) and not _is_own_array(node, function, model) for node in tree.within(body, cst.Subscript)
    ):
        return False
    return all(_gives_new(call, model) for call in tree.within(body, cst.Call))


def _is_own_array(node: cst.Subscript, function: cst.FunctionDef, model: Model) -> bool:
    """Whether an element is one of an array of NumPy that a function has made itself: no graph goes into that."""
    owner = node.value
    if not isinstance(owner, cst.Name) or owner.value in (each.name.value for each in parameters(function)):
        return False
    targets = model.targets(owner.value, function)
    bound = [name for name in targets if not isinstance(model.tree.parent(name), cst.Subscript)]
    return bool(bound) and all(_is_array(model.tree.parent(model.tree.parent(name) or name), model) for name in bound)


def _is_array(assign: cst.CSTNode | None, model: Model) -> bool:
    match assign:
        case cst.Assign(value=cst.Call(func=func)):
            return model.qualified(func) in _ARRAYS
    return False


_ARRAYS = ("numpy.empty", "numpy.zeros", "numpy.ones", "numpy.full")


def _gives_new(call: cst.Call, model: Model) -> bool:
    """Whether a call is one of a known function that writes to nothing and asks for no mode."""
    name = model.qualified(call.func) or ""
    if name in _BUILTINS:
        return True
    is_plain = name.startswith(_MODULES) and not name.endswith("_") and "grad" not in name
    return is_plain and keyword(call.args, "out") is None and not any(arg.star == "**" for arg in call.args)
